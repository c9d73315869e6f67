//! The output of `cargo metadata` for the workspace.

use crate::{Failure, cargo};
use serde_json::Value;
use std::path::PathBuf;

/// The workspace: its packages, and its target directory.
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) target: PathBuf,
}

/// A package of the workspace and its declared dependencies.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether it is a path dependency, so a package of this repository.
    pub(crate) local: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Normal,
    Development,
    Build,
}

/// Asks cargo.
pub(crate) fn workspace() -> Result<Workspace, Failure> {
    let failed = |what: String| Failure::new(what, "`cargo metadata --no-deps` shows the cause");
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .map_err(|error| failed(format!("cargo metadata did not start: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("cargo metadata failed ({})", output.status)));
    }
    let value = serde_json::from_slice(&output.stdout)
        .map_err(|error| failed(format!("cargo metadata is not JSON: {error}")))?;
    parse(&value).ok_or_else(|| failed("cargo metadata has an unknown form".to_owned()))
}

/// `None` if a field is missing or of another type: unreadable output is an error, not ignored.
fn parse(value: &Value) -> Option<Workspace> {
    let package = |package: &Value| {
        let dependencies = package["dependencies"].as_array()?;
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            dependencies: dependencies.iter().map(dependency).collect::<Option<_>>()?,
        })
    };
    Some(Workspace {
        packages: value["packages"].as_array()?.iter().map(package).collect::<Option<_>>()?,
        target: value["target_directory"].as_str()?.into(),
    })
}

fn dependency(value: &Value) -> Option<Dependency> {
    Some(Dependency {
        name: value["name"].as_str()?.to_owned(),
        kind: match value.get("kind")? {
            Value::Null => Kind::Normal,
            Value::String(kind) if kind == "dev" => Kind::Development,
            Value::String(kind) if kind == "build" => Kind::Build,
            _ => return None,
        },
        local: value.get("path").is_some_and(Value::is_string),
    })
}

#[cfg(test)]
mod tests;
