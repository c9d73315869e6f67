use super::*;

#[test]
fn names_are_plain_or_made_so() {
    for plain in ["a", "_", "visits_2020", &"x".repeat(63)] {
        assert!(is_plain(plain), "{plain}");
    }
    let long = "7".repeat(99);
    for (bent, plain) in
        [("", "data"), ("Visits", "visits"), ("a b", "a_b"), ("2020", "_2020"), ("é", "_")]
    {
        assert!(!is_plain(bent), "{bent}");
        assert_eq!(made_plain(bent), plain);
    }
    assert!(!is_plain(&long) && is_plain(&made_plain(&long)));
}
