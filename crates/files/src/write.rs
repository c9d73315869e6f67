//! Files that appear complete or not at all.

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file next to `path` and moves it there when it is complete. So a reader of `path` never sees a part, and a
/// failure leaves the previous file in place.
pub fn write<E: From<Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = Error::writing(path);
    // A device or a pipe (`/dev/stdout`) cannot be replaced, only written to.
    let special = fs::metadata(path).is_ok_and(|found| !found.is_file());
    if special {
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
        fill(&mut out)?;
        return Ok(out.flush().map_err(failed)?);
    }
    let temporary = beside(path).map_err(failed)?;
    let complete = || -> Result<(), E> {
        let mut out = BufWriter::new(File::create_new(&temporary).map_err(failed)?);
        fill(&mut out)?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        Ok(fs::rename(&temporary, path).map_err(failed)?)
    };
    complete().inspect_err(|_| {
        // It may not exist; the first error is the one that matters.
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes a text.
pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    write(path, |out| out.write_all(text.as_bytes()).map_err(Error::writing(path)))
}

/// Writes a text that only its owner may read.
pub fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    write(path, |out| {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let owner = fs::Permissions::from_mode(0o600);
            out.get_ref().set_permissions(owner).map_err(Error::writing(path))?;
        }
        out.write_all(text.as_bytes()).map_err(Error::writing(path))
    })
}

/// A name in the same folder, hence on the same disk, that only this process uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
mod tests;
