//! The default name of an output column: PostgreSQL's `FigureColname`.

use super::bind::{ident, parts};
use super::types;
use datafusion::sql::sqlparser::ast::{AccessExpr, Expr, SelectItem, SetExpr};

/// The name of an expression in a SELECT list.
pub(crate) fn label(expr: &Expr) -> String {
    figure(expr).0
}

/// The name, and its strength: 2 for a column's or a function's, 1 for a type's, 0 for none.
fn figure(expr: &Expr) -> (String, u8) {
    let named = |name: &str| (name.to_owned(), 2);
    match expr {
        Expr::Identifier(name) => (ident(name), 2),
        Expr::CompoundIdentifier(names) => (names.last().map(ident).unwrap_or_default(), 2),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => figure(inner),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(field)) => Some(ident(field)),
                _ => None,
            });
            field.map_or_else(|| figure(root), |field| (field, 2))
        }
        Expr::Function(function) => (parts(&function.name).pop().unwrap_or_default(), 2),
        Expr::Trim { .. } => named("btrim"),
        Expr::Substring { .. } => named("substring"),
        Expr::Position { .. } => named("position"),
        Expr::Array(_) => named("array"),
        Expr::Exists { .. } => named("exists"),
        Expr::Subquery(query) => match first(&query.body) {
            Some(SelectItem::ExprWithAlias { alias, .. }) => (ident(alias), 2),
            Some(SelectItem::UnnamedExpr(expr)) => figure(expr),
            _ => none(),
        },
        Expr::Cast { expr, data_type, .. } => match figure(expr) {
            (name, 2) => (name, 2),
            _ => {
                let known = types::named(&data_type.to_string()).and_then(types::row);
                (known.map_or_else(|| data_type.to_string(), |row| row.name.to_owned()), 1)
            }
        },
        Expr::Case { else_result, .. } => match else_result.as_deref().map(figure) {
            Some((name, 2)) => (name, 2),
            _ => ("case".to_owned(), 1),
        },
        _ => none(),
    }
}

fn none() -> (String, u8) {
    ("?column?".to_owned(), 0)
}

/// The first column of the first SELECT of a query.
fn first(body: &SetExpr) -> Option<&SelectItem> {
    match body {
        SetExpr::Select(select) => select.projection.first(),
        SetExpr::Query(query) => first(&query.body),
        SetExpr::SetOperation { left, .. } => first(left),
        _ => None,
    }
}
