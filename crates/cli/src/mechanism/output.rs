//! What every mechanism's command has: its common options, what it promises, its draws.

use crate::Failure;
use crate::input::{Relation, number, positive};
use demure_core::mechanism::{Budget, Calibration, Change, Family, Guarantee};
use demure_core::random::SystemRandom;
use demure_core::unit::{Beta, Epsilon, Neighbours, Rho};
use demure_report::progress::Progress;
use demure_report::{Report, line, plain, short};
use serde_json::Value;
use std::io::Write;

/// Options of a mechanism that promises something under either relation.
#[derive(clap::Args)]
pub(super) struct Common {
    /// Which datasets count as neighbours: what the sensitivity is for
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    #[command(flatten)]
    pub(super) output: Output,
}

impl Common {
    pub(super) fn neighbours(&self) -> Neighbours {
        self.neighbours.into()
    }

    pub(super) fn explain(&self) -> bool {
        self.output.explain
    }
}

/// Options that every mechanism has.
#[derive(clap::Args)]
pub(super) struct Output {
    /// Draw this many times (each draw costs the full guarantee again)
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive, allow_hyphen_values = true)]
    repeat: u32,

    /// Say what would be done, its guarantee and its error; draw nothing
    #[arg(long)]
    pub(super) explain: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl Output {
    /// Explains, or draws as often as asked: values to stdout, their cost to stderr.
    pub(super) fn finish<T: Into<Value>>(
        &self,
        explanation: &Report,
        mut draw: impl FnMut(&mut SystemRandom) -> Result<T, Failure>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        if self.explain {
            return Ok(explanation.print(self.json, out)?);
        }
        let mut rng = SystemRandom::new()?;
        let mut next = || -> Result<Value, Failure> { Ok(draw(&mut rng)?.into()) };
        // The first draw comes before the first byte: a bad value leaves stdout empty.
        let first = next()?;
        let progress = Progress::new(u64::from(self.repeat));
        let write = |out: &mut dyn Write, text: &str| {
            out.write_all(text.as_bytes()).map_err(Failure::writing)
        };
        let many = self.repeat > 1;
        let show = |value: &Value| match (self.json, many) {
            (true, _) => value.to_string(),
            (false, true) => line(value) + "\n",
            (false, false) => match plain(value) {
                nothing if nothing.is_empty() => nothing,
                text => text + "\n",
            },
        };
        if self.json {
            write(out, if many { "{\"value\":[" } else { "{\"value\":" })?;
        }
        write(out, &show(&first))?;
        for done in 1..self.repeat {
            progress.at(u64::from(done));
            let value = next()?;
            write(out, if self.json { "," } else { "" })?;
            write(out, &show(&value))?;
        }
        drop(progress);
        if self.json {
            let close = if many { format!("],\"repeat\":{}", self.repeat) } else { String::new() };
            return write(out, &format!("{close},{}}}\n", explanation.members()));
        }
        // Values first, also where both streams end up in one place.
        out.flush().map_err(Failure::writing)?;
        if !many && plain(&first).is_empty() {
            eprintln!("nothing came back");
        }
        eprintln!("{}", one_line(explanation, self.repeat));
        Ok(())
    }
}

/// A report that begins with a mechanism and its noise, as for [`calibrated`].
pub(super) fn noised(mechanism: &str, noise: Calibration, of: &str) -> Report {
    let report = Report::default().field("mechanism", mechanism);
    calibrated(report.field("noise", noise.family.to_string()), noise, of)
}

/// The noise that the core uses. `of` says what it is on, where that is not the answer itself.
pub(super) fn calibrated(report: Report, noise: Calibration, of: &str) -> Report {
    let (change, spread) = (noise.sensitivity, noise.scale);
    let name = match noise.family {
        Family::Laplace => "scale",
        Family::Gaussian => "sigma",
    };
    let text = |x: f64| format!("{}{of}", short(x));
    report.described("sensitivity", change, text(change)).described(name, spread, text(spread))
}

/// What is spent, in its own currency.
pub(crate) fn budget(report: Report, guarantee: Guarantee) -> Report {
    match guarantee {
        Guarantee::Pure(epsilon) => report.field("epsilon", epsilon.get()).hidden("delta", 0.0),
        Guarantee::Approximate(epsilon, delta) => {
            report.field("epsilon", epsilon.get()).field("delta", delta.get())
        }
        Guarantee::Concentrated(rho) => report.field("rho", rho.get()),
        _ => report,
    }
}

/// What a draw cost and how wrong it may be, for stderr.
pub(crate) fn one_line(report: &Report, draws: u32) -> String {
    let relation = report.text_of("neighbours").split(' ').next().unwrap_or_default();
    let times = if draws == 1 { String::new() } else { format!(", {draws} times over") };
    let error = match report.text_of("error_95") {
        "" => String::new(),
        error => format!("{error}; "),
    };
    format!("{error}cost {}{times} ({relation})", report.text_of("guarantee"))
}

/// The fields that say what is promised.
pub(super) fn promised(report: Report, guarantee: Guarantee, neighbours: Neighbours) -> Report {
    let meaning = match neighbours {
        Neighbours::AddRemove => "add-remove (one unit present or absent)",
        Neighbours::Replace => "replace (one unit's data changed; the size is public)",
    };
    budget(report, guarantee)
        .described("neighbours", neighbours.to_string(), meaning)
        .field("guarantee", guarantee.to_string())
}

/// β for the 95 % error bars shown everywhere.
pub(super) fn five_percent() -> Result<Beta, Failure> {
    Ok(Beta::new(0.05)?)
}

/// `error_95`, in words.
pub(super) fn error_95(report: Report, error: f64) -> Report {
    let text = format!("± {} with 95 % confidence (noise alone)", short(error));
    report.described("error_95", error, text)
}

/// How scores or queries may change: monotone where the user says so, and where it can be.
pub(super) fn monotone(said: bool, neighbours: Neighbours) -> Result<Change, Failure> {
    match (said, neighbours) {
        (false, _) => Ok(Change::General),
        (true, Neighbours::AddRemove) => Ok(Change::Monotone),
        (true, Neighbours::Replace) => Err(Failure::usage(
            "--monotone needs --neighbours add-remove: replacing one unit may raise one score \
             and lower another",
        )),
    }
}

/// One of ε and ρ, whichever was given.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Spend {
    /// The privacy loss: pure ε, geometric noise
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The privacy loss as ρ-zCDP: Gaussian noise
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    rho: Option<f64>,
}

impl Spend {
    pub(super) fn budget(&self) -> Result<Budget, Failure> {
        match (self.epsilon, self.rho) {
            (Some(epsilon), _) => Ok(Epsilon::new(epsilon)?.into()),
            (None, Some(rho)) => Ok(Rho::new(rho)?.into()),
            (None, None) => Err(Failure::usage("give --epsilon or --rho")),
        }
    }
}
