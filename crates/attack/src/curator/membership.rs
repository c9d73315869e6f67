//! Membership against the curator: the averages of many attributes, exact and under a budget for all of them.

use super::Seed;
use super::world::{COLUMNS, World};
use crate::draws::Draws;
use crate::error::{Error, Result};
use crate::membership::{Population, Scores, Test, counts};
use crate::reconstruct::noise;
use crate::{Watch, bound};
use demure_core::unit::{Delta, Epsilon};
use demure_report::short;
use std::fmt::Write;

/// The most people and the most attributes.
const MOST: (usize, usize) = (10_000, 2_000);

/// Who is averaged, and what is compared.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many people are averaged: from 2 to 10,000.
    pub people: usize,
    /// Numbers of attributes to compare: up to 2,000 each.
    pub attributes: Vec<usize>,
    /// The ε of all averages of a release together; each is compared with exact averages.
    pub epsilons: Vec<Epsilon>,
    /// What is compared.
    pub test: Test,
    /// How many releases, each of other people.
    pub releases: u32,
    /// What makes it repeatable.
    pub seed: Seed,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct MembershipOutcome {
    /// By numbers of attributes, exact averages first.
    pub rows: Vec<Row>,
}

/// What one number of attributes gave, by one publisher.
#[derive(Clone, Debug)]
pub struct Row {
    /// How many attributes.
    pub attributes: usize,
    /// The curator's budget; `None` where averages are exact.
    pub epsilon: Option<Epsilon>,
    /// Of members and outsiders.
    pub scores: Scores,
    /// The area that the closed form expects.
    pub expected: f64,
}

impl Row {
    /// Who published, in words.
    #[must_use]
    pub fn publisher(&self) -> String {
        publisher(self.epsilon)
    }

    /// The largest area that the budget allows.
    #[must_use]
    pub fn most_area(&self) -> f64 {
        self.epsilon.map_or(1.0, bound::area)
    }

    /// The most true alarms that the budget allows at a rate of false ones.
    #[must_use]
    pub fn most_alarms(&self, false_alarms: f64) -> f64 {
        self.epsilon.map_or(1.0, |e| bound::true_alarms(e, Delta::ZERO, false_alarms))
    }
}

/// Who published, in words.
pub(crate) fn publisher(epsilon: Option<Epsilon>) -> String {
    epsilon.map_or("exactly".to_owned(), |e| format!("by the curator, ε {}", short(e.get())))
}

/// Publishes, and compares members with as many outsiders.
///
/// # Errors
/// Too few or too many people or attributes, or the curator's own.
pub fn attack(options: &Options, watch: Watch<'_>) -> Result<MembershipOutcome> {
    let people = options.people;
    if !(2..=MOST.0).contains(&people) {
        return Err(Error::OutOfRange { parameter: "people", allowed: "from 2 to 10,000" });
    }
    if !options.attributes.iter().all(|n| (1..=MOST.1).contains(n)) {
        return Err(Error::OutOfRange { parameter: "attributes", allowed: "from 1 to 2,000" });
    }
    let total = options.attributes.len() as u64 * u64::from(options.releases);
    let mut rows = Vec::new();
    for (at, attributes) in options.attributes.iter().enumerate() {
        let mut draws = Draws::part(options.seed.of_data(), at as u64);
        let population = Population::random(*attributes, &mut draws)?;
        let mut scores = vec![Scores::default(); 1 + options.epsilons.len()];
        for release in 0..options.releases {
            let members: Vec<_> = (0..people).map(|_| population.person(&mut draws)).collect();
            let outsiders: Vec<_> = (0..people).map(|_| population.person(&mut draws)).collect();
            let world = table(&members, options.seed.of_noise())?;
            let exact: Vec<f64> = counts(&members).iter().map(|count| *count as f64).collect();
            let part = (at as u64) << 32 | u64::from(release) << 8;
            let budgets = options.epsilons.iter().zip(1..);
            let noised = budgets.map(|(e, i)| published(&world, *attributes, *e, part + i));
            for (scores, release) in scores.iter_mut().zip([Ok(exact)].into_iter().chain(noised)) {
                let shares: Vec<f64> = release?.iter().map(|x| x / people as f64).collect();
                let score = |p: &Vec<bool>| population.score(options.test, p, &shares);
                scores.extend(Scores {
                    members: members.iter().map(score).collect(),
                    outsiders: outsiders.iter().map(score).collect(),
                });
            }
            watch(at as u64 * u64::from(options.releases) + u64::from(release) + 1, total);
        }
        let who = [None].into_iter().chain(options.epsilons.iter().copied().map(Some));
        for (epsilon, scores) in who.zip(scores) {
            let sigma = epsilon.map_or(0.0, |e| noise(*attributes, e));
            let expected = population.expected_area(people, sigma);
            rows.push(Row { attributes: *attributes, epsilon, scores, expected });
        }
    }
    Ok(MembershipOutcome { rows })
}

/// The members as a table under a policy that protects what a row says.
fn table(members: &[Vec<bool>], seed: Option<u64>) -> Result<World> {
    let attributes = members.first().map_or(0, Vec::len);
    let mut csv = String::from("id");
    let mut policy = String::from(
        "[budget]\nepsilon = 1.0\nneighbours = \"replace\"\n[tables.people]\n\
         source = \"people.csv\"\nunit = \"id\"\nmax_groups = 1\n[tables.people.columns]\n\
         id = { type = \"integer\", nullable = false }\n",
    );
    // Writing to a string cannot fail.
    for j in 0..attributes {
        let _ = write!(csv, ",a{j}");
        let _ =
            writeln!(policy, "a{j} = {{ type = \"integer\", bounds = [0, 1], nullable = false }}");
    }
    for (id, row) in members.iter().enumerate() {
        let _ = write!(csv, "\n{id}");
        row.iter().for_each(|has| csv.push_str(if *has { ",1" } else { ",0" }));
    }
    csv.push('\n');
    World::made_up(&csv, &policy, seed)
}

/// What the curator says of all attributes, for one budget.
fn published(world: &World, attributes: usize, budget: Epsilon, part: u64) -> Result<Vec<f64>> {
    let mut asking = world.open(Some(budget.get() * (1.0 + 1e-6)), part)?;
    let all: Vec<usize> = (0..attributes).collect();
    let mut answers = Vec::new();
    for some in all.chunks(COLUMNS) {
        let sums: Vec<String> = some.iter().map(|j| format!("SUM(a{j}) AS s{j}")).collect();
        let sql = format!("SELECT {} FROM people", sums.join(", "));
        let epsilon = budget.get() * some.len() as f64 / attributes as f64;
        answers.extend(asking.ask(&sql, epsilon)?.values);
    }
    Ok(answers)
}
