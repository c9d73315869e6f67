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
mod tests;
