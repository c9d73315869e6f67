//! Reconstruction against the real curator: thousands of subset counts in SQL, under one budget.

use super::super::world::{COLUMNS, World, seats};
use crate::Failure;
use demure_attack::bound;
use demure_attack::draws::Draws;
use demure_attack::normal::Share;
use demure_attack::reconstruct::{Method, Subsets, noise, reconstruct, recovered, under_budget};
use demure_core::unit::{Delta, Epsilon};

/// What a budget allowed.
pub(super) struct Budgeted {
    pub(super) budget: Epsilon,
    /// What the curator charged for the subsets.
    pub(super) spent: f64,
    pub(super) queries: usize,
    /// The standard deviation of each answer.
    pub(super) sigma: f64,
    /// By random subsets.
    pub(super) subsets: Share,
    pub(super) expected: Option<f64>,
    /// By one sum of each seat, for the same budget.
    pub(super) seats: Share,
    /// What no attack on these bits exceeds.
    pub(super) most: f64,
}

/// A prime: `(seat·a + b) mod P mod 2` is a coin for each seat, and any two seats' coins are
/// independent over a and b, up to 1/P. The attacker needs no table of coins in the database.
const P: u64 = 2_147_483_647;

/// Attacks the curator once for every budget, by m = 2n subsets: under a budget, no other m gives
/// least squares more.
pub(super) fn attack(
    rows: usize,
    budgets: &[Epsilon],
    (seed, of_noise): (u64, Option<u64>),
    mut done: impl FnMut(u32),
) -> Result<Vec<Budgeted>, Failure> {
    let queries = 2 * rows;
    let mut draws = Draws::part(seed, 77);
    let secrets: Vec<bool> = (0..rows).map(|_| draws.coin()).collect();
    let world = seats(&secrets, of_noise)?;
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
fn seat_by_seat(
    world: &World,
    secrets: &[bool],
    budget: Epsilon,
    part: u64,
) -> Result<Share, Failure> {
    let mut asking = world.open(Some(budget.get() * (1.0 + 1e-6)), part)?;
    let sql = "SELECT seat, SUM(CASE WHEN secret THEN 1000 ELSE -1000 END) AS n \
               FROM people GROUP BY seat ORDER BY seat";
    let numbers = asking.ask(sql, budget.get())?;
    let guess: Vec<bool> = numbers.values.chunks(2).map(|pair| pair[1] > 0.0).collect();
    Ok(recovered(secrets, &guess))
}

/// How many statements [`attack`] asks.
pub(super) fn statements(rows: usize, budgets: usize) -> u32 {
    ((2 * rows).div_ceil(COLUMNS) * budgets) as u32
}
