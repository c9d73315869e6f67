use super::*;

#[test]
fn formalities_are_told_from_questions() {
    for (text, expected) in [
        ("BEGIN", Some(Formality::Begin)),
        ("start transaction read only", Some(Formality::Begin)),
        ("COMMIT;", Some(Formality::End("COMMIT"))),
        ("rollback to x", Some(Formality::End("ROLLBACK"))),
        ("SET extra_float_digits = 3", Some(Formality::Nothing("SET"))),
        ("set session characteristics as transaction read only", None),
        ("SET client_encoding='UTF8'", Some(Formality::Nothing("SET"))),
        ("SET demure.epsilon = 1", None),
        ("RESET demure.epsilon", None),
        ("RESET ALL", Some(Formality::Reset(false))),
        ("RESET timezone", Some(Formality::Nothing("RESET"))),
        ("DISCARD ALL;", Some(Formality::Reset(true))),
        ("DISCARD PLANS", Some(Formality::Nothing("DISCARD"))),
        ("DEALLOCATE ALL", Some(Formality::Deallocate(None))),
        ("deallocate prepare S_1", Some(Formality::Deallocate(Some("s_1".into())))),
        ("DEALLOCATE \"S\"\"1\"", Some(Formality::Deallocate(Some("S\"1".into())))),
        ("DEALLOCATE a b", None),
        ("DEALLOCATE", None),
        ("SELECT 1", None),
        ("DROP TABLE x", None),
        ("", None),
    ] {
        assert_eq!(formality(text), expected, "{text}");
    }
}
