//! The files of a source: a single file, those in a folder, or those that match a pattern.

use std::path::{Path, PathBuf};

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text with a delimiter.
    Csv,
    /// The same, compressed with gzip.
    CsvGzip,
    /// Parquet.
    Parquet,
}

/// What a file holds, by its name in any case: `.csv`, `.tsv`, the same with `.gz`, or `.parquet`.
pub(crate) fn format(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let (name, gzip) = match name.strip_suffix(".gz") {
        Some(name) => (name, true),
        None => (name.as_str(), false),
    };
    match (Path::new(name).extension()?.to_str()?, gzip) {
        ("csv" | "tsv", false) => Some(Format::Csv),
        ("csv" | "tsv", true) => Some(Format::CsvGzip),
        ("parquet", false) => Some(Format::Parquet),
        _ => None,
    }
}

fn is_data(path: &Path) -> bool {
    format(path).is_some()
}

/// The files of a source: a single file, those in a folder, or those whose name matches a pattern with `*`.
pub(crate) fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = if path.is_dir() {
        let entries = std::fs::read_dir(path)?;
        let paths: std::io::Result<Vec<_>> = entries.map(|e| e.map(|e| e.path())).collect();
        paths?.into_iter().filter(|p| is_data(p)).collect()
    } else if let Some(pattern) =
        path.file_name().map(|n| n.to_string_lossy().into_owned()).filter(|n| n.contains('*'))
    {
        let entries = std::fs::read_dir(path.parent().unwrap_or(Path::new(".")))?;
        let paths: std::io::Result<Vec<_>> = entries.map(|e| e.map(|e| e.path())).collect();
        let fits = |p: &PathBuf| {
            p.file_name().is_some_and(|name| matches(&pattern, &name.to_string_lossy()))
        };
        paths?.into_iter().filter(|p| is_data(p) && fits(p)).collect()
    } else {
        std::fs::metadata(path)?;
        vec![path.to_owned()]
    };
    found.sort();
    Ok(found)
}

/// Whether `name` matches `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    for (i, part) in parts.iter().enumerate() {
        if i + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests;
