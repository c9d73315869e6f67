//! Differencing the curator: an attacker who knows all rows but one asks it, again and again with new noise.

use super::Seed;
use super::target::Target;
use super::world::{COLUMNS, EXACT, UNLIMITED, World, seats};
use crate::difference::{judge, measure_two_laplace, two_laplace};
use crate::draws::Draws;
use crate::error::Result;
use crate::normal::Share;
use crate::{Watch, bound};
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};
use std::path::Path;

/// How many made-up people there are.
const PEOPLE: usize = 1000;

/// What is attacked how often.
#[derive(Clone, Debug)]
pub struct Options {
    /// The ε of the attacker's question; each is an attack of its own.
    pub epsilons: Vec<Epsilon>,
    /// How often each attack is repeated, with new noise.
    pub repeat: u32,
    /// What makes it repeatable.
    pub seed: Seed,
}

/// What was found.
#[derive(Clone)]
pub struct DifferenceOutcome {
    /// One for each ε.
    pub rows: Vec<Row>,
    /// How often exact answers give the target away.
    pub exact: Share,
    /// The exact answer with the target.
    pub with: f64,
    /// The exact answer without.
    pub without: f64,
    /// What the policy protects.
    pub neighbours: Neighbours,
}

/// What one ε gave.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The ε that was asked with.
    pub epsilon: Epsilon,
    /// How often the guess from the curator's answer was right.
    pub curator: Share,
    /// What one attack spent, ε or ρ.
    pub spent: f64,
    /// The most often that a guess between the two worlds can be right for that.
    pub bound: f64,
    /// The same for guessing what a row says whose owner is known to be there.
    pub of_a_value: f64,
    /// The textbook's attack, two Laplace answers for 2ε: how often it was right, and how often it should be.
    pub naive: Option<(Share, f64)>,
}

/// Attacks a made-up table of a thousand people, of whom the first has the secret or has not.
///
/// # Errors
/// The curator's own.
pub fn on_made_up(options: &Options, watch: Watch<'_>) -> Result<DifferenceOutcome> {
    let mut draws = Draws::new(options.seed.of_data());
    let mut secrets: Vec<bool> = (0..PEOPLE).map(|_| draws.coin()).collect();
    secrets[0] = true;
    let known = secrets[1..].iter().filter(|secret| **secret).count() as f64;
    let world = seats(&secrets, options.seed.of_noise())?;
    let mut exact = world.open(Some(UNLIMITED), u64::MAX)?;
    let counted = |gone: &str| format!("SELECT COUNT(*) FROM people WHERE secret{gone}");
    let with = exact.one(&counted(""), EXACT)?.values[0];
    let without = exact.one(&counted(" AND id <> 0"), EXACT)?.values[0];
    let repeat = options.repeat as usize;
    let mut rows = Vec::new();
    for (part, epsilon) in options.epsilons.iter().enumerate() {
        // Each repetition is a column of its own, at ε: a statement of 64 at 64ε.
        let mut asking = world.open(Some(UNLIMITED), part as u64)?;
        let (mut answers, mut spent) = (Vec::new(), 0.0);
        while answers.len() < repeat {
            let count = COLUMNS.min(repeat - answers.len());
            let worlds: Vec<bool> = (0..count).map(|_| draws.coin()).collect();
            // The ids 1,000 and on are nobody's: they make the columns differ, and nothing else.
            let column = |(at, with): (usize, &bool)| {
                let gone = if *with { 1_000_000 } else { 0 };
                let nobody = PEOPLE + answers.len() + at;
                format!(
                    "COUNT(*) FILTER (WHERE secret AND id <> {gone} AND id <> {nobody}) AS a{at}"
                )
            };
            let columns: Vec<String> = worlds.iter().enumerate().map(column).collect();
            let sql = format!("SELECT {} FROM people", columns.join(", "));
            let numbers = asking.ask(&sql, epsilon.get() * count as f64)?;
            spent += numbers.price;
            answers.extend(numbers.values.into_iter().zip(worlds));
            options.watched(watch, part, answers.len());
        }
        let naive = measure_two_laplace(*epsilon, u64::from(options.repeat), &mut draws);
        // The attacker knows that the target is there, and guesses the bit.
        let bound = bound::value(world.policy().budget.neighbours, *epsilon, Delta::ZERO);
        rows.push(Row {
            epsilon: *epsilon,
            curator: judge(&answers, known, known + 1.0),
            spent: spent / repeat as f64,
            bound,
            of_a_value: bound,
            naive: Some((naive, two_laplace(*epsilon))),
        });
    }
    let exact = judge(&[(with, true), (without, false)], known, known + 1.0);
    Ok(DifferenceOutcome {
        rows,
        exact,
        with,
        without,
        neighbours: world.policy().budget.neighbours,
    })
}

/// Attacks one person in a policy's tables: is the target there? The tables are read; the policy's ledger is not touched.
///
/// # Errors
/// The target is not found, the query does not answer one number, or the curator refuses it.
pub fn on_policy(
    policy: &Path,
    query: &str,
    target: &Target,
    options: &Options,
    watch: Watch<'_>,
) -> Result<DifferenceOutcome> {
    let world = World::of(policy)?;
    let mut exact = world.open(Some(UNLIMITED), u64::MAX)?;
    let target = target.found(&exact.tables())?;
    let with = exact.one(&target.shadow(query, false, 0), EXACT)?.values[0];
    let without = exact.one(&target.shadow(query, true, 0), EXACT)?.values[0];
    let mut draws = Draws::new(options.seed.of_data());
    let mut rows = Vec::new();
    for (part, epsilon) in options.epsilons.iter().enumerate() {
        let mut asking = world.open(Some(UNLIMITED), part as u64)?;
        let (mut answers, mut spent, mut failing) = (Vec::new(), 0.0, 0.0);
        for at in 0..options.repeat {
            let truth = draws.coin();
            let sql = target.shadow(query, !truth, u64::from(at) + 1);
            let numbers = asking.one(&sql, epsilon.get())?;
            (spent, failing) = (spent + numbers.price, failing + numbers.delta);
            answers.push((numbers.values[0], truth));
            options.watched(watch, part, answers.len());
        }
        let times = f64::from(options.repeat);
        let (spent, delta) = (spent / times, failing / times);
        let (bound, of_a_value) = bounds(&world, spent, delta)?;
        let curator = judge(&answers, without, with);
        rows.push(Row { epsilon: *epsilon, curator, spent, bound, of_a_value, naive: None });
    }
    let exact = judge(&[(with, true), (without, false)], without, with);
    Ok(DifferenceOutcome {
        rows,
        exact,
        with,
        without,
        neighbours: world.policy().budget.neighbours,
    })
}

impl Options {
    fn watched(&self, watch: Watch<'_>, part: usize, done: usize) {
        let repeat = self.repeat as usize;
        watch((part * repeat + done) as u64, (self.epsilons.len() * repeat) as u64);
    }
}

/// The most often that presence, and that a value, is guessed right from an answer of this price.
fn bounds(world: &World, spent: f64, delta: f64) -> Result<(f64, f64)> {
    let relation = world.policy().budget.neighbours;
    let spent = spent.max(f64::MIN_POSITIVE);
    if world.concentrated() {
        let rho = Rho::new(spent)?;
        return Ok((bound::guess_concentrated(rho), bound::value_concentrated(relation, rho)));
    }
    let (epsilon, delta) = (Epsilon::new(spent)?, Delta::new(delta)?);
    Ok((bound::guess(epsilon, delta), bound::value(relation, epsilon, delta)))
}
