//! Files that only their owner may read: ledgers, accounts, incidents.
//!
//! # Guarantee
//! A file created here has mode 0600 from its first moment, whatever the umask. An existing file that others may read
//! or write is refused.
//!
//! # What it does not do
//! It ignores access control lists, and on systems without Unix modes it checks nothing.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Others may read or write a file that holds answers, keys or secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` has mode {mode:o}: others may read or write what only its owner should; \
     run `chmod 600 {}` and start again, and ask who may have read it",
    path.display(), path.display()
)]
pub struct Exposed {
    /// The file.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

/// Creates a file for its owner alone; fails if it exists.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Refuses a file that others may read or write. Accepts one that does not exist.
pub fn check(path: &Path) -> Result<(), Exposed> {
    match mode(path) {
        Some(mode) if mode & 0o077 != 0 => Err(Exposed { path: path.to_owned(), mode }),
        _ => Ok(()),
    }
}

/// [`check`] for a SQLite file, its log and its shared memory.
pub fn check_sqlite(path: &Path) -> Result<(), Exposed> {
    ["", "-wal", "-shm"].iter().try_for_each(|suffix| check(&beside(path, suffix)))
}

/// Removes the permissions of others. Returns whether there were any.
pub(crate) fn tighten(path: &Path) -> io::Result<bool> {
    if check(path).is_ok() {
        return Ok(false);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(true)
}

/// Gives a file the owner of another, as far as this user may: files that root writes for a server must be readable by
/// the server.
pub fn give_to_owner_of(other: &Path, file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        if let Ok(owner) = std::fs::metadata(other) {
            // If this is not permitted, the file keeps its owner, who was allowed to write it.
            let _ = fchown(file, Some(owner.uid()), Some(owner.gid()));
        }
    }
    #[cfg(not(unix))]
    let _ = (other, file);
}

/// The path with a suffix appended to the file name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the names in a folder survive a power failure.
pub fn sync_folder(of: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let parent = of.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
    }
    #[cfg(not(unix))]
    {
        let _ = of;
        Ok(())
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    // A path that is not a file is refused when it is opened.
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(found.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

#[cfg(all(test, unix))]
mod tests;
