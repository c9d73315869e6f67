//! The budget, access, units and columns in words. Nothing of it comes from protected rows.

use super::{Access, ColumnBounds, ColumnPolicy, Policy, Protection, UnitPolicy, Value, odds};
use crate::words::{left, short};
use demure_ledger::{Accounting, Balance};
use std::fmt;

/// The most values of a list that are shown.
const SHOWN: usize = 6;

/// `public`, or `protected by` whose row it is.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public { .. } => f.write_str("public"),
            Self::Protected(protection) => write!(f, "protected by {}", protection.unit),
        }
    }
}

/// `row`, a column, or `column = table.key`.
impl fmt::Display for UnitPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row => f.write_str("row"),
            Self::Column(column) => f.write_str(column),
            Self::Via { column, table, key } => write!(f, "{column} = {table}.{key}"),
        }
    }
}

impl Policy {
    /// The limit, what is spent and left, the default price, and what the limit promises: a line each.
    #[must_use]
    pub fn budget_in_words(&self, balance: &Balance) -> String {
        let spent = match balance.limit.accounting {
            Accounting::Pure => format!("ε {}", short(balance.spent.main)),
            Accounting::Zcdp => {
                let (rho, epsilon) = (short(balance.spent.main), short(balance.spent_epsilon));
                format!("ρ {rho}, which is ε {epsilon}")
            }
        };
        let delta = |delta: f64| match delta > 0.0 {
            true => format!(", δ {delta:.1e}"),
            false => String::new(),
        };
        let limit = &balance.limit;
        format!(
            "limit  ε {}{} ({} accounting)\nspent  {spent}{}\nleft   {}\n\
             default price  ε {}\n{}",
            limit.epsilon,
            delta(limit.delta.get()),
            limit.accounting,
            delta(balance.spent_delta),
            left(balance),
            self.budget.per_query,
            odds(self.budget.epsilon, self.budget.neighbours),
        )
    }
}

impl Access {
    /// How the people of a table are protected, if it is somebody's.
    #[must_use]
    pub fn protection(&self) -> Option<&Protection> {
        match self {
            Self::Public { .. } => None,
            Self::Protected(protection) => Some(protection),
        }
    }
}

impl Protection {
    /// Whether this column says whose row it is.
    #[must_use]
    pub fn is_unit(&self, name: &str) -> bool {
        match &self.unit {
            UnitPolicy::Row => false,
            UnitPolicy::Column(column) | UnitPolicy::Via { column, .. } => column == name,
        }
    }

    /// What is known of a column: its unit, bounds, values, and whether it can be NULL.
    #[must_use]
    pub fn known_in_words(&self, name: &str) -> String {
        let unit = self.is_unit(name).then(|| "whose row it is".to_owned());
        let known = self.column(name).map(ColumnPolicy::in_words).filter(|text| !text.is_empty());
        unit.into_iter().chain(known).collect::<Vec<_>>().join("; ")
    }
}

impl ColumnPolicy {
    fn in_words(&self) -> String {
        let mut parts = Vec::new();
        match self.bounds {
            Some(ColumnBounds::Numbers(low, high)) => {
                parts.push(format!("from {} to {}", short(low), short(high)));
            }
            Some(ColumnBounds::Times(low, high)) => parts.push(format!("from {low} to {high}")),
            None => {}
        }
        if let Some(values) = &self.values {
            let mut shown: Vec<String> = values.iter().take(SHOWN).map(text).collect();
            if values.len() > SHOWN {
                shown.push(format!("… {} in all", values.len()));
            }
            parts.push(shown.join(", "));
        }
        if !self.nullable {
            parts.push("never NULL".to_owned());
        }
        parts.join("; ")
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Integer(whole) => whole.to_string(),
        Value::Real(real) => short(*real),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Date(date) => date.clone(),
    }
}

#[cfg(test)]
mod tests;
