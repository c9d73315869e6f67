use super::*;
use crate::model::testing::{class, lecture};

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 5e-7, "{a} {b}");
}

#[test]
fn the_lectures_three_beliefs() {
    let (table, classes) = lecture();
    let report = observe(None, &table, &classes, 0).unwrap();
    near(report.entropy_before, 5_f64.log2());
    // H(Q) = log₂9 − (2·1 + 2·1 + 3·log₂3)/9
    near(report.entropy_table, 9_f64.log2() - (4.0 + 3.0 * 3_f64.log2()) / 9.0);
    // From uniform, the divergence is the fall in entropy.
    near(report.table.divergence, report.table.entropy_fall);
    for (gain, bits) in report.classes.iter().zip([0.918296, 1.194988, 0.389975]) {
        near(gain.from_table.divergence, bits);
        near(gain.from_start.divergence, gain.from_start.entropy_fall);
    }
    near(report.worst, 1.194988);
    assert_eq!(report.worst_class, Some(1));
}

#[test]
fn on_average_both_measures_are_the_mutual_information() {
    let (table, classes) = lecture();
    let report = observe(None, &table, &classes, 0).unwrap();
    let falls: f64 = report.classes.iter().map(|g| g.size as f64 * g.from_table.entropy_fall).sum();
    near(report.mean, falls / 9.0);
    let left: f64 = classes.iter().map(|c| entropy(&shares(c, 0).unwrap()) / 3.0).sum();
    near(report.mean, report.entropy_table - left);
}

#[test]
fn a_given_belief_may_exclude_what_is_true() {
    let (table, classes) = lecture();
    let report = observe(Some(&[1.0, 1.0, 1.0, 0.0, 0.0]), &table, &classes, 0).unwrap();
    assert_eq!(report.table.divergence, f64::INFINITY);
    near(report.classes[0].from_start.divergence, 0.0);
    let known = observe(Some(&[1.0, 2.0, 2.0, 3.0, 1.0]), &table, &classes, 0).unwrap();
    near(known.table.divergence, 0.0);
}

#[test]
fn a_class_may_leave_more_to_find_out_than_the_table() {
    let table = class(&[9, 1]);
    let report = observe(None, &table, &[class(&[1, 1]), class(&[8, 0])], 0).unwrap();
    assert!(report.classes[0].from_table.entropy_fall < 0.0);
    assert!(report.classes[0].from_table.divergence > 0.0);
}

#[test]
fn unsound_input_is_refused() {
    let (table, classes) = lecture();
    for before in
        [&[1.0][..], &[0.0; 5], &[1.0, 1.0, 1.0, 1.0, -1.0], &[f64::NAN; 5], &[f64::MAX; 5]]
    {
        assert!(observe(Some(before), &table, &classes, 0).is_err());
    }
    assert!(observe(None, &table, &classes, 1).is_err());
    assert!(observe(None, &class(&[0, 0]), &classes, 0).is_err());
    assert_eq!(observe(None, &table, &[class(&[0; 5])], 0).unwrap().worst_class, None);
}
