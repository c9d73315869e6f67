//! What is said while a search takes long, and Ctrl-C, which ends it with the best found.

use crate::Failure;
use crate::interrupt::interrupt;
use demure_anonymize::job::{
    self, Alternative, Columns, Job, Promised, Search, SearchResult, Watch,
};
use demure_anonymize::recoding::Attribute;
use demure_report::progress::Progress;
use demure_report::short;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Parts of the work that a bar tells apart.
const PARTS: u64 = 1000;

/// Watches a search, and those of alternatives after it: one Ctrl-C ends them all.
pub(super) struct Watcher {
    flag: Option<Arc<AtomicBool>>,
}

impl Watcher {
    pub(super) fn new() -> Self {
        Self { flag: interrupt() }
    }

    /// Looks for a release and says how far that is.
    pub(super) fn release<'a>(
        &self,
        search: &Search,
        columns: &Columns<'a>,
        attributes: &'a [Attribute<'a>],
        promised: Promised,
    ) -> Result<SearchResult<'a>, Failure> {
        let bar = Progress::before_data(PARTS);
        let say = |at| say(&bar, at);
        let watch = Watch { cancel: self.flag.as_deref(), progress: Some(&say) };
        Ok(job::release(search, columns, attributes, promised, watch)?)
    }

    /// Looks for alternatives and says how far that is.
    pub(super) fn alternatives(
        &self,
        job: Job<'_, '_>,
        time: Duration,
    ) -> Result<Vec<Alternative>, Failure> {
        let bar = Progress::before_data(PARTS);
        let (number, of) = (AtomicU64::new(1), AtomicU64::new(1));
        let say = |at| {
            if let job::Progress::Alternative(at, all) = at {
                number.store(at, Relaxed);
                of.store(all, Relaxed);
            }
            let (number, of) = (number.load(Relaxed), of.load(Relaxed).max(1));
            bar.say(((number - 1) * PARTS + done(at)) / of, || {
                format!("of alternatives, number {number} of {of}  (Ctrl-C leaves them out)")
            });
        };
        let watch = Watch { cancel: self.flag.as_deref(), progress: Some(&say) };
        Ok(job::alternatives(job, time, watch)?)
    }
}

/// How much of one search is done, of [`PARTS`].
fn done(at: job::Progress) -> u64 {
    let parts = |done: f64, all: f64| ((done / all.max(1.0)).clamp(0.0, 1.0) * PARTS as f64) as u64;
    match at {
        job::Progress::Levels(at) => parts(at.decided, at.nodes),
        job::Progress::Classes(at) => parts(at.settled as f64, at.rows as f64),
        job::Progress::Alternative(..) => 0,
    }
}

fn say(bar: &Progress, progress: job::Progress) {
    bar.say(done(progress), || match progress {
        job::Progress::Levels(at) => {
            let best = at.best.map_or("none yet".to_owned(), short);
            format!("decided, {} looked at, best score {best}  (Ctrl-C takes it)", at.checked)
        }
        job::Progress::Classes(at) => {
            format!("of the rows in {} classes  (Ctrl-C leaves the others coarse)", at.classes)
        }
        job::Progress::Alternative(..) => String::new(),
    });
}
