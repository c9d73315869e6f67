use super::*;

#[test] // a renamed rule would come back unnoticed
fn three_rules_are_left_out() {
    assert_eq!(rules().len() + 3, PhysicalOptimizer::new().rules.len());
}
