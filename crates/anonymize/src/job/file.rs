//! A job from a TOML file: every key is an option's name, so a file says what a call would.
//!
//! ```toml
//! input = "people.csv"
//! qi = ["zip", "points"]
//! sensitive = ["system"]
//! k = 3
//! suppress = "4%"
//!
//! [hierarchy]
//! zip = "zip.csv"
//! age = "intervals:5,10,20"
//! ```

use super::hierarchies::is_file;
use std::ffi::OsString;
use std::path::Path;
use toml::{Table, Value};

/// Options that name a file.
const PATHS: [&str; 5] = ["output", "report", "population", "original", "witness"];
/// Options without a value.
const FLAGS: [&str; 4] = ["explain", "json", "enhanced", "report-originals"];

/// The arguments that say what a job file says: `--k=3`, `--hierarchy age=intervals:5`, and the table's
/// file by itself. Paths are relative to `folder`; keys that are `skipped` are left out.
pub fn arguments(
    text: &str,
    folder: &Path,
    skipped: &dyn Fn(&str) -> bool,
) -> Result<Vec<OsString>, String> {
    // The parser's own message would quote the file.
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line} is not TOML")
    })?;
    let mut arguments = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| !skipped(key)) {
        let kind = || format!("`{key}` is not of the right kind; see --help");
        match (key.as_str(), value) {
            ("config", _) => return Err("a job file cannot name another".to_owned()),
            ("input", Value::String(file)) => {
                arguments.push(folder.join(file).into_os_string());
            }
            ("hierarchy", Value::Table(all)) => {
                for (column, spec) in all {
                    let spec = spec.as_str().ok_or_else(kind)?;
                    let mut pair = OsString::from(format!("{column}="));
                    match is_file(spec) {
                        true => pair.push(folder.join(spec)),
                        false => pair.push(spec),
                    }
                    arguments.extend(["--hierarchy".into(), pair]);
                }
            }
            ("order", Value::Table(all)) => {
                for (column, order) in all {
                    let order = plain(order).ok_or_else(kind)?;
                    arguments.extend(["--order".into(), format!("{column}={order}").into()]);
                }
            }
            ("input" | "hierarchy" | "order", _) => return Err(kind()),
            (flag, Value::Boolean(wanted)) if FLAGS.contains(&flag) => {
                if *wanted {
                    arguments.push(format!("--{flag}").into());
                }
            }
            (name, Value::String(file)) if PATHS.contains(&name) => {
                arguments.push(format!("--{name}").into());
                arguments.push(folder.join(file).into_os_string());
            }
            (name, value) => {
                arguments.push(format!("--{name}={}", plain(value).ok_or_else(kind)?).into());
            }
        }
    }
    Ok(arguments)
}

/// A value as it would be typed.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(plain).collect();
            items.map(|items| items.join(","))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
