//! Options that all counts in graphs share.

use super::Common;
use super::source::refused;
use crate::Failure;
use crate::input::{number, whole};
use clap::ValueEnum;
use demure_core::mechanism::Guarantee;
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{Smoothness, Statistic};
use demure_graph::{CountRequest, Graph, Method};
use demure_plan::graph::{count_value, explained, known, undeclared};
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
            return common.explained(
                undeclared(request.method, &count.statistic, count.global),
                promised,
                out,
            );
        };
        // What is public of a statistic is the same for all graphs of this size.
        let statistic = empty(n).map_err(refused)?;
        let forecast = request.forecast(&statistic).map_err(refused)?;
        return common.explained(
            explained(&request, &forecast, &count.statistic, count.global),
            forecast.promised,
            out,
        );
    }
    let paid = common.pay(&count.statistic, request.budget)?;
    let graph = common.source.read()?;
    let statistic = of(&graph).map_err(refused)?;
    let released = request.release(&statistic, &mut SystemRandom::new()?).map_err(refused)?;
    let promised = request.promised(released.value.guarantee()).map_err(refused)?;
    let report = known(&released).hidden("statistic", count.statistic.clone());
    common.answer(paid, &count_value(*released.value.value()), report, promised, &graph, out)
}
