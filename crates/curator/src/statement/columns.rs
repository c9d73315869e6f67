//! Names of an answer's columns.
//!
//! A column without an alias is called what is written, `sum(amount / 2)`: the engine's name would be
//! `sum(purchases.amount / Int64(2))`. Where two columns have one name, as in `SELECT COUNT(*), COUNT(*)`, which the engine
//! does not plan, the second one is called `count(*)_2`.
//!
//! Only the list of the statement itself is looked at: in a subquery, a name that two columns have could not be used.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, SelectItem, SetExpr, Statement, Visit, Visitor,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// The longest name that is made of an expression.
const LONGEST: usize = 60;

/// Gives columns names of their own.
pub(super) fn name(statement: &mut Statement) {
    let Statement::Query(query) = statement else { return };
    let mut body = query.body.as_mut();
    // The names of a UNION are those of its first part.
    let select = loop {
        match body {
            SetExpr::Select(select) => break select,
            SetExpr::Query(query) => body = query.body.as_mut(),
            SetExpr::SetOperation { left, .. } => body = left.as_mut(),
            _ => return,
        }
    };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) = item
            && !is_plain(expr)
        {
            let alias = Ident::with_quote('"', shown(expr));
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
    let mut taken: HashSet<String> = select.projection.iter().filter_map(written).collect();
    let mut seen = HashSet::new();
    for item in &mut select.projection {
        let Some(name) = written(item).filter(|name| !seen.insert(name.clone())) else { continue };
        let mut n = 2;
        while !taken.insert(format!("{name}_{n}")) {
            n += 1;
        }
        let alias = Ident::with_quote('"', format!("{name}_{n}"));
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
}

/// Whether an expression consists of names and calls alone, which the engine names as they are written.
fn is_plain(expr: &Expr) -> bool {
    struct Plain(bool);
    impl Visitor for Plain {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            self.0 &= match expr {
                Expr::Function(call) => {
                    call.over.is_none() && call.filter.is_none() && call.within_group.is_empty()
                }
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
                _ => false,
            };
            if self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    let mut plain = Plain(true);
    let _ = expr.visit(&mut plain);
    plain.0
}

/// An expression as a name: as it is written, in lower case except for what is in quotes.
fn shown(expr: &Expr) -> String {
    let mut quote = None;
    let lower = expr.to_string();
    let lower = lower.chars().map(|c| {
        match quote {
            Some(open) if open == c => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(_) => return c,
            None => {}
        }
        c.to_ascii_lowercase()
    });
    let lower: String = lower.collect();
    match lower.chars().count() > LONGEST {
        true => lower.chars().take(LONGEST).chain(['…']).collect(),
        false => lower,
    }
}

/// The name of a column, as far as the statement tells.
fn written(item: &SelectItem) -> Option<String> {
    let plain = |name: &Ident| match name.quote_style {
        None => name.value.to_lowercase(),
        Some(_) => name.value.clone(),
    };
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(plain(alias)),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(plain(name)),
        SelectItem::UnnamedExpr(expr) => Some(shown(expr)),
        _ => None,
    }
}
