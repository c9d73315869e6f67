//! What counts share: methods, what is public of them, releases.

use super::Shown;
use super::render;
use super::source::{Source, refused};
use crate::Failure;
use crate::input::{Relation, number, whole};
use crate::mechanism::{Loss, pure, unknown};
use clap::ValueEnum;
use demure_core::mechanism::{DiscreteGaussian, Geometric, Guarantee, Release};
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{
    Ladder, PrivateBound, Proposals, ProposeTestRelease, SmoothNoise, Smoothness, Statistic,
};
use demure_core::unit::{Beta, L1, L2, Sensitivity};
use demure_core::utility::Accuracy;
use demure_graph::{Graph, Method, relation};
use demure_report::{Report, grouped, integer, short};
use serde_json::Value;
use std::io::Write;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Named {
    /// The one of least expected error, by the number of vertices and the budget alone
    Auto,
    /// The rungs of the local sensitivity, with a public floor where that helps; pure ε
    Ladder,
    /// The same without a floor, as published
    ClassicLadder,
    /// Noise in proportion to a smooth bound on the local sensitivity
    Smooth,
    /// A private bound on the local sensitivity, then noise; needs --delta
    PrivateBound,
    /// Propose a bound, test it, release; needs --delta, and may give no answer
    Ptr,
    /// Noise of the global sensitivity
    Laplace,
}

/// The options of a count.
#[derive(clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    pub(super) source: Source,

    #[command(flatten)]
    pub(super) loss: Loss,

    /// Which graphs count as neighbours: one edge more or less, or one for another
    #[arg(long, value_enum, default_value = "add-remove")]
    pub(super) neighbours: Relation,

    /// How the count is released
    #[arg(long, value_enum, default_value = "auto")]
    method: Named,

    /// For --method ptr: the proposed bound on the local sensitivity; searched for if not given
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    bound: Option<u64>,

    /// For --method smooth: t of the smooth bound, chosen without looking at the data
    #[arg(long, value_name = "T", value_parser = number, allow_hyphen_values = true)]
    smoothness: Option<f64>,

    #[command(flatten)]
    pub(super) shown: Shown,
}

impl Options {
    /// The method as the graph crate has it.
    pub(super) fn method(&self) -> Result<Method, Failure> {
        if self.bound.is_some() && self.method != Named::Ptr {
            return Err(Failure::usage("--bound is for --method ptr"));
        }
        if self.smoothness.is_some() && self.method != Named::Smooth {
            return Err(Failure::usage("--smoothness is for --method smooth"));
        }
        Ok(match self.method {
            Named::Auto => Method::Auto,
            Named::Ladder => Method::Ladder,
            Named::ClassicLadder => Method::ClassicLadder,
            Named::Smooth => {
                Method::Smooth { t: self.smoothness.map(Smoothness::new).transpose()? }
            }
            Named::PrivateBound => Method::PrivateBound,
            Named::Ptr => Method::Propose { bound: self.bound },
            Named::Laplace => Method::Naive,
        })
    }

    /// What one edge may cost.
    pub(super) fn step(&self) -> Result<Guarantee, Failure> {
        let step =
            relation::step(self.loss.guarantee()?, self.neighbours.into()).map_err(refused)?;
        let delta = matches!(step, Guarantee::Approximate(..));
        if !delta && matches!(self.method, Named::PrivateBound | Named::Ptr) {
            return Err(Failure::usage(
                "this method promises (ε,δ) only\n\
                 hint: give --epsilon and --delta, or use --method ladder, which needs no delta",
            ));
        }
        Ok(step)
    }
}

/// What a count is called, and the largest step of it in words.
pub(super) struct Count {
    pub(super) statistic: String,
    pub(super) global: &'static str,
}

/// Releases a count, or explains. `empty` makes the statistic for a number of vertices without edges
/// (public), `of` from the graph itself.
pub(super) fn run<S: Statistic>(
    options: &Options,
    count: &Count,
    empty: impl Fn(u32) -> demure_graph::Result<S>,
    of: impl Fn(&Graph) -> demure_graph::Result<S>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (method, step) = (options.method()?, options.step()?);
    let budget = options.loss.guarantee()?;
    if options.shown.explain {
        let (method, report) = match options.source.declared() {
            // What is public of a statistic is the same for all graphs of this size.
            Some(n) => explained(method, &empty(n).map_err(refused)?, step, count)?,
            None => (method, undeclared(method, count)),
        };
        let spent = relation::promised(spent(method, step), budget, options.neighbours.into())
            .map_err(refused)?;
        return Ok(
            render::promise(report, spent, options.neighbours).print(options.shown.json, out)?
        );
    }
    let graph = options.source.read()?;
    let statistic = of(&graph).map_err(refused)?;
    let mut rng = SystemRandom::new()?;
    let released = release(method, &statistic, step, five_percent()?, &mut rng)?;
    let spent = relation::promised(released.value.guarantee(), budget, options.neighbours.into())
        .map_err(refused)?;
    let report = released.report().hidden("statistic", count.statistic.clone());
    let report = render::promise(report, spent, options.neighbours);
    let report = options.source.noted(report, &graph);
    options.shown.answer(&json(*released.value.value()), &report, out)
}

