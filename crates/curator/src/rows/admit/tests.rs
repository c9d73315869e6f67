use super::*;

#[test]
fn ordinary_patterns_have_room() {
    let size = |pattern: &str| pattern_size(&lit(pattern));
    for ordinary in [r"^\w+@\w+\.(com|org)$", r"\d{4}-\d{2}-\d{2}", "(?i)diabetes|asthma"] {
        assert!(size(ordinary).is_some_and(|size| 2 * size <= LARGEST_PATTERNS), "{ordinary}");
    }
    assert_eq!((like_size(&lit("%flu%")), like_size(&lit("A%"))), (0, 0));
    assert!((1..LARGEST_PATTERNS / 4).contains(&like_size(&lit("_12%b%"))));
    assert!(like_size(&lit(format!("%z{}a%", "_".repeat(880)))) > LARGEST_PATTERNS);
    for large in ["([a-b]{1,200}[a-b]?){16}Z", "(", r"\w{1000}"] {
        assert_eq!(size(large), None, "{large}");
    }
}
