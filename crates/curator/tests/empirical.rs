//! The ε of whole queries, from SQL to answer, measured on neighbouring databases through the
//! public interface: never above what the ledger charged.
//!
//! # Many samples from one answer
//! The databases are made of blocks of groups. In every block one unit differs, so the two
//! databases as a whole are far apart; but a block's answers depend on its own people alone,
//! who are in no other block. Their joint distribution on either side is that of two databases
//! that differ in this one unit, and blocks are independent: each is one sample.
//!
//! What is looked at is the likelihood ratio as far as it is known: where the exact answers of a
//! block's groups are l and r, Laplace noise tells them apart by the sum of the answers, each
//! clamped to what is between l and r, and Gaussian noise by the sum of answer·(r − l). The
//! exact answers are bought, at a very large ε.
//!
//! Every answer is bought anew: the ε asked for differs from run to run by a billionth, so no
//! two prices are the same and the ledger has no answer ready. `DEMURE_EMPIRICAL_SAMPLES=100000`
//! makes a longer run.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};
use demure_curator::policy::Policy;
use demure_curator::{Curator, Incidents, Outcome};
use demure_ledger::{Accounting, Ledger, Limit};
use demure_testkit::falsify::{binomial_lower, binomial_upper, falsify};
use std::fmt::Write;
use std::sync::Arc;

/// The chance that any comparison here raises a false alarm, all together.
const ALARM: f64 = 1e-6;
/// At most so many comparisons.
const CASES: f64 = 1000.0;
/// ε that is asked for.
const EPSILON: f64 = 1.0;
/// δ that is asked for where keys are private.
const DELTA: f64 = 0.01;
/// ε at which an answer is as good as exact.
const CLEAR: f64 = 1000.0;
/// Groups of one answer.
const GROUPS: usize = 1200;

/// The aggregates, and what the others of a group have in `x` and `k`, chosen so that one
/// unit more tips the answer.
const AGGREGATES: [(&str, &str); 14] = [
    ("COUNT(*)", ""),
    ("COUNT(x)", "0u"),
    ("COUNT(DISTINCT x)", "0u"),
    ("COUNT(DISTINCT id)", "0u"),
    ("SUM(x)", "0u"),
    ("SUM(CASE WHEN k = 'v' THEN -x ELSE x END)", "0u"),
    ("AVG(x)", "0u 0w"),
    ("VAR_POP(x)", "0u 0w"),
    ("STDDEV(x)", "0u 0w"),
    ("MIN(2 - x)", EXTREME),
    ("MAX(x)", EXTREME),
    ("MEDIAN(x)", "0u 1w"),
    ("APPROX_PERCENTILE_CONT(x, 0.75)", "0u 0w 0u 1w"),
    ("MODE(k)", "0u 0w"),
];

/// So many at 2 that one more tips a maximum: [`Setting::tipping`].
const EXTREME: &str = "2v*";

/// The relation, the unit and the currency.
#[derive(Clone, Copy, Debug)]
struct Setting {
    person: bool,
    replace: bool,
    zcdp: bool,
}

/// What the unit of one block has in the left and in the right database: groups within the
/// block, and values in each.
struct Block {
    size: usize,
    left: (&'static [usize], &'static str),
    right: (&'static [usize], &'static str),
}

impl Setting {
    /// A person is in more rows and groups than count. Who is replaced moves to other groups.
    fn block(self) -> Block {
        match (self.person, self.replace) {
            (false, false) => Block { size: 1, left: (&[], ""), right: (&[0], "2v") },
            (true, false) => Block { size: 3, left: (&[], ""), right: (&[0, 1, 2], "2v 2v 2v") },
            (false, true) => Block { size: 2, left: (&[0], "2v"), right: (&[1], "2v") },
            (true, true) => {
                Block { size: 4, left: (&[0, 1], "2v 2v 2v"), right: (&[2, 3], "2v 2v 2v") }
            }
        }
    }

