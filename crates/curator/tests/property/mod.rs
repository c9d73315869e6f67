//! Whole queries on random data, compared with what their plans claim.
//!
//! | file | what |
//! |---|---|
//! | `draw` | choices from a seed |
//! | `world` | random policies, tables and their neighbours |
//! | `grammar` | random queries |
//! | `database` | a world on disk, up to the exact aggregates |
//! | `change` | how much two databases differ, compared with the claim |
//! | `sensitivity` | the property: no change exceeds its claim |
//! | `probes` | plans that random queries seldom produce |
//! | `sums` | how far off released sums without bounds are, and whether their intervals hold |
//! | `mutants` | random queries with one thing changed: none is given the answer to another |
//! | `distinguish` | the ε that samples show, compared with the ε charged |
//!
//! `DEMURE_PROPERTY_WORLDS=2000`, `DEMURE_PROPERTY_SAMPLES=200000` and `DEMURE_MUTANT_WORLDS=500` make the runs longer.

mod change;
mod database;
mod distinguish;
mod draw;
mod forms;
mod grammar;
mod mutants;
mod once;
mod probes;
mod sensitivity;
mod sums;
mod world;

/// A number from the environment, for runs that are longer than the default.
fn from_environment(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
