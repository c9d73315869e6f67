//! Where attacks on the curator happen: tables, a policy, and curators whose ledger is in memory and begins empty.

use crate::error::{Error, Result};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use demure_core::random::{Randomness, SeededForTests, SystemRandom};
use demure_core::unit::Epsilon;
use demure_curator::policy::{Accounting, Policy};
use demure_curator::{Curator, Expected, Outcome, Session};
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// So much ε that noise is less than the grid of any usual column: exact answers, by the same way.
pub(super) const EXACT: f64 = 1e9;
/// A budget that refuses nothing, for repetitions that are one attack each. Under zCDP an exact
/// answer costs ε²/2.
pub(super) const UNLIMITED: f64 = 1e19;
/// The most aggregates of one statement.
pub(super) const COLUMNS: usize = 64;

/// Tables and a policy.
pub(super) struct World {
    policy: Policy,
    runtime: Runtime,
    /// The seed of the noise, for made-up people alone.
    seed: Option<u64>,
    /// Holds made-up tables until the end.
    _folder: Option<TempDir>,
}

/// A curator with an empty ledger, and an attacker who asks.
pub(super) struct AttackSession<'a> {
    runtime: &'a Runtime,
    session: Session,
    concentrated: bool,
}

/// Numbers row by row, and what they cost: ε or ρ, and δ.
pub(super) struct Numbers {
    pub(super) values: Vec<f64>,
    pub(super) price: f64,
    pub(super) delta: f64,
    pub(super) repeated: bool,
    /// The scale b of Laplace noise as large as that of the first noised column.
    pub(super) noise: f64,
}

impl World {
    /// A table of made-up people. With a seed the noise is predictable: nobody is in it.
    pub(super) fn made_up(csv: &str, policy: &str, seed: Option<u64>) -> Result<Self> {
        let failed = |source| Error::Io { doing: "making up a table".to_owned(), source };
        let folder = tempfile::tempdir().map_err(failed)?;
        std::fs::write(folder.path().join("people.csv"), csv).map_err(failed)?;
        let policy = Policy::parse(policy, folder.path()).map_err(demure_curator::Error::from)?;
        Ok(Self { policy, runtime: runtime()?, seed, _folder: Some(folder) })
    }

    /// A steward's own.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let policy = Policy::read(path).map_err(demure_curator::Error::from)?;
        Ok(Self { policy, runtime: runtime()?, seed: None, _folder: None })
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether costs are ρ.
    pub(super) fn concentrated(&self) -> bool {
        self.policy.budget.accounting == Accounting::Zcdp
    }

    /// A curator with nothing spent yet, and this budget instead of the policy's. `part` tells the
    /// noise of one from that of another, where it is seeded.
    pub(super) fn open(&self, budget: Option<f64>, part: u64) -> Result<AttackSession<'_>> {
        let mut policy = self.policy.clone();
        if let Some(budget) = budget {
            policy.budget.epsilon = Epsilon::new(budget)?;
        }
        let randomness: Box<dyn Randomness + Send> = match self.seed {
            Some(seed) => Box::new(SeededForTests::insecure(seed.wrapping_mul(1_000_003) ^ part)),
            None => Box::new(SystemRandom::new()?),
        };
        let curator = self.runtime.block_on(Curator::in_memory_with(policy, randomness))?;
        let (session, concentrated) = (curator.session("attacker"), self.concentrated());
        Ok(AttackSession { runtime: &self.runtime, session, concentrated })
    }
}

impl AttackSession<'_> {
    /// Asks, and pays this much.
    pub(super) fn ask(&mut self, sql: &str, epsilon: f64) -> Result<Numbers> {
        let set = self.session.settings_mut().set("demure.epsilon", &epsilon.to_string());
        set.map_err(demure_curator::Error::from)?;
        let Outcome::Answer(answer) = self.runtime.block_on(self.session.run(sql))? else {
            return Err(demure_curator::Error::Sql("write a query: SELECT …".to_owned()).into());
        };
        let failed = || demure_curator::Error::Sql("the query must answer numbers".to_owned());
        let mut values = Vec::new();
        for batch in &answer.batches {
            let columns: Option<Vec<_>> =
                batch.columns().iter().map(|c| cast(c, &DataType::Float64).ok()).collect();
            let columns = columns.ok_or_else(failed)?;
            for row in 0..batch.num_rows() {
                for column in &columns {
                    let numbers = column.as_primitive_opt::<Float64Type>().ok_or_else(failed)?;
                    values.push(if numbers.is_valid(row) { numbers.value(row) } else { f64::NAN });
                }
            }
        }
        let (price, delta) = (answer.price.main, answer.price.delta);
        let noise = answer.columns.first().map_or(0.0, |column| match column.error {
            Expected::Within(_) if !self.concentrated => column.scale,
            // 95 % of Laplace noise of scale b is within b·ln 20.
            Expected::Within(half)
            | Expected::WithinAt { error: half, .. }
            | Expected::Ranks(half)
            | Expected::Votes(half) => half / 20f64.ln(),
            _ => f64::NAN,
        });
        Ok(Numbers { values, price, delta, repeated: answer.repeated, noise })
    }

    /// The same for a query that answers one number.
    pub(super) fn one(&mut self, sql: &str, epsilon: f64) -> Result<Numbers> {
        let numbers = self.ask(sql, epsilon)?;
        match numbers.values.as_slice() {
            [x] if x.is_finite() => Ok(numbers),
            _ => Err(Error::NotOneNumber),
        }
    }

    /// The tables, their columns and types.
    pub(super) fn tables(&self) -> Vec<(String, Vec<(String, String)>)> {
        self.session.curator().tables()
    }
}

/// The threads that queries run on.
pub(crate) fn runtime() -> Result<Runtime> {
    // Room for the planner, which recurses: most statements then need no stack of their own.
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.enable_all().thread_stack_size(8 << 20).build();
    runtime.map_err(|source| Error::Io { doing: "starting threads".to_owned(), source })
}

/// The people of `difference`, `average` and `reconstruct`: a public seat, a secret bit. Attackers know who is
/// there and guess the bit, so the policy protects what a row says. Its least ε of a query stands in no attack's way.
pub(super) fn seats(secrets: &[bool], seed: Option<u64>) -> Result<World> {
    let mut csv = String::from("id,seat,secret\n");
    for (seat, secret) in secrets.iter().enumerate() {
        csv += &format!("{seat},{seat},{secret}\n");
    }
    let policy = format!(
        "[budget]\nepsilon = 1.0\nneighbours = \"replace\"\nper_query = 0.1\n\
         min_per_query = 1e-9\n[tables.people]\nsource = \"people.csv\"\nunit = \"id\"\nmax_groups = 1\n\
         [tables.people.columns]\n\
         id = {{ type = \"integer\", nullable = false }}\n\
         seat = {{ type = \"integer\", bounds = [0, {}], nullable = false }}\n\
         secret = {{ type = \"boolean\", nullable = false }}\n",
        secrets.len().max(2) - 1
    );
    World::made_up(&csv, &policy, seed)
}
