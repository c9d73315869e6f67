//! Synthetic tables against what sampling alone would miss: one half of the table against the other.
//!
//! Claims, at ε = 1 and δ = 10⁻⁹, of the mean total variation distance over all pairs of columns:
//! - that of the synthetic table is at most 1.15 times that of two halves of the real one;
//! - the quality report's mean is within four of its standard deviations of the truth.
//!
//! The table is Adult as integer codes, if `DEMURE_ADULT_CODED` is a folder with `adult.csv` and `adult-domain.json`
//! (private-pgm's repository has them); otherwise a made-up one of the same size. The comparison reads the raw table:
//! it is for public data.

use demure_bench::exit;
use demure_core::mechanism::Guarantee;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_synth::{CodedTable, Column, Price, Schema, Synthesizer};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The largest ratio of the two distances.
const CLAIM: f64 = 1.15;
const SEEDS: u64 = 5;
const ROWS: usize = 48_842;

fn main() -> ExitCode {
    exit(run())
}

fn run() -> Result<bool, Box<dyn Error>> {
    let (name, schema, columns) = match std::env::var_os("DEMURE_ADULT_CODED") {
        Some(folder) => read(Path::new(&folder))?,
        None => made_up()?,
    };
    let table = CodedTable::new(&schema, columns.clone())?;
    let half = |which: usize| {
        let part = |column: &Vec<u16>| column.iter().skip(which).step_by(2).copied().collect();
        columns.iter().map(part).collect::<Vec<Vec<u16>>>()
    };
    let halves = distance(&schema, &half(0), &half(1));
    println!("{name}: {} rows, {} columns", table.rows(), columns.len());
    println!("one half against the other: {halves:.4}");
    let guarantee = Guarantee::Approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
    let (mut mean, mut honest) = (0.0, true);
    for seed in 1..=SEEDS {
        let begun = Instant::now();
        let price = Price::new(guarantee, Neighbours::AddRemove)?;
        let made = Synthesizer::new(schema.clone(), price)
            .run(&table, &mut SeededForTests::insecure(seed))?;
        let seconds = begun.elapsed().as_secs_f64();
        let error = distance(&schema, &columns, made.rows.columns());
        let (reported, deviation) = made.report.as_ref().map_or((f64::NAN, 0.0), |r| r.mean());
        println!(
            "synthetic, seed {seed}: {error:.4} (report {reported:.4} ± {deviation:.4}), {seconds:.2} s"
        );
        honest &= (reported - error).abs() <= 4.0 * deviation;
        mean += error / SEEDS as f64;
    }
    let ratio = mean / halves;
    println!(
        "mean {mean:.4}: {ratio:.2} times one half against the other; claimed: at most {CLAIM}"
    );
    if !honest {
        println!("a report was not within four standard deviations");
    }
    Ok(ratio <= CLAIM && honest)
}

/// The mean total variation distance over all pairs of columns.
fn distance(schema: &Schema, one: &[Vec<u16>], other: &[Vec<u16>]) -> f64 {
    let codes: Vec<usize> = schema.columns().iter().map(Column::codes).collect();
    let (mut sum, mut pairs) = (0.0, 0.0);
    for a in 0..codes.len() {
        for b in 0..a {
            let shares = |columns: &[Vec<u16>]| {
                let mut shares = vec![0.0; codes[a] * codes[b]];
                let row = 1.0 / columns[a].len().max(1) as f64;
                for (&x, &y) in columns[a].iter().zip(&columns[b]) {
                    shares[usize::from(x) * codes[b] + usize::from(y)] += row;
                }
                shares
            };
            let (one, other) = (shares(one), shares(other));
            sum += 0.5 * one.iter().zip(&other).map(|(x, y)| (x - y).abs()).sum::<f64>();
            pairs += 1.0;
        }
    }
    sum / pairs
}

type Table = (&'static str, Schema, Vec<Vec<u16>>);

/// Columns whose codes are in order.
const ORDERED: [&str; 6] =
    ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"];

fn read(folder: &Path) -> Result<Table, Box<dyn Error>> {
    let domain = std::fs::read_to_string(folder.join("adult-domain.json"))?;
    let domain: serde_json::Value = serde_json::from_str(&domain)?;
    let text = std::fs::read_to_string(folder.join("adult.csv"))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().ok_or("an empty file")?.split(',').collect();
    let column = |name: &&str| -> Result<Column, Box<dyn Error>> {
        let codes = domain[*name].as_u64().ok_or("a column without a domain")? as usize;
        Ok(match ORDERED.contains(name) {
            true => Column::ordered(*name, codes)?,
            false => Column::categorical(*name, codes)?,
        })
    };
    let schema = Schema::new(names.iter().map(column).collect::<Result<_, _>>()?)?;
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, code) in columns.iter_mut().zip(line.split(',')) {
            column.push(code.trim().parse()?);
        }
    }
    Ok(("Adult", schema, columns))
}

/// Fourteen columns, each of which depends on an earlier one.
fn made_up() -> Result<Table, Box<dyn Error>> {
    let codes = [85, 9, 100, 16, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42];
    let column = |(i, &codes): (usize, &usize)| match codes > 50 {
        true => Column::ordered(format!("c{i}"), codes),
        false => Column::categorical(format!("c{i}"), codes),
    };
    let schema = Schema::new(codes.iter().enumerate().map(column).collect::<Result<_, _>>()?)?;
    let mut state = 7u64;
    let mut unit = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut columns: Vec<Vec<u16>> = vec![Vec::with_capacity(ROWS); codes.len()];
    for _ in 0..ROWS {
        for (i, &codes) in codes.iter().enumerate() {
            // Low codes are common; two in three rows follow an earlier column.
            let own = unit().powi(3);
            let earlier = match i {
                0 => own,
                i => {
                    let from = (i * 5) % i;
                    let code = columns[from].last().copied().unwrap_or_default();
                    f64::from(code) / schema.columns()[from].codes() as f64
                }
            };
            let place = if unit() < 0.66 { (earlier + 0.2 * own).min(0.999) } else { own };
            columns[i].push((place * codes as f64) as u16);
        }
    }
    Ok(("a made-up table", schema, columns))
}
