//! Parts ("rooms") of the curator import in one direction: each may use those before it.

use super::File;

const SOURCES: &str = "crates/curator/src/";

/// The rooms in order: folders, and single files.
const ROOMS: [&str; 22] = [
    "calendar",
    "clinic",
    "words",
    "refusal",
    "policy",
    "error",
    "incident",
    "statement",
    "identity",
    "outside",
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
    "check",
    "lib",
];

/// Every import that goes in the wrong direction.
pub(super) fn violations(files: &[File]) -> Vec<String> {
    let mut broken = Vec::new();
    for file in files {
        let Some(path) = file.path.strip_prefix(SOURCES).filter(|p| p.ends_with(".rs")) else {
            continue;
        };
        if super::core_source::is_test(&file.path) {
            continue;
        }
        let room = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
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
mod tests;
