//! The spellings of one source: as the policy says it, and where its files really are.
//!
//! A table is known in the ledger by its sources, so that the same rows under another name keep
//! their unit. `visits.csv`, `./visits.csv`, an absolute path and a link to the file are one
//! source.

use std::path::{Component, Path, PathBuf};

/// A source as it is written, and relative to the policy's folder with all links followed, so
/// that a folder that is moved as a whole keeps its sources.
pub(crate) fn sources(folder: &Path, source: &str) -> Vec<String> {
    let mut all = vec![source.to_owned()];
    all.extend(real(folder, source).filter(|real| real != source));
    all
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
}
