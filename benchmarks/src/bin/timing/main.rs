//! `cargo xtask audit timing`: what the moment of an answer tells about one person.
//!
//! Three tables differ in one person: in `present` she has the attribute, in `other` another one, in
//! `absent` she is missing. Statements of some twenty shapes are asked of each through the PostgreSQL
//! wire of a real server on loopback, interleaved at random. An attacker who knows half of the times with
//! their labels guesses the other half; what his true positives exceed his false positives by is
//! the *advantage*: 0 is guessing, 1 is knowing.
//!
//! | file | what |
//! |---|---|
//! | `shapes` | the statements |
//! | `world` | three tables, a policy and `demure serve` |
//! | `asked` | times of statements that follow each other without overlapping |
//! | `advantage` | what they tell, out of sample, with its error |
//!
//! Every shape is first asked of a server without a schedule: the difference of the medians there is the
//! influence Δt that the schedule has to hide. One comparison of statements that do differ must be told
//! apart there, or the audit has no power. Then it is asked with the schedule. A shape whose advantage
//! looks larger than [`LOOK`] is sampled afresh, [`AGAIN`] times as often, and the second estimate counts: with 300
//! samples its standard error is 0.024, so that chance alone takes no shape without an advantage above the limit.
//!
//! Exit code 0: no advantage is above the limit. 1: one is. 2: it could not be measured.

#![forbid(unsafe_code)]

mod advantage;
mod asked;
mod shapes;
mod world;

use advantage::{Advantage, advantage, median};
use asked::{Asker, Times};
use serde_json::{Value, json};
use shapes::{CLASSES, SHAPES, Shape};
use std::error::Error;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;
use world::{Server, World};

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The largest advantage that is allowed.
const LIMIT: f64 = 0.1;
/// An advantage that is looked at again.
const LOOK: f64 = 0.05;
/// How many times the samples the second look takes.
const AGAIN: usize = 3;
/// What the comparison that must be told apart must reach.
const POWER: f64 = 0.9;

const HELP: &str = "\
What the moment of an answer tells about one person.

Usage: timing [--rows N] [--samples N] [--only SHAPE] [--json]

  --rows N      rows of each table (default 1000000)
  --samples N   statements of each shape and table (default 300)
  --only SHAPE  only the shapes whose name contains this
  --json        results as JSON on standard output

Example: timing --rows 100000 --samples 400 --only join
";

struct Options {
    rows: usize,
    samples: usize,
    only: String,
    json: bool,
}

fn main() -> ExitCode {
    match options() {
        Ok(None) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Some(options)) => demure_bench::exit(run(&options)),
        Err(error) => {
            eprintln!("error: {error}\nhint: `timing --help` lists the options");
            ExitCode::from(2)
        }
    }
}

fn options() -> Fallible<Option<Options>> {
    let mut options = Options { rows: 1_000_000, samples: 300, only: String::new(), json: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} takes a value"));
        match word.as_str() {
            "--rows" => options.rows = value()?.parse()?,
            "--samples" => options.samples = value()?.parse()?,
            "--only" => options.only = value()?,
            "--json" => options.json = true,
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("no option {other}").into()),
        }
    }
    if options.rows < 100 || options.samples < 20 {
        return Err("at least 100 rows and 20 samples are needed".into());
    }
    Ok(Some(options))
}

/// What one shape gave away.
struct ShapeResult {
    shape: &'static Shape,
    /// Without a schedule: the median of `present`, and by how much each of the others differs.
    off: Vec<(f64, f64, Advantage)>,
    /// With one: against each of the others.
    on: Vec<Advantage>,
}

fn run(options: &Options) -> Fallible<bool> {
    let shapes: Vec<&'static Shape> =
        SHAPES.iter().filter(|shape| shape.name.contains(&options.only)).collect();
    if shapes.is_empty() {
        return Err(format!("no shape has `{}` in its name", options.only).into());
    }
    let world = World::make(options.rows)?;
    let (off, on) = (world.serve("off")?, world.serve("on")?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let progress = Progress { all: shapes.len(), shown: std::io::stderr().is_terminal() };
    let mut audit = Audit { options, world: &world, runtime, off: &off, on: &on };

    let power = audit.power()?;
    let mut results = Vec::new();
    for (i, shape) in shapes.into_iter().enumerate() {
        progress.tell(i, shape.name);
        results.push(audit.shape(shape)?);
    }
    progress.end();
    let broken = results.iter().flat_map(|r| &r.on).filter(|a| a.value > LIMIT);
    let broken = broken.count();
    let met = broken == 0 && power.value >= POWER;
    match options.json {
        true => println!("{}", as_json(options, &power, &results, met)),
        false => print(options, &power, &results, broken),
    }
    Ok(met)
}

struct Audit<'a> {
    options: &'a Options,
    world: &'a World,
    runtime: tokio::runtime::Runtime,
    off: &'a Server,
    on: &'a Server,
}

