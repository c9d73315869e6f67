//! The spellings of one source: as the policy says it, and where its files really are.
//!
//! A table is known in the ledger by its sources, so that the same rows under another name keep
//! their unit. `visits.csv`, `./visits.csv`, an absolute path and a link to the file are one
//! source. It is known by its files, too: a folder or a pattern with the file in it, a hard
//! link, the file after the policy was moved or after it was renamed itself are that file.
//!
//! # What it does not do
//! A copy is another file. So is one that was renamed, or that has several names, on a file system
//! that does not say when a file was made.

use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// A source as it is written, and relative to the policy's folder with all links followed, so
/// that a folder that is moved as a whole keeps its sources.
pub(crate) fn sources(folder: &Path, source: &str) -> Vec<String> {
    let mut all = vec![source.to_owned()];
    all.extend(real(folder, source).filter(|real| real != source));
    all
}

/// What tells the files of a source from others: where each of them is, with all links followed,
/// and its number with the time when it was made. A number alone is used again for another file, and
/// the device of a file has another number after a restart. Nothing of what is not there.
pub(crate) fn files(folder: &Path, source: &str) -> Vec<[u8; 32]> {
    let files =
        std::path::absolute(folder.join(source)).and_then(|path| super::files::files(&path));
    let mut all = Vec::new();
    for file in files.unwrap_or_default() {
        if let Ok(path) = file.canonicalize() {
            all.push(hash(b"path\n", path.as_os_str().as_encoded_bytes()));
        }
        all.extend(made(&file).map(|made| hash(b"file\n", made.as_bytes())));
    }
    all
}

fn hash(what: &[u8], value: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(what).chain_update(value).finalize().into()
}

/// The number of a file, and when it was made; none where that is not known.
fn made(file: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = file.metadata().ok()?;
        let made = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{} {}", found.ino(), made.as_nanos()))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Where a file, a folder or a pattern in a folder really is; none if it is not there.
fn real(folder: &Path, source: &str) -> Option<String> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (here, path) = (here.canonicalize().ok()?, here.join(source));
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(_) => path.parent()?.canonicalize().ok()?.join(path.file_name()?),
    };
    Some(relative(&here, &path).to_str()?.to_owned())
}

/// The way from one folder to a path; both are absolute and without links.
fn relative(folder: &Path, path: &Path) -> PathBuf {
    let (mut from, mut to) = (folder.components().peekable(), path.components().peekable());
    while let (Some(a), Some(b)) = (from.peek(), to.peek())
        && a == b
    {
        from.next();
        to.next();
    }
    from.map(|_| Component::ParentDir).chain(to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_real_spelling() {
        let root = tempfile::tempdir().unwrap();
        let (folder, data) = (root.path().join("policy"), root.path().join("data"));
        for made in [&folder, &data] {
            std::fs::create_dir(made).unwrap();
        }
        std::fs::write(folder.join("visits.csv"), "id\n").unwrap();
        std::fs::write(data.join("stays.csv"), "id\n").unwrap();
        std::os::unix::fs::symlink("visits.csv", folder.join("link.csv")).unwrap();
        std::os::unix::fs::symlink(&data, folder.join("elsewhere")).unwrap();
        let whole = folder.join("visits.csv").display().to_string();
        for source in ["visits.csv", "./visits.csv", ".//visits.csv", "link.csv", &whole] {
            let all = sources(&folder, source);
            assert_eq!((all[0].as_str(), all.last().unwrap().as_str()), (source, "visits.csv"));
        }
        let outside = data.join("stays.csv").display().to_string();
        for source in ["../data/stays.csv", "elsewhere/stays.csv", &outside] {
            assert_eq!(sources(&folder, source).last().unwrap(), "../data/stays.csv");
        }
        // Patterns, and what is not there.
        assert_eq!(sources(&folder, "elsewhere/*.csv").last().unwrap(), "../data/*.csv");
        assert_eq!(sources(&folder, "gone.csv"), ["gone.csv"]);
        assert_eq!(sources(&folder, "gone/gone.csv"), ["gone/gone.csv"]);
    }
    #[test]
    fn a_file_is_the_same_under_another_name_in_a_folder_and_after_a_move() {
        let root = tempfile::tempdir().unwrap();
        let (folder, data) = (root.path().join("policy"), root.path().join("data"));
        for made in [&folder, &data] {
            std::fs::create_dir(made).unwrap();
        }
        for name in ["visits.csv", "staff.csv"] {
            std::fs::write(data.join(name), "id\n").unwrap();
        }
        let own = files(&folder, "../data/visits.csv");
        let has = |folder: &Path, source: &str| {
            files(folder, source).iter().any(|file| own.contains(file))
        };
        std::fs::hard_link(data.join("visits.csv"), folder.join("hard.csv")).unwrap();
        std::os::unix::fs::symlink(data.join("visits.csv"), folder.join("soft.csv")).unwrap();
        for source in ["../data", "../data/*.csv", "../data/v*", "hard.csv", "soft.csv", "*.csv"] {
            assert!(has(&folder, source), "{source}");
        }
        for source in ["../data/staff.csv", "../data/s*.csv", "gone.csv"] {
            assert!(!has(&folder, source), "{source}");
        }
        // The policy is moved, and the file renamed.
        assert!(has(root.path(), "data/visits.csv"));
        std::fs::rename(data.join("visits.csv"), data.join("stays.csv")).unwrap();
        assert!(has(&folder, "../data/stays.csv"));
        // Another file in the same place is known by its place; a copy elsewhere is another file.
        std::fs::write(data.join("visits.csv"), "id\n").unwrap();
        assert!(has(&folder, "../data/visits.csv"));
        std::fs::copy(data.join("stays.csv"), data.join("copy.csv")).unwrap();
        assert!(!has(&folder, "../data/copy.csv"));
    }
}
