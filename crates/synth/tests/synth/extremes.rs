//! Whatever the table and the budget: a valid table or a clear error, never NaN, never a panic.

use crate::made_up::{self, assert_valid, price, schema, table};
use demure_core::random::SeededForTests;
use demure_core::unit::Neighbours;
use demure_synth::{
    CodedTable, Column, Counts, Error, Exact, Observer, Schema, Stage, Synthesis, Synthesizer,
    Unavailable, View,
};
use std::ops::ControlFlow;

fn run(schema: &Schema, table: &CodedTable, epsilon: f64, neighbours: Neighbours) -> Synthesis {
    let made = Synthesizer::new(schema.clone(), price(epsilon, neighbours))
        .run(table, &mut SeededForTests::insecure(1))
        .unwrap();
    assert_valid(schema, &made.rows);
    if let Some(report) = &made.report {
        assert!(report.deviation().is_finite() && report.mean().0.is_finite());
        assert!(report.pairs().iter().all(|pair| pair.total_variation.is_finite()));
    }
    assert!(!made.model.to_text().contains("NaN"));
    made
}

const EPSILONS: [f64; 4] = [0.01, 1.0, 100.0, 10_000.0];

#[test]
fn tables_of_no_row_one_row_and_few_rows() {
    let schema = schema(&[5, 3, 40, 2]);
    for rows in [0, 1, 2, 17] {
        for epsilon in EPSILONS {
            for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
                let made = run(&schema, &table(&schema, rows, 3), epsilon, neighbours);
                if epsilon >= 100.0 {
                    assert!(made.rows.rows().abs_diff(rows) <= 1, "{}", made.rows.rows());
                }
            }
        }
    }
}

#[test]
fn columns_of_one_value_and_of_nulls_alone() {
    let columns = vec![
        Column::categorical("constant", 1).unwrap(),
        Column::ordered("empty", 30).unwrap().nullable(),
        Column::ordered("nothing but null", 1).unwrap().nullable(),
        Column::categorical("other", 4).unwrap(),
    ];
    let schema = Schema::new(columns).unwrap();
    let rows = 2000;
    let other = (0..rows).map(|row| (row % 4) as u16).collect();
    let table =
        CodedTable::new(&schema, vec![vec![0; rows], vec![0; rows], vec![0; rows], other]).unwrap();
    for epsilon in EPSILONS {
        let made = run(&schema, &table, epsilon, Neighbours::AddRemove);
        if epsilon >= 100.0 {
            let nulls = made.rows.columns()[1].iter().filter(|code| **code == 0).count();
            assert!(nulls + 3 >= made.rows.rows(), "{nulls} of {}", made.rows.rows());
        }
    }
}

#[test]
fn a_single_column() {
    for columns in [
        vec![Column::categorical("x", 1).unwrap()],
        vec![Column::ordered("x", 1000).unwrap()],
        vec![Column::categorical("x", 7).unwrap(), Column::categorical("constant", 1).unwrap()],
    ] {
        let schema = Schema::new(columns).unwrap();
        for epsilon in EPSILONS {
            let made = run(&schema, &table(&schema, 500, 4), epsilon, Neighbours::AddRemove);
            assert!(made.report.is_none());
        }
    }
}

#[test]
fn a_hundred_rows_in_five_hundred_columns() {
    let schema = schema(&(0..500).map(|i| 2 + i % 4).collect::<Vec<_>>());
    let made = run(&schema, &table(&schema, 100, 5), 1.0, Neighbours::AddRemove);
    assert_eq!(made.report.unwrap().pairs().len(), 500 * 499 / 2);
}

#[test]
fn a_column_of_65_536_codes() {
    let schema = schema(&[65_536, 3, 12]);
    run(&schema, &table(&schema, 3000, 6), 1.0, Neighbours::AddRemove);
}

#[test]
fn noise_far_below_a_row_gives_the_pairs_back() {
    // The trap of the prototype: potentials of empty cells run off, and a column loses its marginal.
    let schema = schema(&[6, 5, 4, 9, 3]);
    let table = table(&schema, 3000, 7);
    for epsilon in [100.0, 1000.0] {
        let made = run(&schema, &table, epsilon, Neighbours::AddRemove);
        let error = made_up::pair_error(&schema, &table, &made.rows);
        assert!(error < 0.02, "ε = {epsilon}: {error}");
        assert!((made.report.unwrap().mean().0 - error).abs() < 0.01);
    }
}

/// Cannot be read.
struct Broken;

impl Counts for Broken {
    fn histogram(&self, _: &View) -> Result<Exact, Unavailable> {
        Err(Unavailable)
    }
}

#[test]
fn a_table_that_cannot_be_read_is_an_error() {
    let synthesizer = Synthesizer::new(schema(&[3, 3]), price(1.0, Neighbours::AddRemove));
    let made = synthesizer.run(&Broken, &mut SeededForTests::insecure(1));
    assert!(matches!(made, Err(Error::Unavailable)));
}

/// Stops before the rows.
struct Impatient(Vec<Stage>);

impl Observer for Impatient {
    fn stage(&mut self, stage: Stage) -> ControlFlow<()> {
        self.0.push(stage);
        if stage == Stage::Rows { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_observer_sees_the_stages_and_may_stop() {
    let schema = schema(&[3, 3]);
    let mut observer = Impatient(Vec::new());
    let made = Synthesizer::new(schema.clone(), price(1.0, Neighbours::AddRemove)).run_observed(
        &table(&schema, 50, 1),
        &mut SeededForTests::insecure(1),
        &mut observer,
    );
    assert!(matches!(made, Err(Error::Stopped)));
    let rounds = [Stage::Round(1), Stage::Round(2), Stage::Round(3)];
    assert_eq!(observer.0, [&[Stage::Columns][..], &rounds, &[Stage::Rows]].concat());
}