impl Audit<'_> {
    /// Statements that do differ, without a schedule: one that scans a table, one that scans it twice.
    fn power(&mut self) -> Fallible<Advantage> {
        let world = self.world;
        let sql = [world.sql(&SHAPES[0], CLASSES[0]), world.sql(shapes::two_scans(), CLASSES[0])];
        let samples = self.options.samples.min(60);
        let times = self.runtime.block_on(async {
            Asker::connect(self.off, 1).await?.ask(&sql, samples, Duration::ZERO).await
        })?;
        Ok(advantage(&times[0], &times[1]))
    }

    fn shape(&mut self, shape: &'static Shape) -> Fallible<ShapeResult> {
        let sql = CLASSES.map(|class| self.world.sql(shape, class));
        let samples = self.options.samples;
        let (off, on) = (self.off, self.on);
        // One after the other; this also tells how far apart statements must be not to overlap.
        let plain = self.runtime.block_on(async {
            Asker::connect(off, 1).await?.ask(&sql, (samples / 5).max(20), Duration::ZERO).await
        })?;
        let apart = pace(&plain);
        let look =
            |runtime: &tokio::runtime::Runtime, samples: usize| -> Fallible<Vec<Advantage>> {
                let times = runtime.block_on(async {
                    Asker::connect(on, asked::CONNECTIONS).await?.ask(&sql, samples, apart).await
                })?;
                Ok(times[1..].iter().map(|other| advantage(&times[0], other)).collect())
            };
        let mut found = look(&self.runtime, samples)?;
        if found.iter().any(|advantage| advantage.value > LOOK) {
            found = look(&self.runtime, samples * AGAIN)?;
        }
        let middle = median(&plain[0]);
        let off = plain[1..]
            .iter()
            .map(|other| (middle, middle - median(other), advantage(&plain[0], other)))
            .collect();
        Ok(ShapeResult { shape, off, on: found })
    }
}

/// So far apart that nearly none begins while another works.
fn pace(plain: &[Times]) -> Duration {
    let mut all: Vec<f64> = plain.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let slow = all.get(all.len() * 19 / 20).copied().unwrap_or(0.0);
    Duration::from_secs_f64(slow * 1.1 + 0.001)
}

fn as_json(options: &Options, power: &Advantage, results: &[ShapeResult], met: bool) -> Value {
    let one = |result: &ShapeResult| {
        let pairs = result.off.iter().zip(&result.on).zip(&CLASSES[1..]);
        let pairs = pairs.map(|(((median, apart, off), on), class)| {
            json!({
                "against": class.name,
                "without_schedule": {
                    "median_ms": median * 1e3, "difference_ms": apart * 1e3,
                    "advantage": off.value, "error": off.error, "samples": off.samples,
                },
                "advantage": on.value, "error": on.error, "samples": on.samples,
                "above_limit": on.value > LIMIT,
            })
        });
        json!({ "shape": result.shape.name, "present": pairs.collect::<Vec<_>>() })
    };
    json!({
        "rows": options.rows,
        "limit": LIMIT,
        "power": { "advantage": power.value, "error": power.error, "needed": POWER },
        "shapes": results.iter().map(one).collect::<Vec<_>>(),
        "met": met,
    })
}

fn print(options: &Options, power: &Advantage, results: &[ShapeResult], broken: usize) {
    println!(
        "{} rows a table; advantage ± standard error of guessing from the time of an answer\n",
        options.rows
    );
    println!(
        "{:<26}{:<9}{:>9}{:>9}{:>15}{:>15}",
        "present against", "", "off, ms", "Δ, ms", "off", "on schedule"
    );
    for result in results {
        for (((median, apart, off), on), class) in
            result.off.iter().zip(&result.on).zip(&CLASSES[1..])
        {
            let mark = if on.value > LIMIT { " !" } else { "" };
            println!(
                "{:<26}{:<9}{:>9.1}{:>9.2}{:>15}{:>15}{mark}",
                result.shape.name,
                class.name,
                median * 1e3,
                apart * 1e3,
                off.shown(),
                on.shown(),
            );
        }
    }
    println!();
    let weak = if power.value >= POWER { "" } else { " !" };
    println!("one scan against two, without a schedule: {} (≥ {POWER}){weak}", power.shown());
    let largest = results.iter().flat_map(|r| &r.on).map(|a| a.value).fold(f64::MIN, f64::max);
    println!("the largest advantage on schedule: {largest:.2} (≤ {LIMIT})");
    match broken {
        0 => println!("none is above {LIMIT}"),
        n => println!("{n} are above {LIMIT} (marked !)"),
    }
}

/// Where the audit is, on a terminal.
struct Progress {
    all: usize,
    shown: bool,
}

impl Progress {
    fn tell(&self, done: usize, name: &str) {
        if self.shown {
            let filled = 30 * done / self.all.max(1);
            let bar: String = (0..30).map(|i| if i < filled { '█' } else { '░' }).collect();
            eprint!("\r\x1b[K{bar} {done}/{} {name}", self.all);
        } else {
            eprintln!("{}/{} {name}", done + 1, self.all);
        }
    }

    fn end(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
