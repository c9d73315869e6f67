//! `demure graph clustering`: how often two who know a third know each other.

use super::count::{self, Options, error_95, name, release};
use super::render;
use super::source::refused;
use crate::Failure;
use crate::mechanism::unknown;
use demure_core::mechanism::{Guarantee, Release};
use demure_core::random::SystemRandom;
use demure_core::unit::{Beta, Delta, Epsilon, Rho};
use demure_graph::{Stars, Triangles, clustering};
use demure_report::Report;
use serde_json::Value;
use std::io::Write;

/// The clustering coefficient: 3·triangles/wedges.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure graph clustering edges.txt --vertices 50 --epsilon 1
  demure graph clustering edges.txt --vertices 50 --epsilon 1 --delta 1e-6 \\
      --method private-bound --json
  demure graph clustering --vertices 5242 --epsilon 1 --explain

Half of the budget is for triangles and half for wedges (2-stars); their ratio costs nothing more. Both counts
are released too.")]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let options = &args.options;
    let (method, budget) = (options.method()?, options.loss.guarantee()?);
    let half = halved(options.step()?)?;
    if options.shown.explain {
        let report = Report::default()
            .field("statistic", "3·triangles/wedges, from two releases")
            .field("method", name(method))
            .described(
                "sensitivity",
                Value::Null,
                "none of its own: `demure graph triangles` and `demure graph stars` at half the budget explain its parts",
            )
            .field("each", half.to_string())
            .described(
                "error_95",
                Value::Null,
                "known with the release where the errors of both counts are",
            );
        return Ok(
            render::promise(report, budget, options.neighbours).print(options.shown.json, out)?
        );
    }
    let graph = options.source.read()?;
    let mut rng = SystemRandom::new()?;
    let triangles = Triangles::of(&graph).map_err(refused)?;
    let wedges = Stars::of(&graph, 2).map_err(refused)?;
    // Both within their errors with probability 0.95: each with 0.975.
    let beta = Beta::new(0.025)?;
    let first = release(method, &triangles, half, beta, &mut rng)?;
    let second = release(method, &wedges, half, beta, &mut rng)?;
    let (t, w) = (*first.value.value(), *second.value.value());
    let methods = format!("{} and {}", name(first.method), name(second.method));
    let plain = |release: Release<Option<f64>>| release.map(|x| x.unwrap_or(0.0));
    let answered = t.is_some() && w.is_some();
    let errors = (first.error, second.error);
    let share = clustering(&plain(first.value), &plain(second.value));
    let error = match (t, w, errors) {
        (Some(t), Some(w), (Some(of_t), Some(of_w))) => Some(farthest(share, (t, of_t), (w, of_w))),
        _ => None,
    };
    let value = if answered { Value::from(share) } else { Value::Null };
    let report = Report::default().described("method", name(method), methods);
    let report = error_95(report, error, answered);
    let report = report.field("triangles", count::json(t)).field("wedges", count::json(w));
    let report = render::promise(report, budget, options.neighbours);
    options.shown.answer(&value, &options.source.noted(report, &graph), out)
}

/// Half of a budget.
fn halved(step: Guarantee) -> Result<Guarantee, Failure> {
    let half = |epsilon: Epsilon| Epsilon::new(0.5 * epsilon.get());
    Ok(match step {
        Guarantee::Pure(epsilon) => Guarantee::Pure(half(epsilon)?),
        Guarantee::Approximate(epsilon, delta) => {
            Guarantee::Approximate(half(epsilon)?, Delta::positive(0.5 * delta.get())?)
        }
        Guarantee::Concentrated(rho) => Guarantee::Concentrated(Rho::new(0.5 * rho.get())?),
        _ => return Err(unknown()),
    })
}

/// How far the ratio may be from what is shown, if both counts are within their errors.
fn farthest(shown: f64, (t, t_error): (f64, f64), (w, w_error): (f64, f64)) -> f64 {
    // There may be no wedges at all, and then nothing is known of their share.
    if w - w_error <= 0.0 {
        return shown.max(1.0 - shown);
    }
    let ratio = |t: f64, w: f64| (3.0 * t / w).clamp(0.0, 1.0);
    let (low, high) = (ratio(t - t_error, w + w_error), ratio(t + t_error, w - w_error));
    (high - shown).max(shown - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_ratio_is_its_worst_corner() {
        let error = farthest(0.5, (10.0, 1.0), (60.0, 6.0));
        assert!((error - (33.0 / 54.0 - 0.5)).abs() < 1e-12);
        assert_eq!(farthest(1.0, (10.0, 1.0), (5.0, 6.0)), 1.0);
        assert_eq!(farthest(0.25, (0.0, 9.0), (5.0, 6.0)), 0.75);
    }
}