    /// About as many rows as MIN and MAX want to have beyond their answer: the threshold of the
    /// sparse vector at the ε that a group gets, for noise that m rows move.
    fn tipping(self, asked: f64) -> usize {
        let (g, m) = if self.person { (2.0, 2.0) } else { (1.0, 1.0) };
        let times = if self.replace { 2.0 } else { 1.0 };
        let epsilon: f64 = if self.zcdp { 1.0 / (f64::sqrt(g) * times) } else { 1.0 / (g * times) };
        (17.0 * m / (epsilon * asked)) as usize
    }

    /// `keys`: the groups are public.
    fn policy(self, keys: bool) -> String {
        let unit = match self.person {
            true => "unit = \"id\"\nmax_groups = 2\nmax_rows_per_group = 2",
            false => "unit = \"row\"",
        };
        let neighbours = if self.replace { "replace" } else { "add-remove" };
        let accounting = if self.zcdp { "zcdp" } else { "pure" };
        let values: Vec<String> = (0..GROUPS).map(|h| h.to_string()).collect();
        let values = match keys {
            true => format!("h = {{ values = [{}], nullable = false }}", values.join(",")),
            false => "h = { type = \"integer\" }".to_owned(),
        };
        format!(
            "[budget]\nepsilon = 1e6\ndelta = 0.9\nper_query = {EPSILON:?}\n\
             neighbours = \"{neighbours}\"\naccounting = \"{accounting}\"\n\
             [tables.t]\nsource = \"t.csv\"\n{unit}\n[tables.t.columns]\n\
             x = {{ type = \"integer\", bounds = [0, 2] }}\n\
             k = {{ values = [\"u\", \"v\", \"w\"] }}\n{values}\n"
        )
    }

    /// Each group's `others`, each a person of their own, and the units that differ.
    fn table(self, others: &str, right: bool, asked: f64) -> String {
        let block = self.block();
        let (groups, values) = if right { block.right } else { block.left };
        let mut table = String::from("id,h,x,k\n");
        let mut id = 0;
        let many = "2v ".repeat(self.tipping(asked));
        let others = if others == EXTREME { &many } else { others };
        for first in (0..GROUPS).step_by(block.size) {
            for h in first..first + block.size {
                for other in others.split_whitespace() {
                    id += 1;
                    writeln!(table, "{id},{h},{},{}", &other[..1], &other[1..]).unwrap();
                }
            }
            id += 1;
            for h in groups {
                for own in values.split_whitespace() {
                    writeln!(table, "{id},{},{},{}", first + h, &own[..1], &own[1..]).unwrap();
                }
            }
        }
        table
    }
}

async fn curator(policy: &str, table: &str, seed: u64) -> (Arc<Curator>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let policy = Policy::parse(policy, folder.path()).unwrap();
    let (epsilon, delta) = (policy.budget.epsilon, policy.budget.delta);
    let accounting = match policy.budget.accounting {
        demure_curator::policy::Accounting::Pure => Accounting::Pure,
        demure_curator::policy::Accounting::Zcdp => Accounting::Zcdp,
    };
    let neighbours = policy.budget.neighbours;
    let limit = Limit { accounting, epsilon, delta, neighbours };
    let ledger = Ledger::in_memory(limit).unwrap();
    let randomness = Box::new(SeededForTests::insecure(seed));
    let curator = Curator::with(policy, ledger, Incidents::nowhere(), randomness).await.unwrap();
    (curator, folder)
}

/// The answers by group; −1 where the group did not come back or has no answer.
fn by_group(batches: &[RecordBatch]) -> Vec<f64> {
    let mut found = vec![-1.0; GROUPS];
    for batch in batches {
        let keys = batch.column(0).as_primitive::<Int64Type>();
        let answers: Vec<Option<f64>> = match batch.column(1).data_type() {
            // Of a mode, whether it is the value of the one who differs.
            DataType::Utf8 => batch.column(1).as_string::<i32>().iter(),
            _ => {
                let reals = cast(batch.column(1), &DataType::Float64).unwrap();
                found_in(&mut found, keys.values(), reals.as_primitive::<Float64Type>().iter());
                continue;
            }
        }
        .map(|text| text.map(|text| f64::from(text == "v")))
        .collect();
        found_in(&mut found, keys.values(), answers.into_iter());
    }
    found
}

