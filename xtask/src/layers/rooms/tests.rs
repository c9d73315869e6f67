use super::*;

fn file(path: &str, text: &str) -> File {
    File { path: format!("{SOURCES}{path}"), text: text.to_owned() }
}

#[test]
fn an_import_of_a_later_room_is_found() {
    let good = file("plan/join.rs", "use crate::rows::Rows;\nuse crate::error::Result;\n");
    assert_eq!(violations(&[good]), Vec::<String>::new());
    for text in ["use crate::pipeline::Asker;\n", "fn f() { crate::session::run() }\n"] {
        let found = violations(&[file("plan/join.rs", text)]);
        assert!(found.len() == 1 && found[0].contains("comes after it"), "{found:?}");
    }
    assert!(violations(&[file("cellar/x.rs", "")])[0].contains("no room"));
}

#[test]
fn comments_and_tests_are_passed_over() {
    let text = "// see crate::session\nfn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::session::Outcome;\n}\n";
    assert_eq!(violations(&[file("rows/x.rs", text)]), Vec::<String>::new());
    assert_eq!(
        violations(&[file("rows/tests.rs", "use crate::session::S;\n")]),
        Vec::<String>::new()
    );
}
