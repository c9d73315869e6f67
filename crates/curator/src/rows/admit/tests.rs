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

/// A function that is on the list alone would be taken for dear and likely to fail, and nobody would know of it.
#[test]
fn every_function_is_documented_tested_and_has_a_cost() {
    let list = include_str!("../../../../../docs/sql.md");
    let list = list.split("## Functions over people's rows").nth(1).unwrap();
    let documented: Vec<&str> =
        list.trim_start().trim_start_matches('`').split('`').next().unwrap().split(' ').collect();
    let listed: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(documented, listed);
    let golden = include_str!("../../../tests/golden/functions.slt");
    let costs = include_str!("../cost.rs");
    let failing = include_str!("../total.rs").split("fn may_fail").nth(1).unwrap();
    for (name, fails) in FUNCTIONS {
        assert!(golden.contains(&format!("{name}(")), "no golden query has {name}");
        assert!(costs.contains(&format!("\"{name}\"")), "{name} has no cost");
        assert!(
            *fails == Never || failing.contains(&format!("\"{name}\"")),
            "may {name} fail on a row?"
        );
    }
}
