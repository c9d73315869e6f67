//! The threads that read protected rows.
//!
//! An engine computes a batch without a pause, and a batch may take long. On the threads that serve
//! connections that would hold up everybody else: who asks, who cancels and what is due would wait for
//! protected rows, and see by that how many there are. So rows are read by threads of their own, as
//! many as the machine has processors.
//!
//! # What this module does not do
//! Threads share processors: where all are busy, everything takes longer.

use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{AbortHandle, JoinError};

/// As long as the process lives: a runtime must not be dropped where others wait.
static WORKERS: OnceLock<Option<Runtime>> = OnceLock::new();

fn handle() -> Handle {
    let workers = WORKERS.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().thread_name("demure-work").build().ok()
    });
    // Where no thread can be had, those that are there do the work.
    workers.as_ref().map_or_else(Handle::current, |workers| workers.handle().clone())
}

/// Does `work` on those threads. It ends when nobody waits for it any more.
///
/// # Errors
/// It panicked.
pub(crate) async fn run<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let task = handle().spawn(work);
    let _ends = Ends(task.abort_handle());
    task.await
}

/// Aborts a task when it is dropped.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}
