//! The relations of `pg_catalog` and `information_schema`: their columns, as in PostgreSQL 15 (`relations.txt`), and a
//! way to write their rows by column name.
//!
//! Relations that would reveal something about rows (`pg_statistic`, `pg_stats`, `pg_stat_user_tables`) or about
//! secrets (`pg_authid`, `pg_shadow`) do not exist.

use super::types::{self, Oid};
use super::value::{Row, Value, int, text};
use std::sync::Arc;

/// A column of a relation.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) type_oid: Oid,
    pub(crate) not_null: bool,
}

/// A relation of the catalog and its rows.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    pub(crate) oid: Oid,
    /// `r`, a table, or `v`, a view.
    pub(crate) kind: &'static str,
    pub(crate) columns: Arc<[Column]>,
    /// The rows; each has the columns of [`HIDDEN`] after its own.
    pub(crate) rows: Arc<Vec<Row>>,
}

/// The columns that every relation of PostgreSQL has and that `*` leaves out.
pub(crate) const HIDDEN: [(&str, Oid); 2] = [("tableoid", types::OID), ("xmin", types::XID)];

/// All relations.
#[derive(Clone, Debug)]
pub(crate) struct Relations(Vec<Relation>);

impl Relations {
    /// All relations, without rows.
    pub(crate) fn empty() -> Self {
        let lines = include_str!("relations.txt").lines();
        Self(lines.filter_map(relation).collect())
    }

    /// The relation with a name; without a schema, in `pg_catalog`.
    pub(crate) fn find(&self, schema: Option<&str>, name: &str) -> Option<&Relation> {
        let schema = schema.unwrap_or("pg_catalog");
        self.0.iter().find(|relation| relation.schema == schema && relation.name == name)
    }

    /// Every relation.
    pub(crate) fn all(&self) -> &[Relation] {
        &self.0
    }

    /// Adds a row to `schema.name`: columns that are not named get their defaults.
    pub(crate) fn add(&mut self, schema: &str, name: &str, cells: &[(&str, Value)]) {
        let named = |relation: &&mut Relation| relation.schema == schema && relation.name == name;
        let Some(relation) = self.0.iter_mut().find(named) else { return };
        let cell = |column: &Column| {
            let given = cells.iter().find(|(name, _)| *name == column.name);
            given.map_or_else(|| default(column), |(_, value)| value.clone())
        };
        debug_assert!(cells.iter().all(|(n, _)| relation.columns.iter().any(|c| c.name == *n)));
        let mut row: Row = relation.columns.iter().map(cell).collect();
        row.extend([int(relation.oid), int(0)]);
        Arc::make_mut(&mut relation.rows).push(row);
    }
}

/// A line `schema.name oid kind column:type! …`, where `!` is NOT NULL.
fn relation(line: &'static str) -> Option<Relation> {
    let mut words = line.split(' ');
    let (schema, name) = words.next()?.split_once('.')?;
    let oid = words.next()?.parse().ok()?;
    let kind = words.next()?;
    let column = |word: &str| {
        let (name, type_name) = word.split_once(':')?;
        let bare = type_name.trim_end_matches('!');
        // `char` is SQL's type; in `pg_type` it is the one-byte type.
        let type_oid = if bare == "char" { Some(types::CHAR) } else { types::named(bare) };
        let not_null = type_name.ends_with('!');
        Some(Column { name: name.to_owned(), type_oid: type_oid?, not_null })
    };
    let columns = words.map(column).collect::<Option<Vec<_>>>()?;
    let rows = Arc::default();
    Some(Relation { schema, name, oid, kind, columns: columns.into(), rows })
}

/// The default value of a cell.
fn default(column: &Column) -> Value {
    match column.type_oid {
        _ if !column.not_null => Value::Null,
        types::BOOL => Value::Bool(false),
        types::FLOAT4 | types::FLOAT8 => Value::Float(0.0),
        types::REGPROC => text("-"),
        oid if types::is_text(oid) => text(""),
        oid if types::is_int(oid) => int(0),
        _ => Value::Null,
    }
}
