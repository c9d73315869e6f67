//! Contribution bounding.
mod choose;
mod encode;
mod engine;
mod exact;
mod intern;
mod key;
mod node;
mod operator;
mod output;
mod spec;
mod spill;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use engine::{Engine, Native};
pub use exact::{Exact, ExactArgument, ExactGroup, accumulate};
pub use intern::Interned;
pub use key::Key;
pub use node::{BoundContributions, BoundPlanner};
pub use operator::{BoundExec, MEMORY_LIMIT};
pub use spec::{Argument, BoundSpec, Form, MOST_ARGUMENTS};
