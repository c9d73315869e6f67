//! The ε that samples of whole releases show on neighbouring databases, compared with the ε charged.
//!
//! A case is a query and two databases that differ in one unit, which is the worst case: at the ends of the bounds,
//! with more rows and more groups than are allowed. The exact aggregates are computed for a few keys of the bounding
//! and released many times each. `tests/empirical.rs` does the same through the public interface, from SQL to answer,
//! with fewer samples.

use super::database::Database;
use super::from_environment;
use crate::aggregate::release;
use crate::bound::Key;
use crate::policy::Accounting;
use crate::statement::settings::Settings;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use demure_core::random::SeededForTests;
use demure_core::unit::Epsilon;
use demure_testkit::falsify::falsify;

/// ε of every query.
const EPSILON: f64 = 1.0;
/// The probability that any of the cases here raises a false alarm.
const ALARM: f64 = 1e-6;
/// An upper bound on the number of cases times their statistics.
const CASES: f64 = 1000.0;

/// Aggregates of the column `x`, an integer from 0 to 2, and `k`, one of three texts.
const AGGREGATES: [&str; 13] = [
    "COUNT(*)",
    "COUNT(x)",
    "COUNT(DISTINCT x)",
    "COUNT(DISTINCT id)",
    "SUM(x)",
    "AVG(x)",
    "VAR_POP(x)",
    "STDDEV(x)",
    "MIN(x)",
    "MAX(x)",
    "MEDIAN(x)",
    "MEDIAN_ABSOLUTE_DEVIATION(x)",
    "MODE(k)",
];

#[derive(Clone, Copy)]
struct Setting {
    replace: bool,
    person: bool,
    zcdp: bool,
    /// Whether the query is grouped by a public key.
    grouped: bool,
}

impl Setting {
    fn policy(self) -> String {
        let neighbours = if self.replace { "replace" } else { "add-remove" };
        let accounting = if self.zcdp { "zcdp" } else { "pure" };
        let unit = if self.person {
            "unit = \"id\"\nmax_groups = 2\nmax_rows_per_group = 2"
        } else {
            "unit = \"row\""
        };
        format!(
            "[budget]\nepsilon = 1000.0\ndelta = 1e-3\nper_query = {EPSILON:?}\n\
             neighbours = \"{neighbours}\"\naccounting = \"{accounting}\"\n\
             [tables.t]\nsource = \"t.csv\"\n{unit}\n[tables.t.columns]\n\
             x = {{ type = \"integer\", bounds = [0, 2] }}\n\
             k = {{ values = [\"u\", \"v\", \"w\"] }}\nh = {{ values = [1, 2, 3, 4] }}\n"
        )
    }

    /// Both tables: a few other people at 0 and `u`; the unit that differs at 2 and `v` and, under replace, at 0 and
    /// `u` in other groups before.
    fn tables(self) -> [String; 2] {
        let mut common = String::from("id,x,k,h\n");
        // As many as a unit's rows in two groups, so that the unit decides a median and a mode.
        for i in 0..if self.person { 4 } else { 2 } {
            common.push_str(&format!("{i},0,{},{}\n", ["u", "w"][i % 2], i % 2 + 1));
        }
        let rows = |x: &str, k: &str, groups: [u32; 3]| -> String {
            let each = if self.person { 4 } else { 1 };
            let groups = if self.person { &groups[..] } else { &groups[..1] };
            let all =
                groups.iter().flat_map(|h| std::iter::repeat_n(format!("9,{x},{k},{h}\n"), each));
            all.collect()
        };
        let with = common.clone() + &rows("2", "v", [1, 2, 3]);
        let without = if self.replace { common + &rows("0", "u", [4, 3, 4]) } else { common };
        [without, with]
    }
}

/// The observed statistics of a released table: the first group's number, and the sum of all.
fn statistics(batch: &RecordBatch, keys: usize) -> [i64; 2] {
    let column = batch.column(keys);
    let numbers: Vec<f64> = match column.as_string_opt::<i32>() {
        Some(texts) => texts.iter().map(|text| f64::from(text == Some("v"))).collect(),
        None => {
            let reals = cast(column, &DataType::Float64).unwrap();
            reals.as_primitive::<Float64Type>().iter().map(|x| x.unwrap_or(-1.0)).collect()
        }
    };
    let sum: f64 = numbers.iter().sum();
    [(numbers[0] * 4096.0) as i64, (sum * 4096.0) as i64]
}

