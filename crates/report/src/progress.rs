//! Progress on stderr, shown only on a terminal.
//!
//! Both appear after a second, and leave nothing behind. A bar is for work whose length is known and public; a
//! [`Spinner`] shows the elapsed time and nothing else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr, stdout};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The wait before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two frames of a spinner.
const STEP: Duration = Duration::from_millis(120);

const BAR: &str = "[{bar:30}] {percent:>3} % {msg}";
const SPINNER: &str = "{spinner} {msg}, {elapsed}";

/// The progress of a known amount of work. Any thread may report it.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for `total` values that are written as they come. It is silent if stdout is a terminal, where lines of
    /// data would break it.
    #[must_use]
    pub fn new(total: u64) -> Self {
        if stdout().is_terminal() { Self { bar: None } } else { Self::before_data(total) }
    }

    /// A bar for work whose data all comes at the end.
    #[must_use]
    pub fn before_data(total: u64) -> Self {
        let wanted = total > 1 && stderr().is_terminal();
        Self { bar: wanted.then(|| bar(total)) }
    }

    /// Reports that `done` of it is done.
    pub fn at(&self, done: u64) {
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && bar.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        bar.set_position(done);
    }

    /// The same, with words after the bar.
    pub fn say(&self, done: u64, words: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(words());
            self.at(done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Runs something long with a bar before its data: it is given what to call with how much is done, and of how much.
pub fn watched<T>(run: impl FnOnce(&(dyn Fn(u64, u64) + Sync)) -> T) -> T {
    const PARTS: u64 = 1000;
    let bar = Progress::before_data(PARTS);
    run(&|done, total| bar.at(PARTS * done.min(total) / total.max(1)))
}

/// A bar that is not visible yet.
fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
    bar.set_style(style(BAR));
    bar
}

/// A style with plain characters. The templates here are constants, so the fallback is never used.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("##.")
        .tick_chars("|/-\\ ")
}

/// Spins until it is dropped; silent unless stderr is a terminal.
pub struct Spinner {
    turning: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    /// A spinner with a description of the work.
    #[must_use]
    pub fn new(doing: &'static str) -> Self {
        if !stderr().is_terminal() {
            return Self { turning: None };
        }
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::new_spinner().with_elapsed(PATIENCE).with_message(doing);
                bar.set_style(style(SPINNER));
                bar.enable_steady_tick(STEP);
                // It ends when the spinner is dropped.
                let _ = stopped.recv();
                bar.finish_and_clear();
            }
        });
        Self { turning: Some((stop, thread)) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.turning.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
