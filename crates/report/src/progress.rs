//! Progress on stderr: a bar or a spinner on a terminal, a line every ten seconds elsewhere.
//!
//! On a terminal both appear after a second, and leave nothing behind. A bar is for work whose length is known and
//! public; a [`Spinner`] shows the elapsed time and nothing else. Where stderr is a file or a pipe, a [`Heartbeat`] writes
//! what a bar or a spinner would show, line by line. After [`be_quiet`], nothing is shown anywhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr, stdout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time between two lines of a heartbeat.
const BEAT: Duration = Duration::from_secs(10);
/// The wait before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two frames of a spinner.
const STEP: Duration = Duration::from_millis(120);

const BAR: &str = "[{bar:30}] {percent:>3} % {msg}";
const SPINNER: &str = "{spinner} {msg}, {elapsed}";

static QUIET: AtomicBool = AtomicBool::new(false);

/// What this process is doing, for its heartbeat. There is one stderr, and so one of these.
static NOW: Activity = Activity {
    done: AtomicU64::new(0),
    total: AtomicU64::new(0),
    words: Mutex::new(String::new()),
};

struct Activity {
    done: AtomicU64,
    /// 0 if the amount of work is unknown.
    total: AtomicU64,
    words: Mutex<String>,
}

impl Activity {
    fn begin(&self, total: u64, words: &str) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        words.clone_into(&mut self.words.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn end(&self) {
        self.begin(0, "");
    }

    /// What is shown of it: `37 % decided`, `asking`; nothing if nothing was begun.
    fn in_words(&self) -> String {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        match total {
            0 => words.clone(),
            total => {
                let percent = 100.0 * done.min(total) as f64 / total as f64;
                format!("{percent:.0} % {words}").trim_end().to_owned()
            }
        }
    }
}

/// From now on, this process shows no progress.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether this process was told to be quiet.
#[must_use]
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line to stderr every ten seconds until it is dropped; silent if stderr is a terminal.
pub struct Heartbeat {
    beating: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Heartbeat {
    /// A heartbeat. With `idle`, it also beats while no bar and no spinner is there.
    #[must_use]
    pub fn new(idle: bool) -> Self {
        if is_quiet() || stderr().is_terminal() {
            return Self { beating: None };
        }
        Self::every(BEAT, idle, |line| eprintln!("{line}"))
    }

    fn every(beat: Duration, idle: bool, mut say: impl FnMut(&str) + Send + 'static) -> Self {
        let (stop, stopped) = channel::<()>();
        let begun = Instant::now();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(beat) == Err(RecvTimeoutError::Timeout) {
                let seconds = begun.elapsed().as_secs();
                match NOW.in_words() {
                    nothing if nothing.is_empty() && !idle => {}
                    nothing if nothing.is_empty() => say(&format!("progress: {seconds} s")),
                    words => say(&format!("progress: {words}, {seconds} s")),
                }
            }
        });
        Self { beating: Some((stop, thread)) }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.beating.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

/// The progress of a known amount of work. Any thread may report it.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for `total` values that are written as they come. It is silent if stdout is a terminal, where lines of
    /// data would break it.
    #[must_use]
    pub fn new(total: u64) -> Self {
        Self::shown(total, !stdout().is_terminal())
    }

    /// A bar for work whose data all comes at the end.
    #[must_use]
    pub fn before_data(total: u64) -> Self {
        Self::shown(total, true)
    }

    fn shown(total: u64, as_bar: bool) -> Self {
        NOW.begin(total, "");
        let wanted = as_bar && total > 1 && stderr().is_terminal() && !is_quiet();
        Self { bar: wanted.then(|| bar(total)) }
    }

    /// Reports that `done` of it is done.
    pub fn at(&self, done: u64) {
        NOW.done.store(done, Ordering::Relaxed);
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && bar.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        bar.set_position(done);
    }

    /// The same, with words after the bar.
    pub fn say(&self, done: u64, words: impl FnOnce() -> String) {
        let words = words();
        words.clone_into(&mut NOW.words.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(bar) = &self.bar {
            bar.set_message(words);
        }
        self.at(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        NOW.end();
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

/// Spins until it is dropped, if stderr is a terminal.
pub struct Spinner {
    turning: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    /// A spinner with a description of the work.
    #[must_use]
    pub fn new(doing: &'static str) -> Self {
        NOW.begin(0, doing);
        if !stderr().is_terminal() || is_quiet() {
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
        NOW.end();
        if let Some((stop, thread)) = self.turning.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
