//! Files that are created under a temporary name first, so that they appear complete or not at all:
//! `.clinic.ledger.1f0e….part`.
//!
//! Their creator keeps them locked until they have their final name. A file that is not locked was left by a process
//! that was killed.

use crate::access;
use crate::error::{Error, Result};
use crate::identity::LedgerId;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// An unused name in the same folder.
pub(crate) fn name(path: &Path) -> Result<PathBuf> {
    let cannot = || Error::CannotOpen { path: path.to_owned() };
    let name = path.file_name().ok_or_else(cannot)?.to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{}.part", LedgerId::random()?)))
}

/// Creates a file with such a name, for its owner alone, which stays locked until it is dropped.
pub(crate) fn create(begun: &Path) -> io::Result<File> {
    let file = access::create(begun)?;
    file.lock()?;
    Ok(file)
}

/// Removes unfinished files for `path` that killed processes left behind.
pub(crate) fn sweep(path: &Path) {
    for part in all(path) {
        let abandoned = || File::open(&part).is_ok_and(|file| file.try_lock().is_ok());
        if abandoned() {
            for suffix in ["", "-wal", "-shm"] {
                // A file that cannot be removed does no harm.
                let _ = std::fs::remove_file(access::beside(&part, suffix));
            }
        }
    }
}

/// Refuses a file that has several names (hard links): each would have its own log and mark, and the journal would
/// diverge.
pub(crate) fn has_one_name(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
        let names = || path.metadata().map_or(1, |found| found.nlink());
        if names() > 1 {
            // Its creator may have been killed between giving it its name and removing the first. It is not opened
            // here: closing it would release SQLite's locks.
            for part in all(path).into_iter().filter(|part| number(part) == number(path)) {
                let _ = std::fs::remove_file(part);
            }
        }
        let names = names();
        if names > 1 {
            return Err(Error::ManyNames { path: path.to_owned(), names });
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Every unfinished file for this one. Names without a leading dot are from earlier versions.
fn all(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_part = |name: &str| {
        let name = name.strip_prefix('.').unwrap_or(name);
        let rest = name.strip_prefix(own.as_str()).and_then(|rest| rest.strip_prefix('.'));
        rest.and_then(|rest| rest.strip_suffix(".part")).and_then(LedgerId::parse).is_some()
    };
    let Ok(files) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let names = files.filter_map(|file| Some(file.ok()?.path()));
    names
        .filter(|path| path.file_name().is_some_and(|name| is_part(&name.to_string_lossy())))
        .collect()
}

#[cfg(test)]
mod tests;
