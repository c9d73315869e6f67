use super::*;
use std::time::Duration;

#[test]
fn spending_is_a_staircase_under_its_limit() {
    let at = |s: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(s);
    let chart = Chart::spending(&[(at(0), 0.0), (at(50), 1.0), (at(100), 1.5)], 2.0, "ε");
    assert_eq!(
        chart.series[0].points()[3..],
        [(50.0, 0.0), (50.0, 1.0), (100.0, 1.0), (100.0, 1.5)]
    );
    let svg = chart.svg();
    assert!(svg.contains("spent 1.5 of ε 2") && svg.contains("limit 2") && !svg.contains("NaN"));
    assert!(Chart::spending(&[], 0.0, "ρ").svg().starts_with("<svg"));
}

fn sample() -> Chart {
    let theory = (0..50).map(|i| (0.1 * 1.2f64.powi(i), 0.9)).collect();
    let measured = vec![(0.0, 1.0), (10.0, 0.7), (1e9, 0.5), (1.0, f64::NAN)];
    Chart {
        title: "rows <recovered>".to_owned(),
        x: Axis::logarithmic("noise", 0.1, 1000.0),
        y: Axis::linear("share", 0.4, 1.0),
        series: vec![
            Series::line("theory", '·', theory),
            Series::dots("measured", 'o', measured).labelled(vec!["exact".to_owned()]),
        ],
        marks: vec![Mark::Upright(31.6, "√n".to_owned())],
        ..Chart::default()
    }
}

#[test]
fn both_pictures_hold_what_was_given_and_nothing_impossible() {
    let chart = sample();
    let text = chart.text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("√n") && text.contains("o  measured") && text.contains("noise"));
    // Values that are out of range or not a number are left out; 0 is at the left end.
    let drawn: usize =
        text.lines().filter(|l| l.contains(['│', '┤'])).map(|l| l.matches('o').count()).sum();
    assert_eq!(drawn, 2, "{text}");
    let svg = chart.svg();
    assert!(svg.contains("&lt;recovered&gt;") && !svg.contains("NaN") && svg.contains("exact"));
    // Two points and the one in the legend.
    assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
}

#[test]
fn a_falling_curve_falls_and_the_choice_is_marked() {
    let points: Vec<_> =
        (0..=60).map(|i| 10f64.powf(f64::from(i) / 30.0 - 1.0)).map(|x| (x, 3.0 / x)).collect();
    let chart = Chart::curve(points, (1.0, 3.0), ("ε", "error"));
    let picture = chart.text();
    let lines: Vec<&str> = picture.lines().filter(|l| l.contains(['│', '┤'])).collect();
    assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
    assert_eq!(picture.matches('●').count(), 1);
    assert!(picture.contains("ε 1, error 3"), "{picture}");
    let column = |line: &str| line.chars().position(|c| c == '*');
    assert!(column(lines[0]) < column(lines[lines.len() - 1]), "{picture}");
    assert!(chart.svg().contains("ε 1, error 3"));
}

#[test]
fn odd_curves_are_drawn_too() {
    for (points, chosen) in [
        (vec![], (1.0, 1.0)),
        (vec![(1.0, 5.0), (2.0, 5.0)], (1.0, 5.0)),
        (vec![(1.0, 0.0), (2.0, f64::INFINITY), (3.0, f64::NAN)], (1.0, 0.0)),
        (vec![(1e-300, 1e300), (1e300, 1e-300)], (1.0, 1.0)),
        (vec![(1.0, 3.1), (1.1, 3.0)], (1.0, 3.1)),
    ] {
        let chart = Chart::curve(points, chosen, ("x", "y"));
        let picture = chart.text();
        assert_eq!(picture.matches('●').count(), usize::from(chosen.1 > 0.0), "{picture}");
        assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
        assert!(!chart.svg().contains("NaN") && !chart.svg().contains("inf"));
    }
}

#[test]
fn bars_bands_and_steps_stay_within_the_picture() {
    let chart = Chart {
        title: "<sizes>".to_owned(),
        x: Axis::names("rows", vec!["1".to_owned(), "2".to_owned()]),
        y: Axis::from_zero("classes", 9.0),
        series: vec![
            Series::bars("before", '█', vec![9.0, 0.0]),
            Series::bars("after", '▒', vec![2.0, f64::NAN]),
        ],
        ..Chart::default()
    };
    let svg = chart.svg();
    assert!(svg.contains("&lt;sizes&gt;") && svg.contains("1, before: 9"), "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("height=\"-"), "{svg}");
    assert!(chart.text().matches('█').count() > 10, "{}", chart.text());

    let chart = Chart {
        x: Axis::linear("x", 0.0, 4.0),
        y: Axis::linear("y", 0.0, 2.0),
        series: vec![
            Series::band("between", &[(0.0, 0.5, 1.0), (4.0, 1.0, 2.0)]),
            Series::steps("spent", '─', &[(0.0, 0.0), (2.0, 1.0), (4.0, 1.5)]),
        ],
        marks: vec![Mark::Level(1.8, "limit".to_owned())],
        ..Chart::default()
    };
    assert!(chart.text().contains("limit") && chart.svg().contains(">limit</text>"));
    let corners = chart.series[1].points.clone();
    assert_eq!(corners, [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (4.0, 1.0), (4.0, 1.5)]);
}
