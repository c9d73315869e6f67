//! GROUPING SETS, ROLLUP and CUBE over protected rows: one release of all cells, or one for each set.
//!
//! Both are compared by what is public: how many cells there are, how many groups a person may have, and how many sets
//! share the budget. Of n cells, a group of a set with n′ groups adds up n/n′, so its noise grows by √(n/n′). A set that
//! is released separately gets one k-th of the budget of k sets, so its noise grows by k (by √k under zCDP). A person has
//! at most g groups of either; noise grows with g (with √g). The smaller sum over all sets is chosen, and one release
//! where both are alike, as its totals agree with its cells.

use super::derive::Derived;
use super::rows::planned;
use super::{Node, Walk, unexpected};
use crate::aggregate::{GroupingSet, Keys, PrivateAggregate, Rollup, summable};
use crate::error::{Error, Result};
use crate::policy::Accounting;
use crate::refusal::{Refusal, Rule};
use crate::rows::Rows;
use crate::words::short;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::GroupingSet as Sets;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlanBuilder, lit};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Walk<'_> {
    /// An aggregate with grouping sets.
    pub(super) fn grouping_sets(&mut self, rows: Rows, aggregate: &Aggregate) -> Result<Node> {
        let keys: Vec<Expr> = grouping_set_to_exprlist(&aggregate.group_expr)
            .map_err(planned)?
            .into_iter()
            .cloned()
            .collect();
        let person = |key: &Expr| match key.clone().unalias() {
            Expr::Column(column) => rows.is_unit(&column),
            _ => false,
        };
        if keys.iter().any(person) {
            return Err(Refusal::new(
                Rule::Clause,
                "GROUPING SETS, ROLLUP or CUBE with a person's id among the keys",
                "aggregate per person first (GROUP BY id), then use them on the result",
            )
            .into());
        }
        let sets = sets(&aggregate.group_expr, &keys)?;
        let of = |keys: Vec<Expr>| {
            let input = Arc::new(rows.plan.clone());
            match keys.is_empty() && aggregate.aggr_expr.is_empty() {
                // The grand total of no function: one row without columns.
                true => Ok(None),
                false => Aggregate::try_new(input, keys, aggregate.aggr_expr.clone()).map(Some),
            }
        };
        let mut separate = Vec::new();
        for set in &sets {
            let own: Vec<Expr> = keys
                .iter()
                .zip(&set.with)
                .filter(|(_, with)| **with)
                .map(|(k, _)| k.clone())
                .collect();
            let schema = match of(own.clone()).map_err(planned)? {
                Some(one) => one.schema,
                None => return Err(nothing()),
            };
            separate.push(self.private(rows.clone(), &own, &aggregate.aggr_expr, &schema)?);
        }
        let finest = match of(keys.clone()).map_err(planned)? {
            Some(one) => one.schema,
            None => return Err(nothing()),
        };
        let cells = self.private(rows.clone(), &keys, &aggregate.aggr_expr, &finest)?;
        let accounting = self.catalog.accounting();
        if let Some(why) = one_release(&cells, &separate, accounting) {
            let rollup = Some(Rollup { sets, why });
            let schema = Arc::clone(&aggregate.schema);
            return self.cut(PrivateAggregate { rollup, schema, ..cells });
        }
        self.each_set(separate, &sets, aggregate)
    }

    /// A release for each set, under the columns of all.
    fn each_set(
        &mut self,
        separate: Vec<PrivateAggregate>,
        sets: &[GroupingSet],
        aggregate: &Aggregate,
    ) -> Result<Node> {
        let different: HashSet<&Vec<bool>> = sets.iter().map(|set| &set.with).collect();
        let among = u32::try_from(different.len()).unwrap_or(u32::MAX);
        let keys = aggregate.schema.fields().len() - aggregate.aggr_expr.len() - 1;
        let mut all: Option<LogicalPlanBuilder> = None;
        for (set, cut) in sets.iter().zip(separate) {
            let Node::Released(plan) = self.cut(PrivateAggregate { among, ..cut })? else {
                return Err(unexpected("expected a release"));
            };
            let mut own = plan.schema().columns().into_iter().map(Expr::Column);
            let mut columns = Vec::new();
            for (i, (qualifier, field)) in aggregate.schema.iter().enumerate() {
                let kept = set.with.get(i).copied().unwrap_or(true);
                let column = match i == keys {
                    true => {
                        let id = ScalarValue::UInt64(Some(set.id)).cast_to(field.data_type());
                        Some(lit(id.map_err(planned)?))
                    }
                    false if kept => own.next(),
                    false => Some(lit(ScalarValue::try_from(field.data_type()).map_err(planned)?)),
                };
                let column = column.ok_or_else(|| unexpected("a grouping set's column"))?;
                columns.push(column.alias_qualified(qualifier.cloned(), field.name()));
            }
            let one = LogicalPlanBuilder::from(plan).project(columns);
            let one = one.map_err(|e| Error::planning(&e))?;
            all = Some(match all {
                None => one,
                Some(all) => {
                    let one = one.build().map_err(|e| Error::planning(&e))?;
                    all.union(one).map_err(|e| Error::planning(&e))?
                }
            });
        }
        let all = all.ok_or_else(|| unexpected("no grouping set"))?;
        let plan = all.build().map_err(|e| Error::planning(&e))?;
        // A union has no qualifiers.
        let names = aggregate.schema.iter().map(|(qualifier, field)| {
            Expr::Column(Column::new_unqualified(field.name()))
                .alias_qualified(qualifier.cloned(), field.name())
        });
        let plan = LogicalPlanBuilder::from(plan).project(names.collect::<Vec<_>>());
        plan.and_then(LogicalPlanBuilder::build)
            .map(Node::Released)
            .map_err(|e| Error::planning(&e))
    }

    /// Functions that are computed from others, over what those others release.
    pub(super) fn derived(&mut self, rows: Rows, derived: Derived) -> Result<Node> {
        let node = self.aggregate(rows, &derived.basic)?;
        derived.over(node)
    }
}

