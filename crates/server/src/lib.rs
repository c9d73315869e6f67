//! Who may ask and who may report: the PostgreSQL wire, HTTP, the console, the collector.
//!
//! Wires, and no privacy logic: every question goes through [`QueryService`] to the curator, which
//! decides, debits and noises; every report through `demure_collect`'s service to its store.

pub mod http;
pub mod json;
mod listener;
pub mod metrics;
pub mod pg;
mod places;
mod query_service;
mod rate;
pub mod reports;
mod schedule;
pub mod scram;
mod server;
mod stream;
pub mod tls;
pub mod users;
mod visit;

pub use query_service::{Failure, Limits, QueryService};
pub use server::{Server, StartError, interrupted};
pub use users::{Role, User, Users, users_path};
