//! Parts ("rooms") of the curator import in one direction: each may use those before it.

use super::File;

const SOURCES: &str = "crates/curator/src/";

/// The rooms in order: folders, and single files.
const ROOMS: [&str; 19] = [
    "clinic",
    "words",
    "refusal",
    "policy",
    "error",
    "incident",
    "statement",
    "identity",
    "rows",
    "tables",
    "bound",
    "aggregate",
    "answer",
    "plan",
    "curator",
    "pipeline",
    "session",
    "first_policy",
    "lib",
];

/// The tests of the whole crate, which may use every room.
const TESTS: &str = "property";

/// Every import that goes in the wrong direction.
pub(super) fn violations(files: &[File]) -> Vec<String> {
    let mut broken = Vec::new();
    for file in files {
        let Some(path) = file.path.strip_prefix(SOURCES).filter(|p| p.ends_with(".rs")) else {
            continue;
        };
        let room = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
        if room == TESTS {
            continue;
        }
        let Some(place) = ROOMS.iter().position(|known| *known == room) else {
            broken.push(format!(
                "{}: no room of the curator has this name: give it a place in xtask/src/layers/rooms.rs",
                file.path
            ));
            continue;
        };
        for (number, line) in super::core_source::shipped(&file.text) {
            let code = line.split("//").next().unwrap_or(line);
            for used in code.split("crate::").skip(1) {
                let name: String =
                    used.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                // Names that `lib.rs` exports begin with a capital and belong to no room.
                let above = ROOMS.iter().position(|known| *known == name);
                if above.is_some_and(|above| above > place) {
                    broken.push(format!(
                        "{}:{number}: `{room}` must not import from `{name}`, which comes after it",
                        file.path
                    ));
                }
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
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
            violations(&[file("property/x.rs", "use crate::session::S;\n")]),
            Vec::<String>::new()
        );
    }
}
