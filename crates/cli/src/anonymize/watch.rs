//! What is said while a search takes long, and Ctrl-C, which ends it with the best found.

use demure_anonymize::{partition, search};
use demure_report::progress::Progress;
use demure_report::short;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Parts of the work that a bar tells apart.
pub(super) const PARTS: u64 = 1000;

fn parts(done: f64, all: f64) -> u64 {
    ((done / all.max(1.0)).clamp(0.0, 1.0) * PARTS as f64) as u64
}

/// How far the search for levels is.
pub(super) fn levels(bar: &Progress, at: &search::Progress) {
    bar.say(parts(at.decided, at.nodes), || {
        let best = at.best.map_or("none yet".to_owned(), short);
        format!("decided, {} looked at, best score {best}  (Ctrl-C takes it)", at.checked)
    });
}

/// How far the cutting into classes is.
pub(super) fn classes(bar: &Progress, at: &partition::Progress) {
    bar.say(parts(at.settled as f64, at.rows as f64), || {
        format!("of the rows in {} classes  (Ctrl-C leaves the others coarse)", at.classes)
    });
}

/// A flag that the first Ctrl-C sets; the second ends the process. `None` where the system
/// lets nobody listen, and Ctrl-C ends the process at once.
pub(super) fn interrupt() -> Option<Arc<AtomicBool>> {
    use signal_hook::consts::SIGINT;
    let flag = Arc::new(AtomicBool::new(false));
    // In this order: the second Ctrl-C finds the flag set by the first.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag)).ok()?;
    signal_hook::flag::register(SIGINT, Arc::clone(&flag)).ok()?;
    Some(flag)
}
