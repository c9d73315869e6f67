//! What may be asked about: `/api/schema`. All of it is the policy's, nothing the data's.

use super::App;
use super::caller::Caller;
use crate::json::plain_name;
use axum::Json;
use axum::extract::State;
use demure_curator::policy::{
    Access, ColumnBounds, ColumnPolicy, Protection, UnitPolicy, Value as Known,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The most values of a column that are listed.
const LISTED: usize = 500;

/// Each table with its columns.
pub(super) async fn show(State(app): State<Arc<App>>, _: Caller) -> Json<Value> {
    let curator = &app.service.curator;
    let tables = curator.tables().into_iter().map(|(name, columns)| {
        let access = curator.policy().table(&name).map(|table| &table.access);
        let protection = access.and_then(Access::protection);
        let columns: Vec<Value> =
            columns.iter().map(|(name, kind)| column(name, kind, protection)).collect();
        let mut table = json!({
            "name": name,
            "access": if protection.is_some() { "protected" } else { "public" },
            "columns": columns,
        });
        if let Some(Access::Public { key }) = access {
            table["key"] = json!(key);
        }
        if let Some(protection) = protection {
            table["unit"] = json!(protection.unit.to_string());
            table["max_groups"] = json!(protection.max_groups);
            table["max_rows_per_group"] = json!(protection.max_rows_per_group);
        }
        table
    });
    Json(json!({ "dataset": app.service.name, "tables": tables.collect::<Vec<_>>() }))
}

fn column(name: &str, kind: &str, protection: Option<&Protection>) -> Value {
    let mut column = json!({ "name": name, "type": plain_name(kind) });
    if let Some(protection) = protection.filter(|it| it.unit != UnitPolicy::Row) {
        column["unit"] = json!(protection.is_unit(name));
    }
    if let Some(known) = protection.and_then(|protection| protection.column(name)) {
        describe(known, &mut column);
    }
    column
}

fn describe(known: &ColumnPolicy, column: &mut Value) {
    column["nullable"] = json!(known.nullable);
    match known.bounds {
        Some(ColumnBounds::Numbers(low, high)) => column["bounds"] = json!([low, high]),
        Some(ColumnBounds::Times(low, high)) => {
            column["bounds"] = json!([low.to_string(), high.to_string()]);
        }
        None => {}
    }
    if let Some(grid) = known.grid {
        column["grid"] = json!(grid);
    }
    if let Some(values) = &known.values {
        column["values"] = values.iter().take(LISTED).map(value).collect();
        column["values_count"] = json!(values.len());
    }
}

fn value(value: &Known) -> Value {
    match value {
        Known::Text(text) | Known::Date(text) => json!(text),
        Known::Integer(whole) => json!(whole),
        Known::Real(real) => json!(real),
        Known::Boolean(boolean) => json!(boolean),
    }
}
