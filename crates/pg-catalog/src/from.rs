//! Binds FROM: relations of the catalog, and how they join.

use super::bind::{ident, parts};
use super::expression::{function_name, series};
use super::plan::{Expr, Operator, Series, Source, Step};
use super::relations::HIDDEN;
use super::scope::{Binder, ColumnName, READS_CTE, RelationNames, Typed};
use super::types::{self, Oid, UNKNOWN};
use datafusion::sql::sqlparser::ast::{
    FunctionArg, JoinConstraint, JoinOperator, TableAlias, TableFactor, TableWithJoins,
};

/// The relations of a FROM in join order. Their names are in the scope.
pub(crate) struct Joined {
    pub(crate) steps: Vec<Step>,
}

/// A relation, before it has a name in the scope.
struct Bound {
    source: Source,
    schema: Option<String>,
    name: String,
    columns: Vec<ColumnName>,
    lateral: bool,
}

fn shown(columns: &[(String, Oid)]) -> Vec<ColumnName> {
    let shown = |(name, oid): &(String, Oid)| ColumnName {
        name: name.clone(),
        type_oid: *oid,
        hidden: false,
    };
    columns.iter().map(shown).collect()
}

impl Binder<'_> {
    /// Binds FROM into the innermost scope.
    pub(crate) fn from(&mut self, from: &[TableWithJoins]) -> Result<Joined, String> {
        let mut steps = Vec::new();
        for tables in from {
            self.joined(tables, &mut steps)?;
        }
        Ok(Joined { steps })
    }

    fn joined(&mut self, tables: &TableWithJoins, steps: &mut Vec<Step>) -> Result<(), String> {
        match &tables.relation {
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.deeper(|binder| binder.joined(table_with_joins, steps))?;
            }
            relation => self.step(relation, false, &JoinConstraint::None, steps)?,
        }
        for join in &tables.joins {
            let (left_join, constraint) = match &join.join_operator {
                JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::CrossJoin(on) => {
                    (false, on)
                }
                JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (true, on),
                _ => return Err("the catalog joins INNER, LEFT and CROSS only".to_owned()),
            };
            self.step(&join.relation, left_join, constraint, steps)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        relation: &TableFactor,
        left_join: bool,
        constraint: &JoinConstraint,
        steps: &mut Vec<Step>,
    ) -> Result<(), String> {
        if steps.len() >= 60 {
            return Err("the catalog query joins too many relations".to_owned());
        }
        let Bound { source, schema, name, mut columns, lateral } = self.relation(relation)?;
        let mut on = Vec::new();
        if let JoinConstraint::Using(using) = constraint {
            for column in using {
                let column = parts(column).pop().unwrap_or_default();
                let missing = || format!("column \"{column}\" specified in USING does not exist");
                let left = self.column(std::slice::from_ref(&column)).ok_or_else(missing)?;
                let at = columns.iter().position(|c| c.name == column).ok_or_else(missing)?;
                columns[at].hidden = true;
                let start = self.names()?.width;
                let right = Expr::Column { depth: 0, at: start + at };
                let (a, b, _) = self.alike(left, (right, columns[at].type_oid))?;
                on.push(Expr::Binary(Operator::Equal, Box::new(a), Box::new(b)));
            }
        }
        let width = columns.len();
        let names = self.names()?;
        let start = names.width;
        names.width += width;
        names.relations.push(RelationNames { schema, name, columns, start });
        match constraint {
            JoinConstraint::On(condition) => {
                on = match self.condition(condition)? {
                    Expr::All(all) => all,
                    one => vec![one],
                };
            }
            JoinConstraint::Natural => return Err("the catalog has no NATURAL joins".to_owned()),
            JoinConstraint::Using(_) | JoinConstraint::None => {}
        }
        steps.push(Step { source, width, left_join, on, lateral });
        Ok(())
    }

    fn relation(&mut self, relation: &TableFactor) -> Result<Bound, String> {
        match relation {
            TableFactor::Table { name, alias, args: None, .. } => {
                self.table(&parts(name), alias.as_ref())
            }
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
                let name = function_name(name)?;
                self.table_function(&name, &args.args, *with_ordinality, alias.as_ref())
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                let name = function_name(name)?;
                self.table_function(&name, args, *with_ordinality, alias.as_ref())
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                let args = array_exprs.iter().map(|expr| self.bind(expr));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                self.series_table("unnest", Series::Unnest, args, *with_ordinality, alias.as_ref())
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let here = 1_u64 << (self.scopes.len() - 1);
                let query = self.deeper(|binder| binder.query(subquery))?;
                let lateral = query.reads != u64::MAX && query.reads & here != 0;
                let columns = renamed(shown(&query.columns), alias.as_ref());
                let name = alias.as_ref().map_or(String::new(), |alias| ident(&alias.name));
                let source = Source::Query(Box::new(query));
                Ok(Bound { source, schema: None, name, columns, lateral })
            }
            other => Err(format!("the catalog does not know {other} in FROM")),
        }
    }

    fn table(&mut self, name: &[String], alias: Option<&TableAlias>) -> Result<Bound, String> {
        let called = |own: &str| alias.map_or(own.to_owned(), |alias| ident(&alias.name));
        if let [name] = name
            && let Some(cte) = self.ctes.iter().rev().find(|cte| cte.name == *name)
        {
            let (source, columns) = (Source::Cte(cte.id), shown(&cte.columns));
            self.reads |= READS_CTE;
            let columns = renamed(columns, alias);
            return Ok(Bound { source, schema: None, name: called(name), columns, lateral: false });
        }
        let (schema, own) = match name {
            [name] => (None, name),
            [.., schema, name] => (Some(schema.as_str()), name),
            [] => return Err("a relation without a name".to_owned()),
        };
        let found = self.catalog.relations.find(schema, own);
        let relation =
            found.ok_or_else(|| format!("relation \"{}\" does not exist", name.join(".")))?;
        let columns: Vec<_> =
            relation.columns.iter().map(|c| (c.name.clone(), c.type_oid)).collect();
        let mut columns = renamed(shown(&columns), alias);
        let hidden = |(name, type_oid): (&str, Oid)| ColumnName {
            name: name.to_owned(),
            type_oid,
            hidden: true,
        };
        columns.extend(HIDDEN.map(hidden));
        let source = Source::Rows(std::sync::Arc::clone(&relation.rows));
        let schema = alias.is_none().then(|| relation.schema.to_owned());
        Ok(Bound { source, schema, name: called(own), columns, lateral: false })
    }

    fn table_function(
        &mut self,
        name: &str,
        args: &[FunctionArg],
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<Bound, String> {
        let args = self.arguments(args)?;
        if let Some(series) = series(name) {
            return self.series_table(name, series, args, ordinality, alias);
        }
        let (expr, oid) = self.call(name, args)?;
        let own = alias.map_or(name.to_owned(), |alias| ident(&alias.name));
        let columns = renamed(shown(&[(own.clone(), oid)]), alias);
        Ok(Bound { source: Source::Once(expr), schema: None, name: own, columns, lateral: true })
    }

    fn series_table(
        &mut self,
        name: &str,
        series: Series,
        args: Vec<Typed>,
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<Bound, String> {
        let (args, oid) = self.series_args(series, args)?;
        let own = alias.map_or(name.to_owned(), |alias| ident(&alias.name));
        let column = |name: &str, oid| (name.to_owned(), oid);
        let mut columns = match series {
            Series::Expand => vec![column("x", types::INT4), column("n", types::INT4)],
            Series::Keywords => vec![
                column("word", types::TEXT),
                column("catcode", types::CHAR),
                column("barelabel", types::BOOL),
                column("catdesc", types::TEXT),
                column("baredesc", types::TEXT),
            ],
            _ => vec![(own.clone(), oid)],
        };
        if ordinality {
            columns.push(column("ordinality", types::INT8));
        }
        let columns = renamed(shown(&columns), alias);
        let source = Source::Series(series, args, ordinality);
        Ok(Bound { source, schema: None, name: own, columns, lateral: true })
    }

    /// The arguments of a set-returning function, and its element type.
    pub(crate) fn series_args(
        &mut self,
        series: Series,
        args: Vec<Typed>,
    ) -> Result<(Vec<Expr>, Oid), String> {
        let first = args.first().map_or(UNKNOWN, |(_, oid)| *oid);
        let settled = match first {
            UNKNOWN => types::TEXT_ARRAY,
            known => known,
        };
        let (wanted, oid) = match series {
            Series::Generate => {
                (types::INT8, if first == types::INT8 { first } else { types::INT4 })
            }
            Series::Keywords => (types::TEXT, types::RECORD),
            _ => {
                let element = types::element_of(settled).ok_or("a function of arrays")?;
                let made = match series {
                    Series::Unnest => element,
                    Series::Subscripts => types::INT4,
                    _ => types::RECORD,
                };
                (settled, made)
            }
        };
        let coerced = args.into_iter().enumerate().map(|(at, arg)| {
            let to = if at == 0 || series == Series::Generate { wanted } else { types::INT4 };
            self.coerce(arg, to)
        });
        Ok((coerced.collect::<Result<_, _>>()?, oid))
    }
}

/// The columns under the names that an alias gives them.
fn renamed(mut columns: Vec<ColumnName>, alias: Option<&TableAlias>) -> Vec<ColumnName> {
    let names = alias.map_or(&[][..], |alias| alias.columns.as_slice());
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = ident(&name.name);
    }
    columns
}
