//! Whole queries, checked from outside: on random data, against what their plans claim.
//!
//! | file | what |
//! |---|---|
//! | `draw` | choices from a seed |
//! | `world` | random policies, tables and their neighbours |
//! | `grammar` | random queries |
//! | `database` | a world on disk, up to the exact aggregates |
//! | `change` | by how much two databases differ, against the claim |
//! | `sensitivity` | the property: no change exceeds its claim |
//! | `probes` | plans that a random query seldom makes |
//! | `distinguish` | the ε that samples show, against the ε charged |
//!
//! `DEMURE_PROPERTY_WORLDS=2000` and `DEMURE_PROPERTY_SAMPLES=200000` make long runs of them.

mod change;
mod database;
mod distinguish;
mod draw;
mod grammar;
mod probes;
mod sensitivity;
mod world;

/// A number from the environment, for runs longer than the default.
fn from_environment(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
