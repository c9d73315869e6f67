use super::*;

#[test]
fn places_are_counted_from_one_and_never_fail() {
    let mut notes = Notes::new("é = 1\nb = 2\n", Some("x.toml"));
    for at in [0, 1, 3, 7, 999] {
        notes.mistake(at, Mistake::Twice { key: at.to_string() });
    }
    notes.mistake(7, Mistake::Twice { key: "7".to_owned() });
    let error = notes.into_error();
    let places: Vec<_> = error.problems().iter().map(|p| (p.line, p.column)).collect();
    assert_eq!(places, [(1, 1), (1, 1), (1, 3), (2, 1), (3, 1)]);
    assert!(error.to_string().starts_with("x.toml:1: "), "{error}");
    assert_eq!(error.to_string().lines().count(), 5);
}
