//! Reconstruction of databases that add noise, round or suppress, and of the real curator: thousands of subset counts in SQL,
//! under one budget.

use super::Seed;
use super::world::{COLUMNS, World, seats};
use crate::draws::Draws;
use crate::error::{Error, Result};
use crate::normal::Share;
use crate::reconstruct::{
    Attack, Database, Measured, Method, Norm, Subsets, measure, measure_all, noise, reconstruct,
    recovered, under_budget,
};
use crate::{Watch, bound};
use demure_core::unit::{Delta, Epsilon};
use std::time::Instant;

/// Queries for each row, where their number is varied.
pub const RATIOS: [f64; 5] = [1.25, 1.5, 2.0, 4.0, 8.0];
/// Noise by √n, where the number of queries is varied.
pub const LEVELS: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
/// Bits that are guessed by default, in as many repetitions as it takes.
const BITS: usize = 4000;

/// What is asked of which databases.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many people: from 8 to 4,000.
    pub rows: usize,
    /// How many subsets are asked of every database but the curator; 4 for each person by default.
    pub queries: Option<usize>,
    /// Standard deviations of noise; from 0 to 16 √n by default.
    pub noise: Option<Vec<f64>>,
    /// Budgets of the curator.
    pub budgets: Vec<Epsilon>,
    /// How the rows are solved for.
    pub method: Method,
    /// How often each experiment is repeated; by default so often that 4,000 bits are guessed.
    pub repeat: Option<usize>,
    /// What makes it repeatable.
    pub seed: Seed,
}

/// All that was measured.
#[derive(Clone, Debug)]
pub struct ReconstructionOutcome {
    /// How many people.
    pub rows: usize,
    /// How many subsets.
    pub queries: usize,
    /// How the rows were solved for.
    pub method: Method,
    /// Databases that add noise.
    pub noised: Vec<Measured>,
    /// Databases that do something else, or nothing.
    pub databases: Vec<Measured>,
    /// Noised ones by [`LEVELS`] of noise, then by [`RATIOS`] of queries.
    pub by_queries: Vec<Measured>,
    /// Least squares and the linear program on the same small table.
    pub solvers: Vec<Solved>,
    /// The curator, by its budget.
    pub curator: Vec<Budgeted>,
}

/// What one way to solve found.
#[derive(Clone, Copy, Debug)]
pub struct Solved {
    /// Which way.
    pub by: &'static str,
    /// What it found.
    pub measured: Measured,
    /// How long one attack took.
    pub seconds: f64,
}

/// What a budget allowed.
#[derive(Clone, Copy, Debug)]
pub struct Budgeted {
    /// The ε of everything together.
    pub budget: Epsilon,
    /// What the curator charged for the subsets.
    pub spent: f64,
    /// How many subsets it was spent on.
    pub queries: usize,
    /// The standard deviation of each answer.
    pub sigma: f64,
    /// By random subsets.
    pub subsets: Share,
    /// What the closed form says of them.
    pub expected: Option<f64>,
    /// By one sum of each seat, for the same budget.
    pub seats: Share,
    /// What no attack on these bits exceeds.
    pub most: f64,
}

impl Options {
    /// The numbers of queries and of repetitions.
    fn checked(&self) -> Result<(usize, usize)> {
        let must = |parameter, allowed| Err(Error::OutOfRange { parameter, allowed });
        if self.rows > 4000 {
            return must("rows", "at most 4,000");
        }
        if self.rows < 8 {
            return must("rows", "at least 8");
        }
        let queries = self.queries.unwrap_or(4 * self.rows);
        if queries > 400_000 {
            return must("queries", "at most 400,000");
        }
        Ok((queries, self.repeat.unwrap_or(BITS.div_ceil(self.rows))))
    }
}

/// Attacks all databases, then the curator.
///
/// # Errors
/// Too few or too many rows or queries, a linear program that is not solved, or the curator's own.
pub fn attack(options: &Options, watch: Watch<'_>) -> Result<ReconstructionOutcome> {
    let (queries, repeat) = options.checked()?;
    let (rows, method) = (options.rows, options.method);
    let base = Attack { rows, queries, database: Database::Plain, method, repeat };
    let root = (rows as f64).sqrt();
    let sigmas = match &options.noise {
        Some(given) => given.clone(),
        None => [0.0].into_iter().chain((-5..=4).map(|k| root * 2f64.powi(k))).collect(),
    };
    let noised = sigmas.into_iter().map(|sigma| Database::Noised { sigma });
    let rounding = [2, 5, 10, 25, 100].map(|step| Database::Rounding { step });
    let threshold = [10, rows as u64 / 4].map(|least| Database::Threshold { least });
    let others = [Database::Plain].into_iter().chain(rounding).chain(threshold);
    let with = |database: Database| Attack { database, ..base };
    let mut attacks: Vec<Attack> = noised.map(with).collect();
    let levels = attacks.len();
    attacks.extend(others.map(with));
    let databases = attacks.len() - levels;
    // Many queries for many rows once: they take long, and are averaged over the rows.
    let fewer = repeat.div_ceil(4);
    for level in LEVELS {
        for ratio in RATIOS {
            let database = Database::Noised { sigma: level * root };
            let queries = (ratio * rows as f64) as usize;
            attacks.push(Attack { queries, database, method, repeat: fewer, ..base });
        }
    }
    let (first, statements) = (attacks.len(), (2 * rows).div_ceil(COLUMNS));
    let total = (first + statements * options.budgets.len()) as u64;
    let seed = options.seed.of_data();
    let mut all = measure_all(&attacks, seed, &|done| watch(done as u64, total))?.into_iter();
    Ok(ReconstructionOutcome {
        rows,
        queries,
        method,
        noised: all.by_ref().take(levels).collect(),
        databases: all.by_ref().take(databases).collect(),
        by_queries: all.collect(),
        solvers: solvers(rows, seed)?,
        curator: of_curator(rows, &options.budgets, options.seed, |done| {
            watch(first as u64 + done, total);
        })?,
    })
}

