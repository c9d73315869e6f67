//! Options and explanations that all counts in graphs share.

use super::Common;
use super::source::refused;
use crate::Failure;
use crate::input::{number, whole};
use clap::ValueEnum;
use demure_core::mechanism::Guarantee;
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{Smoothness, Statistic};
use demure_graph::{CountForecast, CountRelease, CountRequest, Graph, Method, MethodFacts};
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
    pub(super) common: Common,
    /// How the count is released
    #[arg(long, value_enum, default_value = "auto")]
    method: Named,
    /// For --method ptr: the proposed bound on the local sensitivity; searched for if not given
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    bound: Option<u64>,
    /// For --method smooth: t of the smooth bound, chosen without looking at the data
    #[arg(long, value_name = "T", value_parser = number, allow_hyphen_values = true)]
    smoothness: Option<f64>,
}

impl Options {
    /// What is asked for, as the graph crate has it.
    pub(super) fn request(&self) -> Result<CountRequest, Failure> {
        if self.bound.is_some() && self.method != Named::Ptr {
            return Err(Failure::usage("--bound is for --method ptr"));
        }
        if self.smoothness.is_some() && self.method != Named::Smooth {
            return Err(Failure::usage("--smoothness is for --method smooth"));
        }
        let method = match self.method {
            Named::Auto => Method::Auto,
            Named::Ladder => Method::Ladder,
            Named::ClassicLadder => Method::ClassicLadder,
            Named::Smooth => {
                Method::Smooth { t: self.smoothness.map(Smoothness::new).transpose()? }
            }
            Named::PrivateBound => Method::PrivateBound,
            Named::Ptr => Method::Propose { bound: self.bound },
            Named::Laplace => Method::Naive,
        };
        let budget = self.common.loss.guarantee()?;
        let relation = self.common.neighbours.into();
        let request = CountRequest { method, budget, relation };
        let step = request.step().map_err(refused)?;
        if matches!(self.method, Named::PrivateBound | Named::Ptr)
            && !matches!(step, Guarantee::Approximate(..))
        {
            return Err(Failure::usage(
                "this method promises (ε,δ) only\n\
                 hint: give --epsilon and --delta, or use --method ladder, which needs no delta",
            ));
        }
        Ok(request)
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
    let (request, common) = (options.request()?, &options.common);
    if common.explain {
        let Some(n) = common.source.vertices else {
            let promised = request.forecast_promise().map_err(refused)?;
            return common.explained(undeclared(request.method, count), promised, out);
        };
        // What is public of a statistic is the same for all graphs of this size.
        let statistic = empty(n).map_err(refused)?;
        let forecast = request.forecast(&statistic).map_err(refused)?;
        return common.explained(explained(&request, &forecast, count), forecast.promised, out);
    }
    let graph = common.source.read()?;
    let statistic = of(&graph).map_err(refused)?;
    let released = request.release(&statistic, &mut SystemRandom::new()?).map_err(refused)?;
    let promised = request.promised(released.value.guarantee()).map_err(refused)?;
    let report = known(&released).hidden("statistic", count.statistic.clone());
    common.answer(&json(*released.value.value()), report, promised, &graph, out)
}

/// A count as JSON: whole, as all methods make it.
pub(super) fn json(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| integer(value as i128))
}

/// What is known of a release.
fn known(released: &CountRelease) -> Report {
    let report = Report::default().field("method", name(released.method));
    let report = error_95(report, released.error, released.value.value().is_some());
    match released.bound {
        Some(bound) => {
            let text = format!("{bound} (on the local sensitivity; released with the value)");
            report.described("bound", bound, text)
        }
        None => report,
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

/// What is public where n is not declared.
fn undeclared(method: Method, count: &Count) -> Report {
    let text = match method {
        Method::Auto => {
            "auto: the ladder, or the noise of the global sensitivity where there are few vertices"
        }
        method => name(method),
    };
    let sensitivity = format!(
        "{} for n vertices (global)\n--vertices N says n, and then the choice and its error are known",
        count.global
    );
    Report::default()
        .described("method", name(method), text)
        .field("statistic", count.statistic.clone())
        .described("sensitivity", Value::Null, sensitivity)
        .described("error_95", Value::Null, "depends on n")
}

/// What a method would do: from n and the budget alone.
fn explained(request: &CountRequest, forecast: &CountForecast, count: &Count) -> Report {
    let CountForecast { method, global, local, expected, .. } = *forecast;
    let why = match request.method {
        Method::Auto => format!(
            "by n and the budget alone: if the local sensitivity is the root of the global one,\n\
             the ladder is off by about {}, and noise of the global one by {}",
            rough(forecast.ladder),
            rough(forecast.naive)
        ),
        _ => "asked for".to_owned(),
    };
    let sensitivity = format!("{} = {} (global)", count.global, grouped(global as f64));
    let report = Report::default()
        .field("method", name(method))
        .field("why", why)
        .field("statistic", count.statistic.clone())
        .described("sensitivity", global, sensitivity);
    let text = match method {
        Method::Naive => format!("about {}, whatever the graph", rough(expected)),
        _ => format!(
            "about {} if the local sensitivity is {} (a guess from n and the budget alone)",
            rough(expected),
            rough(local)
        ),
    };
    let report = facts(report, &forecast.facts).described("expected_error", expected, text);
    match (method, forecast.error) {
        (Method::PrivateBound | Method::Propose { .. }, None) => report.described(
            "error_95",
            Value::Null,
            "known with the release, from the bound that is released with it",
        ),
        (_, error) => error_95(report, error, true),
    }
}

/// What else is public of a method.
fn facts(report: Report, facts: &MethodFacts) -> Report {
    match *facts {
        MethodFacts::Floor(floor) => {
            let text = floor.map_or("none: it would not help".to_owned(), |c| {
                format!("{c} (the least width of a rung; public)")
            });
            report.described("floor", floor, text)
        }
        MethodFacts::Smooth(family, t) => report.field("noise", family.to_string()).described(
            "smoothness",
            t,
            format!("{} (t of the smooth bound)", short(t)),
        ),
        MethodFacts::Margin(margin) => {
            let text = format!("{margin} (how far the bound is above the local sensitivity)");
            report.described("margin", margin, text)
        }
        MethodFacts::Threshold { bound, edges } => {
            let text = format!(
                "{edges} (answers if it takes more edges than about that to make the local sensitivity exceed {bound})"
            );
            report.described("threshold", edges, text)
        }
        MethodFacts::Search(edges) => {
            let text = format!("{edges} edges, of each proposed bound");
            report.described("threshold", integer(edges), text)
        }
        _ => report,
    }
}

/// A number with as many digits as a guess has.
fn rough(x: f64) -> String {
    grouped(format!("{x:.1e}").parse().unwrap_or(x))
}
