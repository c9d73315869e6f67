//! Sets of outputs, of a form simple enough to be found and to be read.

use super::cell::Cells;
use super::feature::Feature;
use std::fmt;

/// A set of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySet {
    /// This and all below.
    AtMost(u64),
    /// This and all above.
    AtLeast(u64),
    /// A union of cells.
    Cells(Cells, Vec<bool>),
    /// Keys one by one, in order.
    Keys(Vec<u64>),
}

impl KeySet {
    /// Whether a key is in it.
    #[must_use]
    pub fn holds(&self, key: u64) -> bool {
        match self {
            Self::AtMost(bound) => key <= *bound,
            Self::AtLeast(bound) => key >= *bound,
            Self::Cells(cells, taken) => taken.get(cells.place(key)).copied().unwrap_or(false),
            Self::Keys(keys) => keys.binary_search(&key).is_ok(),
        }
    }
}

/// That a feature of the output is in a set.
#[derive(Clone, Debug)]
pub struct Event {
    /// What is looked at.
    pub feature: Feature,
    /// Where it is.
    pub set: KeySet,
}

impl Event {
    /// Whether it happened.
    #[must_use]
    pub fn holds(&self, output: &[f64]) -> bool {
        self.set.holds(self.feature.key(output))
    }
}

/// Cells named one by one.
const NAMED: usize = 4;

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |key: u64| self.feature.shown(key);
        write!(f, "{} ", self.feature)?;
        match &self.set {
            // Beyond every number there is what is missing.
            KeySet::AtMost(bound) if self.feature.beyond(*bound) => write!(f, "not missing"),
            KeySet::AtMost(bound) => write!(f, "at most {}", shown(*bound)),
            KeySet::AtLeast(bound) if self.feature.beyond(*bound) => write!(f, "missing"),
            KeySet::AtLeast(bound) => write!(f, "at least {}", shown(*bound)),
            KeySet::Keys(keys) => write!(f, "one of {} seen in scouting", keys.len()),
            KeySet::Cells(cells, taken) => {
                let edge = |i: usize| cells.edges().get(i).copied();
                let mut runs: Vec<(usize, usize)> = Vec::new();
                for (i, _) in taken.iter().enumerate().filter(|(_, taken)| **taken) {
                    match runs.last_mut() {
                        Some((_, end)) if *end + 1 == i => *end = i,
                        _ => runs.push((i, i)),
                    }
                }
                let one = |&(from, to): &(usize, usize)| {
                    let below = from.checked_sub(1).and_then(edge);
                    match (below, edge(to)) {
                        (_, Some(value)) if cells.single && from == to => shown(value),
                        (Some(low), Some(high)) => format!("{}…{}", shown(low), shown(high)),
                        (None, Some(high)) => format!("≤ {}", shown(high)),
                        (Some(low), None) => format!("> {}", shown(low)),
                        (None, None) => "anything".to_owned(),
                    }
                };
                let names: Vec<String> = runs.iter().take(NAMED).map(one).collect();
                let more = match runs.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(", or {more} other places"),
                };
                write!(f, "in {}{more}", names.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests;
