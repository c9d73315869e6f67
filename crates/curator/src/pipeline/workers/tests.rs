use super::*;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Long batches delay their own statements only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_does_not_wait_for_the_batches_of_others() {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let mut busy = Vec::new();
    for _ in 0..4 * processors {
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (release, released) = channel::<()>();
        let long = tokio::spawn(run(async move {
            let _ = begun.send(());
            let _ = released.recv();
        }));
        // Waits before starting the next, which may take the threads of one that has ended.
        tokio::time::timeout(Duration::from_secs(100), has_begun).await.unwrap().unwrap();
        busy.push((long, release));
    }
    let other = tokio::time::timeout(Duration::from_secs(100), run(async { 7 })).await;
    assert_eq!(other.unwrap().unwrap(), 7);
    for (long, release) in busy {
        drop(release);
        long.await.unwrap().unwrap();
    }
}
