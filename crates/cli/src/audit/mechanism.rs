//! `demure audit mechanism`: the library, and the gallery.

use super::options::{Effort, Usual};
use super::render::{Audit, tell};
use crate::Failure;
use crate::input::{number, whole};
use demure_attack::audit::{Runs, Subject, gallery, library};
use demure_core::random::{Randomness, SeededForTests, SystemRandom};
use demure_core::unit::{Delta, Epsilon};
use demure_report::{Report, grouped, short};
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
    args.effort.check()?;
    let epsilon = Epsilon::new(args.epsilon.unwrap_or(1.0))?;
    let delta = Delta::positive(args.delta.unwrap_or(0.01))?;
    if args.list {
        return list(epsilon, delta, out);
    }
    if let (Some(canaries), Some(name)) = (args.one_run, &args.name) {
        return one_run(args, name, canaries, (epsilon, delta), out);
    }
    let mut subjects = match &args.broken {
        Some(_) => gallery::all()?,
        None => library::all(epsilon, delta)?,
    };
    let wanted = args.broken.as_deref().or(args.name.as_deref());
    match wanted {
        Some("all") => {}
        Some(name) => subjects.retain(|subject| subject.name == name),
        None if args.all => {}
        None => {
            return Err(Failure::usage(
                "no mechanism is named\nhint: `demure audit mechanism --list` says which there are; \
                 --all audits them all",
            ));
        }
    }
    if subjects.is_empty() {
        return Err(Failure::usage(
            "there is no mechanism of this name\nhint: `demure audit mechanism --list` says which there are",
        ));
    }
    let count = subjects.len();
    let mut audits = Vec::new();
    for (i, subject) in subjects.iter().enumerate() {
        if count > 1 {
            eprintln!("{} of {count}: {}", i + 1, subject.name);
        }
        let mut runs = Runs::new(subject, randomness(args.seed, i as u64)?);
        let found =
            args.effort.audit(&mut runs, subject.claim, Usual::Runs(subject.runs), count)?;
        audits.push(Audit {
            name: subject.name.to_owned(),
            about: subject.about.to_owned(),
            found,
        });
    }
    tell(&audits, &args.effort, out)
}

/// Each side's own.
fn randomness(seed: Option<u64>, i: u64) -> Result<[Box<dyn Randomness + Send>; 2], Failure> {
    Ok(match seed {
        Some(seed) => {
            let first = seed.wrapping_mul(1_000_003).wrapping_add(2 * i);
            [first, first.wrapping_add(1)].map(|s| Box::new(SeededForTests::insecure(s)) as Box<_>)
        }
        None => [Box::new(SystemRandom::new()?), Box::new(SystemRandom::new()?)],
    })
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
    let canaried: Vec<&str> =
        library::canaried(epsilon, delta)?.iter().map(|subject| subject.name).collect();
    writeln!(out, "\nIn one run (--one-run M): {}", canaried.join(", ")).map_err(Failure::writing)
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
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name).collect();
    let Some(subject) = subjects.iter().find(|subject| subject.name == name) else {
        return Err(Failure::usage(format!(
            "this mechanism has no form for one run\nhint: these have: {}",
            names.join(", ")
        )));
    };
    if !(2..=10_000_000).contains(&canaries) {
        return Err(Failure::usage("--one-run takes from 2 to 10,000,000 canaries"));
    }
    let [mut rng, _] = randomness(args.seed, 0)?;
    let guesses = subject.once(canaries as usize, rng.as_mut())?;
    let (claimed, delta) = subject.claim;
    let shown = guesses.epsilon_lower(delta, args.effort.error);
    let violated = shown > claimed;
    let words = if violated {
        "violated: the claim is false"
    } else {
        "not refuted: nothing found against the claim, which is no proof of it"
    };
    let verdict = if violated { "violated" } else { "not refuted" };
    Report::default()
        .described("audited", name, format!("{name}: {}", subject.about))
        .described("claimed", claimed, format!("ε = {} at δ = {}", short(claimed), short(delta)))
        .hidden("delta", delta)
        .described("epsilon_lower", shown, format!("ε is at least {shown:.4}"))
        .described(
            "confidence",
            1.0 - args.effort.error,
            format!("wrong with probability {:e} at most", args.effort.error),
        )
        .described("verdict", verdict, words)
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
    if violated { Err(Failure::Told(1)) } else { Ok(()) }
}
