//! The window form: equal to the operator where no bound applies, always within the bounds, and expressible in SQL.

use super::definition::{Ids, Row, batch, random_rows, schema, spec};
use super::tables::{Draws, argument, context, key, native, plan, runtime};
use crate::bound::engine::exact;
use crate::bound::exact::ExactArgument;
use crate::bound::spec::{BoundSpec, Form};
use crate::bound::windows::Windows;
use datafusion::sql::unparser::Unparser;
use datafusion::sql::unparser::dialect::PostgreSqlDialect;
use demure_core::mechanism::Bounds;

#[test]
fn where_no_bound_bites_both_agree_exactly() {
    runtime().block_on(async {
        let mut draws = Draws(21);
        for (round, ids) in [(1, Ids::Int), (2, Ids::Text)] {
            let context = context();
            let rows = random_rows(&mut draws, 400, 9);
            let input = plan(&context, schema(ids), vec![vec![batch(&rows, ids)]]).await;
            let fine = Form::Steps { bounds: Bounds::new(-3.3, 5.1).unwrap(), histogram: false };
            let mut spec = spec(100, 500);
            spec.arguments.push(argument(2, fine));
            for (unit, keys) in [(Some(0), vec![1]), (Some(0), vec![]), (None, vec![1, 3])] {
                let spec = BoundSpec { unit, keys, ..spec.clone() };
                let one = native(&context, input.clone(), &spec, key(round), 1 << 20).await;
                let engine = Windows::new(context.state());
                let other = exact(&engine, input.clone(), &spec, key(round)).await.unwrap();
                assert!(!one.groups.is_empty());
                assert!(one == other);
            }
        }
    });
}

#[test]
fn values_beyond_the_bounds_become_the_same_steps() {
    runtime().block_on(async {
        let context = context();
        let bounds = Bounds::new(-2.0, 3.0).unwrap();
        let grid = bounds.grid().spacing();
        let sql = format!(
            "SELECT column1 AS v FROM (VALUES (-9.0), (9.0), (NULL), (CAST('NaN' AS DOUBLE)), \\
             (CAST('Infinity' AS DOUBLE)), (CAST('-Infinity' AS DOUBLE)), (-0.0), ({0}), (-{0}), ({1}), (2.9999999))",
            grid / 2.0,
            grid * 1.5,
        );
        let input = context.sql(&sql.replace('\\', "")).await.unwrap().into_unoptimized_plan();
        let form = Form::Steps { bounds, histogram: true };
        let spec = BoundSpec {
            unit: None,
            keys: vec![],
            arguments: vec![argument(0, form)],
            max_groups: 1,
            max_rows: 1,
            weighing: None,
        };
        let one = native(&context, input.clone(), &spec, key(1), 1 << 20).await;
        let other = exact(&Windows::new(context.state()), input, &spec, key(1)).await.unwrap();
        assert!(one == other);
    });
}

#[test]
fn bounds_hold_and_people_do_not_depend_on_each_other() {
    runtime().block_on(async {
        let mut draws = Draws(22);
        for round in 0..2 {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let context = context();
            let engine = Windows::new(context.state());
            let rows = random_rows(&mut draws, 150, 4);
            let (groups, most) = (2, 3);
            let mut sums = (0, 0, 0);
            for person in -3..1 {
                let own: Vec<Row> = rows.iter().filter(|r| r.id == Some(person)).cloned().collect();
                let input = plan(&context, schema(ids), vec![vec![batch(&own, ids)]]).await;
                let exact = exact(&engine, input, &spec(groups, most), key(round)).await.unwrap();
                assert!(exact.groups.len() <= groups as usize);
                for group in &exact.groups {
                    assert!(group.rows <= u64::from(most) && group.people == 1);
                }
                let total = total(&exact.groups);
                sums = (sums.0 + total.0, sums.1 + total.1, sums.2 + total.2);
            }
            let mut all = rows;
            draws.shuffle(&mut all);
            let input = plan(&context, schema(ids), vec![vec![batch(&all, ids)]]).await;
            let made = exact(&engine, input, &spec(groups, most), key(round)).await.unwrap();
            assert_eq!(total(&made.groups), sums);
        }
    });
}

fn total(groups: &[crate::bound::ExactGroup]) -> (u64, u64, i128) {
    groups.iter().fold((0, 0, 0), |all, group| {
        let ExactArgument::Steps { squares, .. } = group.arguments[0] else { panic!("steps") };
        (all.0 + group.rows, all.1 + group.people, all.2 + squares)
    })
}

#[test]
fn the_windows_can_be_written_as_sql() {
    // Writing and parsing recurse, and dependencies are not optimised in tests.
    let large = std::thread::Builder::new().stack_size(256 << 20);
    large.spawn(write_and_read_back).unwrap().join().unwrap();
}

fn write_and_read_back() {
    runtime().block_on(async {
        let context = context();
        let rows = random_rows(&mut Draws(23), 50, 4);
        let table = batch(&rows, Ids::Int);
        context.register_batch("t", table).unwrap();
        let input = context.table("t").await.unwrap().into_unoptimized_plan();
        let plans = Windows::plans(input, &spec(2, 3), &key(1)).unwrap();
        assert_eq!(plans.len(), 3); // totals, the histogram of steps, the codes
        for plan in &plans {
            let postgres = PostgreSqlDialect {};
            let sql = Unparser::new(&postgres).plan_to_sql(plan).unwrap().to_string();
            assert!(sql.contains("dense_rank() OVER (PARTITION BY"), "{sql}");
            // DataFusion gives the same answer to the text in its own dialect.
            let sql = datafusion::sql::unparser::plan_to_sql(plan).unwrap().to_string();
            let direct = context.execute_logical_plan(plan.clone()).await.unwrap();
            let text = context.sql(&sql).await.unwrap();
            let rows = |batches: Vec<datafusion::arrow::array::RecordBatch>| {
                let shown = datafusion::arrow::util::pretty::pretty_format_batches(&batches);
                let mut lines: Vec<String> =
                    shown.unwrap().to_string().lines().skip(3).map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            assert_eq!(rows(direct.collect().await.unwrap()), rows(text.collect().await.unwrap()));
        }
    });
}
