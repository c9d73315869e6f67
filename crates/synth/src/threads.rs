//! The same work on many items, on a few threads.

/// Applies `work` to every item, in order; the items are shared out among `threads` threads in runs.
pub(crate) fn map<T: Sync, U: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    let mut runs = items.chunks(share);
    let Some(first) = runs.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = runs
            .map(|run| {
                let work = &work;
                scope.spawn(move || run.iter().map(work).collect::<Vec<U>>())
            })
            .collect();
        let mut results: Vec<U> = first.iter().map(&work).collect();
        for other in others {
            match other.join() {
                Ok(found) => results.extend(found),
                // The panic of a thread goes on in the thread that waits for it.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
