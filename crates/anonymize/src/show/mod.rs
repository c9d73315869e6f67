//! Results in words, fields and a page, for publishers.
//!
//! | file | what |
//! |---|---|
//! | `release.rs` | a release and its verdicts, or that no release was found |
//! | `beside.rs` | what became of columns, sample rows, alternatives |
//! | `explained.rs` | what would be done and promised |
//! | `page/` | the report as one page |
//!
//! Rows of the original table are in nothing here unless the caller asks for them.

mod beside;
mod explained;
mod page;
mod release;

pub use beside::{Beside, left_out};
pub use explained::explained;
pub use page::page;
pub use release::{Limit, models, nothing_json, nothing_text, report};

use crate::job::ONE_IN;
use crate::risk::Chance;
use demure_report::{counted, grouped, percent, short};

/// So many rows are shown before and after, unless another number is asked for.
pub const SAMPLES: usize = 3;

/// `at most 1 in 3, 33.3 % on average; 9 rows above 20 %`.
#[must_use]
pub fn risk_in_words(chance: &Chance) -> String {
    format!(
        "at most 1 in {}, {} on average; {} above {} %",
        grouped(chance.highest_one_in as f64),
        percent(chance.average),
        counted(chance.rows_at_risk, "row"),
        short(100.0 / ONE_IN as f64)
    )
}
