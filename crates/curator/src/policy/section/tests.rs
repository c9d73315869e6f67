use super::*;

#[test]
fn distances_are_counted_in_letters() {
    for (left, right, far) in [
        ("", "", 0),
        ("", "abc", 3),
        ("bound", "bounds", 1),
        ("buonds", "bounds", 1),
        ("neighbors", "neighbours", 1),
        ("kitten", "sitting", 3),
        ("é", "e", 1),
    ] {
        assert_eq!(distance(left, right), far, "{left} {right}");
        assert_eq!(distance(right, left), far, "{left} {right}");
    }
}

#[test]
fn what_was_meant_is_near_or_nothing() {
    let known = ["epsilon", "delta", "per_query"];
    let meant = |name| nearest(name, known.into_iter());
    assert_eq!(meant("eps"), Some("epsilon"));
    assert_eq!(meant("Epsilon"), Some("epsilon"));
    assert_eq!(meant("delat"), Some("delta"));
    assert_eq!(meant("per-query"), Some("per_query"));
    assert_eq!(meant("colour"), None);
    assert_eq!(meant(""), None);
    assert_eq!(meant(&"x".repeat(1_000_000)), None);
}
