//! The transcript audit: replays every question that a run asked on neighbouring tables, and adds up how far the
//! answers move, in standard deviations of the noise. The sum of their squares is the run's true privacy loss for
//! these neighbours; it must be within what was charged, and not far below it.

use crate::made_up::{self, Draw, of_rows, price, rows, schema, table};
use demure_core::random::SeededForTests;
use demure_core::unit::Neighbours;
use demure_synth::{Observer, Price, Question, Schema, Synthesizer, View};
use std::num::NonZeroU32;

/// A question, kept.
pub(crate) enum Asked {
    Histogram(View),
    Distances { view: View, expected: Vec<i64>, resolutions: Vec<[(Vec<u16>, usize); 2]> },
}

#[derive(Default)]
pub(crate) struct Transcript(Vec<(Asked, f64)>);

impl Observer for Transcript {
    fn asked(&mut self, question: Question<'_>, sigma: f64) {
        let asked = match question {
            Question::Histogram(view) => Asked::Histogram(view.clone()),
            Question::Distances { view, expected, resolutions } => Asked::Distances {
                view: view.clone(),
                expected: expected.to_vec(),
                resolutions: resolutions.to_vec(),
            },
            _ => panic!("a question that the audit does not know"),
        };
        self.0.push((asked, sigma));
    }
}

fn count(view: &View, rows: &[Vec<u16>]) -> Vec<i64> {
    let mut counts = vec![0; view.cells()];
    rows.iter().for_each(|row| counts[view.cell_of(|column| row[column])] += 1);
    counts
}

/// The exact answers to a question, in rows.
fn answers(asked: &Asked, rows: &[Vec<u16>]) -> Vec<f64> {
    match asked {
        Asked::Histogram(view) => count(view, rows).iter().map(|&count| count as f64).collect(),
        Asked::Distances { view, expected, resolutions } => {
            let counts = count(view, rows);
            let width = view.axes()[1].bins();
            let distance = |[first, second]: &[(Vec<u16>, usize); 2]| {
                let mut apart = vec![0i64; first.1 * second.1];
                for (cell, (count, expected)) in counts.iter().zip(expected).enumerate() {
                    let (x, y) = (first.0[cell / width], second.0[cell % width]);
                    apart[usize::from(x) * second.1 + usize::from(y)] += count * 65_536 - expected;
                }
                apart.iter().map(|steps| steps.abs() as f64 / 65_536.0).sum()
            };
            resolutions.iter().map(distance).collect()
        }
    }
}

/// The squared shift of all answers between two tables, as a share of what the price charges.
pub(crate) fn shift(
    transcript: &Transcript,
    price: &Price,
    one: &[Vec<u16>],
    other: &[Vec<u16>],
) -> f64 {
    let squared: f64 = transcript
        .0
        .iter()
        .map(|(asked, sigma)| {
            let (x, y) = (answers(asked, one), answers(asked, other));
            x.iter().zip(&y).map(|(x, y)| ((x - y) / sigma).powi(2)).sum::<f64>()
        })
        .sum();
    squared / price.mu().powi(2)
}

fn transcript(schema: &Schema, price: &Price, rows: &[Vec<u16>], seed: u64) -> Transcript {
    let mut transcript = Transcript::default();
    Synthesizer::new(schema.clone(), price.clone())
        .run_observed(&of_rows(schema, rows), &mut SeededForTests::insecure(seed), &mut transcript)
        .unwrap();
    transcript
}

fn without(rows: &[Vec<u16>], gone: impl Fn(usize) -> bool) -> Vec<Vec<u16>> {
    rows.iter().enumerate().filter(|(i, _)| !gone(*i)).map(|(_, row)| row.clone()).collect()
}

/// The least and the largest of some shares.
fn range(shares: impl Iterator<Item = f64>) -> (f64, f64) {
    shares.fold((f64::INFINITY, 0.0), |(low, high), share| (low.min(share), high.max(share)))
}

/// Floats of this test itself; what is charged is rounded the safe way.
const ROUNDING: f64 = 1e-9;

#[test]
fn removing_any_row_moves_everything_by_what_is_charged() {
    let schema = schema(&[4, 3, 7, 2]);
    let rows = rows(&table(&schema, 300, 5));
    for (seed, epsilon) in [(1, 0.3), (2, 1.0), (3, 8.0)] {
        let price = price(epsilon, Neighbours::AddRemove);
        let transcript = transcript(&schema, &price, &rows, seed);
        let shares = (0..rows.len())
            .map(|gone| shift(&transcript, &price, &rows, &without(&rows, |i| i == gone)));
        let (low, high) = range(shares);
        eprintln!("remove a row, ε = {epsilon}: {low:.5} to {high:.6} of the charge");
        assert!(high <= 1.0 + ROUNDING, "{high}");
        assert!(high >= 0.99, "{high}");
        assert!(low >= 0.9, "{low}");
    }
}

