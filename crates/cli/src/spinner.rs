//! A sign of life on a terminal while something runs whose length is not known, or is protected:
//! the time that has passed and nothing else.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Waits this long before it shows itself.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two pictures.
const STEP: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// Turns until it is dropped; silent unless stderr is a terminal.
pub(crate) struct Spinner {
    turning: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    pub(crate) fn new(doing: &'static str) -> Self {
        if !stderr().is_terminal() {
            return Self { turning: None };
        }
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            let mut wait = PATIENCE;
            for turn in 0_usize.. {
                if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                wait = STEP;
                // A terminal that cannot be written to is no reason to stop.
                let _ = write!(stderr(), "\r{}", picture(turn, doing, begun.elapsed()));
            }
            if wait == STEP {
                let _ = write!(stderr(), "\r{:60}\r", "");
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

fn picture(turn: usize, doing: &str, elapsed: Duration) -> String {
    format!("{} {doing}, {} s", FRAMES[turn % FRAMES.len()], elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_turns_and_tells_the_time() {
        assert_eq!(picture(0, "asking", Duration::from_millis(1900)), "| asking, 1 s");
        assert_eq!(picture(5, "asking", Duration::from_secs(61)), "/ asking, 61 s");
    }
}
