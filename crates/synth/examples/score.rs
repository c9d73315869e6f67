//! Makes synthetic tables of a CSV file of integer codes, and compares them with it: errors of all 1-, 2- and 3-way
//! marginals, time, memory.
//!
//! ```text
//! cargo run --release -p demure-synth --example score -- data.csv domain.json \
//!     --epsilon 1 --delta 1e-9 --seeds 1..5 --ordered age,income? [--target column] [--rows n] [--out rows.csv]
//! ```
//!
//! The domain is a JSON object of `"column": codes`. Columns listed after `--ordered` are in order; a `?` says that
//! their code 0 is NULL.
//!
//! **The comparison reads the raw table and is not private.** The noise has fixed seeds. This is a benchmark, not a
//! way to release data.

use demure_core::mechanism::Guarantee;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_synth::{CodedTable, Column, Observer, Price, Schema, Stage, Synthesizer};
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

/// Three-way marginals with more cells are left out, as in the published comparisons.
const MOST_CELLS: usize = 10_000;

struct Arguments {
    data: String,
    domain: String,
    epsilon: f64,
    delta: f64,
    seeds: std::ops::RangeInclusive<u64>,
    ordered: Vec<String>,
    target: Option<String>,
    rows: Option<usize>,
    out: Option<String>,
    replace: bool,
    threads: usize,
    stages: bool,
}

/// Says on standard error when each stage began.
struct Clock(Option<Instant>);

impl Observer for Clock {
    fn stage(&mut self, stage: Stage) -> ControlFlow<()> {
        if let Some(begun) = self.0 {
            eprintln!("{:8.2} s  {stage:?}", begun.elapsed().as_secs_f64());
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let (schema, table) = read(&arguments)?;
    let guarantee =
        Guarantee::Approximate(Epsilon::new(arguments.epsilon)?, Delta::new(arguments.delta)?);
    let neighbours = if arguments.replace { Neighbours::Replace } else { Neighbours::AddRemove };
    println!(
        "{} rows, {} columns, ε = {}, δ = {:e}, {neighbours}",
        table.rows(),
        schema.columns().len(),
        arguments.epsilon,
        arguments.delta
    );
    println!("seed  1-way   2-way   worst   3-way   reported          wall s   CPU s  peak MB");
    let mut sums = [0.0; 6];
    let count = arguments.seeds.clone().count() as f64;
    for seed in arguments.seeds.clone() {
        let mut rng = SeededForTests::insecure(seed);
        let (begun, cpu) = (Instant::now(), cpu_seconds());
        let price = Price::new(guarantee, neighbours)?;
        let mut synthesizer = Synthesizer::new(schema.clone(), price).threads(arguments.threads);
        if let Some(target) = &arguments.target {
            synthesizer = synthesizer.target(target)?;
        }
        if let Some(rows) = arguments.rows {
            synthesizer = synthesizer.rows(rows);
        }
        let mut clock = Clock(arguments.stages.then_some(begun));
        let made = synthesizer.run_observed(&table, &mut rng, &mut clock)?;
        let wall = begun.elapsed().as_secs_f64();
        let (cpu, memory) = (cpu_seconds() - cpu, peak_megabytes());
        let ways: [(f64, f64); 3] =
            std::array::from_fn(|k| total_variation(&schema, &table, &made.rows, k + 1));
        let (mean, deviation) = made.report.as_ref().map_or((f64::NAN, f64::NAN), |r| r.mean());
        println!(
            "{seed:4}  {:.4}  {:.4}  {:.4}  {:.4}  {mean:.4} ± {deviation:.4}  {wall:6.2}  {cpu:6.2}  {memory:7.0}",
            ways[0].0, ways[1].0, ways[1].1, ways[2].0
        );
        let figures = [ways[0].0, ways[1].0, ways[1].1, ways[2].0, wall, cpu];
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure / count);
        if let Some(out) = &arguments.out {
            write(out, &schema, &made.rows)?;
        }
    }
    println!(
        "mean  {:.4}  {:.4}  {:.4}  {:.4}                    {:6.2}  {:6.2}",
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    );
    Ok(())
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let usage = "usage: score data.csv domain.json [--epsilon e] [--delta d] [--seeds 1..5] [--ordered a,b?]";
    let mut arguments = Arguments {
        data: given.next().ok_or(usage)?,
        domain: given.next().ok_or(usage)?,
        epsilon: 1.0,
        delta: 1e-9,
        seeds: 1..=5,
        ordered: Vec::new(),
        target: None,
        rows: None,
        out: None,
        replace: false,
        threads: 2,
        stages: false,
    };
    while let Some(name) = given.next() {
        let value = given.next().ok_or(usage)?;
        match name.as_str() {
            "--epsilon" => arguments.epsilon = value.parse()?,
            "--delta" => arguments.delta = value.parse()?,
            "--seeds" => {
                let (first, last) = value.split_once("..").unwrap_or((&value, &value));
                arguments.seeds = first.parse()?..=last.parse()?;
            }
            "--ordered" => arguments.ordered = value.split(',').map(str::to_owned).collect(),
            "--target" => arguments.target = Some(value),
            "--rows" => arguments.rows = Some(value.parse()?),
            "--out" => arguments.out = Some(value),
            "--neighbours" => arguments.replace = value == "replace",
            "--stages" => arguments.stages = value == "yes",
            "--threads" => arguments.threads = value.parse()?,
            _ => return Err(usage.into()),
        }
    }
    Ok(arguments)
}

fn read(arguments: &Arguments) -> Result<(Schema, CodedTable), Box<dyn Error>> {
    let domain: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(&arguments.domain)?)?;
    let mut columns = Vec::new();
    for (name, codes) in &domain {
        let codes = codes.as_u64().ok_or("a domain is a number of codes")? as usize;
        let nullable = arguments.ordered.contains(&format!("{name}?"));
        let column = if nullable || arguments.ordered.contains(name) {
            Column::ordered(name, codes)?
        } else {
            Column::categorical(name, codes)?
        };
        columns.push(if nullable { column.nullable() } else { column });
    }
    let schema = Schema::new(columns)?;
    let text = std::fs::read_to_string(&arguments.data)?;
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().ok_or("the file is empty")?.split(',').collect();
    let place: Vec<Option<usize>> = heading.iter().map(|name| schema.position(name).ok()).collect();
    let mut codes = vec![Vec::new(); schema.columns().len()];
    for line in lines.filter(|line| !line.is_empty()) {
        for (field, place) in line.split(',').zip(&place) {
            if let Some(place) = place {
                codes[*place].push(field.parse()?);
            }
        }
    }
    let table = CodedTable::new(&schema, codes)?;
    Ok((schema, table))
}

