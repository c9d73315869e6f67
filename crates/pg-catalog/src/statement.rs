//! Recognises statements that concern the catalog, and answers them.

use super::bind::{ident, parts};
use super::evaluate::{Run, Scope};
use super::expression::{aggregate, series};
use super::plan::Query;
use super::scope::Binder;
use super::types;
use super::value::text;
use super::{Description, Inner, functions, output, settings};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast::{
    self, Expr, ObjectName, Query as Ast, SetExpr, TableFactor, Visit, Visitor,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use pgwire::api::Type;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// The longest statement that is parsed; those of clients are at most a quarter of it.
const BYTES: usize = 64 << 10;
/// The parser's recursion limit.
const NESTING: usize = 200;

/// A statement that concerns the catalog.
pub(crate) enum Statement {
    Query {
        query: Box<Ast>,
        /// Whether it reads relations or calls functions of the catalog, so that only the catalog can answer it.
        certain: bool,
    },
    Show(&'static settings::Setting),
}

impl Statement {
    /// Parses a statement; `None` if it is not for the catalog.
    pub(crate) fn read(catalog: &Inner, sql: &str) -> Option<Result<Self, String>> {
        if sql.len() > BYTES {
            return None;
        }
        let parser = Parser::new(&PostgreSqlDialect {}).with_recursion_limit(NESTING);
        let mut statements = parser.try_with_sql(sql).ok()?.parse_statements().ok()?;
        let statement = statements.pop().filter(|_| statements.is_empty())?;
        match statement {
            ast::Statement::ShowVariable { variable } => {
                let words: Vec<_> = variable.iter().map(ident).collect();
                settings::find(&words.join(" ")).map(|setting| Ok(Self::Show(setting)))
            }
            ast::Statement::Query(query) => {
                let mut found = UsedNames::new(catalog);
                if query.visit(&mut found).is_break() {
                    return None;
                }
                let relations = found.relations.iter().any(|name| !found.ctes.contains(name));
                match found.strange {
                    Some(name) if relations || name.starts_with("pg_") => {
                        Some(Err(format!("the catalog has no function {name}")))
                    }
                    Some(_) => None,
                    None => {
                        let certain = relations || found.functions;
                        Some(Ok(Self::Query { query, certain }))
                    }
                }
            }
            _ => None,
        }
    }

    /// Its rows.
    pub(crate) fn answer(
        &self,
        catalog: &Inner,
        parameters: &[Option<String>],
        cancelled: &AtomicBool,
    ) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
        match self {
            Self::Show(setting) => {
                let columns = [(setting.name.to_owned(), types::TEXT)];
                let row = vec![text(settings::value(&catalog.schema, setting))];
                let batch = output::batch(catalog, &columns, &[row])?;
                Ok((batch.schema(), vec![batch]))
            }
            Self::Query { query, .. } => {
                let (plan, _) = bind(catalog, query, parameters)?;
                let run = Run::new(catalog, cancelled);
                let rows = run.rows(&plan, &Scope { row: &[], outer: None })?;
                run.sendable(&rows)?;
                let batch = output::batch(catalog, &plan.columns, &rows)?;
                Ok((batch.schema(), vec![batch]))
            }
        }
    }

    /// Its parameters and columns.
    pub(crate) fn describe(&self, catalog: &Inner) -> Result<Description, String> {
        match self {
            Self::Show(setting) => {
                let columns = [(setting.name.to_owned(), types::TEXT)];
                Ok(Description { parameters: Vec::new(), schema: output::schema(&columns) })
            }
            Self::Query { query, .. } => {
                let (plan, types) = bind(catalog, query, &[])?;
                let known = |oid: &u32| Type::from_oid(*oid).unwrap_or(Type::TEXT);
                let parameters = types.iter().map(known).collect();
                Ok(Description { parameters, schema: output::schema(&plan.columns) })
            }
        }
    }

    /// Whether only the catalog can answer it.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Self::Show(_) | Self::Query { certain: true, .. })
    }
}

fn bind(
    catalog: &Inner,
    query: &Ast,
    parameters: &[Option<String>],
) -> Result<(Query, Vec<u32>), String> {
    let mut binder = Binder::new(catalog, parameters);
    let query = binder.query(query)?;
    Ok((query, binder.types))
}

/// The names that a query uses. The visit stops at a relation that is not the catalog's.
struct UsedNames<'a> {
    catalog: &'a Inner,
    /// The common table expressions, and the bare names of the relations.
    ctes: Vec<String>,
    relations: Vec<String>,
    /// Whether it calls a function of the catalog.
    functions: bool,
    /// A function that the catalog does not have.
    strange: Option<String>,
}

impl<'a> UsedNames<'a> {
    fn new(catalog: &'a Inner) -> Self {
        let (ctes, relations) = (Vec::new(), Vec::new());
        Self { catalog, ctes, relations, functions: false, strange: None }
    }

    fn function(&mut self, name: &ObjectName) {
        let parts = parts(name);
        let own = match parts.as_slice() {
            [_] => true,
            [schema, _] => matches!(schema.as_str(), "pg_catalog" | "information_schema"),
            _ => false,
        };
        let bare = parts.last().map_or("", String::as_str);
        let plain = aggregate(bare).is_some() || series(bare).is_some();
        let special = matches!(bare, "coalesce" | "nullif" | "row_number" | "array");
        if own && functions::exists(bare) {
            self.functions = true;
        } else if !own || !(plain || special) {
            self.strange.get_or_insert_with(|| bare.to_owned());
        }
    }

    /// Whether a relation belongs to the catalog, or to the statement itself.
    fn is_own(&self, parts: &[String]) -> bool {
        match parts {
            [name] => {
                let system =
                    name.starts_with("pg_") && !self.catalog.schema.tables.contains_key(name);
                system || self.ctes.contains(name)
            }
            [.., schema, _] => matches!(schema.as_str(), "pg_catalog" | "information_schema"),
            [] => false,
        }
    }
}

impl Visitor for UsedNames<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Ast) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.ctes.push(ident(&cte.alias.name));
        }
        let written = |body: &SetExpr| {
            matches!(
                body,
                SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_)
            )
        };
        if written(&query.body) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, args: None, .. } => {
                let parts = parts(name);
                if !self.is_own(&parts) {
                    return ControlFlow::Break(());
                }
                self.relations.extend(parts.last().cloned());
            }
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => {
                self.function(name)
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.function(&function.name);
        }
        ControlFlow::Continue(())
    }
}