/// The same answers, solved in two ways.
fn solvers(rows: usize, seed: u64) -> Result<Vec<Solved>> {
    let rows = rows.min(100);
    let database = Database::Noised { sigma: 0.5 * (rows as f64).sqrt() };
    let ways = [
        ("least squares", Method::LeastSquares),
        ("linear program", Method::LinearProgram(Norm::Sum)),
    ];
    let mut all = Vec::new();
    for (by, method) in ways {
        let begun = Instant::now();
        let attack = Attack { rows, queries: 4 * rows, database, method, repeat: 2 };
        let measured = measure(attack, seed)?;
        all.push(Solved { by, measured, seconds: begun.elapsed().as_secs_f64() / 2.0 });
    }
    Ok(all)
}

/// A prime: `(seat·a + b) mod P mod 2` is a coin for each seat, and any two seats' coins are
/// independent over a and b, up to 1/P. The attacker needs no table of coins in the database.
const P: u64 = 2_147_483_647;

/// Attacks the curator once for every budget, by m = 2n subsets: under a budget, no other m gives
/// least squares more.
fn of_curator(
    rows: usize,
    budgets: &[Epsilon],
    seed: Seed,
    done: impl Fn(u64),
) -> Result<Vec<Budgeted>> {
    let queries = 2 * rows;
    let mut draws = Draws::part(seed.of_data(), 77);
    let secrets: Vec<bool> = (0..rows).map(|_| draws.coin()).collect();
    let world = seats(&secrets, seed.of_noise())?;
    let mut all = Vec::new();
    let mut asked = 0;
    for (part, budget) in budgets.iter().enumerate() {
        let coins: Vec<(u64, u64)> =
            (0..queries).map(|_| (1 + draws.below(P - 1), draws.below(P))).collect();
        // Rounding up of the sum of the parts' prices must not refuse the last part.
        let mut asking = world.open(Some(budget.get() * (1.0 + 1e-6)), 2 * part as u64)?;
        let (mut answers, mut spent) = (Vec::new(), 0.0);
        for some in coins.chunks(COLUMNS) {
            let column = |(at, (a, b)): (usize, &(u64, u64))| {
                format!(
                    "SUM(CASE WHEN secret AND (seat * {a} + {b}) % {P} % 2 = 0 THEN 1 ELSE 0 END) AS q{at}"
                )
            };
            let columns: Vec<String> = some.iter().enumerate().map(column).collect();
            let sql = format!("SELECT {} FROM people", columns.join(", "));
            let epsilon = budget.get() * some.len() as f64 / queries as f64;
            let numbers = asking.ask(&sql, epsilon)?;
            spent += numbers.price;
            answers.extend(numbers.values.into_iter().map(Some));
            asked += 1;
            done(asked);
        }
        let subsets = Subsets::new(rows, queries, |q, j| {
            let (a, b) = coins[q];
            ((j as u64 * a + b) % P).is_multiple_of(2)
        })?;
        let guess = reconstruct(&subsets, &answers, Method::LeastSquares)?;
        all.push(Budgeted {
            budget: *budget,
            spent,
            queries,
            sigma: noise(queries, *budget),
            subsets: recovered(&secrets, &guess),
            expected: under_budget(rows, queries, *budget),
            seats: seat_by_seat(&world, &secrets, *budget, 2 * part as u64 + 1)?,
            most: bound::value(world.policy().budget.neighbours, *budget, Delta::ZERO),
        });
    }
    Ok(all)
}

/// One grouped query: a person is in one group, so every sum may have all of the budget. With 1000 and −1000, and not
/// 1 and 0, a bit moves its sum by as much as the noise is for (another row here, or this one elsewhere), and
/// rounding to whole numbers hides nothing. Laplace noise of scale 2000/ε passes 1000 in the wrong direction with probability ½e^{−ε/2}.
fn seat_by_seat(world: &World, secrets: &[bool], budget: Epsilon, part: u64) -> Result<Share> {
    let mut asking = world.open(Some(budget.get() * (1.0 + 1e-6)), part)?;
    let sql = "SELECT seat, SUM(CASE WHEN secret THEN 1000 ELSE -1000 END) AS n \
               FROM people GROUP BY seat ORDER BY seat";
    let numbers = asking.ask(sql, budget.get())?;
    let guess: Vec<bool> = numbers.values.chunks(2).map(|pair| pair[1] > 0.0).collect();
    Ok(recovered(secrets, &guess))
}
