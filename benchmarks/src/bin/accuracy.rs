//! `cargo xtask bench accuracy`: how far answers are from the raw truth, where nothing was declared about how many
//! rows a person has; the data and the peers of `bench sql`.
//!
//! Claims, within this run (COUNT and SUM by group in one query; mean absolute error over 20 runs):
//! - `small` (1 M rows, 100 k people, 50 groups), ε = 1: count within 170, sum within 10,500, and both below every peer's error against
//!   the raw truth; ε = 10: within 30 and 1,700; ε = 0.2: count within 600;
//! - the 95 % interval holds the raw truth in at least 90 % of the cells of 200 runs: of `small`, of the demonstration clinic, of people whose
//!   number of rows is Pareto(1.5), and, where `DEMURE_BENCH_ADULT` names its CSV, of Adult;
//! - `large` (10 M rows, 1 M people, 100 groups): at most 3 × the CPU of DataFusion's plain GROUP BY that also reads the id
//!   column, and 8 × less than DuckDB leaving rows out.

#![forbid(unsafe_code)]

use demure_bench::{children, demure};
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Runs for errors, and for coverage.
const RUNS: usize = 20;
const MANY: usize = 200;
const QUERY: &str = "SELECT grp, COUNT(*) AS n, SUM(value) AS total FROM t GROUP BY grp";

fn main() -> ExitCode {
    let documents: Vec<String> = std::env::args().skip(1).collect();
    demure_bench::exit(run(&documents))
}

/// Claims, as they are printed.
struct Claims(bool);

impl Claims {
    fn add(&mut self, holds: bool, text: &str) {
        println!("  {text}{}", if holds { "" } else { "  !" });
        self.0 &= holds;
    }
}

fn run(documents: &[String]) -> Fallible<bool> {
    let (mut tables, mut peers) = (HashMap::new(), Vec::new());
    for path in documents {
        let document: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let peer = document["peer"].as_str().unwrap_or("a peer").to_owned();
        for table in document["tables"].as_array().into_iter().flatten() {
            tables.insert(table["table"].as_str().unwrap_or_default().to_owned(), table.clone());
        }
        for run in document["runs"].as_array().into_iter().flatten() {
            peers.push((peer.clone(), run.clone()));
        }
    }
    let home = std::env::temp_dir().join(format!("demure-accuracy-{}", std::process::id()));
    fs::create_dir_all(&home)?;
    let asking = Asking { demure: demure()?, home: home.clone() };
    let mut claims = Claims(true);
    let outcome = compare(&asking, &tables, &peers, &mut claims);
    fs::remove_dir_all(&home)?;
    outcome?;
    println!("{}", if claims.0 { "every claim met" } else { "a claim was NOT met (marked !)" });
    Ok(claims.0)
}

fn compare(
    asking: &Asking,
    tables: &HashMap<String, Value>,
    peers: &[(String, Value)],
    claims: &mut Claims,
) -> Fallible<()> {
    let small = tables.get("small").ok_or("no table `small`")?;
    let truth = |what: &str| numbers(&small["truth"][what]);
    let truth = by_group(&truth("count")?, &truth("sum")?);
    let policy = of_file(small)?;
    for (epsilon, most) in
        [(1.0, (170.0, 10_500.0)), (10.0, (30.0, 1_700.0)), (0.2, (600.0, f64::INFINITY))]
    {
        let runs = if epsilon == 1.0 { MANY } else { RUNS };
        let found = asking.all(&policy, QUERY, epsilon, runs)?.against(&truth)?;
        println!("small, ε = {epsilon}: error against the raw truth, {runs} runs");
        for ((name, error), most) in ["count", "sum"].iter().zip(found.error).zip([most.0, most.1])
        {
            let wanted = if most.is_finite() { format!(" (≤ {most})") } else { String::new() };
            claims.add(error <= most, &format!("{name} {error:.1}{wanted}"));
            let raw = format!("{name}_mae_unbounded");
            for (peer, run) in
                peers.iter().filter(|(peer, run)| epsilon == 1.0 && is_private(peer, run))
            {
                let theirs = run[&raw].as_f64().unwrap_or(f64::NAN);
                let task = run["task"].as_str().unwrap_or_default();
                let text = format!(
                    "{name}: {:.2} × the error of {peer}, {task}: {theirs:.1} (< 1)",
                    error / theirs
                );
                claims.add(error < theirs, &text);
            }
        }
        claims
            .add(found.covered >= 0.9, &format!("{:.1} % covered (≥ 90 %)", 100.0 * found.covered));
    }
    coverage(asking, claims)?;
    cost(asking, tables, peers, claims)
}

/// Whether a run is a private answer about `small`.
fn is_private(peer: &str, run: &Value) -> bool {
    !peer.starts_with("DuckDB") && run["task"].as_str().unwrap_or_default().starts_with("small")
}

