use super::*;
use crate::limit::Limit;

#[test]
fn it_decides_as_the_cores_filter_does() {
    let texts = [
        "pure(eps=0.1)",
        "pure(eps=0.07, delta=0.0000001)",
        "laplace(b=9)*2",
        "exponential(eps=0.05)",
        "gaussian(sigma=30)",
        "parallel(by=key, laplace(b=20), laplace(b=30))",
        "compose(pure(eps=0.01), pure(eps=0.02, delta=0.00000001))*3",
    ];
    for accounting in [Accounting::Pure, Accounting::Zcdp] {
        for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
            let limit = Limit {
                accounting,
                epsilon: Epsilon::new(2.0).unwrap(),
                delta: Delta::new(1e-6).unwrap(),
                neighbours,
            };
            let (mut filter, most) = (limit.filter().unwrap(), limit.most().unwrap());
            let mut meter = Meter::new(accounting, neighbours).unwrap();
            let (mut refused, mut admitted, mut state) = (0, 0, 1u64);
            for _ in 0..400 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let event = Event::parse(texts[(state >> 33) as usize % texts.len()]).unwrap();
                let Ok(admission) = filter.admit(&event) else {
                    assert!(meter.price(&event).is_err() && meter.with(&event).is_err());
                    continue;
                };
                let next = meter.with(&event).unwrap().unwrap();
                assert_eq!(next.within(most), admission == Admission::Admitted);
                if next.within(most) {
                    (meter, admitted) = (next, admitted + 1);
                } else {
                    refused += 1;
                }
                let spent = meter.spent();
                assert_eq!(filter.spent(), Some((spent.main, spent.delta)));
            }
            assert!(refused > 10 && admitted > 10, "{refused} {admitted}");
        }
    }
}
