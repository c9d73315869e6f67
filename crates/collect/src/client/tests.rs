use super::*;
use crate::report::Submission;
use demure_core::random::SeededForTests;

fn survey(lines: &str) -> Survey {
    Survey::parse(&format!(
        "version = 1\nquestion = \"q\"\nsalt = \"00112233445566778899aabbccddeeff\"\n{lines}"
    ))
    .unwrap()
}

fn run(survey: &Survey, csv: &str) -> (Randomized, Vec<Submission>) {
    let mut out = Vec::new();
    let mut rng = SeededForTests::insecure(4);
    let done = randomize_csv(survey, csv.as_bytes(), &mut out, &mut rng).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let read = lines.lines().map(|l| Submission::from_json(survey, l).unwrap()).collect();
    (done, read)
}

#[test]
fn a_file_of_answers_becomes_a_file_of_reports() {
    let exam = survey("alpha = 0.5\nvalues = ['yes','no']");
    let (done, reports) = run(&exam, "yes\nno\n\nmaybe\nyes \n");
    assert_eq!((done.reports, done.skipped, reports.len()), (3, 1, 3));
    assert_eq!(done.skipped_rows, [3]);
    let tokens: std::collections::HashSet<u128> = reports.iter().map(|r| r.token).collect();
    assert_eq!(tokens.len(), 3);
    assert_eq!(run(&exam, "name,answer\nada,yes\nbob,no\n").0.reports, 2);
    let two = survey(
        "epsilon = 1\nbudget = 'split'\n[[attribute]]\nname = 'x'\nvalues = ['a','b']\n\
             [[attribute]]\nname = 'y'\nrange = [0, 1]",
    );
    let (done, reports) = run(&two, "y,x\n0.5,a\n7,b\nb,0.5\nnan,a\n");
    assert_eq!((done.reports, done.skipped), (2, 2));
    assert_eq!(reports[0].answers.len(), 2);
}

#[test]
fn no_error_and_no_debug_shows_an_answer() {
    let exam = survey("alpha = 0.5\nvalues = ['canary','no']");
    let client = Client::new(&exam);
    let given = client.read(0, "canary").unwrap();
    assert!(!format!("{given:?}").contains("canary") && !format!("{given:?}").contains('0'));
    let error = client.randomize(&[TrueAnswer::Number(4711.0)], &mut SeededForTests::insecure(1));
    assert!(!error.unwrap_err().to_string().contains("4711"));
}

#[test]
fn a_memory_is_used_again_and_survives_a_file() {
    let survey =
        survey("epsilon = 2\nfirst_epsilon = 1\nmechanism = 'rappor'\nvalues = ['a','b','c']");
    let client = Client::new(&survey);
    let mut rng = SeededForTests::insecure(2);
    let mut memory = Memory::default();
    assert!(client.randomize(&[TrueAnswer::Category(1)], &mut rng).is_err());
    client.randomize_again(&[TrueAnswer::Category(1)], &mut memory, &mut rng).unwrap();
    let kept = memory.to_json();
    let mut back = Memory::from_json(&kept).unwrap();
    for _ in 0..10 {
        client.randomize_again(&[TrueAnswer::Category(1)], &mut back, &mut rng).unwrap();
    }
    assert_eq!((back.to_json(), back.values()), (kept, 1));
    client.randomize_again(&[TrueAnswer::Category(2)], &mut back, &mut rng).unwrap();
    assert_eq!(back.values(), 2);
    assert!(Memory::from_json("{\"x\":1}").is_err());
    let once = self::survey("epsilon = 2\nvalues = ['a','b','c']");
    let again = Client::new(&once).randomize_again(&[TrueAnswer::Category(2)], &mut back, &mut rng);
    assert!(again.is_err());
}
