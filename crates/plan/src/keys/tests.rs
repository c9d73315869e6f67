use super::*;
use demure_core::random::SeededForTests;

#[test]
fn the_least_kept_number_is_the_least() {
    let (epsilon, delta) = (Epsilon::new(0.5).unwrap(), Delta::new(0.02).unwrap());
    let mechanism = KeySelection::new(epsilon, delta, Neighbours::AddRemove, 1).unwrap();
    let kept = kept_95(&mechanism, mechanism.crossovers().1);
    assert!(mechanism.probability(kept) >= 0.95 && mechanism.probability(kept - 1) < 0.95);
}

#[test]
fn frequent_keys_come_back_and_lone_ones_do_not() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap());
    let counts = BTreeMap::from([("flu".to_owned(), 1000), ("rare".to_owned(), 1)]);
    let most = |rows| Contributions::new(1, rows).unwrap();
    for (_, _, method) in Method::ALL {
        let keys = Keys::new(*method, epsilon, delta, Neighbours::AddRemove, most(1)).unwrap();
        let found = keys.release(&counts, &mut SeededForTests::insecure(9)).unwrap();
        let text = found.to_string();
        assert!(text.contains("flu") && !text.contains("rare"), "{text}");
        assert!(!keys.explain().unwrap().text_of("error_95").is_empty());
    }
    let alone = Method::TruncatedGeometric;
    let refused = Keys::new(alone, epsilon, delta, Neighbours::AddRemove, most(2));
    assert!(matches!(refused, Err(Error::CountsOfPeople)));
}
