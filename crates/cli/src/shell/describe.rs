//! `\d` and `\budget`: what the policy says. Nothing of it comes from protected rows.

use crate::curator::render;
use demure_curator::Curator;
use demure_curator::policy::{Access, ColumnPolicy, Policy, Protection, UnitPolicy, Value, odds};
use demure_ledger::{Accounting, Balance};
use demure_report::{Table, short};
use demure_server::told::plain_name;

/// The most values of a list that are shown.
const SHOWN: usize = 6;

/// Each table, and whose it is.
pub(super) fn tables(curator: &Curator) -> Table {
    let rows = curator.tables().into_iter().map(|(name, columns)| {
        let access = curator.policy().table(&name).map(|table| &table.access);
        let names: Vec<String> = columns.into_iter().map(|(name, _)| name).collect();
        vec![name, access.map(whose).unwrap_or_default(), names.join(", ")]
    });
    Table::of_texts(&["table", "whose", "columns"], rows)
}

fn whose(access: &Access) -> String {
    match access {
        Access::Public { .. } => "public".to_owned(),
        Access::Protected(protection) => match &protection.unit {
            UnitPolicy::Row => "protected by row".to_owned(),
            UnitPolicy::Column(column) => format!("protected by {column}"),
            UnitPolicy::Via { column, table, key } => {
                format!("protected by {column} = {table}.{key}")
            }
        },
    }
}

/// The columns of a table, and how much of a person counts.
pub(super) fn table(curator: &Curator, name: &str) -> Option<(Table, String)> {
    let (_, columns) = curator.tables().into_iter().find(|(table, _)| table == name)?;
    let access = &curator.policy().table(name)?.access;
    let protection = match access {
        Access::Public { .. } => None,
        Access::Protected(protection) => Some(protection),
    };
    let rows = columns.into_iter().map(|(name, kind)| {
        let known = protection.and_then(|protection| protection.column(&name));
        let known = known.map(known_of).unwrap_or_default();
        let unit = protection.is_some_and(|protection| is_unit(protection, &name));
        let known = match (unit, known.is_empty()) {
            (true, true) => "whose row it is".to_owned(),
            (true, false) => format!("whose row it is; {known}"),
            (false, _) => known,
        };
        vec![name, plain_name(&kind).to_owned(), known]
    });
    let table = Table::of_texts(&["column", "type", "known"], rows);
    let words = match protection {
        None => "public: nobody's data, no noise, no cost".to_owned(),
        Some(Protection { max_groups, max_rows_per_group, .. }) => format!(
            "{}: of one unit at most {max_rows_per_group} rows in each of at most {max_groups} groups",
            whose(access)
        ),
    };
    Some((table, words))
}

fn is_unit(protection: &Protection, name: &str) -> bool {
    match &protection.unit {
        UnitPolicy::Row => false,
        UnitPolicy::Column(column) | UnitPolicy::Via { column, .. } => column == name,
    }
}

/// What the policy knows of a column.
fn known_of(column: &ColumnPolicy) -> String {
    let mut parts = Vec::new();
    if let Some((low, high)) = column.bounds {
        parts.push(format!("from {} to {}", short(low), short(high)));
    }
    if let Some(values) = &column.values {
        let mut shown: Vec<String> = values.iter().take(SHOWN).map(text).collect();
        if values.len() > SHOWN {
            shown.push(format!("… {} in all", values.len()));
        }
        parts.push(shown.join(", "));
    }
    if !column.nullable {
        parts.push("never NULL".to_owned());
    }
    parts.join("; ")
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

/// What is spent and left.
pub(super) fn budget(balance: &Balance, policy: &Policy) -> String {
    let spent = match balance.limit.accounting {
        Accounting::Pure => format!("ε {}", short(balance.spent.main)),
        Accounting::Zcdp => {
            format!("ρ {}, which is ε {}", short(balance.spent.main), short(balance.spent_epsilon))
        }
    };
    let spent = match balance.spent_delta > 0.0 {
        true => format!("{spent}, δ {:.1e}", balance.spent_delta),
        false => spent,
    };
    let delta = match balance.limit.delta.get() > 0.0 {
        true => format!(", δ {:.1e}", balance.limit.delta.get()),
        false => String::new(),
    };
    format!(
        "limit  ε {}{delta} ({} accounting)\nspent  {spent}\nleft   {}\na query that does not say costs ε {}\n{}",
        balance.limit.epsilon,
        balance.limit.accounting,
        render::left(balance),
        policy.budget.per_query,
        odds(policy.budget.epsilon, policy.budget.neighbours),
    )
}
