//! Ctrl-C as a flag, for work that ends in good order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first Ctrl-C sets; the second ends the process. `None` where the system
/// lets nobody listen, and Ctrl-C ends the process at once.
pub(crate) fn interrupt() -> Option<Arc<AtomicBool>> {
    use signal_hook::consts::SIGINT;
    let flag = Arc::new(AtomicBool::new(false));
    // In this order: the second Ctrl-C finds the flag set by the first.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag)).ok()?;
    signal_hook::flag::register(SIGINT, Arc::clone(&flag)).ok()?;
    Some(flag)
}
