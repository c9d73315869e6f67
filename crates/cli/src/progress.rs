//! A bar on stderr while draws take long; nothing where nobody would see it.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

/// Waits this long before it shows itself.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two pictures.
const STEP: Duration = Duration::from_millis(100);
const WIDTH: usize = 40;

/// How far along a known number of draws is.
pub(crate) struct Progress {
    total: u32,
    start: Instant,
    next: Duration,
    wanted: bool,
    shown: bool,
}

impl Progress {
    /// A bar for `total` draws. It is silent unless stderr is a terminal and
    /// stdout is not: lines of data would tear it apart.
    pub(crate) fn new(total: u32) -> Self {
        let wanted = total > 1 && stderr().is_terminal() && !stdout().is_terminal();
        Self { total, start: Instant::now(), next: PATIENCE, wanted, shown: false }
    }

    /// The same for work whose data comes all at the end: any terminal may see it.
    pub(crate) fn before_data(total: u32) -> Self {
        let mut bar = Self::new(total);
        bar.wanted = total > 1 && stderr().is_terminal();
        bar
    }

    /// Says that `done` draws are done.
    pub(crate) fn at(&mut self, done: u32) {
        if !self.wanted || self.start.elapsed() < self.next {
            return;
        }
        self.next = self.start.elapsed() + STEP;
        self.shown = true;
        // A terminal that cannot be written to is no reason to stop.
        let _ = write!(stderr(), "\r{}", bar(done, self.total));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r{:80}\r", "");
        }
    }
}

fn bar(done: u32, total: u32) -> String {
    let share = f64::from(done) / f64::from(total.max(1));
    let full = (share * WIDTH as f64) as usize;
    let (full, empty) = ("#".repeat(full), ".".repeat(WIDTH - full));
    format!("[{full}{empty}] {:3.0} %  {done} of {total}", (share * 100.0).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up() {
        assert_eq!(bar(0, 10), format!("[{}]   0 %  0 of 10", ".".repeat(WIDTH)));
        assert_eq!(bar(5, 10), format!("[{}{}]  50 %  5 of 10", "#".repeat(20), ".".repeat(20)));
        assert_eq!(bar(10, 10), format!("[{}] 100 %  10 of 10", "#".repeat(WIDTH)));
    }
}
