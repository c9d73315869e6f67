use super::super::Role;
use super::*;

#[test]
fn tokens_are_listed_and_taken_back_one_by_one() {
    let users = Users::in_memory().unwrap();
    users.add("root", "ana", Role::Analyst, "a long password").unwrap();
    users.add("root", "bob", Role::Analyst, "a long password").unwrap();
    let one = users.add_token("root", "ana", "notebook", 30).unwrap();
    let two = users.add_token("root", "ana", "dashboard", 30).unwrap();
    let metrics = users.add_metrics_token("root", "prometheus", 30).unwrap();
    users.add_token("root", "bob", "", 30).unwrap();
    let listed = users.tokens(Some("ana")).unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(users.tokens(None).unwrap().len(), 4);
    let shown = format!("{:?}", users.tokens(None).unwrap());
    assert!([&one, &two, &metrics].iter().all(|token| !shown.contains(&token[14..])));
    let id = |label: &str| {
        let all = users.tokens(None).unwrap();
        all.into_iter().find(|token| token.label == label).unwrap().id
    };
    // Another's token, or none, is not taken back.
    for (name, token) in [(Some("bob"), id("notebook")), (None, id("notebook"))] {
        let refused = users.revoke_token("root", name, &token);
        assert!(matches!(refused, Err(Error::UnknownToken(_))));
    }
    users.revoke_token("root", Some("ana"), &id("notebook")).unwrap();
    assert!(users.bearer(&one).is_err() && users.bearer(&two).is_ok());
    // Metrics and nothing else; nothing else reads metrics.
    assert!(users.reads_metrics(&metrics).unwrap() && users.bearer(&metrics).is_err());
    assert!(!users.reads_metrics(&two).unwrap());
    users.revoke_token("root", None, &id("prometheus")).unwrap();
    assert!(!users.reads_metrics(&metrics).unwrap());
    // Another password ends those that are left.
    users.set_password("root", "ana", "another password").unwrap();
    assert!(users.bearer(&two).is_err());
    assert!(users.tokens(Some("ana")).unwrap().is_empty());
    assert_eq!(users.tokens(Some("bob")).unwrap().len(), 1, "not somebody else's");
}