/// Coverage of data of other shapes.
fn coverage(asking: &Asking, claims: &mut Claims) -> Fallible<()> {
    let clinic = asking.home.join("clinic");
    let made = Command::new(&asking.demure).args(["demo", "--keep"]).arg(&clinic).output()?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned().into());
    }
    let visits = fs::read_to_string(clinic.join("visits.csv"))?;
    let mut truth: Truth = HashMap::new();
    for line in visits.lines().skip(1) {
        let disease = line.split(',').nth(3).ok_or("a visit without a disease")?;
        truth.entry(disease.to_owned()).or_insert_with(|| vec![0.0])[0] += 1.0;
    }
    let diseases: Vec<String> = truth.keys().map(|name| format!("{name:?}")).collect();
    let policy = format!(
        "[tables.t]\nsource = {:?}\nunit = \"patient_id\"\n[tables.t.columns]\n\
         disease = {{ values = [{}], nullable = false }}\n",
        clinic.join("visits.csv"),
        diseases.join(", ")
    );
    let sql = "SELECT disease, COUNT(*) AS n FROM t GROUP BY disease";
    covered(asking, claims, "the demonstration clinic", (&policy, sql), &truth, &[0.2, 1.0])?;

    let pareto = asking.home.join("pareto.csv");
    let (mut text, mut truth, mut state) = (String::from("person,grp\n"), HashMap::new(), 1u64);
    let mut uniform = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    for person in 0..100_000 {
        let rows = (1.0 - uniform()).powf(-1.0 / 1.5).ceil() as u64;
        for _ in 0..rows {
            let group = (uniform() * 20.0) as u64;
            writeln!(text, "{person},{group}")?;
            truth.entry(group.to_string()).or_insert_with(|| vec![0.0])[0] += 1.0;
        }
    }
    fs::write(&pareto, text)?;
    let policy = format!(
        "[tables.t]\nsource = {pareto:?}\nunit = \"person\"\n[tables.t.columns]\n\
         grp = {{ type = \"integer\", bounds = [0, 19], nullable = false }}\n"
    );
    let sql = "SELECT grp, COUNT(*) AS n FROM t GROUP BY grp";
    covered(asking, claims, "Pareto(1.5) rows a person", (&policy, sql), &truth, &[0.2, 1.0])?;

    let Ok(adult) = std::env::var("DEMURE_BENCH_ADULT") else {
        println!("Adult: not here (DEMURE_BENCH_ADULT names its CSV)");
        return Ok(());
    };
    let text = fs::read_to_string(&adult)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let at = header.iter().position(|name| *name == "sex").ok_or("Adult has no column `sex`")?;
    let (mut truth, mut rows) = (HashMap::new(), String::from("person,sex\n"));
    for (person, line) in lines.enumerate() {
        let sex = line.split(',').nth(at).unwrap_or_default().trim();
        writeln!(rows, "{person},{sex}")?;
        truth.entry(sex.to_owned()).or_insert_with(|| vec![0.0])[0] += 1.0;
    }
    let place = asking.home.join("adult.csv");
    fs::write(&place, rows)?;
    let values: Vec<String> = truth.keys().map(|name| format!("{name:?}")).collect();
    let policy = format!(
        "[tables.t]\nsource = {place:?}\nunit = \"person\"\n[tables.t.columns]\n\
         sex = {{ values = [{}], nullable = false }}\n",
        values.join(", ")
    );
    let sql = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex";
    covered(asking, claims, "Adult", (&policy, sql), &truth, &[0.2, 1.0])
}

fn covered(
    asking: &Asking,
    claims: &mut Claims,
    name: &str,
    (policy, sql): (&str, &str),
    truth: &Truth,
    epsilons: &[f64],
) -> Fallible<()> {
    for epsilon in epsilons {
        let found = asking.all(policy, sql, *epsilon, MANY)?.against(truth)?;
        let share = 100.0 * found.covered;
        println!("{name}, ε = {epsilon}: {MANY} runs, error {:.1}", found.error[0]);
        claims.add(found.covered >= 0.9, &format!("{share:.1} % covered (≥ 90 %)"));
    }
    Ok(())
}

