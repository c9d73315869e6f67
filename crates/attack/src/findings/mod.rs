//! What an attack found, for programs and for people.

mod average;
mod difference;
mod link;
mod membership;
mod reconstruct;

pub use average::average;
pub use difference::{on_made_up, on_policy};
pub use link::linked;
pub use membership::membership;
pub use reconstruct::reconstructed;

use crate::normal::Share;
use demure_report::document::Document;
use demure_report::number::percent_aligned;
use serde_json::Value;

/// What an attack found.
pub struct Findings {
    /// For programs.
    pub json: Value,
    /// For people.
    pub document: Document,
}

/// A share with its 95 % interval: `73.1 % (71.1–75.0)`.
fn measured(share: Share) -> String {
    let (low, high) = share.interval(1.96);
    format!("{} ({:.1}–{:.1})", percent_aligned(share.rate()), 100.0 * low, 100.0 * high)
}