fn nothing() -> Error {
    Refusal::new(
        Rule::Clause,
        "GROUPING SETS without an aggregate",
        "ask for an aggregate, such as COUNT(*), or use SELECT DISTINCT",
    )
    .into()
}

/// The sets, each with its id.
fn sets(group: &[Expr], keys: &[Expr]) -> Result<Vec<GroupingSet>> {
    let [Expr::GroupingSet(sets)] = group else {
        return Err(unexpected("expected grouping sets"));
    };
    let n = keys.len();
    let without =
        |exprs: &[Expr]| -> Vec<bool> { keys.iter().map(|k| exprs.contains(k)).collect() };
    let all: Vec<Vec<bool>> = match sets {
        Sets::GroupingSets(sets) => sets.iter().map(|set| without(set)).collect(),
        Sets::Rollup(exprs) => {
            (0..=exprs.len()).rev().map(|first| without(&exprs[..first])).collect()
        }
        Sets::Cube(exprs) => (0..1usize << exprs.len().min(16))
            .map(|mask| {
                let chosen = exprs.iter().enumerate().filter(|(i, _)| mask & 1 << i == 0);
                without(&chosen.map(|(_, expr)| expr.clone()).collect::<Vec<_>>())
            })
            .collect(),
    };
    let mut seen: HashMap<Vec<bool>, u64> = HashMap::new();
    let number = |with: Vec<bool>| {
        let again = seen.entry(with.clone()).or_insert(0);
        let mask = with.iter().fold(0u64, |mask, with| mask << 1 | u64::from(!with));
        let id = *again << n | mask;
        *again += 1;
        GroupingSet { with, id }
    };
    Ok(all.into_iter().map(number).collect())
}

/// Why one release of all cells is chosen; `None` if it is not, or not possible.
fn one_release(
    cells: &PrivateAggregate,
    separate: &[PrivateAggregate],
    accounting: Accounting,
) -> Option<String> {
    let public = |of: &PrivateAggregate| match &of.keys {
        Keys::One => Some(1.0),
        Keys::Public(keys) => Some(keys.len() as f64),
        Keys::Private => None,
    };
    let n = public(cells)?;
    if n == 0.0 || cells.has_norms() || !cells.measures.iter().all(summable) {
        return None;
    }
    let grows = |x: f64| match accounting {
        Accounting::Pure => x,
        Accounting::Zcdp => x.sqrt(),
    };
    let groups = |of: &PrivateAggregate| match of.limits.learnt {
        true => 1.0,
        false => grows(f64::from(of.limits.groups)),
    };
    let k = separate.len() as f64;
    let (mut together, mut apart) = (0.0, 0.0);
    for set in separate {
        together += (n / public(set)?).sqrt() * groups(cells) / k;
        apart += grows(k) * groups(set) / k;
    }
    (together <= apart).then(|| {
        format!(
            "{} grouping sets are sums of these cells, in one release: on average their noise is {} \
             times that of one count, and separate releases would have {}",
            separate.len(),
            short(together),
            short(apart)
        )
    })
}

#[cfg(test)]
mod tests;
