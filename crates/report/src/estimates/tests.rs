use super::*;

fn row(estimate: f64, lower: f64, upper: f64) -> EstimateRow {
    EstimateRow { name: "a".into(), estimate, interval: Some((lower, upper)), consistent: None }
}

#[test]
fn axes_end_at_round_numbers_and_names_obey_nobody() {
    assert_eq!(share_axis(&[row(0.01, 0.0, 0.03)]), (0.0, 0.05));
    assert_eq!(name("a\u{1b}[31mb"), "a·[31mb");
}

#[test]
fn many_rows_are_cut_to_the_largest() {
    let rows = (0..100).map(|i| row(f64::from(i) / 1000.0, 0.0, 0.2)).collect();
    let table = EstimateTable { name: "x".into(), note: String::new(), rows, axis: (0.0, 0.2) };
    let text = table.text("95 %", false);
    assert!(text.contains("… and 60 smaller") && text.contains("0.0990"), "{text}");
    assert_eq!(table.text("95 %", true).lines().count(), 101);
}
