use super::*;

fn limit(accounting: Accounting, epsilon: f64, delta: f64) -> Limit {
    Limit {
        accounting,
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::new(delta).unwrap(),
        neighbours: Neighbours::AddRemove,
    }
}

#[test]
fn a_limit_reads_back_as_it_was_written() {
    for accounting in [Accounting::Pure, Accounting::Zcdp] {
        for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
            for (epsilon, delta) in [(1.0, 0.0), (0.1 + 0.2, 1e-6), (1e-300, 1e-17)] {
                let limit = Limit { neighbours, ..limit(accounting, epsilon, delta) };
                assert_eq!(Limit::parse(&limit.to_string()), Some(limit));
            }
        }
    }
    for bad in [
        "",
        "limit()",
        "limit(accounting=pure, eps=0, delta=0, neighbours=replace)",
        "limit(accounting=pure, eps=1, delta=0, neighbours=replace, more=1)",
        "limit(accounting=gold, eps=1, delta=0, neighbours=replace)",
    ] {
        assert_eq!(Limit::parse(bad), None, "{bad}");
    }
}

#[test]
fn zcdp_gives_half_of_delta_to_each_side() {
    let zcdp = limit(Accounting::Zcdp, 1.0, 1e-6);
    let most = zcdp.most().unwrap();
    assert_eq!(most.delta, 5e-7);
    let epsilon = zcdp.epsilon_of(most).unwrap();
    assert!((0.999_999..=1.0).contains(&epsilon), "{epsilon}");
    assert_eq!(zcdp.epsilon_of(Price::ZERO).unwrap(), 0.0);
    let none = limit(Accounting::Zcdp, 1.0, 0.0).most().unwrap_err();
    assert!(none.to_string().contains("set a delta"), "{none}");
    let pure = limit(Accounting::Pure, 1.0, 0.0);
    assert_eq!(pure.most().unwrap(), Price { main: 1.0, delta: 0.0 });
    assert!(pure.filter().is_ok());
}
