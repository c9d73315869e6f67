use super::*;
use demure_core::random::SeededForTests;
use demure_core::unit::Epsilon;

#[test]
fn a_protected_number_of_rows_is_not_used() {
    let budget = || Epsilon::new(1.0).unwrap().into();
    let bounds = Bounds::new(0.0, 100.0).unwrap();
    for (neighbours, known) in [(Neighbours::Replace, true), (Neighbours::AddRemove, false)] {
        let mean = Moment::mean(budget(), bounds, neighbours, Rows::Exactly(1)).unwrap();
        let says = |n, rows| mean.explain(n, rows).unwrap().text_of("error_95").to_owned();
        assert_eq!(says(None, 1000) != says(None, 2000), known);
        assert!(says(Some(500), 1000).contains("for 500 rows"));
    }
}

#[test]
fn many_rows_have_a_mean_and_a_variance() {
    let values: Vec<f64> = (0..100_000).map(|i| f64::from(i % 101)).collect();
    let (bounds, rng) = (Bounds::new(0.0, 100.0).unwrap(), &mut SeededForTests::insecure(5));
    let (by, rows) = (Neighbours::AddRemove, Rows::Exactly(1));
    let budget = || Epsilon::new(1.0).unwrap().into();
    for (moment, truth, within) in [
        (Moment::mean(budget(), bounds, by, rows), 50.0, 0.1),
        (Moment::variance(budget(), bounds, by, rows), 850.0, 5.0),
    ] {
        let moment = moment.unwrap();
        let found = moment.release(&moment.accumulate(&values), rng).unwrap();
        assert!((found - truth).abs() < within, "{found}");
    }
}
