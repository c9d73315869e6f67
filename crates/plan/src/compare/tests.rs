use super::*;
use demure_core::unit::Epsilon;

#[test]
fn quantiles_of_the_normal_law() {
    for (u, z) in [(0.5, 0.0), (0.975, 1.959_964), (0.025, -1.959_964), (0.9999, 3.719_016)] {
        assert!((normal_quantile(u) - z).abs() < 5e-4, "{u}");
    }
}

#[test]
fn tables_are_narrow_and_what_gave_no_answer_has_no_bar() {
    let promise = Guarantee::Pure(Epsilon::new(1.0).unwrap());
    let row = |name, half, most| Row { name, promise, half, most };
    let rows = [row("a", 1.0, 2.0), row("b", 0.0, f64::INFINITY), row("c", 0.1, 0.3)];
    let text = as_text("median", &rows);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("(no answer)"), "{text}");
    assert_eq!(text.lines().last().unwrap(), format!("{:22}█ 0.3", "c"));
}