#[test]
fn replacing_any_row_moves_everything_by_no_more_than_is_charged() {
    let schema = schema(&[4, 3, 7, 2]);
    let rows = rows(&table(&schema, 120, 6));
    let price = price(1.0, Neighbours::Replace);
    let transcript = transcript(&schema, &price, &rows, 4);
    let mut draw = Draw(8);
    let mut shares = Vec::new();
    for replaced in 0..rows.len() {
        for _ in 0..6 {
            let mut other = rows.clone();
            // A row that differs in every column moves every histogram.
            let differs = |(code, column): (&u16, &demure_synth::Column)| {
                let codes = column.codes();
                ((usize::from(*code) + 1 + draw.below(codes - 1)) % codes) as u16
            };
            other[replaced] = rows[replaced].iter().zip(schema.columns()).map(differs).collect();
            shares.push(shift(&transcript, &price, &rows, &other));
        }
    }
    let (low, high) = range(shares.into_iter());
    eprintln!("replace a row: {low:.5} to {high:.6} of the charge");
    assert!(high <= 1.0 + ROUNDING, "{high}");
    // Histograms are 88 % of the budget, and all of them move; a score moves by 2 only if both cells move it the same
    // way.
    assert!(low >= 0.88, "{low}");
    assert!(high >= 0.95, "{high}");
}

#[test]
fn removing_any_person_with_up_to_three_rows_is_within_the_charge() {
    let schema = schema(&[4, 3, 5]);
    let mut rows = Vec::new();
    for (person, row) in made_up::rows(&table(&schema, 150, 7)).into_iter().enumerate() {
        // Every third person has three equal rows: the worst case.
        for _ in 0..1 + 2 * usize::from(person % 3 == 0) {
            rows.push((person, row.clone()));
        }
    }
    let all: Vec<Vec<u16>> = rows.iter().map(|(_, row)| row.clone()).collect();
    let price = price(2.0, Neighbours::AddRemove).rows_per_unit(NonZeroU32::new(3).unwrap());
    let transcript = transcript(&schema, &price, &all, 9);
    let shares = (0..150)
        .map(|gone| shift(&transcript, &price, &all, &without(&all, |i| rows[i].0 == gone)));
    let (low, high) = range(shares);
    eprintln!("remove a person: {low:.5} to {high:.6} of the charge");
    assert!(high <= 1.0 + ROUNDING, "{high}");
    assert!(high >= 0.99, "{high}");
}

/// All tables of up to two rows over three small columns, and all their neighbours.
#[test]
fn every_neighbour_of_every_small_table_is_within_the_charge() {
    let schema = schema(&[2, 2, 3]);
    let every: Vec<Vec<u16>> = (0..12u16).map(|i| vec![i % 2, i / 2 % 2, i / 4]).collect();
    let mut tables = vec![Vec::new()];
    for (i, row) in every.iter().enumerate() {
        tables.push(vec![row.clone()]);
        tables.extend(every[i..].iter().map(|other| vec![row.clone(), other.clone()]));
    }
    assert_eq!(tables.len(), 91);
    let mut most = [0.0f64; 2];
    for (seed, rows) in tables.iter().enumerate() {
        for (relation, most) in
            [Neighbours::AddRemove, Neighbours::Replace].into_iter().zip(&mut most)
        {
            let price = price(3.0, relation);
            let transcript = transcript(&schema, &price, rows, seed as u64);
            let mut neighbours = Vec::new();
            for row in &every {
                match relation {
                    Neighbours::AddRemove => {
                        neighbours.push(rows.iter().chain([row]).cloned().collect::<Vec<_>>());
                    }
                    Neighbours::Replace => {
                        for i in 0..rows.len() {
                            let mut other = rows.clone();
                            other[i].clone_from(row);
                            neighbours.push(other);
                        }
                    }
                }
            }
            if relation == Neighbours::AddRemove {
                neighbours.extend((0..rows.len()).map(|gone| without(rows, |i| i == gone)));
            }
            for neighbour in neighbours {
                let share = shift(&transcript, &price, rows, &neighbour);
                assert!(share <= 1.0 + ROUNDING, "{rows:?} {neighbour:?}: {share}");
                *most = most.max(share);
            }
        }
    }
    eprintln!(
        "exhaustive: at most {:.6} (add or remove) and {:.6} (replace) of the charge",
        most[0], most[1]
    );
    assert!(most[0] > 0.99 && most[1] > 0.95, "{most:?}");
}

/// The power twin: an audit of a price that charges 5 % too little must fail.
#[test]
fn an_audit_notices_noise_that_is_too_small() {
    let schema = schema(&[4, 3, 7, 2]);
    let rows = rows(&table(&schema, 300, 5));
    let price = price(1.0, Neighbours::AddRemove);
    let mut transcript = transcript(&schema, &price, &rows, 1);
    transcript.0.iter_mut().for_each(|(_, sigma)| *sigma /= 1.05);
    let shares =
        (0..50).map(|gone| shift(&transcript, &price, &rows, &without(&rows, |i| i == gone)));
    assert!(range(shares).1 > 1.0 + ROUNDING);
}
