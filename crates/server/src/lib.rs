//! Who may ask: the PostgreSQL wire, HTTP and the console.
//!
//! Wires, and no privacy logic: every question goes through [`Desk`] to the curator, which
//! decides, debits and noises.

pub mod desk;
pub mod http;
pub mod metrics;
pub mod pg;
mod places;
mod rate;
mod schedule;
pub mod scram;
mod stream;
pub mod tls;
pub mod told;
pub mod users;
mod visit;

pub use desk::{Desk, Failure, Limits};
pub use users::{Role, User, Users, users_path};
