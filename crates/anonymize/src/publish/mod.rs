//! A release beside the table it was made from: what is published, whether it keeps its promises, and how it is written.
//!
//! | file | what |
//! |---|---|
//! | `release` | a table and its release |
//! | [`served`] | the set M that (n,t)-closeness compares each class with |
//! | [`verdict`] | whether classes satisfy a model, and which comes nearest to not doing so |
//! | [`change`] | what became of each column: how many rows show it as it was, coarser, or as `*` |
//! | [`samples`] | some rows as they were, beside what is published of them |
//! | [`pictures`] | class sizes, distances and risk, before and after |
//! | [`output`] | the published columns, and the table as CSV |

pub mod change;
pub mod output;
pub mod pictures;
mod release;
pub mod samples;
pub mod served;
pub mod verdict;

pub use release::{Levels, Release, classes_of, group, matching, whole};