fn cost(
    asking: &Asking,
    tables: &HashMap<String, Value>,
    peers: &[(String, Value)],
    claims: &mut Claims,
) -> Fallible<()> {
    let Some(large) = tables.get("large") else { return Ok(()) };
    let file = large["files"][0].as_str().ok_or("no file")?;
    // The other benchmark's binary, which is built with this one.
    let plain =
        std::env::current_exe()?.with_file_name(format!("sql{}", std::env::consts::EXE_SUFFIX));
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let before = children().ok_or("this system does not tell CPU time")?;
        asking.all(&of_file(large)?, QUERY, 1.0, 1)?;
        let between = children().ok_or("this system does not tell CPU time")?;
        let made = Command::new(&plain).args(["--plain", file]).output()?;
        if !made.status.success() {
            return Err("DataFusion did not answer".into());
        }
        let after = children().ok_or("this system does not tell CPU time")?;
        (ours, theirs) = (ours.min(between - before), theirs.min(after - between));
    }
    println!("large, with a learnt bound: {ours:.3} CPU s");
    let ratio = ours / theirs;
    claims.add(
        ratio <= 3.0,
        &format!("{ratio:.2} × DataFusion's plain GROUP BY and id column, {theirs:.3} s (≤ 3)"),
    );
    for (peer, run) in peers {
        if run["task"] == "large bounded" {
            let spent = run["cpu_s"].as_f64().unwrap_or(f64::NAN);
            let net = spent - run["import_cpu_s"].as_f64().unwrap_or(0.0);
            let ratio = net / ours;
            claims.add(
                ratio >= 8.0,
                &format!("{ratio:.1} × less than {peer} leaving rows out, {net:.2} s (≥ 8)"),
            );
        }
    }
    Ok(())
}

/// The exact numbers of each group, by its key.
type Truth = HashMap<String, Vec<f64>>;

fn numbers(list: &Value) -> Fallible<Vec<f64>> {
    let list = list.as_array().ok_or("the exact answers are missing")?;
    Ok(list.iter().filter_map(Value::as_f64).collect())
}

fn by_group(counts: &[f64], sums: &[f64]) -> Truth {
    let both = counts.iter().zip(sums).enumerate();
    both.map(|(group, (n, sum))| (group.to_string(), vec![*n, *sum])).collect()
}

/// A policy that declares nothing about how many rows a person has.
fn of_file(table: &Value) -> Fallible<String> {
    let file = table["files"][0].as_str().ok_or("no file")?;
    let groups = table["parameters"]["groups"].as_u64().ok_or("no groups")?;
    Ok(format!(
        "[tables.t]\nsource = {file:?}\nunit = \"person\"\n[tables.t.columns]\n\
         grp = {{ bounds = [0, {}], nullable = false }}\n\
         value = {{ bounds = [0, 100], nullable = false }}\n",
        groups - 1
    ))
}

/// How queries are asked.
struct Asking {
    demure: PathBuf,
    home: PathBuf,
}

/// The answers to one query, each as CSV.
struct Answers(Vec<String>);

/// How far answers are from the truth.
struct Found {
    /// The mean absolute error of each number.
    error: Vec<f64>,
    /// The share of cells whose interval holds the truth.
    covered: f64,
}

impl Asking {
    /// Asks so many times, each with a policy and a ledger of its own.
    fn all(&self, tables: &str, sql: &str, epsilon: f64, runs: usize) -> Fallible<Answers> {
        let mut answers = Vec::with_capacity(runs);
        for _ in 0..runs {
            let folder = self.home.join("run");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder)?;
            let policy = folder.join("t.toml");
            fs::write(&policy, format!("[budget]\nepsilon = 100\n{tables}"))?;
            answers.push(self.one(&policy, sql, epsilon)?);
        }
        Ok(Answers(answers))
    }

    fn one(&self, policy: &Path, sql: &str, epsilon: f64) -> Fallible<String> {
        let mut command = Command::new(&self.demure);
        command.arg("query").arg(policy).arg(sql);
        command.args(["--epsilon", &epsilon.to_string(), "--intervals", "--format", "csv"]);
        let output = command.output()?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }
}

impl Answers {
    fn against(&self, truth: &Truth) -> Fallible<Found> {
        let (mut error, mut cells, mut covered) = (Vec::new(), 0.0, 0.0);
        for answer in &self.0 {
            let mut groups = 0;
            for line in answer.lines().skip(1) {
                let mut fields = line.split(',');
                let key = fields.next().unwrap_or_default();
                let exact = truth.get(key).ok_or("an unknown group")?;
                let fields: Vec<Option<f64>> = fields.map(|field| field.parse().ok()).collect();
                error.resize(exact.len(), 0.0);
                for ((error, exact), cell) in error.iter_mut().zip(exact).zip(fields.chunks(3)) {
                    let [Some(value), low, high] = cell else { return Err("an odd answer".into()) };
                    *error += (value - exact).abs();
                    // Without an interval nothing is claimed, and nothing is covered.
                    let within =
                        low.zip(*high).is_some_and(|(low, high)| (low..=high).contains(exact));
                    covered += f64::from(u8::from(within));
                    cells += 1.0;
                }
                groups += 1;
            }
            if groups < truth.len() {
                return Err("a group is missing".into());
            }
        }
        let answers = (self.0.len() * truth.len()) as f64;
        error.iter_mut().for_each(|error| *error /= answers);
        Ok(Found { error, covered: covered / cells })
    }
}
