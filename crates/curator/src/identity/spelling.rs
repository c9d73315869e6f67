//! The spellings of a source: as written in the policy, and as the real location of its files.
//!
//! The ledger identifies a table by its sources, so that the same rows under another name keep their unit.
//! `visits.csv`, `./visits.csv`, an absolute path and a link to the file are one source. It identifies files, too: a
//! folder or pattern that includes the file, a hard link to it, and the file after the policy was moved or the file
//! was renamed are all the same file.
//!
//! # What it does not do
//! A copy is a different file. On a file system that does not record when a file was created, so is a renamed file, or
//! one with several names.

use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// A source as written, and its path relative to the policy's folder with all links resolved, so that a folder that is
/// moved as a whole keeps its sources.
pub(crate) fn sources(folder: &Path, source: &str) -> Vec<String> {
    let mut all = vec![source.to_owned()];
    all.extend(real(folder, source).filter(|real| real != source));
    all
}

/// Identifiers of the files of a source: the path of each with all links resolved, and its inode number with its
/// creation time. An inode number alone is reused for other files, and the device number changes after a restart.
/// Missing files have no identifiers.
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

/// The inode number of a file and its creation time; `None` if that is not known.
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

/// The real path of a file, a folder or a pattern in a folder; `None` if it does not exist.
fn real(folder: &Path, source: &str) -> Option<String> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (here, path) = (here.canonicalize().ok()?, here.join(source));
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(_) => path.parent()?.canonicalize().ok()?.join(path.file_name()?),
    };
    Some(relative(&here, &path).to_str()?.to_owned())
}

/// The relative path from a folder to a path; both are absolute and without links.
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
        // Patterns, and files that do not exist.
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
        // After the policy was moved and the file renamed.
        assert!(has(root.path(), "data/visits.csv"));
        std::fs::rename(data.join("visits.csv"), data.join("stays.csv")).unwrap();
        assert!(has(&folder, "../data/stays.csv"));
        // Another file at the same path is identified by its path; a copy elsewhere is a different file.
        std::fs::write(data.join("visits.csv"), "id\n").unwrap();
        assert!(has(&folder, "../data/visits.csv"));
        std::fs::copy(data.join("stays.csv"), data.join("copy.csv")).unwrap();
        assert!(!has(&folder, "../data/copy.csv"));
    }
}
