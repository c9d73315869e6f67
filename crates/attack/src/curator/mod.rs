//! Attacks on the real curator, in this process, with a budget of its own.
//!
//! | file | what |
//! |---|---|
//! | [`difference`] | knows all rows but one |
//! | [`average`] | asks again |
//! | [`reconstruct`] | asks for random subsets, and solves for the rows; of other databases too |
//! | [`membership`] | compares many averages with one person |
//! | `world` | the tables and a curator with a ledger in memory |
//! | `target` | one person, and the world without them |
//!
//! The closed forms that these are compared with are in the modules of the same names above. The noise is the curator's
//! own; with a seed it is predictable, on made-up people alone. The ledger beside a policy is neither read nor written: what an
//! attack finds is for the steward, and bought by nobody.

pub mod average;
pub mod difference;
pub mod membership;
pub mod reconstruct;
mod target;
mod world;

pub use target::Target;
pub(crate) use world::runtime;

/// What makes an attack repeatable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seed(pub Option<u64>);

impl Seed {
    /// For made-up people and the attacker's choices, which are the same by default.
    #[must_use]
    pub fn of_data(self) -> u64 {
        self.0.unwrap_or(2024)
    }

    /// For noise, which is new by default.
    #[must_use]
    pub fn of_noise(self) -> Option<u64> {
        self.0
    }
}