fn write(path: &str, schema: &Schema, rows: &CodedTable) -> Result<(), Box<dyn Error>> {
    let names: Vec<&str> = schema.columns().iter().map(Column::name).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..rows.rows() {
        let fields: Vec<String> =
            rows.columns().iter().map(|column| column[row].to_string()).collect();
        text += &(fields.join(",") + "\n");
    }
    Ok(std::fs::write(path, text)?)
}

/// The mean and the largest total variation distance over all marginals of `ways` columns.
fn total_variation(
    schema: &Schema,
    real: &CodedTable,
    made: &CodedTable,
    ways: usize,
) -> (f64, f64) {
    let sizes: Vec<usize> = schema.columns().iter().map(Column::codes).collect();
    let mut chosen: Vec<usize> = (0..ways).collect();
    let (mut sum, mut most, mut count) = (0.0, 0.0f64, 0);
    if ways > sizes.len() {
        return (f64::NAN, f64::NAN);
    }
    loop {
        let cells: usize = chosen.iter().map(|&column| sizes[column]).product();
        if ways < 3 || cells <= MOST_CELLS {
            let shares = |table: &CodedTable| {
                let mut shares = vec![0.0; cells];
                for row in 0..table.rows() {
                    let cell = chosen.iter().fold(0, |cell, &column| {
                        cell * sizes[column] + usize::from(table.columns()[column][row])
                    });
                    shares[cell] += 1.0 / table.rows() as f64;
                }
                shares
            };
            let apart: f64 =
                shares(real).iter().zip(shares(made)).map(|(x, y)| (x - y).abs()).sum();
            sum += apart / 2.0;
            most = most.max(apart / 2.0);
            count += 1;
        }
        // The next combination.
        let Some(i) = (0..ways).rev().find(|&i| chosen[i] < sizes.len() - ways + i) else {
            return (sum / f64::from(count), most);
        };
        chosen[i] += 1;
        for j in i + 1..ways {
            chosen[j] = chosen[j - 1] + 1;
        }
    }
}

/// The processor time of all threads so far, where Linux tells it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// The most memory this process has had, where Linux tells it.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    number.map_or(f64::NAN, |kilobytes| kilobytes / 1024.0)
}
