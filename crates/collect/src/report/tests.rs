use super::*;
use crate::client::{Client, TrueAnswer};
use demure_core::random::SeededForTests;

fn survey(lines: &str) -> Survey {
    Survey::parse(&format!(
        "version = 1\nquestion = \"q\"\nsalt = \"00112233445566778899aabbccddeeff\"\n{lines}"
    ))
    .unwrap()
}

fn all() -> Vec<Survey> {
    let values: Vec<String> = (0..100).map(|i| format!("'v{i}'")).collect();
    let values = values.join(",");
    let mut surveys: Vec<Survey> =
        ["response", "symmetric-unary", "optimised-unary", "local-hashing", "hadamard", "subset"]
            .iter()
            .map(|m| survey(&format!("epsilon = 1\nvalues = [{values}]\nmechanism = '{m}'")))
            .collect();
    for m in ["sign", "piecewise", "hybrid", "square-wave"] {
        surveys.push(survey(&format!("epsilon = 1\nrange = [0, 10]\nmechanism = '{m}'")));
    }
    surveys.push(survey("epsilon = 1\nlength = 5"));
    let tables = format!(
        "[[attribute]]\nname = 'x'\nvalues = [{values}]\n[[attribute]]\nname = 'y'\nrange = [0, 1]\n"
    );
    surveys.push(survey(&format!("epsilon = 2\nbudget = 'split'\n{tables}")));
    surveys.push(survey(&format!("epsilon = 2\nbudget = 'sample'\n{tables}")));
    surveys
}

fn given(survey: &Survey) -> Vec<TrueAnswer> {
    let one = |a: &crate::survey::Attribute| match a.domain {
        Domain::Categories(_) => TrueAnswer::Category(7),
        Domain::Number { .. } => TrueAnswer::Number(0.3),
        Domain::Text { .. } => TrueAnswer::Text(b"abc".to_vec()),
    };
    survey.attributes().iter().map(one).collect()
}

#[test]
fn both_forms_read_back_and_every_report_is_as_long() {
    let mut rng = SeededForTests::insecure(5);
    for survey in all() {
        let client = Client::new(&survey);
        let answers = given(&survey);
        for _ in 0..200 {
            let report = client.randomize(&answers, &mut rng).unwrap();
            let bytes = report.to_bytes(&survey);
            assert!(bytes.len() <= length(&survey));
            assert!(survey.samples() || bytes.len() == length(&survey));
            assert_eq!(Submission::from_bytes(&survey, &bytes).unwrap(), report);
            assert_eq!(Submission::from_json(&survey, &report.to_json(&survey)).unwrap(), report);
        }
    }
}

#[test]
fn nothing_malformed_is_fatal() {
    let mut rng = SeededForTests::insecure(6);
    for survey in all() {
        let report = Client::new(&survey).randomize(&given(&survey), &mut rng).unwrap();
        let bytes = report.to_bytes(&survey);
        for cut in 0..bytes.len() {
            assert_eq!(Submission::from_bytes(&survey, &bytes[..cut]), Err(Reject::Malformed));
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(Submission::from_bytes(&survey, &longer).is_err());
        // Any byte at any place: an answer of the domain or a rejection, never a panic.
        for place in 0..bytes.len() {
            for byte in [0, 1, 127, 255] {
                let mut changed = bytes.clone();
                changed[place] = byte;
                if let Ok(read) = Submission::from_bytes(&survey, &changed) {
                    assert_eq!(read.to_bytes(&survey), changed, "one report, one encoding");
                }
            }
        }
        let json = report.to_json(&survey);
        for cut in 0..json.len() {
            if let Some(part) = json.get(..cut) {
                assert!(Submission::from_json(&survey, part).is_err());
            }
        }
        for line in ["", "{}", "[]", "null", "{\"version\":1}", "\u{0}", "{\"version\":2}"] {
            assert!(Submission::from_json(&survey, line).is_err());
        }
        let mut other = bytes.clone();
        other[0] = 9;
        assert_eq!(Submission::from_bytes(&survey, &other), Err(Reject::Version));
        other[0] = 1;
        other[3] ^= 1;
        assert_eq!(Submission::from_bytes(&survey, &other), Err(Reject::OtherSurvey));
    }
    let exam = survey("epsilon = 1\nvalues = ['yes','no']");
    let line = |answer: &str| {
        format!(
            "{{\"version\":1,\"survey\":\"{}\",\"token\":\"{}\",\"answer\":{answer}}}",
            hex(&exam.id()),
            "00".repeat(16)
        )
    };
    assert!(Submission::from_json(&exam, &line("\"yes\"")).is_ok());
    assert_eq!(Submission::from_json(&exam, &line("\"maybe\"")), Err(Reject::OutOfDomain));
    assert_eq!(Submission::from_json(&exam, &line("3")), Err(Reject::Malformed));
}
