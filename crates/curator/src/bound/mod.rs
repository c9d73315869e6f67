//! Contribution bounding: at most `max_rows` rows of a person in each of at most `max_groups` groups. Sensitivity, and
//! so privacy, depends on this module.
//!
//! | file | subject |
//! |---|---|
//! | `spec` | what is bounded, and the output's schema |
//! | `key` | the secret key of one query, and the hashes it keys |
//! | `table`, `intern`, `words` | values as numbers, exactly |
//! | `encode`, `steps` | a batch as numbers |
//! | `spill` | rows by radix partition, in memory and in temporary files |
//! | `choose` | which rows stay: the definition, with its proof |
//! | `weigh`, `dense` | totals for every bound, where none is declared |
//! | `output`, `operator` | the native operator, `BoundExec` in plans |
//! | `node` | the logical node [`BoundContributions`] and its planner |
//! | `cap`, `cap_operator` | limits a person's rows before a join |
//! | `exact` | exact aggregates of what stays |
//! | `memory` | the memory limit for all queries together |
//! | `engine` | engines that compute them: [`Engine`], [`Native`] |
//! | `windows`, `read` | the same in plain SQL: [`Windows`] |
//!
//! # Guarantee
//! Write `B(D)` for the rows kept of a table D under one key, as a multiset
//! without ids, and `D_p` for the rows of person p. Then `B(D) = ⊎_p B(D_p)`, and
//! each `B(D_p)` has at most `max_groups` groups and at most `max_rows` rows in
//! each. So adding or removing a person adds or removes rows in at most
//! `max_groups` groups, at most `max_rows` in each, one of them with `first` set.
//!
//! # Proof
//! People are distinguished exactly: an id that fits into a word by a bijection, any other by its bytes; a hash only
//! says where to look. The rows kept of one person are chosen from that person's rows by a total order on their
//! *content* under the key (`choose`), so neither other people's rows nor the order of arrival, batches, partitions or
//! spilling can affect them. Numbers given in order of arrival (groups, codes) name content and never decide an order.
//! The bounds hold because the choice takes the first `max_groups` groups, and the first `max_rows` rows in each. All
//! this holds for *every* key, and the key is drawn independently of the data: what holds given the key holds. ∎
//!
//! Tests check this statement as it stands: `tests/invariance.rs` compares everyone at once with everyone alone,
//! `tests/definition.rs` compares the operator with the definition.
//!
//! # What this module does not do
//! It adds no noise and releases nothing: all it returns is protected. Its
//! running time and its temporary files depend on the data. Ids that do not fit a
//! word (text, decimals) are held in memory, and so are one person's rows,
//! however many.

mod cap;
mod cap_operator;
mod choose;
mod dense;
mod encode;
mod engine;
mod exact;
mod intern;
mod key;
mod memory;
mod node;
mod operator;
mod output;
mod read;
mod spec;
mod spill;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod weigh;
mod windows;
mod words;

pub(crate) use cap::{
    CapRows, Most, SHORT, cap_parts, limit, reads_texts, with_rows, without_leaves,
};
pub use engine::{Engine, Native, Task};
pub use exact::{
    Exact, ExactArgument, ExactGroup, ExactSizes, WeighedArgument, WeighedGroup, accumulate,
};
pub use intern::Interned;
pub use key::Key;
pub use node::{BoundContributions, BoundPlanner};
pub use operator::MEMORY_LIMIT;
pub use spec::{Argument, BoundSpec, Form, MOST_ARGUMENTS, Weighing};
pub use windows::Windows;