/// A lower bound on the ε of `sql` at δ, sold for ε and run at `times` that.
async fn shown(setting: Setting, sql: &str, times: f64, samples: usize) -> (f64, f64) {
    const KEYS: usize = 2;
    let mut sides: Vec<Vec<[i64; 2]>> = Vec::new();
    let delta: f64 = if setting.zcdp { 1e-4 } else { 0.0 };
    let mut charged = EPSILON;
    for (side, table) in setting.tables().into_iter().enumerate() {
        let files = [("t.csv".to_owned(), table)];
        let database = Database::open(&setting.policy(), &files).await;
        let epsilon = Some(Epsilon::new(EPSILON * times).unwrap());
        let settings = Settings { epsilon, ..Settings::default() };
        let priced = database.priced(sql, &settings).await.unwrap_or_else(|e| panic!("{e}\n{sql}"));
        let [(aggregate, quote)] = &priced[..] else { panic!("several aggregates: {sql}") };
        if database.policy.budget.accounting == Accounting::Zcdp {
            // ρ = ε²/2 costs this ε at δ: ρ + 2√(ρ ln(1/δ)).
            let rho = EPSILON * EPSILON / 2.0;
            charged = rho + 2.0 * (rho * (1.0 / delta).ln()).sqrt();
        }
        let spec = quote.spec(aggregate);
        let mut drawn = Vec::new();
        for key in 0..KEYS {
            let mut rng = SeededForTests::insecure((key * 2 + side) as u64 + 17);
            let secret = Key::draw(&mut SeededForTests::insecure(key as u64)).unwrap();
            let exact = database.exact(aggregate, &spec, secret).await.unwrap();
            for _ in 0..samples / KEYS {
                let batch = release(aggregate, quote, &exact, &mut rng).unwrap();
                drawn.push(statistics(batch.batch(), aggregate.key_count));
            }
        }
        // The halves that choose and test must look alike, so keys alternate.
        let each = samples / KEYS;
        let turns = (0..each).flat_map(|i| (0..KEYS).map(move |key| key * each + i));
        sides.push(turns.map(|i| drawn[i]).collect());
    }
    let statistic = |s: usize| {
        let of = |side: usize| sides[side].iter().map(|both| both[s]).collect::<Vec<i64>>();
        falsify(&of(0), &of(1), delta, ALARM / CASES).epsilon
    };
    (statistic(0).max(statistic(1)), charged)
}

fn query(aggregate: &str, setting: Setting) -> String {
    if setting.grouped {
        format!("SELECT h, {aggregate} FROM t GROUP BY h")
    } else {
        format!("SELECT {aggregate} FROM t")
    }
}

#[test]
fn no_query_shows_more_epsilon_than_it_is_charged() {
    let samples = from_environment("DEMURE_PROPERTY_SAMPLES", 1200);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut most = (0.0, String::new());
    for replace in [false, true] {
        for person in [false, true] {
            for (zcdp, grouped) in [(false, false), (false, true), (true, true)] {
                for aggregate in AGGREGATES {
                    let setting = Setting { replace, person, zcdp, grouped };
                    // Only a few by group, unless there is time.
                    let few: &[&str] = if zcdp {
                        &["COUNT(*)", "MODE(k)"]
                    } else {
                        &["COUNT(*)", "AVG(x)", "MODE(k)"]
                    };
                    let short = grouped && samples <= 2000;
                    let skipped = short && !(person && few.contains(&aggregate));
                    if skipped || (!person && aggregate.contains("id")) {
                        continue;
                    }
                    let sql = query(aggregate, setting);
                    let (shown, charged) = runtime.block_on(shown(setting, &sql, 1.0, samples));
                    let what = format!(
                        "{sql}, replace {replace}, person {person}, zcdp {zcdp}: shown {shown:.3} \
                         of {charged:.3}"
                    );
                    println!("{what}");
                    assert!(shown <= charged, "{what}");
                    if shown / charged > most.0 {
                        most = (shown / charged, what);
                    }
                }
            }
        }
    }
    // In a long run, some query shows most of what it costs, so the databases are chosen well.
    println!("most: {}", most.1);
    assert!(samples < 10_000 || most.0 > 0.7, "{}", most.1);
}

#[test] // the power twin: four times the ε that is charged, and twelve for the median, whose value has half of it
fn noise_for_a_quarter_of_the_sensitivity_is_noticed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // The median is between the others, so that the unit worsens what is below it and improves what is above.
    let median = "MEDIAN(CASE WHEN k = 'u' THEN 0 WHEN k = 'w' THEN 1 ELSE 2 END)";
    for aggregate in ["COUNT(*)", "SUM(x)", "AVG(x)", median, "MODE(k)"] {
        let setting = Setting { replace: false, person: true, zcdp: false, grouped: false };
        let sql = query(aggregate, setting);
        let times = if aggregate == median { 12.0 } else { 4.0 };
        let (shown, charged) = runtime.block_on(shown(setting, &sql, times, 6000));
        assert!(shown > charged, "{sql}: shown {shown}, charged {charged}");
    }
}
