//! Binding queries.

use super::from::Joined;
use super::label::label;
use super::plan::{Body, Cte, Expr, Operation, Query, Select, Slot, Sort, SortBy};
use super::scope::{Binder, ColumnName, CteName, Names, READS_CTE, RelationNames, Typed, unify};
use super::types::{self, Oid, UNKNOWN};
use datafusion::sql::sqlparser::ast::{
    self, Distinct, GroupByExpr, Ident, LimitClause, ObjectName, OrderByKind, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier,
};

/// An identifier, folded as PostgreSQL folds it.
pub(crate) fn ident(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The parts of a qualified name.
pub(crate) fn parts(name: &ObjectName) -> Vec<String> {
    name.0.iter().filter_map(|part| part.as_ident()).map(ident).collect()
}

impl Binder<'_> {
    /// Binds a query inside its enclosing scopes.
    pub(crate) fn query(&mut self, query: &ast::Query) -> Result<Query, String> {
        if !query.locks.is_empty() || query.for_clause.is_some() {
            return Err("the catalog locks nothing".to_owned());
        }
        let (ctes_before, around) = (self.ctes.len(), std::mem::take(&mut self.reads));
        let scopes = self.scopes.len();
        let ctes = match &query.with {
            Some(with) => self.with(with)?,
            None => Vec::new(),
        };
        let order = match &query.order_by {
            None => &[][..],
            Some(order) => match &order.kind {
                OrderByKind::Expressions(order) => order.as_slice(),
                OrderByKind::All(_) => return Err("ORDER BY ALL is not PostgreSQL's".to_owned()),
            },
        };
        let mut bound = self.body(&query.body, order)?;
        self.settle(&mut bound, None)?;
        // The counts of LIMIT and OFFSET are bound in a scope without names.
        self.push(Names::default())?;
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { .. }) => return Err("LIMIT takes one".to_owned()),
            None => (None, None),
        };
        let limit = limit.or(query.fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref()));
        bound.limit = limit.map(|limit| self.number(limit)).transpose()?;
        bound.offset = offset.map(|offset| self.number(offset)).transpose()?;
        self.scopes.pop();
        self.ctes.truncate(ctes_before);
        bound.ctes = ctes;
        let outside = ((1_u64 << scopes) - 1) | READS_CTE;
        bound.reads = self.reads & outside;
        self.reads = around | bound.reads;
        Ok(bound)
    }

    fn number(&mut self, expr: &ast::Expr) -> Result<Expr, String> {
        let typed = self.bind(expr)?;
        self.coerce(typed, types::INT8)
    }

    fn with(&mut self, with: &ast::With) -> Result<Vec<Cte>, String> {
        let mut bound = Vec::new();
        for cte in &with.cte_tables {
            let (name, id) = (ident(&cte.alias.name), self.id());
            let renamed = |query: &Query| -> Vec<(String, Oid)> {
                let aliases = cte.alias.columns.iter().map(|column| Some(ident(&column.name)));
                let aliases = aliases.chain(std::iter::repeat(None));
                let named = query.columns.iter().zip(aliases);
                named.map(|((own, oid), alias)| (alias.unwrap_or(own.clone()), *oid)).collect()
            };
            let cte = match (with.recursive, cte.query.body.as_ref()) {
                (
                    true,
                    SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, left, right },
                ) if cte.query.with.is_none() => {
                    let mut query = self.body(left, &[])?;
                    self.settle(&mut query, None)?;
                    let columns = renamed(&query);
                    let wanted: Vec<Oid> = columns.iter().map(|(_, oid)| *oid).collect();
                    self.ctes.push(CteName { name, id, columns });
                    let mut step = self.body(right, &[])?;
                    self.settle(&mut step, Some(&wanted))?;
                    let all = *set_quantifier == SetQuantifier::All;
                    // Neither may be cached from one round to the next.
                    (query.reads, step.reads) = (u64::MAX, u64::MAX);
                    Cte { id, query, step: Some((step, all)) }
                }
                _ => {
                    let query = self.query(&cte.query)?;
                    let columns = renamed(&query);
                    self.ctes.push(CteName { name, id, columns });
                    Cte { id, query, step: None }
                }
            };
            bound.push(cte);
        }
        Ok(bound)
    }

    /// Binds the part between WITH and LIMIT.
    fn body(&mut self, body: &SetExpr, order: &[ast::OrderByExpr]) -> Result<Query, String> {
        self.deeper(|binder| binder.body_here(body, order))
    }

    fn body_here(&mut self, body: &SetExpr, order: &[ast::OrderByExpr]) -> Result<Query, String> {
        let (body, columns) = match body {
            SetExpr::Select(select) => return self.select(select, order),
            SetExpr::Query(query) if order.is_empty() => return self.query(query),
            SetExpr::Query(query) => {
                let left = Box::new(self.query(query)?);
                let columns = left.columns.clone();
                let right = Box::new(self.plain(Body::Values(Vec::new()), columns.clone()));
                (Body::Set { operation: Operation::Union, all: true, left, right }, columns)
            }
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let operation = match op {
                    SetOperator::Union => Operation::Union,
                    SetOperator::Except | SetOperator::Minus => Operation::Except,
                    SetOperator::Intersect => Operation::Intersect,
                };
                let all = *set_quantifier == SetQuantifier::All;
                let (left, right) = (self.body(left, &[])?, self.body(right, &[])?);
                if left.columns.len() != right.columns.len() {
                    return Err("each side of a set operation has as many columns".to_owned());
                }
                let pairs = left.columns.iter().zip(&right.columns);
                let columns: Vec<_> =
                    pairs.map(|((name, a), (_, b))| (name.clone(), unify(*a, *b))).collect();
                let (left, right) = (Box::new(left), Box::new(right));
                (Body::Set { operation, all, left, right }, columns)
            }
            SetExpr::Values(values) => self.values_list(values)?,
            other => return Err(format!("the catalog does not know {other}")),
        };
        let mut query = self.plain(body, columns);
        query.order = self.output_order(order, &query.columns)?;
        Ok(query)
    }

    fn plain(&mut self, body: Body, columns: Vec<(String, Oid)>) -> Query {
        let (order, ctes, id) = (Vec::new(), Vec::new(), self.id());
        // A part of a query is never cached by itself.
        Query { id, ctes, body, order, limit: None, offset: None, columns, reads: u64::MAX }
    }

    fn values_list(&mut self, values: &ast::Values) -> Result<(Body, Vec<(String, Oid)>), String> {
        self.push(Names::default())?;
        let mut rows: Vec<Vec<Typed>> = Vec::new();
        for row in &values.rows {
            let row = row.content.iter().map(|expr| self.bind(expr));
            rows.push(row.collect::<Result<_, _>>()?);
        }
        let width = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != width) {
            return Err("VALUES lists must all be the same length".to_owned());
        }
        let common = |at: usize| rows.iter().fold(UNKNOWN, |known, row| unify(known, row[at].1));
        let common: Vec<Oid> = (0..width).map(common).collect();
        let common = common.into_iter().map(|oid| if oid == UNKNOWN { types::TEXT } else { oid });
        let common: Vec<Oid> = common.collect();
        let mut bound = Vec::new();
        for row in rows {
            let row = row.into_iter().zip(&common).map(|(typed, oid)| self.coerce(typed, *oid));
            bound.push(row.collect::<Result<Vec<_>, _>>()?);
        }
        self.scopes.pop();
        let named = common.iter().enumerate().map(|(at, oid)| (format!("column{}", at + 1), *oid));
        Ok((Body::Values(bound), named.collect()))
    }

    /// Gives a type to columns whose type is still unknown: the wanted one, or text.
    fn settle(&mut self, query: &mut Query, wanted: Option<&[Oid]>) -> Result<(), String> {
        let wanted: Vec<Oid> = match wanted {
            Some(wanted) => wanted.to_vec(),
            None => {
                let known = |(_, oid): &(String, Oid)| match *oid {
                    UNKNOWN => types::TEXT,
                    known => known,
                };
                query.columns.iter().map(known).collect()
            }
        };
        match &mut query.body {
            Body::Select(select) => {
                let pairs = select.projection.iter_mut().zip(&mut query.columns).zip(&wanted);
                for ((expr, column), wanted) in pairs {
                    if column.1 != *wanted {
                        *expr = self.coerce((expr.clone(), column.1), *wanted)?;
                    }
                }
            }
            Body::Set { left, right, .. } => {
                self.settle(left, Some(&wanted))?;
                self.settle(right, Some(&wanted))?;
            }
            Body::Values(_) => {}
        }
        for (column, wanted) in query.columns.iter_mut().zip(&wanted) {
            column.1 = *wanted;
        }
        Ok(())
    }

    /// ORDER BY over the columns of a set operation or of VALUES.
    fn output_order(
        &mut self,
        order: &[ast::OrderByExpr],
        columns: &[(String, Oid)],
    ) -> Result<Vec<Sort>, String> {
        let named = |(name, oid): &(String, Oid)| ColumnName {
            name: name.clone(),
            type_oid: *oid,
            hidden: false,
        };
        let columns: Vec<ColumnName> = columns.iter().map(named).collect();
        let width = columns.len();
        let relation = RelationNames { schema: None, name: String::new(), columns, start: 0 };
        self.push(Names { relations: vec![relation], width, slots: Vec::new() })?;
        let sorts = order.iter().map(|sort| self.sort(sort, &[], width));
        let sorts = sorts.collect::<Result<_, _>>();
        self.scopes.pop();
        sorts
    }

    /// One key of ORDER BY: the number or name of an output column, or an expression.
    fn sort(
        &mut self,
        sort: &ast::OrderByExpr,
        names: &[String],
        width: usize,
    ) -> Result<Sort, String> {
        let output = match &sort.expr {
            ast::Expr::Value(value) => match &value.value {
                ast::Value::Number(number, _) => {
                    let at = number.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
                    let at = at.filter(|at| *at < width);
                    Some(at.ok_or_else(|| format!("ORDER BY position {number} does not exist"))?)
                }
                _ => None,
            },
            ast::Expr::Identifier(name) => names.iter().position(|known| *known == ident(name)),
            _ => None,
        };
        let by = match output {
            Some(at) => SortBy::Output(at),
            None => {
                let typed = self.bind(&sort.expr)?;
                let oid = if typed.1 == UNKNOWN { types::TEXT } else { typed.1 };
                SortBy::Input(self.coerce(typed, oid)?)
            }
        };
        let descending = sort.options.asc == Some(false);
        let nulls_first = sort.options.nulls_first.unwrap_or(descending);
        Ok(Sort { by, descending, nulls_first })
    }

    fn select(
        &mut self,
        select: &ast::Select,
        order: &[ast::OrderByExpr],
    ) -> Result<Query, String> {
        if select.into.is_some() || select.top.is_some() || select.qualify.is_some() {
            return Err("the catalog does not know that SELECT".to_owned());
        }
        self.push(Names::default())?;
        let Joined { steps } = self.from(&select.from)?;
        let mut plan = Select { from: steps, ..Select::default() };
        if let Some(selection) = &select.selection {
            plan.filters = match self.condition(selection)? {
                Expr::All(all) => all,
                one => vec![one],
            };
        }
        let mut columns: Vec<(String, Oid)> = Vec::new();
        let mut sources: Vec<Option<&ast::Expr>> = Vec::new();
        for item in &select.projection {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, label(expr)),
                SelectItem::ExprWithAlias { expr, alias } => (expr, ident(alias)),
                SelectItem::Wildcard(_) => {
                    self.star(None, &mut plan.projection, &mut columns)?;
                    sources.resize(columns.len(), None);
                    continue;
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let name = parts(name).pop();
                    self.star(name, &mut plan.projection, &mut columns)?;
                    sources.resize(columns.len(), None);
                    continue;
                }
                other => return Err(format!("the catalog does not know {other}")),
            };
            let (bound, oid) = self.bind(expr)?;
            plan.projection.push(bound);
            columns.push((name, oid));
            sources.push(Some(expr));
        }
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let group = self.group(&select.group_by, &names, &sources)?;
        plan.having = select.having.as_ref().map(|h| self.condition(h)).transpose()?;
        match &select.distinct {
            None | Some(Distinct::All) => {}
            Some(Distinct::Distinct) => plan.distinct = true,
            Some(Distinct::On(on)) => {
                let on = on.iter().map(|expr| self.bind(expr).map(|(expr, _)| expr));
                plan.distinct_on = on.collect::<Result<_, _>>()?;
            }
        }
        let sorts = order.iter().map(|sort| self.sort(sort, &names, columns.len()));
        let order = sorts.collect::<Result<_, _>>()?;
        let scope = self.scopes.pop().unwrap_or_default();
        plan.width = scope.width;
        let aggregates = scope.slots.iter().any(|slot| matches!(slot, Slot::Aggregate(_)));
        plan.slots = scope.slots;
        let grouped = aggregates || !group.is_empty() || plan.having.is_some();
        plan.group = grouped.then_some(group);
        let mut query = self.plain(Body::Select(Box::new(plan)), columns);
        query.order = order;
        Ok(query)
    }

    fn group(
        &mut self,
        group: &GroupByExpr,
        names: &[String],
        sources: &[Option<&ast::Expr>],
    ) -> Result<Vec<Expr>, String> {
        let GroupByExpr::Expressions(all, modifiers) = group else {
            return Err("GROUP BY ALL is not PostgreSQL's".to_owned());
        };
        if !modifiers.is_empty() {
            return Err("the catalog does not know that GROUP BY".to_owned());
        }
        let mut bound = Vec::new();
        for expr in all {
            let place = match expr {
                ast::Expr::Value(value) => {
                    value.to_string().parse::<usize>().ok().and_then(|at| at.checked_sub(1))
                }
                ast::Expr::Identifier(name) if self.column(&[ident(name)]).is_none() => {
                    names.iter().position(|known| *known == ident(name))
                }
                _ => None,
            };
            let expr = place.and_then(|at| sources.get(at).copied().flatten()).unwrap_or(expr);
            bound.push(self.bind(expr)?.0);
        }
        Ok(bound)
    }

    /// `*`, or `table.*`.
    fn star(
        &mut self,
        table: Option<String>,
        projection: &mut Vec<Expr>,
        columns: &mut Vec<(String, Oid)>,
    ) -> Result<(), String> {
        let names = self.names()?;
        let wanted = |name: &str| table.as_ref().is_none_or(|table| table == name);
        let before = projection.len();
        for relation in names.relations.iter().filter(|relation| wanted(&relation.name)) {
            for (at, column) in relation.columns.iter().enumerate() {
                if !column.hidden {
                    projection.push(Expr::Column { depth: 0, at: relation.start + at });
                    columns.push((column.name.clone(), column.type_oid));
                }
            }
        }
        match projection.len() > before {
            true => Ok(()),
            false => Err("SELECT * needs a FROM".to_owned()),
        }
    }
}
