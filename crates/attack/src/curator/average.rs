//! Averaging against the curator: the same question again, in the same words and in others.

use super::Seed;
use super::target::{named, shadowed};
use super::world::{EXACT, UNLIMITED, World, seats};
use crate::Watch;
use crate::average::{Averaged, naive, of_answers};
use crate::draws::Draws;
use crate::error::{Error, Result};
use demure_core::unit::Epsilon;
use std::path::Path;

/// How often the curator is really asked the same again: after the first it costs nothing, and the
/// answer does not change; more would show the same.
const SAME: u32 = 50;
/// How many made-up people there are.
const PEOPLE: usize = 1000;
/// How often a database with fresh noise is attacked.
const FRESH: usize = 200;

/// What is asked how often.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// A policy and a query that answers one number; a made-up table without one.
    pub policy: Option<(&'a Path, &'a str)>,
    /// The ε of each question.
    pub epsilon: Epsilon,
    /// How often it is asked.
    pub repeat: u32,
    /// How many attackers there are, each with new noise.
    pub runs: u32,
    /// What makes it repeatable.
    pub seed: Seed,
}

/// What each kind of database gave away.
#[derive(Clone)]
pub struct AverageOutcome {
    /// One that draws fresh Laplace noise, as large as the curator's, each time.
    pub fresh: Vec<Averaged>,
    /// The curator, asked in the same words.
    pub same: Vec<Averaged>,
    /// The curator, asked in other words each time.
    pub varied: Vec<Averaged>,
    /// What one attacker spent, ε or ρ: asking the same, asking in other words.
    pub spent: [f64; 2],
    /// How many answers one attacker got in other words before the refusal.
    pub answers: f64,
    /// The ε of Laplace noise as large as the curator's.
    pub laplace: Epsilon,
    /// The whole budget.
    pub budget: Epsilon,
    /// Whether costs are ρ.
    pub concentrated: bool,
}

/// Attacks. With a policy its tables are read, and its ledger is not touched.
///
/// # Errors
/// The query does not answer one number about a protected table, or the curator refuses it at once.
pub fn attack(options: &Options<'_>, watch: Watch<'_>) -> Result<AverageOutcome> {
    let mut draws = Draws::new(options.seed.of_data());
    let (world, query) = match options.policy {
        Some((path, query)) => (World::of(path)?, query),
        None => {
            let secrets: Vec<bool> = (0..PEOPLE).map(|_| draws.coin()).collect();
            let world = seats(&secrets, options.seed.of_noise())?;
            (world, "SELECT COUNT(*) FROM people WHERE secret")
        }
    };
    let protected = world.policy().tables.iter().filter(|table| table.protection().is_some());
    let table = named(query, protected.map(|table| table.name.as_str()));
    let table = table.ok_or(Error::NoProtectedTable)?;
    let truth = world.open(Some(UNLIMITED), u64::MAX)?.one(query, EXACT)?.values[0];
    let (mut same, mut varied) = (Vec::new(), Vec::new());
    let (mut spent, mut bought, mut noise) = ([0.0; 2], 0, 1.0);
    for run in 0..options.runs {
        let part = 2 * u64::from(run);
        let again = ask_again(&world, query, options, part)?;
        spent[0] += again.spent;
        noise = again.noise;
        same.push(again.answers);
        let other = ask_otherwise(&world, query, table, options, part + 1)?;
        spent[1] += other.spent;
        bought += other.bought;
        varied.push(other.answers);
        watch(u64::from(run) + 1, u64::from(options.runs));
    }
    let laplace = Epsilon::new(1.0 / noise)?;
    let points = points(options.repeat as usize);
    Ok(AverageOutcome {
        fresh: naive(laplace, &points, FRESH, &mut draws),
        same: of_answers(truth, &same, &points),
        varied: of_answers(truth, &varied, &points),
        spent: spent.map(|all| all / f64::from(options.runs)),
        answers: bought as f64 / f64::from(options.runs),
        laplace,
        budget: world.policy().budget.epsilon,
        concentrated: world.concentrated(),
    })
}

/// What one attacker got from one curator.
#[derive(Default)]
struct Conversation {
    answers: Vec<f64>,
    spent: f64,
    /// Answers that were not shown before.
    bought: usize,
    noise: f64,
}

/// The same words: the curator must give the same answer, free.
fn ask_again(world: &World, query: &str, options: &Options<'_>, part: u64) -> Result<Conversation> {
    let mut asking = world.open(None, part)?;
    let mut had = Conversation::default();
    for at in 0..SAME.min(options.repeat) {
        let numbers = asking.one(query, options.epsilon.get())?;
        if at > 0 && !(numbers.repeated && numbers.price == 0.0) {
            return Err(Error::AnsweredTwice);
        }
        had.spent += numbers.price;
        had.noise = numbers.noise;
        had.answers.extend(numbers.values);
    }
    Ok(had)
}

/// Other words each time, until the budget is gone.
fn ask_otherwise(
    world: &World,
    query: &str,
    table: &str,
    options: &Options<'_>,
    part: u64,
) -> Result<Conversation> {
    let mut asking = world.open(None, part)?;
    let mut had = Conversation::default();
    for at in 0..options.repeat {
        // With a condition that is always true: another plan, the same rows.
        let sql = shadowed(query, table, &format!("{at} = {at}"));
        match asking.one(&sql, options.epsilon.get()) {
            Ok(numbers) => {
                had.spent += numbers.price;
                had.bought += usize::from(!numbers.repeated);
                had.answers.extend(numbers.values);
            }
            Err(Error::Curator(error)) if error.refusal().is_some() && at > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(had)
}

/// 1, 2, 5, 10, … up to `most`.
fn points(most: usize) -> Vec<usize> {
    let all = (0..10).flat_map(|power| [1, 2, 5].map(|digit| digit * 10usize.pow(power)));
    let mut points: Vec<usize> = all.take_while(|k| *k < most).collect();
    points.push(most);
    points
}

#[cfg(test)]
mod tests;