fn found_in(found: &mut [f64], keys: &[i64], answers: impl Iterator<Item = Option<f64>>) {
    for (key, answer) in keys.iter().zip(answers) {
        found[usize::try_from(*key).unwrap()] = answer.unwrap_or(-1.0);
    }
}

/// At least `n` blocks' answers, and what one answer was charged: ε (or for zCDP ρ) and δ.
async fn blocks(
    curator: &Arc<Curator>,
    sql: &str,
    size: usize,
    (epsilon, n): (f64, usize),
) -> (Vec<Vec<f64>>, (f64, f64)) {
    let mut session = curator.session("tester");
    let (mut drawn, mut charged) = (Vec::new(), (0.0f64, 0.0f64));
    for i in 0.. {
        let asked = epsilon * (1.0 - 1e-9 * f64::from(i + 1));
        session.settings_mut().epsilon = Some(Epsilon::new(asked).unwrap());
        session.settings_mut().delta = Some(Delta::new(DELTA).unwrap());
        let Outcome::Answer(answer) = session.run(sql).await.unwrap() else { panic!("no answer") };
        assert!(!answer.repeated);
        charged = (charged.0.max(answer.price.main), charged.1.max(answer.price.delta));
        drawn.extend(by_group(&answer.batches).chunks(size).map(<[f64]>::to_vec));
        if drawn.len() >= n {
            break;
        }
    }
    (drawn, charged)
}

/// What the answers of one block say for the right side. Where the exact answers agree, because
/// a threshold follows ε, the groups that the unit is in on the right count against the others.
fn statistic(answers: &[f64], exact: &[Vec<f64>; 2], block: &Block, gaussian: bool) -> i64 {
    let agree = exact[0].iter().zip(&exact[1]).all(|(left, right)| (left - right).abs() < 0.01);
    let terms = answers.iter().enumerate().map(|(i, answer)| {
        let (left, right) = (exact[0][i], exact[1][i]);
        if agree {
            if block.right.0.contains(&i) { *answer } else { -answer }
        } else if gaussian {
            answer * (right - left)
        } else {
            answer.clamp(left.min(right), left.max(right)) * (right - left).signum()
        }
    });
    (terms.sum::<f64>() * 4096.0) as i64
}

/// The mean of what every block's groups answer.
fn mean(blocks: &[Vec<f64>]) -> Vec<f64> {
    let of = |i: usize| blocks.iter().map(|block| block[i]).sum::<f64>() / blocks.len() as f64;
    (0..blocks[0].len()).map(of).collect()
}

/// A lower bound on the ε (or ρ) that `sql` shows when `times` the ε is asked for; and what is
/// charged for asking once.
async fn shown(
    setting: Setting,
    (sql, others, keys): (&str, &str, bool),
    (times, n): (f64, usize),
) -> (f64, f64) {
    let (policy, block) = (setting.policy(keys), setting.block());
    let (mut sides, mut exact, mut prices) = (Vec::new(), Vec::new(), Vec::new());
    for right in [false, true] {
        let (curator, _folder) =
            curator(&policy, &setting.table(others, right, EPSILON * times), u64::from(right))
                .await;
        let (drawn, price) = blocks(&curator, sql, block.size, (EPSILON * times, n)).await;
        exact.push(mean(&blocks(&curator, sql, block.size, (CLEAR, 1)).await.0));
        sides.push(drawn);
        prices.push(price);
    }
    let exact: [Vec<f64>; 2] = exact.try_into().unwrap();
    let sides: Vec<Vec<i64>> = sides
        .iter()
        .map(|side| side.iter().map(|b| statistic(b, &exact, &block, setting.zcdp)).collect())
        .collect();
    assert_eq!(prices[0], prices[1], "the price depends on the data");
    let (main, delta) = prices[0];
    let alarm = ALARM / CASES;
    if setting.zcdp {
        (rho(&sides[0], &sides[1], delta, alarm), main / (times * times))
    } else {
        (falsify(&sides[0], &sides[1], delta, alarm).epsilon, main / times)
    }
}

