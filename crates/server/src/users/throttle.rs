//! Failed sign-ins: how many an address may have, and an address with one name.
//!
//! # Guarantee
//! An address has [`ADDRESS`] failures at once and one more every two seconds, whichever names it
//! tries; with one name it has [`PAIR`], and one more every 30 s. Whoever has had more is refused
//! before anything is judged or recorded: such attempts neither lengthen a lock nor fill the record.
//! It is asked when an attempt is judged, one after the other, so that many at once gain nothing;
//! whoever succeeds loses nothing. IPv6 addresses count by their first 64 bits.
//!
//! # What it cannot do
//! Those who come through one proxy have one address.

use super::lock::SteadyClock;
use crate::places::{Origin, origin};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Failures of one address, and of one address with one name.
const ADDRESS: f64 = 60.0;
const PAIR: f64 = 20.0;
/// How many come back in a second.
const ADDRESS_RATE: f64 = 0.5;
const PAIR_RATE: f64 = 1.0 / 30.0;
/// The most addresses, and pairs, that are remembered.
const KEPT: usize = 10_000;

/// What is left of an allowance, and when that was so.
struct Bucket {
    count: f64,
    at: Duration,
}

struct Buckets<K> {
    most: f64,
    rate: f64,
    kept: HashMap<K, Bucket>,
}

impl<K: Clone + Eq + Hash> Buckets<K> {
    fn new(most: f64, rate: f64) -> Self {
        Self { most, rate, kept: HashMap::new() }
    }

    fn now(&self, left: &Bucket, now: Duration) -> f64 {
        let since = now.saturating_sub(left.at).as_secs_f64();
        (left.count + since * self.rate).min(self.most)
    }

    fn left(&self, key: &K, now: Duration) -> f64 {
        self.kept.get(key).map_or(self.most, |left| self.now(left, now))
    }

    fn set(&mut self, key: K, count: f64, now: Duration) {
        if self.kept.len() >= KEPT && !self.kept.contains_key(&key) {
            self.make_room(now);
        }
        self.kept.insert(key, Bucket { count: count.min(self.most), at: now });
    }

    /// Forgets those who have their whole allowance again; if there is none, whoever has most left.
    fn make_room(&mut self, now: Duration) {
        let (most, rate) = (self.most, self.rate);
        let count = |left: &Bucket| left.count + now.saturating_sub(left.at).as_secs_f64() * rate;
        self.kept.retain(|_, left| count(left) < most);
        if self.kept.len() >= KEPT {
            let fullest = self.kept.iter().max_by(|(_, a), (_, b)| count(a).total_cmp(&count(b)));
            if let Some(key) = fullest.map(|(key, _)| key.clone()) {
                self.kept.remove(&key);
            }
        }
    }
}

struct Inside {
    addresses: Buckets<Origin>,
    pairs: Buckets<(Origin, String)>,
}

/// What is left for whom.
pub(super) struct Throttle {
    clock: SteadyClock,
    inside: Mutex<Inside>,
}

impl Throttle {
    pub(super) fn new(clock: SteadyClock) -> Self {
        let inside = Inside {
            addresses: Buckets::new(ADDRESS, ADDRESS_RATE),
            pairs: Buckets::new(PAIR, PAIR_RATE),
        };
        Self { clock, inside: Mutex::new(inside) }
    }

    /// Whether somebody from an address may try to be `name`.
    pub(super) fn allows(&self, name: &str, from: Option<IpAddr>) -> bool {
        let Some(key) = key(name, from) else { return true };
        let now = (self.clock)();
        let inside = self.lock();
        inside.addresses.left(&key.0, now) >= 1.0 && inside.pairs.left(&key, now) >= 1.0
    }

    /// They tried, and were wrong.
    pub(super) fn failed(&self, name: &str, from: Option<IpAddr>) {
        let Some(key) = key(name, from) else { return };
        let now = (self.clock)();
        let mut inside = self.lock();
        let (address, pair) = (inside.addresses.left(&key.0, now), inside.pairs.left(&key, now));
        inside.addresses.set(key.0, (address - 1.0).max(0.0), now);
        inside.pairs.set(key, (pair - 1.0).max(0.0), now);
    }

    /// A thread that panicked left at most one failure too few.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names come from anyone, of any length.
fn key(name: &str, from: Option<IpAddr>) -> Option<(Origin, String)> {
    Some((origin(from?), name.chars().take(64).collect()))
}

#[cfg(test)]
mod tests;
