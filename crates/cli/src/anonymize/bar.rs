//! A bar on a terminal while a search takes long, and Ctrl-C, which ends it with the best found.

use crate::report::short;
use demure_anonymize::partition;
use demure_anonymize::search::Progress;
use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Waits this long before it shows itself.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two pictures.
const STEP: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// What a search calls, from any of its threads.
pub(super) struct Bar {
    begun: Instant,
    wanted: bool,
    next: Mutex<Duration>,
}

impl Bar {
    /// A bar that is silent unless stderr is a terminal.
    pub(super) fn new() -> Self {
        let next = Mutex::new(PATIENCE);
        Self { begun: Instant::now(), wanted: stderr().is_terminal(), next }
    }

    /// Says where the search stands.
    pub(super) fn at(&self, progress: Progress) {
        self.show(|| picture(&progress));
    }

    /// Says where the cutting stands.
    pub(super) fn cut(&self, progress: partition::Progress) {
        self.show(|| cut(&progress));
    }

    fn show(&self, picture: impl FnOnce() -> String) {
        let elapsed = self.begun.elapsed();
        if !self.wanted || elapsed < PATIENCE {
            return;
        }
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed >= *next {
            *next = elapsed + STEP;
            // A terminal that cannot be written to is no reason to stop.
            let _ = write!(stderr(), "\r{}", picture());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let next = self.next.get_mut().unwrap_or_else(PoisonError::into_inner);
        if *next > PATIENCE {
            let _ = write!(stderr(), "\r{:90}\r", "");
        }
    }
}

fn picture(progress: &Progress) -> String {
    let share = (progress.decided / progress.nodes.max(1.0)).clamp(0.0, 1.0);
    let full = (share * WIDTH as f64) as usize;
    let best = progress.best.map_or("none yet".to_owned(), short);
    format!(
        "[{}{}] {:3.0} % decided, {} looked at, best score {best}  (Ctrl-C takes it)",
        "#".repeat(full),
        ".".repeat(WIDTH - full),
        (share * 100.0).floor(),
        progress.checked
    )
}

fn cut(progress: &partition::Progress) -> String {
    let share = progress.settled as f64 / (progress.rows as f64).max(1.0);
    let full = (share.clamp(0.0, 1.0) * WIDTH as f64) as usize;
    format!(
        "[{}{}] {:3.0} % of the rows in {} classes  (Ctrl-C leaves the others coarse)",
        "#".repeat(full),
        ".".repeat(WIDTH - full),
        (share * 100.0).floor(),
        progress.classes
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_shows_the_best_so_far() {
        let at = |decided, best| picture(&Progress { checked: 7, decided, nodes: 100.0, best });
        assert!(at(0.0, None).starts_with(&format!("[{}]   0 %", ".".repeat(WIDTH))));
        assert!(at(100.0, Some(0.25)).contains("100 % decided, 7 looked at, best score 0.25"));
        let half = cut(&partition::Progress { settled: 5, rows: 10, classes: 2 });
        assert!(half.contains(" 50 % of the rows in 2 classes"), "{half}");
    }
}
