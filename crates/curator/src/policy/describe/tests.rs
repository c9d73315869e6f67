use super::*;
use std::path::Path;

#[test]
fn tables_and_columns_read_as_the_policy_has_them() {
    let text = "[budget]\nepsilon = 1.0\n[tables.t]\nsource = 't.csv'\nunit = 'id'\n\
                    [tables.t.columns]\nid = { type = 'integer', nullable = false }\n\
                    age = { bounds = [0, 120] }\n\
                    born = { type = 'date', bounds = [1900-01-01, 2024-12-31] }\n\
                    sex = { values = ['f', 'm', \"o'\"], nullable = false }\n";
    let policy = Policy::parse(text, Path::new("")).unwrap();
    let access = &policy.table("t").unwrap().access;
    assert_eq!(access.to_string(), "protected by id");
    let known = |name: &str| access.protection().unwrap().known_in_words(name);
    assert_eq!(known("id"), "whose row it is; never NULL");
    assert_eq!((known("age").as_str(), known("other").as_str()), ("from 0 to 120", ""));
    assert_eq!(known("born"), "from 1900-01-01 to 2024-12-31");
    assert_eq!(known("sex"), "'f', 'm', 'o'''; never NULL");
}
