use super::*;
use crate::client::{Client, TrueAnswer};
use demure_core::random::SeededForTests;

#[test]
fn it_counts_what_is_stored_and_goes_on_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reports");
    let survey = Survey::parse(
        "version = 1\nquestion = 'q'\nsalt = '00112233445566778899aabbccddeeff'\nepsilon = 1\n\
             values = ['a','b','c','d','e','f','g','h']\nmechanism = 'hadamard'",
    )
    .unwrap();
    let mut rng = SeededForTests::insecure(1);
    let one = |rng: &mut SeededForTests| {
        Client::new(&survey).randomize(&[TrueAnswer::Category(1)], rng).unwrap()
    };
    let service =
        ReportService::open(&path, survey.clone(), &mut SeededForTests::insecure(2)).unwrap();
    assert!(service.estimates(&Options::usual().unwrap()).is_err());
    let first = one(&mut rng);
    assert_eq!(service.take(&first.to_bytes(&survey)).unwrap(), Receipt::Stored);
    assert_eq!(service.take_json(&first.to_json(&survey)).unwrap(), Receipt::Duplicate);
    assert!(matches!(service.take_json("{}").unwrap(), Receipt::Rejected(_)));
    let (sender, receiver) = std::sync::mpsc::channel();
    for i in 0..50 {
        let sender = sender.clone();
        service.submit(one(&mut rng).to_bytes(&survey), move |receipt| {
            sender.send(receipt.unwrap()).unwrap();
            assert!(i != 7, "a reply that panics harms nobody else");
        });
    }
    drop(sender);
    assert_eq!(receiver.iter().count(), 50);
    let (people, rejected) = service.status();
    assert_eq!((people, rejected.duplicate, rejected.version), (51, 1, 1));
    let found = service.estimates(&Options::usual().unwrap()).unwrap();
    service.close().unwrap();
    let service =
        ReportService::open(&path, survey.clone(), &mut SeededForTests::insecure(3)).unwrap();
    assert_eq!(service.recovered().reports, 51);
    assert_eq!(service.take(&first.to_bytes(&survey)).unwrap(), Receipt::Duplicate);
    let again = service.estimates(&Options::usual().unwrap()).unwrap();
    assert_eq!(again.estimates, found.estimates);
}