/// A count as JSON: whole, as all methods make it.
pub(super) fn json(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| integer(value as i128))
}

/// A release, and what may be known of its error.
pub(super) struct Released {
    pub(super) value: Release<Option<f64>>,
    pub(super) method: Method,
    /// The bound on the local sensitivity that was released with it.
    bound: Option<u64>,
    /// From public facts and what was released; `None` where the noise follows the graph.
    pub(super) error: Option<f64>,
}

impl Released {
    fn report(&self) -> Report {
        let report = Report::default().field("method", name(self.method));
        let report = error_95(report, self.error, self.value.value().is_some());
        match self.bound {
            Some(bound) => report.described(
                "bound",
                bound,
                format!("{bound} (on the local sensitivity; released with the value)"),
            ),
            None => report,
        }
    }
}

/// `error_95`, or why there is none.
pub(super) fn error_95(report: Report, error: Option<f64>, answered: bool) -> Report {
    let note = "the noise follows the graph, so how large it is would tell about the graph";
    match error {
        Some(error) => {
            let text = format!("± {} with 95 % confidence (noise alone)", short(error));
            report.described("error_95", error, text)
        }
        None if answered => report
            .described("error_95", Value::Null, "error not shown: the noise follows the graph")
            .hidden("note", note),
        None => report.hidden("error_95", Value::Null).hidden("note", "no answer"),
    }
}

/// The names that are typed.
pub(super) fn name(method: Method) -> &'static str {
    match method {
        Method::Naive => "laplace",
        Method::Propose { .. } => "ptr",
        method => method.name(),
    }
}

fn five_percent() -> Result<Beta, Failure> {
    Ok(Beta::new(0.05)?)
}

/// Releases a count for one edge more or less; its error is exceeded with probability β at most.
///
/// As [`Method::release`], but it keeps the bound that two of the methods release with the value: their error is known.
pub(super) fn release(
    method: Method,
    statistic: &dyn Statistic,
    step: Guarantee,
    beta: Beta,
    rng: &mut SystemRandom,
) -> Result<Released, Failure> {
    let method = method.chosen(statistic, step).map_err(refused)?;
    let (value, bound, error) = match (method, step) {
        (Method::PrivateBound, Guarantee::Approximate(epsilon, delta)) => {
            let mechanism = PrivateBound::for_statistic(epsilon, delta, statistic)?;
            let release = mechanism.release(statistic, rng)?;
            let bound = release.value().1;
            (release.map(|(x, _)| Some(x)), Some(bound), Some(mechanism.error(bound, beta)?))
        }
        (Method::Propose { bound: None }, Guarantee::Approximate(epsilon, delta)) => {
            let mechanism = Proposals::for_statistic(epsilon, delta, statistic)?;
            let release = mechanism.release(statistic, rng)?;
            let bound = release.value().map(|(_, bound)| bound);
            let error = bound.map(|bound| mechanism.error(bound, beta)).transpose()?;
            (release.map(|found| found.map(|(x, _)| x)), bound, error)
        }
        (Method::Propose { bound: Some(bound) }, Guarantee::Approximate(epsilon, delta)) => {
            let mechanism = ProposeTestRelease::new(epsilon, delta, bound)?;
            let release = mechanism.release(statistic, rng)?;
            let error = release.value().map(|_| mechanism.error(beta)).transpose()?;
            (release, Some(bound), error)
        }
        _ => {
            let error = match method {
                Method::Naive => Some(naive_error(statistic, step, beta)?),
                _ => None,
            };
            (method.release(statistic, step, rng).map_err(refused)?, None, error)
        }
    };
    Ok(Released { value, method, bound, error })
}

/// The error of the global sensitivity's noise, exceeded with probability β at most.
fn naive_error(statistic: &dyn Statistic, step: Guarantee, beta: Beta) -> Result<f64, Failure> {
    let most = (statistic.most().unwrap_or(u64::MAX).max(1) as f64).next_up();
    Ok(match step {
        Guarantee::Concentrated(rho) => {
            DiscreteGaussian::concentrated(rho, Sensitivity::<L2>::new(most)?)?.error(beta)?
        }
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => {
            Geometric::new(epsilon, Sensitivity::<L1>::new(most)?)?.error(beta)?
        }
        _ => return Err(unknown()),
    })
}

/// What a method spends of a budget for one edge.
fn spent(method: Method, step: Guarantee) -> Guarantee {
    match (method, step) {
        (Method::Ladder | Method::ClassicLadder | Method::Naive, Guarantee::Approximate(e, _)) => {
            Guarantee::Pure(e)
        }
        (_, step) => step,
    }
}

