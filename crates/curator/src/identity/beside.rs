//! The files next to a policy that are, or were, its ledgers: `clinic.ledger`, `clinic.2.ledger`, ….

use crate::error::{Error, Result};
use crate::policy::Policy;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The suffixes of a ledger's files, including those it may leave behind.
const PARTS: [&str; 4] = ["", "-wal", "-shm", "-head"];

/// The path of a policy's first ledger: next to the policy.
#[must_use]
pub fn ledger_path(policy: &Path) -> PathBuf {
    Policy::real_path(policy).with_extension("ledger")
}

/// Whether writing to `file` would destroy or change what the policy at `path` needs: the policy itself, its ledger, its
/// accounts, or a source.
#[must_use]
pub fn is_needed(file: &Path, path: &Path, policy: &Policy) -> bool {
    let (Some(file), Some(own)) = (real_name(file), real_name(&Policy::real_path(path))) else {
        return false;
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name(&own.with_extension("")) + ".";
    let beside = file.parent() == own.parent()
        && name(&file).strip_prefix(&stem).is_some_and(|rest| {
            // `clinic.ledger-wal`, `clinic.2.ledger`, `clinic.users`
            rest.contains("ledger") || rest.starts_with("users")
        });
    let source = |source: &str| {
        let place = policy.folder.join(source);
        if source.contains('*') {
            return place.parent().and_then(real_name).is_some_and(|of| file.parent() == Some(&of));
        }
        real_name(&place).is_some_and(|place| file.starts_with(place))
    };
    file == own || beside || policy.tables.iter().any(|table| source(&table.source))
}

/// The path of a file that may not be there yet, with all links followed.
fn real_name(file: &Path) -> Option<PathBuf> {
    file.canonicalize().ok().or_else(|| {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(parent.unwrap_or(Path::new(".")).canonicalize().ok()?.join(file.file_name()?))
    })
}

/// The ledgers of a policy of which any file exists, sorted by number; numbers may be missing. Ledgers of other
/// policies, such as `clinic.2.toml`, are left out.
pub(crate) fn ledgers(policy: &Path) -> Result<Vec<PathBuf>> {
    Ok(numbers(policy)?.into_iter().map(|number| numbered(policy, number)).collect())
}

/// A name for another ledger, with a higher number than any that exists or has left files behind.
pub(crate) fn unused(policy: &Path) -> Result<PathBuf> {
    let mut free = numbers(policy)?.last().map_or(1, |last| last.saturating_add(1));
    while is_others(policy, free) {
        free = free.saturating_add(1);
    }
    Ok(numbered(policy, free))
}

/// The path of a numbered ledger. The first has no number in its name.
fn numbered(policy: &Path, number: u32) -> PathBuf {
    match number {
        1 => ledger_path(policy),
        _ => policy.with_extension(format!("{number}.ledger")),
    }
}

fn is_others(policy: &Path, number: u32) -> bool {
    let ending = policy.extension().unwrap_or_default().to_string_lossy();
    number > 1 && policy.with_extension(format!("{number}.{ending}")).exists()
}

fn numbers(policy: &Path) -> Result<Vec<u32>> {
    let folder = policy.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let cannot = |_| Error::Ledger(demure_ledger::Error::CannotOpen { path: folder.to_owned() });
    let stem = policy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut numbers = Vec::new();
    for file in std::fs::read_dir(folder).map_err(cannot)? {
        numbers.extend(number(&stem, &file.map_err(cannot)?.file_name()));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|number| !is_others(policy, *number));
    Ok(numbers)
}

/// The number of the ledger that a file belongs to.
fn number(stem: &str, file: &OsStr) -> Option<u32> {
    let file = file.to_str()?;
    let rest = file.strip_prefix(stem)?.strip_prefix('.')?;
    let whole = |part: &&str| rest.ends_with(&format!("ledger{part}"));
    let part = PARTS.iter().rev().find(|part| whole(part))?;
    let number = rest.strip_suffix(part)?.strip_suffix("ledger")?;
    match number.strip_suffix('.') {
        None => number.is_empty().then_some(1),
        // Digits as they are written here, not `02`.
        Some(digits) => {
            digits.parse().ok().filter(|number: &u32| *number > 1 && number.to_string() == digits)
        }
    }
}

/// Removes a ledger that was created but not used; nothing was spent from it.
pub(crate) fn remove(ledger: &Path) {
    for part in PARTS {
        let mut name = ledger.as_os_str().to_owned();
        name.push(part);
        // If this fails, a ledger stays that no policy names.
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests;
