//! Sums and averages of values without bounds: how far off they are, and whether their intervals hold the truth.

use super::database::Database;
use super::draw::Draw;
use crate::aggregate::{Released, release};
use crate::bound::Key;
use crate::statement::settings::Settings;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Float64Type;
use demure_core::random::SeededForTests;

const POLICY: &str = "[budget]\nepsilon = 1e6\nper_query = 1.0\n\
    [tables.bills]\nsource = \"bills.csv\"\nunit = \"id\"\n\
    [tables.bills.columns]\nid = { type = \"integer\" }\namount = { type = \"real\" }\n";
const RUNS: u64 = 200;

/// About a standard normal number: a sum of twelve uniform ones.
fn normal(draw: &mut Draw) -> f64 {
    let uniform = |draw: &mut Draw| (draw.word() >> 11) as f64 / (1u64 << 53) as f64;
    (0..12).map(|_| uniform(draw)).sum::<f64>() - 6.0
}

/// One to three amounts of each of so many people, whose sums are log-normal.
fn amounts(people: usize, scale: f64, signs: bool, draw: &mut Draw) -> Vec<(usize, f64)> {
    let mut rows = Vec::new();
    for person in 0..people {
        let sign = if signs && draw.percent(40) { -1.0 } else { 1.0 };
        let (sum, count) = (sign * scale * normal(draw).exp(), 1 + draw.below(3));
        rows.extend((0..count).map(|_| (person, sum / count as f64)));
    }
    rows
}

/// How many of the runs hold the truth in their interval, and the mean relative error.
async fn released(database: &Database, sql: &str, truth: f64) -> (u64, f64) {
    let priced = database.priced(sql, &Settings::default()).await.unwrap();
    let (aggregate, quote) = &priced[0];
    let key = Key::draw(&mut SeededForTests::insecure(1)).unwrap();
    let exact = database.exact(aggregate, &quote.spec(aggregate), key).await.unwrap();
    let (mut held, mut off) = (0, 0.0);
    for seed in 0..RUNS {
        let rng = &mut SeededForTests::insecure(seed);
        let table = release(aggregate, quote, &exact, rng).unwrap();
        let number = |name: String| {
            let column = table.batch().column_by_name(&name).unwrap();
            column.as_primitive::<Float64Type>().value(0)
        };
        let (value, error) = (number(Released::column(0)), number(Released::error(0)));
        held += u64::from((value - truth).abs() <= error);
        off += (value / truth - 1.0).abs() / RUNS as f64;
    }
    (held, off)
}

#[test]
fn released_sums_are_close_and_their_intervals_hold() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let draw = &mut Draw(3);
    for (scale, signs) in [(1.0, false), (3e-5, false), (4e7, false), (100.0, true)] {
        let rows = amounts(20_000, scale, signs, draw);
        let lines: Vec<String> = rows.iter().map(|(id, x)| format!("{id},{x:?}")).collect();
        let csv = format!("id,amount\n{}\n", lines.join("\n"));
        let files = [("bills.csv".to_owned(), csv)];
        let sum: f64 = rows.iter().map(|(_, x)| x).sum();
        runtime.block_on(async {
            let database = Database::open(POLICY, &files).await;
            // Bounds that say nothing about the values take nothing away.
            let by_person =
                |of: &str| format!("(SELECT id, SUM({of}) AS s FROM bills GROUP BY id)");
            let (plain, clamped) = (by_person("amount"), by_person("CLAMP(amount, -1e12, 1e12)"));
            for (sql, truth) in [
                ("SELECT SUM(amount) FROM bills".to_owned(), sum),
                ("SELECT AVG(amount) FROM bills".to_owned(), sum / rows.len() as f64),
                (format!("SELECT SUM(s) FROM {plain}"), sum),
                (format!("SELECT SUM(s) FROM {clamped}"), sum),
                (format!("SELECT AVG(s) FROM {clamped}"), sum / 20_000.0),
            ] {
                let (held, off) = released(&database, &sql, truth).await;
                println!("{sql} {scale} {signs}: {held} of {RUNS} held, off by {off:.5}");
                assert!(held * 10 >= RUNS * 9, "{sql} {scale} {signs}: {held} of {RUNS}");
                assert!(off < if signs { 0.05 } else { 0.02 }, "{sql} {scale} {signs}: {off}");
            }
        });
    }
}
