//! A policy over made-up rows in place of people's: what an audit asks about unless it is given the protected rows.

use crate::audit::made_up::{Column, Values, table};
use crate::audit::neighbour::Table;
use crate::error::{Error, Result};
use demure_curator::policy::{
    Access, ColumnBounds, ColumnKind, ColumnPolicy, Policy, Protection, TablePolicy, UnitPolicy,
    Value,
};
use demure_files::records::write_records;
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of each table and their types, as the curator has them.
pub(super) type Schemas = Vec<(String, Vec<(String, String)>)>;

/// Tables of made-up rows for all protected tables of a policy.
pub(super) struct MadeUp {
    tables: BTreeMap<String, Vec<Column>>,
    rows: usize,
}

impl MadeUp {
    /// What the rows look like: the columns that the sources have, and what the policy states of them. No value of
    /// a row is looked at.
    pub(super) fn new(policy: &Policy, schemas: &Schemas, rows: usize) -> Self {
        let protected = policy.tables.iter().filter_map(|table| Some((table, table.protection()?)));
        let shaped = |(table, protection): (&TablePolicy, &Protection)| {
            let known = schemas.iter().find(|(name, _)| *name == table.name);
            let mut columns: Vec<Column> = known
                .iter()
                .flat_map(|(_, columns)| columns)
                .map(|(name, stored)| {
                    shape(policy, table, name, kind(protection, name, stored), rows)
                })
                .collect();
            // A hidden column can refer to another table.
            if let UnitPolicy::Column(name) | UnitPolicy::Via { column: name, .. } =
                &protection.unit
                && !columns.iter().any(|column| column.name == *name)
            {
                columns.push(shape(policy, table, name, ColumnKind::Text, rows));
            }
            (table.name.clone(), columns)
        };
        Self { tables: protected.map(shaped).collect(), rows }
    }

    /// The rows of one table.
    pub(super) fn table(&self, name: &str) -> Result<Table> {
        let columns = self.tables.get(name).ok_or(Error::NotProtected)?;
        Ok(table(columns, self.rows))
    }

    /// The policy over these rows, written to `folder`, for all tables but one. The types of all columns are declared: a CSV file
    /// has none.
    pub(super) fn policy(
        &self,
        policy: &Policy,
        schemas: &Schemas,
        but: Option<&String>,
        folder: &Path,
    ) -> Result<Policy> {
        let mut policy = policy.clone();
        for table in policy.tables.iter_mut().filter(|table| but != Some(&table.name)) {
            let Access::Protected(protection) = &mut table.access else { continue };
            let rows = self.table(&table.name)?;
            let path = folder.join(format!("{}.csv", table.name));
            write_records(&path, &rows.header, &rows.rows)?;
            table.source = path.display().to_string();
            table.delimiter = None;
            let known = schemas.iter().find(|(name, _)| *name == table.name);
            for (name, stored) in known.iter().flat_map(|(_, columns)| columns) {
                let kind = Some(kind(protection, name, stored));
                match protection.columns.iter_mut().find(|column| column.name == *name) {
                    Some(column) => {
                        // Made-up rows are written in one way, whatever the source's is.
                        (column.kind, column.format, column.decimal_comma) = (kind, None, false);
                    }
                    None => {
                        protection.columns.push(ColumnPolicy { kind, ..ColumnPolicy::named(name) });
                    }
                }
            }
            // What cannot be asked about is not made up.
            protection.columns.retain(|column| rows.header.contains(&column.name));
        }
        Ok(policy)
    }
}

/// What kind of values a column holds: as declared, or as the source stores them.
fn kind(protection: &Protection, name: &str, stored: &str) -> ColumnKind {
    let declared = protection.column(name).and_then(|column| column.kind);
    if let Some(kind) = declared.filter(|kind| *kind != ColumnKind::Other) {
        return kind;
    }
    let is = |starts: &[&str]| starts.iter().any(|start| stored.starts_with(start));
    match () {
        () if is(&["Int", "UInt"]) => ColumnKind::Integer,
        () if is(&["Float", "Decimal"]) => ColumnKind::Real,
        () if is(&["Boolean"]) => ColumnKind::Boolean,
        () if is(&["Date"]) => ColumnKind::Date,
        () if is(&["Timestamp"]) => ColumnKind::Time,
        () => ColumnKind::Text,
    }
}

fn shape(
    policy: &Policy,
    table: &TablePolicy,
    name: &str,
    kind: ColumnKind,
    rows: usize,
) -> Column {
    let known = table.protection().and_then(|protection| protection.column(name));
    let id = id(policy, table, name, rows);
    let nullable = id.is_none() && known.is_none_or(|column| column.nullable);
    let listed = known.and_then(|column| column.values.as_ref());
    let declared = known.and_then(|column| column.bounds);
    let bounds = declared.and_then(ColumnBounds::numbers).unwrap_or((0.0, 100.0));
    let values = match (id, listed, kind) {
        (Some(id), ..) => id,
        (None, Some(list), _) => Values::Listed(list.iter().map(written).collect()),
        (None, None, ColumnKind::Integer) => Values::Whole(bounds.0, bounds.1),
        (None, None, ColumnKind::Real) => Values::Real(bounds.0, bounds.1),
        (None, None, ColumnKind::Boolean) => Values::Boolean,
        (None, None, ColumnKind::Date | ColumnKind::Time) => match declared
            .and_then(ColumnBounds::times)
        {
            Some((low, high)) => {
                let shares = (0..=100).map(|share| f64::from(share) / 100.0);
                Values::Listed(shares.map(|share| low.towards(high, share).to_string()).collect())
            }
            None if kind == ColumnKind::Date => Values::Date,
            None => Values::Time,
        },
        (None, None, _) => Values::Text,
    };
    Column { name: name.to_owned(), values, nullable }
}

/// The values of a column that says whose row it is, or that another table refers to.
fn id(policy: &Policy, table: &TablePolicy, name: &str, rows: usize) -> Option<Values> {
    match &table.protection()?.unit {
        UnitPolicy::Column(unit) if unit == name => return Some(Values::Person),
        UnitPolicy::Via { column, table: parent, key } if column == name => {
            let parent = policy.table(parent)?;
            return Some(Values::Of(Box::new(id(policy, parent, key, rows)?), rows));
        }
        _ => {}
    }
    let referred = policy.tables.iter().filter_map(TablePolicy::protection).any(|other| {
        matches!(&other.unit, UnitPolicy::Via { table: parent, key, .. } if *parent == table.name && key == name)
    });
    referred.then_some(Values::RowNumber)
}

fn written(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Date(text) => text.clone(),
        Value::Integer(k) => k.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Boolean(b) => b.to_string(),
    }
}
