//! `demure audit mechanism`: the library, and the gallery.

use super::options::Effort;
use super::render::{found, tell};
use crate::Failure;
use crate::input::{number, whole};
use demure_attack::audit::page::Audit;
use demure_attack::audit::{Claim, Runs, Subject, Usual, Verdict, gallery, library};
use demure_core::unit::{Delta, Epsilon};
use demure_report::grouped;
use demure_report::progress::watched;
use std::io::Write;

/// A mechanism of the library, or a broken one of the gallery
///
/// Every mechanism comes with neighbouring inputs on which it is near its worst. The gallery has mechanisms that were published,
/// taught or shipped and are not private; they show what an audit can find.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure audit mechanism --list
  demure audit mechanism laplace --epsilon 1
  demure audit mechanism gaussian --epsilon 0.5 --delta 1e-3 --samples 50000 --json
  demure audit mechanism response --epsilon 1 --one-run 10000

A broken one: demure audit mechanism --broken svt-stoddard
All of them:  demure audit mechanism --all --minutes 10 --report audit.html
Exit code: 0 not refuted, 1 violated, 2 a mistake or a failure.")]
pub(super) struct Args {
    /// Which; --list says what there is
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// List the mechanisms and the gallery
    #[arg(long, conflicts_with_all = ["name", "all", "broken"])]
    list: bool,

    /// Every mechanism of the library
    #[arg(long, conflicts_with = "name")]
    all: bool,

    /// A broken mechanism of the gallery, or `all`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "all", "epsilon", "delta", "one_run"])]
    broken: Option<String>,

    /// The ε that the mechanism is made for, and claims [default: 1]
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The δ of mechanisms that need one [default: 0.01]
    #[arg(long, value_name = "D", value_parser = number, allow_hyphen_values = true)]
    delta: Option<f64>,

    /// One run with so many canaries instead of many runs, for mechanisms that have such a form
    #[arg(long, value_name = "M", value_parser = whole, requires = "name", conflicts_with_all = ["samples", "minutes", "report"])]
    one_run: Option<u64>,

    /// Draw from a seed, so that the audit can be repeated; the data are made up
    #[arg(long, value_name = "S", value_parser = whole)]
    seed: Option<u64>,

    #[command(flatten)]
    effort: Effort,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let effort = args.effort.checked()?;
    let epsilon = Epsilon::new(args.epsilon.unwrap_or(1.0))?;
    let delta = Delta::positive(args.delta.unwrap_or(0.01))?;
    if args.list {
        return list(epsilon, delta, out);
    }
    if let (Some(canaries), Some(name)) = (args.one_run, &args.name) {
        return one_run(args, name, canaries, (epsilon, delta), out);
    }
    let named = args.broken.as_deref().or(args.name.as_deref());
    if named.is_none() && !args.all {
        return Err(Failure::usage(
            "no mechanism is named\nhint: `demure audit mechanism --list` says which there are; \
             --all audits them all",
        ));
    }
    let named = named.filter(|name| *name != "all");
    let subjects = match &args.broken {
        Some(_) => Subject::named(gallery::all()?, named)?,
        None => Subject::named(library::all(epsilon, delta)?, named)?,
    };
    let (count, effort) = (subjects.len(), effort.shared(subjects.len()));
    let mut audits = Vec::new();
    for (i, subject) in subjects.iter().enumerate() {
        if count > 1 {
            note!("{} of {count}: {}", i + 1, subject.name);
        }
        let mut runs = Runs::seeded(subject, args.seed, i as u64)?;
        let usual = Usual::Runs(subject.runs);
        let found = watched(|watch| effort.audit(&mut runs, subject.claim, usual, watch))?;
        audits.push(Audit { name: subject.name.into(), about: subject.about.into(), found });
    }
    tell(&audits, &args.effort, out)
}

fn list(epsilon: Epsilon, delta: Delta, out: &mut impl Write) -> Result<(), Failure> {
    let mut lines = |title: &str, subjects: &[Subject]| -> std::io::Result<()> {
        writeln!(out, "{title}")?;
        for Subject { name, about, .. } in subjects {
            writeln!(out, "  {name:<30} {about}")?;
        }
        Ok(())
    };
    lines("Mechanisms:", &library::all(epsilon, delta)?).map_err(Failure::writing)?;
    lines("\nThe gallery (--broken NAME):", &gallery::all()?).map_err(Failure::writing)?;
    let names = canaried(epsilon, delta)?;
    writeln!(out, "\nIn one run (--one-run M): {names}").map_err(Failure::writing)
}

/// The mechanisms that one run audits.
fn canaried(epsilon: Epsilon, delta: Delta) -> Result<String, Failure> {
    let all = library::canaried(epsilon, delta)?;
    Ok(all.iter().map(|subject| subject.name).collect::<Vec<_>>().join(", "))
}

/// One run, many canaries.
fn one_run(
    args: &Args,
    name: &str,
    canaries: u64,
    (epsilon, delta): (Epsilon, Delta),
    out: &mut impl Write,
) -> Result<(), Failure> {
    let subjects = library::canaried(epsilon, delta)?;
    let Some(subject) = subjects.iter().find(|subject| subject.name == name) else {
        return Err(Failure::usage(format!(
            "this mechanism has no form for one run\nhint: these have: {}",
            canaried(epsilon, delta)?
        )));
    };
    let guesses = subject.seeded(canaries, args.seed)?;
    let (claimed, delta) = subject.claim;
    let error = args.effort.checked()?.error();
    let lower = guesses.epsilon_lower(delta, error);
    let claim = Claim { epsilon: Some(claimed), delta };
    found((name, subject.about), claim, lower, error)
        .described(
            "canaries",
            guesses.canaries,
            format!("{}, each in or out by a fair coin", grouped(guesses.canaries as f64)),
        )
        .described(
            "right",
            guesses.right,
            format!(
                "{} of {} guesses; ε allows {:.1} % on average",
                grouped(guesses.right as f64),
                grouped(guesses.made as f64),
                100.0 / (1.0 + (-claimed).exp())
            ),
        )
        .hidden("guesses", guesses.made)
        .print(args.effort.json, out)?;
    if claim.verdict(lower) == Verdict::Violated { Err(Failure::Told(1)) } else { Ok(()) }
}
