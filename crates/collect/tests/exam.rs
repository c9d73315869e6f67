//! `examples/cheating-exam`: the lecture's 18 students.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use demure_collect::client::randomize_csv;
use demure_collect::collector::Collector;
use demure_collect::estimate::{Options, estimate};
use demure_collect::survey::Survey;
use demure_core::random::SeededForTests;
use std::path::PathBuf;

fn read(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/cheating-exam");
    std::fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn nine_yes_of_eighteen_at_one_half_estimate_one_half() {
    let survey = Survey::parse(&read("survey.toml")).unwrap();
    assert!((survey.epsilon().get() - 3f64.ln()).abs() < 1e-15);
    let mut collector = Collector::new(&survey);
    collector.add_lines(read("reports.jsonl").as_bytes()).unwrap();
    let found = estimate(&mut collector, &Options::usual().unwrap()).unwrap().to_json();
    assert_eq!(found["reports"], 18);
    assert_eq!(found["rejected"]["duplicate"], 0);
    for value in ["yes", "no"] {
        assert_eq!(found["values"][value]["estimate"], 0.5);
        assert_eq!(found["values"][value]["support"], 9);
        // Clopper–Pearson's 0.2602 … 0.7398 for 9 of 18, transformed by 2x − ½.
        let end = |name: &str| found["values"][value][name].as_f64().unwrap();
        assert!((end("lower") - 0.020_3).abs() < 1e-3, "{found}");
        assert!((end("upper") - 0.979_7).abs() < 1e-3, "{found}");
    }
    // The lecture bounds the variance by 1/(α²n) (with Var[Y] ≤ 1); it is at most a quarter of that.
    let sd = found["values"]["yes"]["sd"].as_f64().unwrap();
    assert!(sd * sd <= 1.0 / (4.0 * 0.25 * 18.0) * (1.0 + 1e-12), "{sd}");
    // All reports sent again change nothing.
    collector.add_lines(read("reports.jsonl").as_bytes()).unwrap();
    assert_eq!((collector.people(), collector.rejected().duplicate), (18, 18));
}

#[test]
fn the_answers_make_eighteen_reports() {
    let survey = Survey::parse(&read("survey.toml")).unwrap();
    let mut reports = Vec::new();
    let mut rng = SeededForTests::insecure(1);
    let done =
        randomize_csv(&survey, read("answers.csv").as_bytes(), &mut reports, &mut rng).unwrap();
    assert_eq!((done.reports, done.skipped), (18, 0));
}
