//! Events from a TOML file:
//!
//! ```toml
//! delta = 1e-6
//! neighbours = "add-remove"
//! events = ["laplace(eps=0.05)*50", "gaussian(sigma=20)*50"]
//! ```

use crate::Failure;
use crate::input::Relation;
use clap::ValueEnum;
use std::path::Path;
use toml::{Table, Value};

/// What a file may say.
pub(super) struct Contents {
    pub(super) events: Vec<String>,
    pub(super) delta: Option<f64>,
    pub(super) neighbours: Option<Relation>,
}

pub(super) fn read(path: &Path) -> Result<Contents, Failure> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| Failure::File { what: format!("reading {shown}"), source })?;
    contents(&text).map_err(|error| Failure::usage(format!("{shown}: {error}")))
}

fn contents(text: &str) -> Result<Contents, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let mut found = Contents { events: Vec::new(), delta: None, neighbours: None };
    for (key, value) in &table {
        match (key.as_str(), value) {
            ("events", Value::Array(events)) => {
                let text = |value: &Value| value.as_str().map(str::to_owned);
                let events: Option<Vec<String>> = events.iter().map(text).collect();
                found.events = events.ok_or("`events` must be a list of texts")?;
            }
            ("delta", Value::Float(delta)) => found.delta = Some(*delta),
            ("delta", Value::Integer(0)) => found.delta = Some(0.0),
            ("neighbours", Value::String(name)) => {
                let relation = Relation::from_str(name, false);
                let wrong = "`neighbours` must be \"add-remove\" or \"replace\"";
                found.neighbours = Some(relation.map_err(|_| wrong)?);
            }
            ("events" | "delta" | "neighbours", _) => {
                return Err(format!("`{key}` is not of the right kind; see --help"));
            }
            _ => return Err(format!("`{key}` is not known; write events, delta, neighbours")),
        }
    }
    if found.events.is_empty() {
        return Err("no events: write e.g. events = [\"laplace(b=1)*100\"]".to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_or_explained() {
        let good = contents("delta = 1e-6\nevents = ['laplace(b=1)', 'pure(eps=1)']").unwrap();
        assert_eq!((good.events.len(), good.delta), (2, Some(1e-6)));
        for (text, why) in [
            ("", "no events"),
            ("events = 3", "right kind"),
            ("events = [1]", "list of texts"),
            ("epsilon = 1", "not known"),
            ("neighbours = 'x'\nevents = ['a']", "add-remove"),
            ("events = [", "TOML"),
        ] {
            let error = contents(text).err().unwrap();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
