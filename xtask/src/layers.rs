//! `cargo xtask layers`: the architectural invariants that a compiler cannot check.
//!
//! | file | rule |
//! |---|---|
//! | `graph.rs` | which crate may depend on which, and what the core may use |
//! | `rooms.rs` | which part ("room") of the curator may import from which |
//! | `core_source.rs` | what the core's sources must and must not contain, and their size |
//!
//! Each rule is a function from files or packages to the list of violations.

mod core_source;
mod graph;
mod rooms;

use crate::{Failure, metadata, root};
use std::fs;
use std::path::{Path, PathBuf};

/// A file of the repository: its path from the root, with `/`, and its contents.
struct File {
    path: String,
    text: String,
}

/// The core's sources, on which every proof depends.
const CORE: [&str; 2] = ["crates/core/src/", "crates/natural/src/"];

/// Directories without our own files.
const SKIPPED: [&str; 6] =
    [".git", ".venv", ".pytest_cache", "__pycache__", "node_modules", "target"];

/// Prints all violations, if there are any.
pub(crate) fn run() -> Result<(), Failure> {
    let workspace = metadata::workspace()?;
    let files = files(&root())?;
    let core: Vec<&File> =
        files.iter().filter(|file| CORE.iter().any(|of| file.path.starts_with(of))).collect();

    let mut broken = graph::violations(&workspace.packages);
    broken.extend(core_source::violations(&core));
    broken.extend(rooms::violations(&files));
    for line in &broken {
        eprintln!("layers: {line}");
    }
    if !broken.is_empty() {
        return Err(Failure::new(
            format!("layers: {} broken", broken.len()),
            "the rules are in xtask/src/layers/, the reasons in ARCHITECTURE.md",
        ));
    }
    let sizes = core_source::sizes(&core).map(|(name, lines)| format!("{name} {lines}"));
    eprintln!(
        "layers: {} crates, {} files; lines of code: {}",
        workspace.packages.len(),
        files.len(),
        sizes.join(", ")
    );
    Ok(())
}

/// Every file under `root`, in order of path.
fn files(root: &Path) -> Result<Vec<File>, Failure> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for path in entries(&directory)? {
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                let name = path.file_name().and_then(|name| name.to_str());
                if !name.is_some_and(|name| SKIPPED.contains(&name)) {
                    directories.push(path);
                }
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
            let path = path.strip_prefix(root).unwrap_or(&path);
            found.push(File {
                path: path.to_string_lossy().replace('\\', "/"),
                // Binary files too: a path in an image's metadata is still a path.
                text: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    read().map_err(|error| unreadable(directory, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        format!("layers: {} cannot be read: {error}", path.display()),
        "a file that cannot be read cannot be checked; remove it or mend its permissions",
    )
}

#[cfg(test)]
mod tests;
