//! How often one analyst may buy: a bucket of tokens for each name.
//!
//! Each new answer is an observation of the clock, however well it is scheduled. The rate limits how
//! many there are, for one analyst over all connections and both wires; what was bought before is
//! not counted. A bucket holds a minute's worth, so that a dashboard opens at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);
/// Full buckets are forgotten where there are more than so many.
const MANY: usize = 1024;

/// The buckets of all analysts.
pub(crate) struct Rate {
    per_minute: Option<u32>,
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    /// Tokens that were there at `at`.
    left: f64,
    at: Instant,
}

/// What a rate was exceeded by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exceeded {
    pub(crate) per_minute: u32,
    /// From when the next may be bought.
    pub(crate) retry: Duration,
}

impl Rate {
    /// At most so many a minute; any number if none is given.
    pub(crate) fn new(per_minute: Option<u32>) -> Self {
        Self { per_minute, buckets: Mutex::default() }
    }

    /// Takes one token of `who`, at `now` on a clock that never goes back.
    pub(crate) fn take(&self, who: &str, now: Instant) -> Result<(), Exceeded> {
        let Some(per_minute) = self.per_minute else { return Ok(()) };
        let most = f64::from(per_minute);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > MANY {
            buckets.retain(|_, bucket| bucket.filled(most, now) < most);
        }
        let bucket =
            buckets.entry(who.to_owned()).or_insert_with(|| Bucket { left: most, at: now });
        let left = bucket.filled(most, now);
        if left < 1.0 {
            let retry = MINUTE.mul_f64((1.0 - left) / most);
            return Err(Exceeded { per_minute, retry });
        }
        *bucket = Bucket { left: left - 1.0, at: now };
        Ok(())
    }
}

impl Bucket {
    fn filled(&self, most: f64, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.left + passed / MINUTE.as_secs_f64() * most).min(most)
    }
}

#[cfg(test)]
mod tests;
