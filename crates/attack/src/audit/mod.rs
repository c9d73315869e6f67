//! Audits: a lower bound on the ε that a mechanism really has, from nothing but its outputs.
//!
//! | file | what |
//! |---|---|
//! | `limit` | Clopper–Pearson on both sides of a ratio; what n runs can show at all, and what it takes |
//! | `feature` | what is looked at: values, sums, differences, missing keys, the lowest bits of floats |
//! | `cell`, `seen`, `score` | keys cut into cells, or told apart one by one; likelihood ratios learnt from runs |
//! | `event` | sets of outputs that can be found, tested and read |
//! | `choose` | which event to test |
//! | `examine` | the audit: scout on some runs, test on others |
//! | `picture`, `chart` | both sides side by side; how the bound grows with runs |
//! | `effort` | how many runs, or how many minutes |
//! | `one_run` | the audit of one run with many canaries |
//! | `made_up` | rows of nobody, of a known shape |
//! | `neighbour` | neighbouring tables, made from one |
//! | `sides` | the same as files |
//! | `query/` | a question to the curator, on neighbouring databases |
//! | `survey` | a survey's randomizer, on two answers |
//! | `program` | any program that reads a dataset and prints numbers |
//! | `subject` | a mechanism with the neighbouring inputs to try it on |
//! | `library/` | every mechanism of `demure-core`, which no audit may convict |
//! | `gallery/` | broken mechanisms, which every audit must convict |
//!
//! # What the bound means
//! A mechanism is (ε, δ)-private if `P[M(x) ∈ S] ≤ e^ε·P[M(x′) ∈ S] + δ` for all neighbours x,
//! x′ and all events S. One pair and one event are enough to refute it, and a frequency is
//! enough to know a probability nearly. [`examine()`] looks for a telling pair and a telling event on some runs and
//! counts on others, where the choice is no longer a choice; what it returns exceeds the true ε with
//! probability at most [`Plan::error`], over everything that was tried.
//!
//! # What this module does not do
//! It acquits nobody. An audit that finds nothing may have looked at the wrong inputs or the wrong
//! events: its verdict is [`Verdict::NotRefuted`], and the proof stands beside the mechanism. Other
//! mechanisms can be audited too: implement [`Source`] for their outputs.

mod cell;
mod chart;
mod choose;
mod effort;
mod event;
mod examine;
mod feature;
pub mod gallery;
pub mod library;
pub mod limit;
pub mod made_up;
pub mod neighbour;
pub mod one_run;
pub mod page;
mod picture;
pub mod program;
pub mod query;
mod score;
mod seen;
pub mod sides;
mod subject;
pub mod survey;

pub use effort::{Effort, Usual};
pub use event::{Event, KeySet};
pub use examine::{Claim, FAMILY_WISE, Finding, Plan, Source, Verdict, examine};
pub use feature::{Feature, Output, word};
pub use picture::{Bar, Picture};
pub use subject::{Draw, Pair, Runs, Subject};

/// A number with as many digits as a person needs.
fn short(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) {
        let text = format!("{x:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    if (1e6..1e15).contains(&x.abs()) { format!("{x:.1}") } else { format!("{x:.3e}") }
}
