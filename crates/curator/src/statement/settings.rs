//! A session's settings: `SET demure.epsilon = 0.5`, and so on.

use crate::refusal::{Refusal, Rule};
use demure_core::unit::{Delta, Epsilon};

/// The settings of a session. All are public.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// ε of the next queries; the policy's `per_query` if not set.
    pub epsilon: Option<Epsilon>,
    /// δ of the next queries whose group keys are not public.
    pub delta: Option<Delta>,
    /// Instead of an ε: the smallest ε that keeps every 95 % error within this.
    pub error_at_most: Option<f64>,
    /// Whether answers include the ends of their 95 % intervals.
    pub intervals: bool,
    /// The contribution bound in groups per person, instead of the policy's.
    pub max_groups: Option<u32>,
    /// The contribution bound in rows per person and group, instead of the policy's.
    pub max_rows: Option<u32>,
}

/// Each setting, and the values it takes.
pub const SETTINGS: &[(&str, &str)] = &[
    ("demure.epsilon", "the ε of each query that follows, or `default`"),
    ("demure.delta", "the δ of each query whose group keys are not public, or `default`"),
    ("demure.error_at_most", "choose ε so that no 95 % error is larger, or `off`"),
    ("demure.intervals", "`on`: each noised column comes with the ends of its 95 % interval"),
    ("demure.max_groups", "the most groups of one person in a query, or `default`"),
    ("demure.max_rows_per_group", "the most rows of one person in a group, or `default`"),
];

impl Settings {
    /// Changes one setting.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let value = value.trim().trim_matches('\'');
        let unset = value.eq_ignore_ascii_case("default") || value.eq_ignore_ascii_case("off");
        let number = || -> Result<f64, Refusal> {
            let parsed: Option<f64> = value.parse().ok().filter(|x: &f64| x.is_finite());
            parsed.ok_or_else(|| wrong(name, "a finite number"))
        };
        let count = || -> Result<u32, Refusal> {
            let parsed: Option<u32> = value.parse().ok().filter(|k| (1..=1 << 20).contains(k));
            parsed.ok_or_else(|| wrong(name, "a whole number from 1 to 1048576"))
        };
        match name.to_ascii_lowercase().as_str() {
            "demure.epsilon" if unset => self.epsilon = None,
            "demure.epsilon" => {
                let epsilon = Epsilon::new(number()?);
                self.epsilon = Some(epsilon.map_err(|_| wrong(name, "a number greater than 0"))?);
                self.error_at_most = None;
            }
            "demure.delta" if unset => self.delta = None,
            "demure.delta" => {
                let delta = Delta::positive(number()?);
                self.delta =
                    Some(delta.map_err(|_| wrong(name, "a number strictly between 0 and 1"))?);
            }
            "demure.error_at_most" if unset => self.error_at_most = None,
            "demure.error_at_most" => {
                let wanted = number()?;
                if wanted <= 0.0 {
                    return Err(wrong(name, "a number greater than 0"));
                }
                self.error_at_most = Some(wanted);
            }
            "demure.intervals" => {
                self.intervals = match value.to_ascii_lowercase().as_str() {
                    "on" | "true" | "1" => true,
                    "off" | "false" | "0" | "default" => false,
                    _ => return Err(wrong(name, "`on` or `off`")),
                }
            }
            "demure.max_groups" if unset => self.max_groups = None,
            "demure.max_groups" => self.max_groups = Some(count()?),
            "demure.max_rows_per_group" if unset => self.max_rows = None,
            "demure.max_rows_per_group" => self.max_rows = Some(count()?),
            _ => {
                let names: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
                return Err(Refusal::new(
                    Rule::Setting,
                    format!("there is no setting `{}`", short_name(name)),
                    format!("there is: {}", names.join(", ")),
                ));
            }
        }
        Ok(())
    }

    /// The current value of a setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        let or_default = |text: Option<String>| text.unwrap_or_else(|| "default".to_owned());
        Some(match name.to_ascii_lowercase().as_str() {
            "demure.epsilon" => or_default(self.epsilon.map(|e| e.to_string())),
            "demure.delta" => or_default(self.delta.map(|d| format!("{:e}", d.get()))),
            "demure.error_at_most" => {
                self.error_at_most.map_or_else(|| "off".to_owned(), |x| x.to_string())
            }
            "demure.intervals" => if self.intervals { "on" } else { "off" }.to_owned(),
            "demure.max_groups" => or_default(self.max_groups.map(|k| k.to_string())),
            "demure.max_rows_per_group" => or_default(self.max_rows.map(|k| k.to_string())),
            _ => return None,
        })
    }
}

/// A name that someone wrote, cut to a length that a line has room for.
pub(crate) fn short_name(name: &str) -> String {
    name.chars().take(60).collect::<String>().to_ascii_lowercase()
}

fn wrong(name: &str, allowed: &str) -> Refusal {
    Refusal::new(
        Rule::Setting,
        format!("{} is outside its range", name.to_ascii_lowercase()),
        // The core's sentence is one by itself.
        match allowed.contains(" must be ") {
            true => allowed.to_owned(),
            false => format!("it takes {allowed}"),
        },
    )
}

#[cfg(test)]
mod tests;
