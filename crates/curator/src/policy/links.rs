//! Foreign keys that carry a unit: following them must lead to a column that says whose row it is.

use super::problem::Notes;
use super::section::nearest;
use super::{Access, Mistake, TablePolicy, UnitPolicy};
use std::collections::HashMap;

/// Notes every foreign key that leads nowhere. Each table comes with the position of its unit.
pub(super) fn check(tables: &[(TablePolicy, usize)], notes: &mut Notes<'_>) {
    let positions: HashMap<&str, usize> =
        tables.iter().enumerate().map(|(index, (table, _))| (table.name.as_str(), index)).collect();
    let next: Vec<Option<usize>> =
        tables.iter().map(|(table, _)| positions.get(reference(table)?.0).copied()).collect();
    for (index, (table, at)) in tables.iter().enumerate() {
        let Some((given, key)) = reference(table) else { continue };
        let found = next[index].and_then(|found| tables.get(found));
        let mistake = match found {
            Some((found, _)) => unfit(table, found, key),
            None => Some(unknown(tables, table, given, key)),
        };
        if let Some(mistake) = mistake {
            notes.mistake(*at, mistake);
        }
        if let Some(circle) = circle(&next, index) {
            let names = circle.iter().filter_map(|index| tables.get(*index));
            let names: Vec<String> = names.map(|(table, _)| format!("`{}`", table.name)).collect();
            notes.mistake(*at, Mistake::Cycle { path: names.join(" → ") });
        }
    }
}

/// The table and the column that a table's unit comes from.
fn reference(table: &TablePolicy) -> Option<(&str, &str)> {
    match &table.protection()?.unit {
        UnitPolicy::Via { table, key, .. } => Some((table, key)),
        UnitPolicy::Row | UnitPolicy::Column(_) => None,
    }
}

/// The mistake for a table that does not exist, with the name that was probably meant.
fn unknown(
    tables: &[(TablePolicy, usize)],
    table: &TablePolicy,
    given: &str,
    key: &str,
) -> Mistake {
    let others = tables.iter().map(|(other, _)| other.name.as_str());
    let remedy = match nearest(given, others.filter(|other| *other != table.name)) {
        Some(near) => format!("write `references = \"{near}.{key}\"`"),
        None => "add that table, or refer to one that is here".to_owned(),
    };
    Mistake::UnknownTable { table: table.name.clone(), given: given.to_owned(), remedy }
}

/// Why no unit can come from the column `key` of the table `found`.
fn unfit(table: &TablePolicy, found: &TablePolicy, key: &str) -> Option<Mistake> {
    let (table, given) = (table.name.clone(), found.name.clone());
    match &found.access {
        Access::Public { .. } => Some(Mistake::PublicReference { table, given }),
        Access::Protected(protection) if protection.unit == UnitPolicy::Row => {
            Some(Mistake::RowReference { table, given })
        }
        Access::Protected(protection) => {
            let hidden = protection.column(key).is_some_and(|column| column.hidden);
            // A hidden unit is noted at that table.
            let noted = match &protection.unit {
                UnitPolicy::Row => false,
                UnitPolicy::Column(column) | UnitPolicy::Via { column, .. } => column == key,
            };
            let column = key.to_owned();
            (hidden && !noted).then_some(Mistake::HiddenUnit { table: given, column })
        }
    }
}

/// The cycle that a table is on; reported only for its first table.
fn circle(next: &[Option<usize>], start: usize) -> Option<Vec<usize>> {
    let mut path = vec![start];
    loop {
        let here = next[*path.last()?]?;
        path.push(here);
        if here == start {
            return Some(path);
        }
        // An earlier table reports it; or the cycle is further on and does not include this table.
        if here < start || path.len() > next.len() {
            return None;
        }
    }
}
