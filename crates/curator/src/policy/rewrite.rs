//! Rewrites a policy's file atomically: at every moment it is either the old or the new one.

use super::Policy;
use demure_ledger::access;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a policy's text, or creates its file, and returns when that is on disk. Owner and mode stay. A link stays
/// a link, and the file it points to is replaced. Files that a killed process left from an earlier attempt are
/// removed.
pub fn rewrite(path: &Path, text: &str) -> io::Result<()> {
    let path = &Policy::real_path(path);
    sweep(path);
    let begun = part(path, &std::process::id().to_string());
    let write = || -> io::Result<()> {
        let mode = match std::fs::metadata(path) {
            Ok(found) if found.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Ok(found) => Some(found.permissions()),
            Err(_) => None,
        };
        let mut to = match &mode {
            // It must not be readable by more users than the file that it replaces.
            Some(_) => access::create(&begun)?,
            None => File::create_new(&begun)?,
        };
        to.lock()?;
        to.write_all(text.as_bytes())?;
        if let Some(mode) = mode {
            to.set_permissions(mode)?;
            access::give_to_owner_of(path, &to);
        }
        to.sync_all()?;
        std::fs::rename(&begun, path)?;
        access::sync_folder(path)
    };
    write().inspect_err(|_| {
        // It may not exist; the first error is the one that matters.
        let _ = std::fs::remove_file(&begun);
    })
}

/// Checks that a file could be rewritten. Nothing is changed.
pub(crate) fn rewritable(path: &Path) -> io::Result<()> {
    let path = &Policy::real_path(path);
    if std::fs::metadata(path)?.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let begun = part(path, &std::process::id().to_string());
    access::create(&begun).map(drop)?;
    std::fs::remove_file(&begun)
}

fn part(path: &Path, number: &str) -> PathBuf {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{file}.{number}.part"))
}

/// Removes unfinished files that no process has locked.
fn sweep(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(files) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let number = name.strip_suffix(".part").and_then(|name| name.rsplit('.').next());
        let own = number.is_some_and(|number| {
            number.parse::<u32>().is_ok() && part(path, number).file_name() == Some(name.as_ref())
        });
        let abandoned = || File::open(file.path()).is_ok_and(|file| file.try_lock().is_ok());
        if own && abandoned() {
            // A file that cannot be removed does no harm.
            let _ = std::fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests;
