//! The threads that read protected rows.
//!
//! An engine computes a batch without a pause, and a batch may take long. On the threads that serve connections this
//! would delay everyone else: new questions, cancellations and scheduled answers would wait for protected rows, and
//! the delay would reveal how many there are. Nor may statements wait for each other's batches. So every statement
//! that reads rows has its own threads, as many as the machine has processors; the operating system divides the
//! processors among them.
//!
//! # What this module does not do
//! Threads share processors: if all are busy, everything takes longer. The gate decides how many statements read rows
//! at the same time.

use std::sync::{Mutex, PoisonError};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{AbortHandle, JoinError};

/// Threads whose statement has ended, kept for the next one.
static IDLE: Mutex<Vec<Runtime>> = Mutex::new(Vec::new());

/// The threads of one statement.
struct Workers(Option<Runtime>);

impl Workers {
    /// `None` if no thread can be started.
    fn take() -> Option<Self> {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let made = || {
            let mut builder = Builder::new_multi_thread();
            builder.enable_all().thread_name("demure-work").build().ok()
        };
        idle.or_else(made).map(|runtime| Self(Some(runtime)))
    }

    fn handle(&self) -> Handle {
        self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }

    /// Returns the threads when the work has ended.
    fn give_back(mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.0.take());
    }
}

impl Drop for Workers {
    /// Work that still runs on them ends with its batch. Nothing waits for that.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs `work` on a statement's own threads. It is aborted if the caller stops waiting.
///
/// # Errors
/// The work panicked.
pub(crate) async fn run<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let workers = Workers::take();
    // If no thread can be started, the current ones do the work.
    let handle = workers.as_ref().map_or_else(Handle::current, Workers::handle);
    let task = handle.spawn(work);
    let _ends = Ends(task.abort_handle());
    let done = task.await;
    if let (Ok(_), Some(workers)) = (&done, workers) {
        workers.give_back();
    }
    done
}

/// Aborts a task when it is dropped.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests;
