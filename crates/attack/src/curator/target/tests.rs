use super::*;

#[test]
fn a_target_is_found_and_left_out() {
    let tables = vec![(
        "p".to_owned(),
        vec![("id".to_owned(), "Int64".to_owned()), ("n".to_owned(), "Utf8View".to_owned())],
    )];
    let found = "p.id=7".parse::<Target>().unwrap().found(&tables).unwrap();
    assert_eq!(
        found.shadow("SELECT COUNT(*) FROM p", true, 3),
        "WITH p AS (SELECT * FROM p WHERE \"id\" <> -1000000000003 AND \"id\" <> 7) \
             SELECT COUNT(*) FROM p"
    );
    let named = "p.n=O'Hara".parse::<Target>().unwrap().found(&tables).unwrap();
    let sql = named.shadow("with a AS (SELECT 1) SELECT 2", true, 0);
    assert!(sql.starts_with("WITH p AS (") && sql.contains("<> 'O''Hara'), a AS"), "{sql}");
    for bad in ["p.id", "id=7", "p.=7", "p.id="] {
        assert!(bad.parse::<Target>().is_err(), "{bad}");
    }
    for bad in ["q.id=7", "p.x=7", "p.id=x"] {
        assert!(bad.parse::<Target>().unwrap().found(&tables).is_err(), "{bad}");
    }
}
#[test]
fn a_query_names_its_table() {
    let tables = ["visit", "visits"];
    assert_eq!(named("SELECT 1 FROM visits v", tables.into_iter()), Some("visits"));
    assert_eq!(named("SELECT 1 FROM visitsx", tables.into_iter()), None);
}