/// What is public where n is not declared.
fn undeclared(method: Method, count: &Count) -> Report {
    let method = match method {
        Method::Auto => Report::default().described(
            "method",
            "auto",
            "auto: the ladder, or the noise of the global sensitivity where there are few vertices",
        ),
        method => Report::default().field("method", name(method)),
    };
    method
        .field("statistic", count.statistic.clone())
        .described(
            "sensitivity",
            Value::Null,
            format!("{} for n vertices (global)\n--vertices N says n, and then the choice and its error are known", count.global),
        )
        .described("error_95", Value::Null, "depends on n")
}

/// What a method would do: from n and the budget alone.
fn explained(
    asked: Method,
    statistic: &dyn Statistic,
    step: Guarantee,
    count: &Count,
) -> Result<(Method, Report), Failure> {
    let method = asked.chosen(statistic, step).map_err(refused)?;
    let most = statistic.most().unwrap_or(u64::MAX);
    let epsilon = pure(step)?;
    let guess = (most as f64).sqrt();
    let ladder = Ladder::for_statistic(epsilon, statistic)?;
    let why = if asked == Method::Auto {
        format!(
            "by n and the budget alone: if the local sensitivity is the root of the global one,\n\
             the ladder is off by about {}, and noise of the global one by {}",
            rough(ladder.expected_error(statistic)?),
            rough(most as f64 / epsilon.get())
        )
    } else {
        "asked for".to_owned()
    };
    let report = Report::default()
        .field("method", name(method))
        .field("why", why)
        .field("statistic", count.statistic.clone())
        .described(
            "sensitivity",
            most,
            format!("{} = {} (global)", count.global, grouped(most as f64)),
        );
    let beta = five_percent()?;
    // A guess of the error's size, what else is public of the method, and the error if that is public.
    let (expected, report, error) = match (method, step) {
        (Method::Smooth { t }, _) => {
            let noise = SmoothNoise::new(step, t)?;
            let report = report.field("noise", noise.family().to_string()).described(
                "smoothness",
                noise.t().get(),
                format!("{} (t of the smooth bound)", short(noise.t().get())),
            );
            (guess * noise.deviation(), report, None)
        }
        (Method::PrivateBound, Guarantee::Approximate(epsilon, delta)) => {
            let mechanism = PrivateBound::for_statistic(epsilon, delta, statistic)?;
            let margin = mechanism.margin(statistic.growth().unwrap_or(1))?;
            let text = format!("{margin} (how far the bound is above the local sensitivity)");
            let expected =
                mechanism.error((guess as u64).saturating_add(margin).min(most), beta)? / 3.0;
            (expected, report.described("margin", margin, text), None)
        }
        (Method::Propose { bound: Some(bound) }, Guarantee::Approximate(epsilon, delta)) => {
            let mechanism = ProposeTestRelease::new(epsilon, delta, bound)?;
            let text = format!(
                "{} (answers if it takes more edges than about that to make the local sensitivity exceed {bound})",
                mechanism.threshold()
            );
            let error = mechanism.error(beta)?;
            (error / 3.0, report.described("threshold", mechanism.threshold(), text), Some(error))
        }
        (Method::Propose { bound: None }, Guarantee::Approximate(epsilon, delta)) => {
            let mechanism = Proposals::for_statistic(epsilon, delta, statistic)?;
            let threshold = integer(mechanism.threshold());
            let text = format!("{} edges, of each proposed bound", mechanism.threshold());
            let expected = mechanism.error((2.0 * guess) as u64 + 1, beta)? / 3.0;
            (expected, report.described("threshold", threshold, text), None)
        }
        (Method::Naive, _) => {
            let error = naive_error(statistic, step, beta)?;
            (most as f64 / epsilon.get(), report, Some(error))
        }
        (Method::ClassicLadder, _) => {
            (Ladder::classic(epsilon).expected_error(statistic)?, report, None)
        }
        _ => {
            let floor = ladder.floor();
            let text = floor.map_or("none: it would not help".to_owned(), |c| {
                format!("{c} (the least width of a rung; public)")
            });
            let report = report.described("floor", floor, text);
            (ladder.expected_error(statistic)?, report, None)
        }
    };
    let text = match method {
        Method::Naive => format!("about {}, whatever the graph", rough(expected)),
        _ => format!(
            "about {} if the local sensitivity is {} (a guess from n and the budget alone)",
            rough(expected),
            rough(guess)
        ),
    };
    let report = report.described("expected_error", expected, text);
    let report = match (method, error) {
        (Method::PrivateBound | Method::Propose { .. }, None) => report.described(
            "error_95",
            Value::Null,
            "known with the release, from the bound that is released with it",
        ),
        (_, error) => error_95(report, error, true),
    };
    Ok((method, report))
}

/// A number with as many digits as a guess has.
fn rough(x: f64) -> String {
    grouped(format!("{x:.1e}").parse().unwrap_or(x))
}
