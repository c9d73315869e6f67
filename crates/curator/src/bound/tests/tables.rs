//! Small tables, and functions that run the operator over them.

use crate::bound::engine::exact;
use crate::bound::exact::Exact;
use crate::bound::node::{BoundContributions, BoundPlanner};
use crate::bound::spec::{Argument, BoundSpec, Form};
use crate::bound::{Key, Native};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{SchemaRef, UInt32Type};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::{SessionConfig, SessionContext};
use demure_core::mechanism::Bounds;
use demure_core::random::SeededForTests;
use demure_core::unit::Grid;
use std::sync::Arc;

pub(super) fn key(seed: u64) -> Key {
    Key::draw(&mut SeededForTests::insecure(seed)).unwrap()
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub(super) fn steps(lower: f64, upper: f64) -> Form {
    Form::Steps { bounds: Bounds::on(lower, upper, Grid::ONE).unwrap(), histogram: true }
}

pub(super) fn argument(column: usize, form: Form) -> Argument {
    Argument { column, form }
}

/// A small deterministic generator for test data.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

pub(super) fn context() -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3))
}

pub(super) async fn plan(
    context: &SessionContext,
    schema: SchemaRef,
    partitions: Vec<Vec<RecordBatch>>,
) -> LogicalPlan {
    let table = MemTable::try_new(schema, partitions).unwrap();
    context.read_table(Arc::new(table)).unwrap().into_unoptimized_plan()
}

/// One kept row: key, first, arguments (`None` for NULL; codes as values).
pub(super) type Kept = (Vec<ScalarValue>, bool, Vec<Option<ScalarValue>>);

/// Runs the operator and reads its rows.
pub(super) async fn kept(
    context: &SessionContext,
    input: LogicalPlan,
    spec: &BoundSpec,
    key: Key,
    limit: usize,
) -> Vec<Kept> {
    let node = BoundContributions::new(Arc::new(input), spec.clone(), key).unwrap();
    let node = node.with_memory_limit(limit);
    let interned = Arc::clone(node.interned());
    let state = context.state();
    let plan = state.optimize(&node.into_plan()).unwrap();
    let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BoundPlanner)]);
    let plan = planner.create_physical_plan(&plan, &state).await.unwrap();
    let mut all = Vec::new();
    for batch in collect(plan, state.task_ctx()).await.unwrap() {
        for i in 0..batch.num_rows() {
            let group = batch.column(0).as_primitive::<UInt32Type>().value(i);
            let arguments = spec.arguments.iter().enumerate().map(|(at, argument)| {
                let column = batch.column(at + 2).as_primitive::<UInt32Type>();
                let number = column.is_valid(i).then(|| column.value(i))?;
                Some(match argument.form {
                    Form::Code => interned.code(at, number).unwrap(),
                    _ => ScalarValue::from(number),
                })
            });
            let key = interned.group_key(group).unwrap();
            all.push((key, batch.column(1).as_boolean().value(i), arguments.collect()));
        }
    }
    all
}

pub(super) async fn native(
    context: &SessionContext,
    input: LogicalPlan,
    spec: &BoundSpec,
    key: Key,
    limit: usize,
) -> Exact {
    let engine = Native::new(context.state()).with_memory_limit(limit);
    exact(&engine, input, spec, key).await.unwrap()
}

/// A multiset in a canonical order.
pub(super) fn sorted<T: std::fmt::Debug>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut all: Vec<String> = items.into_iter().map(|item| format!("{item:?}")).collect();
    all.sort_unstable();
    all
}
