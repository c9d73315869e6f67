use super::*;
use crate::client::{Client, TrueAnswer};
use demure_core::random::SeededForTests;

fn survey() -> Survey {
    let values: Vec<String> = (0..200).map(|i| format!("'{i}'")).collect();
    Survey::parse(&format!(
        "version = 1\nquestion = 'q'\nepsilon = 12\nmechanism = 'response'\n\
             salt = '00112233445566778899aabbccddeeff'\nvalues = [{}]",
        values.join(",")
    ))
    .unwrap()
}

#[test]
fn a_batch_has_all_reports_once_and_neither_order_nor_tokens() {
    let survey = survey();
    let client = Client::new(&survey);
    let mut rng = SeededForTests::insecure(3);
    let mut shuffler = Shuffler::new(&survey, 200).unwrap();
    let mut sent = Vec::new();
    for i in 0..200 {
        assert!(shuffler.release(&mut rng).unwrap().is_none());
        let report = client.randomize(&[TrueAnswer::Category(i)], &mut rng).unwrap();
        let bytes = report.to_bytes(&survey);
        assert_eq!(shuffler.add_bytes(&bytes), Outcome::Counted);
        assert_eq!(shuffler.add_bytes(&bytes), Outcome::Duplicate);
        sent.push(report.answers);
    }
    let batch = shuffler.release(&mut rng).unwrap().unwrap();
    assert!(batch.reports.iter().all(|r| r.token == 0));
    let mut left: Vec<_> = batch.reports.into_iter().map(|r| r.answers).collect();
    let in_place = sent.iter().zip(&left).filter(|(a, b)| a == b).count();
    assert!(in_place < 20, "{in_place}"); // about 1 + the reports that are equal
    let by_report = |a: &Vec<crate::report::Answer>| format!("{a:?}");
    sent.sort_by_key(by_report);
    left.sort_by_key(by_report);
    assert_eq!(sent, left);
    assert_eq!((shuffler.held(), shuffler.rejected().duplicate), (0, 200));
    assert!(Shuffler::new(&survey, 1).is_err());
}

#[test]
fn amplification_has_its_known_values() {
    let (delta, one) = (Delta::new(1e-6).unwrap(), Epsilon::new(1.0).unwrap());
    let found = amplified(1000, one, delta).unwrap();
    assert!((found.upper - 0.182_412_347_5).abs() < 1e-8, "{found}");
    let many = amplified(100_000, one, delta).unwrap();
    assert!(many.upper > 0.0150 && many.upper < 0.0160);
    assert!(amplified(0, one, delta).is_err());
}
