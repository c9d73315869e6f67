//! Names of columns, whose case counts only within quotes.
//!
//! As in PostgreSQL, a name without quotes has no case. A policy's column may have one, `Total`, since files do; so
//! `total` without quotes is `"Total"` where no other column has that name. Where no column has it in any case,
//! `order_date` is `"ORDER DATE"`: see [`unquoted`]. A quoted name is taken as it is.

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::sql::sqlparser::ast::{
    self, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, OrderByKind,
    Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor,
    TableWithJoins, VisitMut, VisitorMut,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

/// The columns of each table, and their types in words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    tables: BTreeMap<String, Vec<String>>,
    types: BTreeMap<String, Vec<&'static str>>,
}

/// The columns that a part of a query can name, by the table's name there.
type Scope = Vec<(String, Vec<String>)>;

impl Names {
    /// The columns of a table.
    pub(crate) fn add(&mut self, table: &str, schema: &Schema) {
        let fields = schema.fields().iter();
        let types = fields.clone().map(|field| type_in_words(field.data_type())).collect();
        self.types.insert(table.to_owned(), types);
        self.tables.insert(table.to_owned(), fields.map(|field| field.name().clone()).collect());
    }

    /// The tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// The columns of a table, with their types.
    pub(super) fn described(
        &self,
        table: &str,
    ) -> Option<impl Iterator<Item = (&str, &'static str)>> {
        let (columns, types) = (self.tables.get(table)?, self.types.get(table)?);
        Some(columns.iter().map(String::as_str).zip(types.iter().copied()))
    }

    /// Gives names without quotes the case of the column that they mean.
    pub(super) fn resolve(&self, statement: &mut ast::Statement) {
        let plain = |name: &String| *name == unquoted(name);
        if self.tables.values().flatten().all(plain) {
            return;
        }
        if let ast::Statement::Query(query) = statement {
            let pass = Pass { tables: &self.tables, done: RefCell::default() };
            pass.query(query, &mut Vec::new());
        }
    }
}

/// How a column is called without quotes: its letters and digits in lower case, with `_` for what is between them.
pub(crate) fn unquoted(column: &str) -> String {
    let lower = column.to_lowercase();
    // A name that can be written as it is keeps its underscores.
    if lower.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
        return lower;
    }
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// A type as PostgreSQL calls it.
pub(crate) fn type_in_words(kind: &DataType) -> &'static str {
    use DataType as T;
    match kind {
        T::Boolean => "boolean",
        T::Int8 | T::Int16 | T::UInt8 => "smallint",
        T::Int32 | T::UInt16 => "integer",
        T::Int64 | T::UInt32 => "bigint",
        T::UInt64 => "numeric",
        T::Float16 | T::Float32 => "real",
        T::Float64 => "double precision",
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => "numeric",
        T::Date32 | T::Date64 => "date",
        T::Timestamp(_, None) => "timestamp",
        T::Timestamp(_, Some(_)) => "timestamp with time zone",
        T::Time32(_) | T::Time64(_) => "time",
        T::Interval(_) | T::Duration(_) => "interval",
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => "bytes",
        nested if nested.is_nested() => "a list or structure",
        _ => "text",
    }
}

/// One walk through a statement.
struct Pass<'a> {
    tables: &'a BTreeMap<String, Vec<String>>,
    /// The queries that have been resolved, so that none is resolved twice. Nothing in the statement moves meanwhile.
    done: RefCell<HashSet<*const Query>>,
}

