//! One question, from SQL to its answer. Each stage is a type that the next one consumes:
//!
//! [`Planned`] → [`Quoted`] → [`Reserved`] → [`Measured`](reserved::Measured) → [`Noised`](reserved::Noised) →
//! [`Released`](crate::aggregate::Released) → [`Answer`](crate::Answer)
//!
//! | stage | what is guaranteed |
//! |---|---|
//! | `Planned` | the plan is cut at its private aggregates; public rows have been read, protected ones have not |
//! | `Quoted` | every aggregate has a price, and it is known whether it has to be bought |
//! | `Reserved` | the debit is on disk |
//! | `Measured` | protected rows were read, for a debit that can no longer be reversed |
//! | `Noised` | the exact numbers are gone; the noised ones are not visible yet |
//! | `Released` | the answer is in the ledger |
//!
//! Rows are read by [`Task::run`](crate::bound::Task::run), which requires the ledger's
//! [`Reading`](demure_ledger::Reading) of a debit. So the compiler ensures that no row is read before it is paid for.
//!
//! | file | what |
//! |---|---|
//! | `planned.rs`, `quoted.rs`, `reserved.rs` | the stages |
//! | `asked.rs` | the question as its analyst wrote it, for the ledger |
//! | `constants.rs` | constants above the cut, computed before anything is bought |
//! | `staged.rs` | writes numbers that one part releases into the plan of a later one |
//! | `purchase.rs` | obtains each table: known, received from the ledger, or bought |
//! | `answered.rs`, `explained.rs` | the answer; the price and the expected error |
//! | `collected.rs` | rows of public and released tables, held in memory |
//! | `gate.rs` | the hook through which a server delays or rejects statements |
//! | `least.rs` | the smallest allowed ε of a new query |
//! | `whole.rs` | rows for a synthetic table: stages of their own |
//! | `workers.rs` | the threads that read protected rows |

mod answered;
mod asked;
mod collected;
mod constants;
mod explained;
pub(crate) mod gate;
mod least;
mod planned;
mod purchase;
mod quoted;
mod reserved;
mod staged;
pub(crate) mod whole;
pub(crate) mod workers;

pub(crate) use asked::Asked;
pub(crate) use planned::{Planned, bind_parameters, plan_statement};
pub(crate) use quoted::{Part, Purchase, Quoted};
pub(crate) use reserved::Reserved;

use crate::curator::Curator;
use crate::statement::settings::Settings;
use std::sync::Arc;

/// The analyst, the curator and the settings of a question.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) curator: &'a Arc<Curator>,
    pub(crate) who: &'a str,
    pub(crate) settings: &'a Settings,
}
