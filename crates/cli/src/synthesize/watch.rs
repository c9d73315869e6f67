//! What is said while a synthetic table is made, and Ctrl-C, after which the debit stays.

use crate::interrupt::interrupt;
use demure_report::progress::Progress;
use demure_synth::{Observer, Stage};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The stages: columns, three rounds, rows, the report.
const STAGES: u64 = 6;

/// A bar with the stage that the run is in.
pub(super) struct Watch {
    bar: Progress,
    cancel: Option<Arc<AtomicBool>>,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { bar: Progress::before_data(STAGES), cancel: interrupt() }
    }
}

impl Observer for Watch {
    fn stage(&mut self, stage: Stage) -> ControlFlow<()> {
        let (done, words) = match stage {
            Stage::Columns => (0, "measuring columns".to_owned()),
            Stage::Round(n) => (n as u64, format!("measuring pairs of columns, round {n} of 3")),
            Stage::Rows => (4, "making rows".to_owned()),
            _ => (5, "measuring the rows' quality".to_owned()),
        };
        self.bar.say(done, || format!("{words}  (Ctrl-C stops it; what was paid stays spent)"));
        match self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
