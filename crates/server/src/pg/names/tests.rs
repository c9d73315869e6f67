use super::*;

#[test]
fn statements_are_refused_and_portals_replaced() {
    let names = Names::default();
    for i in 0..MOST {
        names.statement(Some(&format!("s{i}"))).unwrap();
        assert_eq!(names.portal(Some(&format!("p{i}"))).unwrap(), None);
    }
    assert!(names.statement(Some("one more")).is_err());
    names.statement(Some("s7")).unwrap(); // prepared anew
    names.statement(None).unwrap();
    names.closed_statement(Some("s7"));
    names.statement(Some("one more")).unwrap();
    assert_eq!(names.portal(Some("p0")).unwrap(), None); // it is the newest now
    assert_eq!(names.portal(Some("one more")).unwrap().as_deref(), Some("p1"));
    assert!(names.statement(Some(&"x".repeat(LONGEST + 1))).is_err());
    assert_eq!(names.closed_all().len(), MOST);
    names.statement(Some("two more")).unwrap();
}
