use super::*;

#[test]
fn epsilon_is_said_as_a_certainty() {
    for (epsilon, sure) in [
        (1e-9, "at most 50.1 % sure"),
        (0.01, "at most 50.3 % sure"),
        (0.1, "at most 52.5 % sure"),
        (1.0, "at most 73.2 % sure"),
        (2.0, "at most 88.1 % sure"),
        (4.0, "at most 98.3 % sure"),
        (6.0, "at most 99.8 % sure"),
        (10.0, "practically certain"),
        (1e300, "practically certain"),
    ] {
        assert_eq!(certainty(epsilon), sure, "{epsilon}");
    }
    assert_eq!(
        odds(Epsilon::new(1.0).unwrap(), Neighbours::AddRemove),
        "someone unsure (50:50) whether a person is in the data can become at most 73.2 % sure"
    );
    let values = odds(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
    assert!(values.contains("which of two values a person has"));
}

#[test]
fn the_usual_needs_no_warning() {
    let epsilon = |value| Epsilon::new(value).unwrap();
    let delta = |value| Delta::new(value).unwrap();
    let of_epsilon = |epsilon| of_epsilon(epsilon, Neighbours::AddRemove);
    let of_query = |epsilon| of_query(epsilon, Neighbours::Replace);
    assert_eq!(of_epsilon(epsilon(10.0)), None);
    assert!(of_epsilon(epsilon(10.1)).unwrap().contains("practically certain"));
    assert_eq!(of_delta(delta(0.0099)), None);
    assert!(of_delta(delta(0.01)).unwrap().contains("1e-6"));
    assert_eq!((of_query(epsilon(0.1)), of_query(epsilon(5.0))), (None, None));
    assert!(of_query(epsilon(0.05)).unwrap().contains("off by 20 on average"));
    assert!(of_query(epsilon(5e-324)).unwrap().contains("off by"));
    assert!(of_query(epsilon(6.0)).unwrap().contains("99.8 %"));
}
