use super::*;

const BOTH: [Neighbours; 2] = [Neighbours::AddRemove, Neighbours::Replace];

fn e(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn d(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

fn admitted(filter: &mut Filter, event: &Event) -> u32 {
    let mut count = 0;
    while filter.admit(event).unwrap() == Admission::Admitted {
        count += 1;
        assert!(count < 100_000);
    }
    count
}

#[test]
fn pure_and_concentrated_filters_stop_at_the_limit() {
    let pure = Event::pure(0.125).unwrap();
    for neighbours in BOTH {
        // 0.125·8 = 1; rounding up costs the eighth.
        let mut filter = Filter::pure(e(1.0 + 1e-12), neighbours);
        assert_eq!(admitted(&mut filter, &pure), 8);
        let before = filter.spent().unwrap();
        assert_eq!(filter.admit(&pure).unwrap(), Admission::Refused);
        assert_eq!(filter.spent().unwrap(), before);
        assert!(before.0 >= 1.0 && before.0 <= filter.limit().unwrap().0);
    }
    let gaussian = Event::gaussian(10.0).unwrap();
    let mut add_remove = Filter::concentrated(Rho::new(0.1).unwrap(), Neighbours::AddRemove);
    assert_eq!(admitted(&mut add_remove, &gaussian), 19);
    let mut replace = Filter::concentrated(Rho::new(0.1).unwrap(), Neighbours::Replace);
    assert_eq!(admitted(&mut replace, &gaussian), 4);
    assert!(Filter::pure(e(1.0), Neighbours::Replace).admit(&gaussian).is_err());
}

#[test]
fn the_advanced_filter_follows_its_formula() {
    let (epsilon, delta) = (1.0, 1e-6f64);
    let mut filter =
        Filter::advanced(e(epsilon), d(delta), d(1e-7), Neighbours::AddRemove).unwrap();
    let count = admitted(&mut filter, &Event::pure(0.01).unwrap());
    let cost = |k: f64| (2.0 * -delta.ln() * k * 1e-4).sqrt() + 0.5 * k * 1e-4;
    assert!(cost(f64::from(count)) <= epsilon && cost(f64::from(count + 1)) > epsilon);
    assert!(count > 300, "{count}"); // basic composition would stop at 100
    // The events' own δ add up too.
    let mut filter = Filter::advanced(e(1.0), d(1e-6), d(1e-7), Neighbours::AddRemove).unwrap();
    assert_eq!(admitted(&mut filter, &Event::approximate(0.01, 2e-8).unwrap()), 4);
    assert!(filter.admit(&Event::gaussian(1.0).unwrap()).is_err());
}

#[test]
fn the_renyi_filter_allows_what_some_order_allows() {
    let orders: Vec<Alpha> = [2.0, 8.0, 32.0, 128.0].map(|a| Alpha::new(a).unwrap()).into();
    let mut filter = Filter::renyi(&orders, e(1.0), d(1e-6), Neighbours::AddRemove).unwrap();
    let count = admitted(&mut filter, &Event::gaussian(100.0).unwrap());
    // 32·k/(2·10⁴) ≤ 1 − ln(4·10⁶)/31 at the best of the orders.
    let limit = 1.0 - (4e6f64).ln() / 31.0;
    assert_eq!(f64::from(count), (limit * 2e4 / 32.0).floor());
    let one = [Alpha::new(30.0).unwrap()];
    let mut filter = Filter::renyi(&one, e(1.0), d(1e-6), Neighbours::AddRemove).unwrap();
    assert!(admitted(&mut filter, &Event::gaussian(100.0).unwrap()) > count);
    let low = [2.0, 3.0].map(|a| Alpha::new(a).unwrap());
    assert!(Filter::renyi(&low, e(0.1), d(1e-9), Neighbours::AddRemove).is_err());
    assert!(Filter::renyi(&one, e(1.0), Delta::ZERO, Neighbours::AddRemove).is_err());
}

#[test]
fn totals_never_go_down_and_overflow_is_refused() {
    let mut filter = Filter::pure(e(f64::MAX), Neighbours::AddRemove);
    let huge = Event::pure(1e308).unwrap();
    let mut last = 0.0;
    for _ in 0..5 {
        let _ = filter.admit(&huge).unwrap();
        let (spent, _) = filter.spent().unwrap();
        assert!(spent >= last && spent.is_finite());
        last = spent;
    }
    assert_eq!(filter.admit(&huge).unwrap(), Admission::Refused);
    // A cost below the total's last bit still moves it.
    let mut filter = Filter::pure(e(2.0), Neighbours::AddRemove);
    assert_eq!(filter.admit(&Event::pure(1.0).unwrap()).unwrap(), Admission::Admitted);
    assert_eq!(filter.admit(&Event::pure(1e-300).unwrap()).unwrap(), Admission::Admitted);
    assert!(filter.spent().unwrap().0 > 1.0);
}

#[test]
fn within_a_target_the_concentrated_filter_knows_its_rho() {
    let filter =
        Filter::concentrated_within(e(5.221_534_444_530_17), d(1e-6), Neighbours::AddRemove)
            .unwrap();
    let (limit, failing) = filter.limit().unwrap();
    assert!((limit - 0.5).abs() < 1e-9 && limit <= 0.5 + 1e-12 && failing == 0.0);
}

#[test]
fn approximate_filters_stop_at_either_limit_and_know_their_prices() {
    let (pure, few) = (Event::pure(0.25).unwrap(), Event::approximate(0.5, 1e-7).unwrap());
    let both = Event::Compose(vec![pure.clone(), few.clone(), few.clone()]);
    for neighbours in BOTH {
        let epsilon = |limit| Filter::approximate(e(limit), d(4.5e-7), neighbours);
        let rho = |limit| {
            Filter::approximate_concentrated(Rho::new(limit).unwrap(), d(4.5e-7), neighbours)
        };
        // By ε: 2 of 0.5; by δ: 4 of 1e-7.
        assert_eq!(admitted(&mut epsilon(1.0 + 1e-12), &few), 2);
        assert_eq!(admitted(&mut epsilon(100.0), &few), 4);
        assert_eq!(admitted(&mut epsilon(1.0 + 1e-12), &pure), 4);
        // By ρ: 0.125 each; by δ: 4 again. Pure: ε²/2; exponential: ε²/8.
        assert_eq!(admitted(&mut rho(0.25 + 1e-12), &few), 2);
        assert_eq!(admitted(&mut rho(100.0), &few), 4);
        assert_eq!(admitted(&mut rho(0.125 + 1e-12), &pure), 4);
        let select = Event::exponential(1.0).unwrap();
        assert_eq!(admitted(&mut rho(0.5 + 1e-12), &select), 4);
        assert_eq!(admitted(&mut rho(0.5), &Event::concentrated(0.125).unwrap()), 4); // exact sums are exact
        // Several in one event: each is priced, and the prices add up.
        for (mut filter, cost) in [(epsilon(2.5 + 1e-12), 1.25), (rho(10.0), 0.28125)] {
            let (main, failing) = filter.price(&both).unwrap();
            assert!((cost..cost + 1e-14).contains(&main), "{main}");
            assert!((2e-7..2e-7 + 1e-20).contains(&failing));
            assert_eq!(filter.spent(), Some((0.0, 0.0)));
            assert_eq!(admitted(&mut filter, &both), 2);
            let (spent, limit) = (filter.spent().unwrap(), filter.limit().unwrap());
            assert!(spent.0 >= 2.0 * cost && spent.1 >= 4e-7);
            assert!(spent.0 <= limit.0 && spent.1 <= limit.1);
            // Refused for δ alone, and nothing changes.
            assert_eq!(filter.admit(&few).unwrap(), Admission::Refused);
            assert_eq!(filter.spent(), Some(spent));
        }
        let repeated = few.clone().repeat(3).unwrap();
        let (main, failing) = epsilon(9.0).price(&repeated).unwrap();
        assert!((1.5..1.500_001).contains(&main) && (3e-7..3.000_001e-7).contains(&failing));
    }
}

#[test]
fn a_filter_prices_the_worst_way_and_refuses_what_has_no_price() {
    let near = Neighbours::AddRemove;
    // A unit is in one part: the larger ε of one, the larger δ of the other.
    let parts = vec![Event::pure(0.5).unwrap(), Event::approximate(0.25, 1e-7).unwrap()];
    let event = Event::Parallel { parts, because: crate::event::Disjoint::ByKey };
    assert_eq!(Filter::approximate(e(1.0), d(1e-6), near).price(&event).unwrap(), (0.5, 1e-7));
    let gaussian = Event::gaussian(10.0).unwrap();
    assert!(Filter::approximate(e(1.0), d(1e-6), near).admit(&gaussian).is_err());
    let mut filter =
        Filter::approximate_concentrated(Rho::new(1.0).unwrap(), d(1e-6), Neighbours::Replace);
    let (rho, delta) = filter.price(&gaussian).unwrap();
    assert!((0.02..0.020_000_1).contains(&rho) && delta == 0.0);
    let huge = Event::pure(1e200).unwrap();
    assert!(filter.price(&huge).is_err() && filter.admit(&huge).is_err());
    // With a failing δ of 0, no event that may fail is admitted.
    let mut none = Filter::approximate(e(1.0), Delta::ZERO, near);
    let few = Event::approximate(0.1, 1e-12).unwrap();
    assert_eq!(none.admit(&few).unwrap(), Admission::Refused);
    assert!(Filter::pure(e(1.0), near).price(&few).is_err());
    let mut advanced = Filter::advanced(e(1.0), d(1e-6), d(1e-7), near).unwrap();
    for _ in 0..3 {
        let (price, before) = (advanced.price(&few).unwrap(), advanced.spent().unwrap());
        assert_eq!(advanced.admit(&few).unwrap(), Admission::Admitted);
        let after = advanced.spent().unwrap();
        assert!(before.0 + price.0 >= after.0 && before.0 + price.0 <= after.0 + 1e-12);
        assert!(before.1 + price.1 >= after.1 - 1e-26);
    }
    let orders = [Alpha::new(30.0).unwrap()];
    let renyi = Filter::renyi(&orders, e(1.0), d(1e-6), near).unwrap();
    assert!(renyi.spent().is_none() && renyi.limit().is_none() && renyi.price(&few).is_err());
}

/// The claim behind the approximate filters, on all events of two answers: the second
/// query and its price depend on the first answer, and every path stays within.
#[test]
fn adaptive_prices_within_the_filter_are_private_by_brute_force() {
    // The worst (ε,δ) mechanism: 0 and 1 tell all, 2 and 3 are a response.
    let coin = |epsilon: f64, delta: f64, bit: usize| {
        let truth = (1.0 - delta) / (1.0 + (-epsilon).exp());
        let mut law = [0.0, 0.0, 1.0 - delta - truth, 1.0 - delta - truth];
        law[bit] = delta;
        law[2 + bit] = truth;
        law
    };
    let next = [(0.5, 0.0), (0.1, 0.02), (0.3, 0.01), (0.5, 0.02)];
    let law = |bit: usize| -> Vec<f64> {
        let first = coin(0.5, 0.03, bit);
        let then = |i: usize| coin(next[i].0, next[i].1, bit).map(|p| first[i] * p);
        (0..4).flat_map(then).collect()
    };
    let excess = |epsilon: f64| -> f64 {
        let pairs = law(0).into_iter().zip(law(1));
        pairs.map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
    };
    for (epsilon, delta) in next {
        let mut filter = Filter::approximate(e(1.0 + 1e-12), d(0.05 + 1e-12), Neighbours::Replace);
        for event in [Event::approximate(0.5, 0.03), Event::approximate(epsilon, delta)] {
            assert_eq!(filter.admit(&event.unwrap()).unwrap(), Admission::Admitted);
        }
    }
    assert!(excess(1.0) <= 0.05);
    assert!(excess(1.0) > 0.04 && excess(0.7) > 0.05); // and less would not be enough
}
