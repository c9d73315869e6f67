//! Values that are computed for a row of FROM: aggregates, row numbers, set-returning functions.

use super::evaluate::{Run, Scope, at_most};
use super::plan::{Aggregate, AggregateKind, Expr, Select, Slot};
use super::run::{Keyed, compare};
use super::value::{Row, Value, int, list, text};
use std::collections::{HashMap, HashSet};

impl Run<'_> {
    /// One row per group: its first row, followed by the aggregates.
    pub(crate) fn grouped(
        &self,
        select: &Select,
        group: &[Expr],
        rows: Vec<Row>,
        scope: &Scope<'_>,
    ) -> Result<Vec<Row>, String> {
        let (mut groups, mut places): (Vec<Vec<Row>>, HashMap<String, usize>) = Default::default();
        for row in rows {
            let key = self.values(group, &Scope { row: &row, outer: Some(scope) })?;
            let place = *places.entry(self.key(&key)?).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(row);
        }
        if group.is_empty() && groups.is_empty() {
            groups.push(Vec::new());
        }
        let width = select.width + select.slots.len();
        let mut answer = Vec::with_capacity(groups.len());
        for rows in groups {
            let mut row = rows.first().cloned().unwrap_or_else(|| vec![Value::Null; width]);
            for (at, slot) in select.slots.iter().enumerate() {
                if let Slot::Aggregate(aggregate) = slot {
                    row[select.width + at] = self.aggregate(aggregate, &rows, scope)?;
                }
            }
            answer.push(row);
        }
        Ok(answer)
    }

    fn aggregate(
        &self,
        aggregate: &Aggregate,
        rows: &[Row],
        scope: &Scope<'_>,
    ) -> Result<Value, String> {
        let mut keyed: Vec<Keyed> = Vec::new();
        let mut seen = HashSet::new();
        for row in rows {
            let own = Scope { row, outer: Some(scope) };
            if let Some(filter) = &aggregate.filter
                && !self.holds(filter, &own)?
            {
                continue;
            }
            let args = self.values(&aggregate.args, &own)?;
            let null = args.first().is_some_and(Value::is_null);
            if null && aggregate.kind != AggregateKind::Array {
                continue;
            }
            if aggregate.distinct && !seen.insert(self.key(&args)?) {
                continue;
            }
            keyed.push((self.sort_key(&aggregate.order, &args, &own)?, args));
        }
        keyed.sort_by(|(a, _), (b, _)| compare(&aggregate.order, a, b));
        let mut values = keyed.iter().filter_map(|(_, args)| args.first().cloned());
        let smaller = |a: Value, b: Value| if b.order(&a).is_lt() { b } else { a };
        let larger = |a: Value, b: Value| if b.order(&a).is_gt() { b } else { a };
        let truths = || keyed.iter().filter_map(|(_, args)| args.first()?.truth());
        Ok(match aggregate.kind {
            AggregateKind::Count => int(keyed.len() as i64),
            _ if keyed.is_empty() => Value::Null,
            AggregateKind::Array => list(values.collect()),
            AggregateKind::Min => values.reduce(smaller).unwrap_or(Value::Null),
            AggregateKind::Max => values.reduce(larger).unwrap_or(Value::Null),
            AggregateKind::And => Value::Bool(truths().all(|truth| truth)),
            AggregateKind::Or => Value::Bool(truths().any(|truth| truth)),
            AggregateKind::String => {
                let separator = keyed[0].1.get(1).map_or("", Value::str);
                let parts: Vec<_> = values.map(|value| value.output()).collect();
                at_most(parts.iter().map(|part| part.len() + separator.len()).sum())?;
                text(parts.join(separator))
            }
            AggregateKind::Sum => values.try_fold(int(0), |sum, value| match (sum, value) {
                (Value::Int(a), Value::Int(b)) => {
                    a.checked_add(b).map(int).ok_or("integer out of range")
                }
                (Value::Int(a), Value::Float(b)) => Ok(Value::Float(a as f64 + b)),
                (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
                _ => Err("sum of something else than numbers"),
            })?,
        })
    }

    /// Fills the slots of `row_number()`.
    pub(crate) fn numbered(
        &self,
        select: &Select,
        rows: &mut [Row],
        scope: &Scope<'_>,
    ) -> Result<(), String> {
        for (at, slot) in select.slots.iter().enumerate() {
            let Slot::RowNumber { partition, order } = slot else { continue };
            let mut keyed = Vec::with_capacity(rows.len());
            for (place, row) in rows.iter().enumerate() {
                let own = Scope { row, outer: Some(scope) };
                let key = self.sort_key(order, &[], &own)?;
                keyed.push((key, self.key(&self.values(partition, &own)?)?, place));
            }
            keyed.sort_by(|(a, ..), (b, ..)| compare(order, a, b));
            let mut counts: HashMap<String, i64> = HashMap::new();
            for (_, partition, place) in keyed {
                let count = counts.entry(partition).or_default();
                *count += 1;
                rows[place][select.width + at] = int(*count);
            }
        }
        Ok(())
    }

    /// Repeats each row for the set-returning functions in the SELECT list, side by side.
    pub(crate) fn expanded(
        &self,
        select: &Select,
        rows: Vec<Row>,
        scope: &Scope<'_>,
    ) -> Result<Vec<Row>, String> {
        let slots: Vec<_> = select.slots.iter().enumerate().collect();
        let series = |(at, slot): &(usize, &Slot)| match slot {
            Slot::Series(series, args) => Some((*at, *series, args.clone())),
            _ => None,
        };
        let all: Vec<_> = slots.iter().filter_map(series).collect();
        if all.is_empty() {
            return Ok(rows);
        }
        let mut expanded = Vec::new();
        for row in rows {
            let own = Scope { row: &row, outer: Some(scope) };
            let mut columns = Vec::with_capacity(all.len());
            for (at, series, args) in &all {
                columns.push((*at, self.series(*series, &self.values(args, &own)?)?));
            }
            let length = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
            for line in 0..length {
                let mut row = row.clone();
                for (at, values) in &columns {
                    row[select.width + at] = values.get(line).cloned().unwrap_or(Value::Null);
                }
                expanded.push(row);
            }
        }
        Ok(expanded)
    }
}