/// A lower bound on ρ, from the probabilities P and Q of one event on both sides: what can be
/// computed from an answer tells them apart no better than the answer, so
/// `Dα(P‖Q) ≤ αρ` for all α > 1; with δ, after events of probability δ are left out.
fn rho(left: &[i64], right: &[i64], delta: f64, alarm: f64) -> f64 {
    let found = falsify(left, right, delta, alarm);
    let half = left.len() as u64 - left.len() as u64 / 2;
    let p = binomial_lower(found.counts.0, half, alarm / 2.0) - delta;
    let q = binomial_upper(found.counts.1, half, alarm / 2.0) / (1.0 - delta);
    if p <= q {
        return 0.0;
    }
    let renyi = |alpha: f64| {
        let sum = p.powf(alpha) * q.powf(1.0 - alpha)
            + (1.0 - p).powf(alpha) * (1.0 - q).powf(1.0 - alpha);
        sum.ln() / (alpha - 1.0)
    };
    [1.01, 1.5, 2.0, 3.0, 5.0, 9.0]
        .into_iter()
        .map(|alpha| renyi(alpha) / alpha)
        .fold(0.0, f64::max)
}

fn settings() -> impl Iterator<Item = Setting> {
    (0..8).map(|i| Setting { person: i & 1 > 0, replace: i & 2 > 0, zcdp: i & 4 > 0 })
}

fn count(default: usize) -> usize {
    let asked = std::env::var("DEMURE_EMPIRICAL_SAMPLES").ok();
    asked.map_or(default, |asked| asked.parse().unwrap())
}

fn each_query(setting: Setting) -> Vec<(String, &'static str)> {
    let of = |aggregate: &str| format!("SELECT h, {aggregate} FROM t GROUP BY h");
    let has_ids = |aggregate: &str| setting.person || !aggregate.contains("id");
    let some = AGGREGATES.into_iter().filter(|(aggregate, _)| has_ids(aggregate));
    some.map(|(aggregate, others)| (of(aggregate), others)).collect()
}

#[test]
fn no_answer_shows_more_than_was_charged() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for setting in settings() {
        for (sql, others) in each_query(setting) {
            let case = (sql.as_str(), others, true);
            let (shown, charged) = runtime.block_on(shown(setting, case, (1.0, count(2400))));
            let what = format!("{sql}, {setting:?}: {shown:.3} of {charged:.3}");
            println!("{what}");
            assert!(shown <= charged, "{what}");
            assert!(setting.zcdp || charged <= EPSILON, "{what}");
        }
    }
}

#[test] // the power twin: four times the ε that is charged, or twelve times
fn answers_much_too_clear_are_noticed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for setting in settings().filter(|setting| !setting.zcdp) {
        for (sql, others) in each_query(setting) {
            let case = (sql.as_str(), others, true);
            // A rank moves the odds by half of what it may, and half of its budget buys the ends of its interval, which
            // are not looked at here.
            let ranks = sql.contains("MEDIAN") || sql.contains("PERCENTILE");
            let noise = if ranks { (12.0, 9600) } else { (4.0, 2400) };
            let (shown, charged) = runtime.block_on(shown(setting, case, noise));
            let what = format!("{sql}, {setting:?}: {shown:.3} of {charged:.3}");
            println!("{what}");
            // What depends on several noised numbers at once shows less of each.
            let clear = ["COUNT(*)", "COUNT(x)", "SUM(x)"].iter().any(|a| sql.contains(a));
            let plain = !setting.person && !setting.replace;
            assert!(shown > charged || !(clear || plain), "{what}");
        }
    }
}

/// Keys that only the one who differs has, and keys at which one more tips the scales.
const FEW: [&str; 3] = ["", "0u 0u", "0u 0u 0u 0u"];

#[test]
fn a_key_comes_back_no_more_often_than_was_charged() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for setting in settings() {
        for others in FEW {
            let case = ("SELECT h, COUNT(*) FROM t GROUP BY h", others, false);
            let (shown, charged) = runtime.block_on(shown(setting, case, (1.0, count(2400))));
            let what = format!("{others:?}, {setting:?}: {shown:.3} of {charged:.3}");
            println!("{what}");
            assert!(shown <= charged, "{what}");
        }
    }
}