impl Pass<'_> {
    /// Resolves the names of a query, and returns those of its columns.
    fn query(&self, query: &mut Query, known: &mut Scope) -> Vec<String> {
        if !self.done.borrow_mut().insert(std::ptr::from_ref(query)) {
            return Vec::new();
        }
        let before = known.len();
        for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            let columns = self.query(&mut table.query, known);
            known.push((plain(&table.alias.name), renamed(&table.alias, columns)));
        }
        let (columns, mut scope) = self.body(&mut query.body, known);
        // In ORDER BY a name is first that of a column of the answer.
        scope.insert(0, (String::new(), columns.clone()));
        if let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(keys) = &mut order.kind
        {
            let mut resolver = Resolver { pass: self, known: known.clone(), scope };
            for key in keys {
                let mut first = Resolver {
                    pass: self,
                    known: Vec::new(),
                    scope: vec![(String::new(), columns.clone())],
                };
                let _ = key.expr.visit(&mut first);
                let _ = key.expr.visit(&mut resolver);
            }
        }
        known.truncate(before);
        columns
    }

    fn body(&self, body: &mut SetExpr, known: &mut Scope) -> (Vec<String>, Scope) {
        match body {
            SetExpr::Select(select) => self.select(select, known),
            SetExpr::Query(query) => (self.query(query, known), Vec::new()),
            SetExpr::SetOperation { left, right, .. } => {
                let (columns, _) = self.body(left, known);
                self.body(right, known);
                (columns, Vec::new())
            }
            _ => (Vec::new(), Vec::new()),
        }
    }

    fn select(&self, select: &mut Select, known: &mut Scope) -> (Vec<String>, Scope) {
        let mut scope = Vec::new();
        for table in &mut select.from {
            self.joined(table, known, &mut scope);
        }
        let mut resolver = Resolver { pass: self, known: known.clone(), scope };
        let _ = select.visit(&mut resolver);
        for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
            resolver.using(join);
        }
        let scope = resolver.scope;
        let all = || scope.iter().flat_map(|(_, columns)| columns.iter().cloned());
        let mut columns = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::ExprWithAlias { alias, .. } => columns.push(plain(alias)),
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => columns.push(plain(name)),
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
                    columns.extend(names.last().map(plain));
                }
                SelectItem::Wildcard(_) => columns.extend(all()),
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(table),
                    _,
                ) => {
                    let table = last(table).unwrap_or_default();
                    let own = scope.iter().filter(|(name, _)| *name == table);
                    columns.extend(own.flat_map(|(_, columns)| columns.iter().cloned()));
                }
                _ => {}
            }
        }
        (columns, scope)
    }

    fn joined(&self, table: &mut TableWithJoins, known: &mut Scope, scope: &mut Scope) {
        self.factor(&mut table.relation, known, scope);
        for join in &mut table.joins {
            self.factor(&mut join.relation, known, scope);
        }
    }

    fn factor(&self, factor: &mut TableFactor, known: &mut Scope, scope: &mut Scope) {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let Some(table) = last(name) else { return };
                let defined = known.iter().rev().find(|(name, _)| *name == table);
                let columns = match defined {
                    Some((_, columns)) => columns.clone(),
                    None => self.tables.get(&table).cloned().unwrap_or_default(),
                };
                scope.push(match alias {
                    Some(alias) => (plain(&alias.name), renamed(alias, columns)),
                    None => (table, columns),
                });
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let columns = self.query(subquery, known);
                scope.push(match alias {
                    Some(alias) => (plain(&alias.name), renamed(alias, columns)),
                    None => (String::new(), columns),
                });
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.joined(table_with_joins, known, scope);
            }
            _ => {}
        }
    }
}

/// The columns under the names that an alias gives them.
fn renamed(alias: &TableAlias, columns: Vec<String>) -> Vec<String> {
    let given = alias.columns.iter().map(|column| plain(&column.name));
    let given: Vec<String> = given.collect();
    let rest = columns.into_iter().skip(given.len());
    given.into_iter().chain(rest).collect()
}

/// The name that is meant: in lower case unless it is quoted.
fn plain(name: &Ident) -> String {
    match name.quote_style {
        None => name.value.to_lowercase(),
        Some(_) => name.value.clone(),
    }
}

fn last(name: &ObjectName) -> Option<String> {
    match name.0.last() {
        Some(ObjectNamePart::Identifier(name)) => Some(plain(name)),
        _ => None,
    }
}

/// Resolves the names of one part of a query. Those that it finds are quoted, so no part around it looks at them again.
struct Resolver<'a> {
    pass: &'a Pass<'a>,
    known: Scope,
    scope: Scope,
}

impl Resolver<'_> {
    fn resolve<'a>(name: &mut Ident, columns: impl Iterator<Item = &'a String>) {
        if name.quote_style.is_some() {
            return;
        }
        let lower = name.value.to_lowercase();
        let (mut alike, mut spaced): (Vec<&String>, Vec<&String>) = (Vec::new(), Vec::new());
        for column in columns {
            match column.to_lowercase() {
                same if same == lower => alike.push(column),
                _ if unquoted(column) == lower => spaced.push(column),
                _ => {}
            }
        }
        if alike.is_empty() {
            alike = spaced;
        }
        alike.sort();
        alike.dedup();
        let meant = match &alike[..] {
            [only] => Some((*only).clone()),
            several => {
                several.iter().find(|column| ***column == lower).map(|column| (*column).clone())
            }
        };
        if let Some(meant) = meant {
            *name = Ident::with_quote('"', meant);
        }
    }

    fn using(&self, join: &mut Join) {
        let (JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)) = &mut join.join_operator
        else {
            return;
        };
        let JoinConstraint::Using(columns) = constraint else { return };
        for part in columns.iter_mut().flat_map(|column| &mut column.0) {
            if let ObjectNamePart::Identifier(name) = part {
                Self::resolve(name, self.scope.iter().flat_map(|(_, columns)| columns));
            }
        }
    }
}

impl VisitorMut for Resolver<'_> {
    type Break = ();

    /// A subquery's own names come first.
    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.pass.query(query, &mut self.known);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => {
                Self::resolve(name, self.scope.iter().flat_map(|(_, columns)| columns));
            }
            Expr::CompoundIdentifier(names) => {
                if let [.., table, name] = &mut names[..] {
                    let table = plain(table);
                    let own = self.scope.iter().filter(|(known, _)| *known == table);
                    Self::resolve(name, own.flat_map(|(_, columns)| columns));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
