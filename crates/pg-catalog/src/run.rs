//! Computes the rows of a query.

use super::evaluate::{Run, Scope};
use super::plan::{
    Body, Cte, Expr, Operation, Operator, Query, Select, Series, Sort, SortBy, Source, Step,
};
use super::value::{Row, Value, int, list, text};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A row with its sort key.
pub(crate) type Keyed = (Row, Row);

/// The right side of a join: its rows, indexed by key.
pub(crate) struct Side {
    rows: Arc<Vec<Row>>,
    index: HashMap<String, Vec<usize>>,
}

impl Run<'_> {
    /// The rows of a query, given the enclosing rows. A query that reads none of those is computed once.
    pub(crate) fn rows(&self, query: &Query, scope: &Scope<'_>) -> Result<Arc<Vec<Row>>, String> {
        if query.reads == 0
            && let Some(known) = self.constant.borrow().get(&query.id)
        {
            return Ok(Arc::clone(known));
        }
        for cte in &query.ctes {
            self.common(cte, scope)?;
        }
        let mut keyed = match &query.body {
            Body::Select(select) => self.select(select, &query.order, scope)?,
            Body::Set { operation, all, left, right } => {
                let (left, right) = (self.rows(left, scope)?, self.rows(right, scope)?);
                self.sorted_by(self.set(*operation, *all, &left, &right)?, &query.order, scope)?
            }
            Body::Values(rows) => {
                let outer = Scope { row: &[], outer: Some(scope) };
                let rows = rows.iter().map(|row| self.values(row, &outer));
                self.sorted_by(rows.collect::<Result<_, _>>()?, &query.order, scope)?
            }
        };
        if !query.order.is_empty() {
            keyed.sort_by(|(a, _), (b, _)| compare(&query.order, a, b));
        }
        let count = |expr: &Option<Expr>| match expr {
            None => Ok(None),
            Some(expr) => {
                let outer = Scope { row: &[], outer: Some(scope) };
                let value = self.evaluate(expr, &outer)?;
                Ok::<_, String>(value.int().and_then(|count| usize::try_from(count).ok()))
            }
        };
        let skip = count(&query.offset)?.unwrap_or(0);
        let take = count(&query.limit)?.unwrap_or(usize::MAX);
        let rows: Vec<Row> = keyed.into_iter().skip(skip).take(take).map(|(_, row)| row).collect();
        let rows = Arc::new(rows);
        if query.reads == 0 {
            self.constant.borrow_mut().insert(query.id, Arc::clone(&rows));
        }
        Ok(rows)
    }

    /// Computes a common table expression; a recursive one until there are no new rows.
    fn common(&self, cte: &Cte, scope: &Scope<'_>) -> Result<(), String> {
        let first = self.rows(&cte.query, scope)?;
        let Some((step, all)) = &cte.step else {
            self.ctes.borrow_mut().insert(cte.id, first);
            return Ok(());
        };
        let mut seen: HashSet<String> = HashSet::new();
        let mut fresh = |rows: &[Row]| -> Result<Vec<Row>, String> {
            let mut found = Vec::new();
            for row in rows {
                if *all || seen.insert(self.key(row)?) {
                    found.push(row.clone());
                }
            }
            Ok(found)
        };
        let mut working = fresh(&first)?;
        let mut total = working.clone();
        while !working.is_empty() {
            self.spend(total.len() as u64)?;
            self.ctes.borrow_mut().insert(cte.id, Arc::new(working));
            working = fresh(&self.rows(step, scope)?)?;
            total.extend(working.iter().cloned());
        }
        self.ctes.borrow_mut().insert(cte.id, Arc::new(total));
        Ok(())
    }

    fn sorted_by(
        &self,
        rows: Vec<Row>,
        order: &[Sort],
        scope: &Scope<'_>,
    ) -> Result<Vec<Keyed>, String> {
        let keyed = |row: Row| {
            let own = Scope { row: &row, outer: Some(scope) };
            let key = self.sort_key(order, &row, &own)?;
            Ok((key, row))
        };
        rows.into_iter().map(keyed).collect()
    }

    pub(crate) fn sort_key(
        &self,
        order: &[Sort],
        output: &[Value],
        scope: &Scope<'_>,
    ) -> Result<Row, String> {
        let key = |sort: &Sort| match &sort.by {
            SortBy::Output(at) => Ok(output.get(*at).cloned().unwrap_or(Value::Null)),
            SortBy::Input(expr) => self.evaluate(expr, scope),
        };
        order.iter().map(key).collect()
    }

    fn set(
        &self,
        operation: Operation,
        all: bool,
        left: &[Row],
        right: &[Row],
    ) -> Result<Vec<Row>, String> {
        self.spend((left.len() + right.len()) as u64)?;
        let others: HashSet<String> = match operation {
            Operation::Union => HashSet::new(),
            _ => right.iter().map(|row| self.key(row)).collect::<Result<_, _>>()?,
        };
        let both = match operation {
            Operation::Union => right,
            _ => &[],
        };
        let (mut rows, mut seen) = (Vec::new(), HashSet::new());
        for row in left.iter().chain(both) {
            let wanted = match operation {
                Operation::Union => true,
                Operation::Except => !others.contains(&self.key(row)?),
                Operation::Intersect => others.contains(&self.key(row)?),
            };
            if wanted && (all || seen.insert(self.key(row)?)) {
                rows.push(row.clone());
            }
        }
        Ok(rows)
    }

    fn select(
        &self,
        select: &Select,
        order: &[Sort],
        scope: &Scope<'_>,
    ) -> Result<Vec<Keyed>, String> {
        let mut rows = self.from(select, scope)?;
        for row in &mut rows {
            row.resize(select.width + select.slots.len(), Value::Null);
        }
        if let Some(group) = &select.group {
            rows = self.grouped(select, group, rows, scope)?;
        }
        if let Some(having) = &select.having {
            rows = self.kept(rows, std::slice::from_ref(having), scope)?;
        }
        self.numbered(select, &mut rows, scope)?;
        rows = self.expanded(select, rows, scope)?;
        let (mut keyed, mut seen) = (Vec::with_capacity(rows.len()), HashSet::new());
        let mut on: Vec<(Row, Keyed)> = Vec::new();
        for row in &rows {
            let own = Scope { row, outer: Some(scope) };
            let output = self.values(&select.projection, &own)?;
            if select.distinct && !seen.insert(self.key(&output)?) {
                continue;
            }
            let key = self.sort_key(order, &output, &own)?;
            if select.distinct_on.is_empty() {
                keyed.push((key, output));
            } else {
                on.push((self.values(&select.distinct_on, &own)?, (key, output)));
            }
        }
        if !on.is_empty() {
            on.sort_by(|(_, (a, _)), (_, (b, _))| compare(order, a, b));
            for (by, first) in on {
                if seen.insert(self.key(&by)?) {
                    keyed.push(first);
                }
            }
        }
        Ok(keyed)
    }

    fn kept(&self, rows: Vec<Row>, on: &[Expr], scope: &Scope<'_>) -> Result<Vec<Row>, String> {
        let mut kept = Vec::new();
        'rows: for row in rows {
            let own = Scope { row: &row, outer: Some(scope) };
            for condition in on {
                if !self.holds(condition, &own)? {
                    continue 'rows;
                }
            }
            kept.push(row);
        }
        Ok(kept)
    }

    /// Joins the relations from left to right. A condition of WHERE is applied as soon as the columns it reads are
    /// available: every join here keeps the rows of its left side.
    fn from(&self, select: &Select, scope: &Scope<'_>) -> Result<Vec<Row>, String> {
        // A join with an empty relation is empty, in whichever order: JDBC asks for keys with the empty relation last.
        let empty = |step: &Step| {
            matches!(&step.source, Source::Rows(rows) if rows.is_empty()) && !step.left_join
        };
        if select.from.iter().any(empty) {
            return Ok(Vec::new());
        }
        let (mut rows, mut width) = (vec![Row::new()], 0);
        let mut waiting: Vec<&Expr> = select.filters.iter().collect();
        for (at, step) in select.from.iter().enumerate() {
            let last = at + 1 == select.from.len();
            let reached = |expr: &&Expr| {
                last || expr.reach().is_some_and(|reach| reach <= width + step.width)
            };
            let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(reached);
            waiting = later;
            let now: Vec<Expr> = now.into_iter().cloned().collect();
            // An inner join may use the conditions of WHERE as its own.
            let on: Cow<'_, [Expr]> = if step.left_join {
                Cow::Borrowed(&step.on)
            } else {
                Cow::Owned([step.on.clone(), now.clone()].concat())
            };
            rows = self.join(rows, width, step, &on, scope)?;
            width += step.width;
            if step.left_join {
                rows = self.kept(rows, &now, scope)?;
            }
        }
        if select.from.is_empty() {
            rows = self.kept(rows, &select.filters, scope)?;
        }
        Ok(rows)
    }

    fn join(
        &self,
        left: Vec<Row>,
        width: usize,
        step: &Step,
        on: &[Expr],
        scope: &Scope<'_>,
    ) -> Result<Vec<Row>, String> {
        let keys = equalities(on, width);
        let mut shared: Option<Arc<Side>> = None;
        let mut joined = Vec::new();
        for row in left {
            let own = Scope { row: &row, outer: Some(scope) };
            if step.lateral || shared.is_none() {
                shared = Some(self.side(step, width, &keys, &own)?);
            }
            let Some(side) = &shared else { continue };
            let candidates: Cow<'_, [usize]> = if keys.is_empty() {
                Cow::Owned((0..side.rows.len()).collect())
            } else {
                let key = keys.iter().map(|(left, _)| self.evaluate(left, &own));
                let key: Row = key.collect::<Result<_, _>>()?;
                Cow::Borrowed(side.index.get(&self.key(&key)?).map_or(&[][..], Vec::as_slice))
            };
            let before = joined.len();
            for at in candidates.iter() {
                self.room(joined.len(), width + step.width)?;
                let mut both = row.clone();
                both.extend(side.rows[*at].iter().cloned());
                joined.extend(self.kept(vec![both], on, scope)?);
            }
            if step.left_join && joined.len() == before {
                let mut alone = row;
                alone.resize(width + step.width, Value::Null);
                joined.push(alone);
            }
        }
        Ok(joined)
    }

    /// The right side of a join with its index. A relation of the catalog is indexed once, however often a subquery
    /// reads it.
    fn side(
        &self,
        step: &Step,
        width: usize,
        keys: &[(&Expr, &Expr)],
        own: &Scope<'_>,
    ) -> Result<Arc<Side>, String> {
        let local = keys.iter().all(|(_, right)| right.is_local());
        let place = std::ptr::from_ref(step) as usize;
        let kept = matches!(step.source, Source::Rows(_)) && local;
        if kept && let Some(known) = self.sides.borrow().get(&place) {
            return Ok(Arc::clone(known));
        }
        let rows = self.source(&step.source, own)?;
        let mut index: HashMap<String, Vec<usize>> = HashMap::new();
        if !keys.is_empty() {
            for (at, row) in rows.iter().enumerate() {
                let nulls = std::iter::repeat_n(Value::Null, width);
                let padded: Row = nulls.chain(row.iter().cloned()).collect();
                let scope = Scope { row: &padded, outer: own.outer };
                let key = keys.iter().map(|(_, right)| self.evaluate(right, &scope));
                let key: Row = key.collect::<Result<_, _>>()?;
                if !key.iter().any(Value::is_null) {
                    index.entry(self.key(&key)?).or_default().push(at);
                }
            }
        }
        let side = Arc::new(Side { rows, index });
        if kept {
            self.sides.borrow_mut().insert(place, Arc::clone(&side));
        }
        Ok(side)
    }

    fn source(&self, source: &Source, scope: &Scope<'_>) -> Result<Arc<Vec<Row>>, String> {
        Ok(match source {
            Source::Rows(rows) => Arc::clone(rows),
            Source::Query(query) => self.rows(query, scope)?,
            Source::Cte(id) => {
                let rows = self.ctes.borrow().get(id).cloned();
                rows.ok_or("a common table expression is not there yet")?
            }
            Source::Series(series, args, numbered) => {
                let args = self.values(args, scope)?;
                let wide = matches!(series, Series::Expand | Series::Keywords);
                let row = |(value, number): (Value, i64)| {
                    let mut row = if wide { value.items().to_vec() } else { vec![value] };
                    row.extend(numbered.then_some(int(number)));
                    row
                };
                Arc::new(self.series(*series, &args)?.into_iter().zip(1..).map(row).collect())
            }
            Source::Once(expr) => Arc::new(vec![vec![self.evaluate(expr, scope)?]]),
        })
    }

    pub(crate) fn series(&self, series: Series, args: &[Value]) -> Result<Vec<Value>, String> {
        let items = args.first().map_or(&[][..], Value::items);
        let values = match series {
            Series::Unnest => items.to_vec(),
            Series::Subscripts => (1..=items.len() as i64).map(int).collect(),
            Series::Expand => {
                let pair = |(item, at): (&Value, i64)| list(vec![item.clone(), int(at)]);
                items.iter().zip(1..).map(pair).collect()
            }
            Series::Generate => {
                let number = |at: usize| args.get(at).and_then(Value::int);
                let (Some(from), Some(to)) = (number(0), number(1)) else { return Ok(Vec::new()) };
                let by = number(2).unwrap_or(1);
                if by == 0 {
                    return Err("step size cannot equal zero".to_owned());
                }
                let (mut values, mut next) = (Vec::new(), from);
                while if by > 0 { next <= to } else { next >= to } {
                    self.spend(1)?;
                    values.push(int(next));
                    next = next.saturating_add(by);
                    if next == i64::MAX || next == i64::MIN {
                        break;
                    }
                }
                values
            }
            Series::Keywords => {
                let words =
                    ["analyse", "analyze", "ilike", "limit", "offset", "returning", "verbose"];
                let row = |word: &&str| {
                    let reserved = [text("R"), Value::Bool(true), text("reserved"), text("")];
                    list([vec![text(word)], reserved.to_vec()].concat())
                };
                words.iter().map(row).collect()
            }
        };
        self.spend(values.len() as u64)?;
        Ok(values)
    }
}

/// The equalities among the conditions of a join between columns left of `width` and columns right of it, each with
/// its left and its right side.
fn equalities(on: &[Expr], width: usize) -> Vec<(&Expr, &Expr)> {
    let is_left = |expr: &Expr| expr.reach().is_some_and(|reach| reach <= width);
    let is_right =
        |expr: &Expr| expr.reach().is_some() && expr.start().is_some_and(|start| start >= width);
    let mut pairs = Vec::new();
    for condition in on {
        if let Expr::Binary(Operator::Equal, a, b) = condition {
            if is_left(a) && is_right(b) {
                pairs.push((a.as_ref(), b.as_ref()));
            } else if is_right(a) && is_left(b) {
                pairs.push((b.as_ref(), a.as_ref()));
            }
        }
    }
    pairs
}

/// The order of two rows by their keys.
pub(crate) fn compare(order: &[Sort], a: &[Value], b: &[Value]) -> Ordering {
    for (sort, (a, b)) in order.iter().zip(a.iter().zip(b)) {
        let ordering = match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if sort.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if sort.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ if sort.descending => b.order(a),
            _ => a.order(b),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}
