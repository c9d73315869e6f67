//! Who holds a connection: how many there are in all, from one address, of one account.
//!
//! # Guarantee
//! - An address has at most `per_address` connections, an account at most `per_account`.
//! - Nobody is kept out by those who do not sign in: where all places are taken, whoever has been
//!   there for longest without signing in makes room for who comes.
//! - A place is free as soon as its [`Place`] is dropped.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Whose connections count together: an IPv4 address, or an IPv6 network of 64 bits, as one
/// machine can have all addresses of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin(IpAddr);

/// Where an address belongs.
pub(crate) fn origin(address: IpAddr) -> Origin {
    Origin(match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        short => short,
    })
}

/// The places of one listener.
pub(crate) struct Places {
    most: usize,
    per_address: usize,
    per_account: usize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    next: u64,
    held: BTreeMap<u64, TakenPlace>,
    addresses: HashMap<Origin, usize>,
    accounts: HashMap<String, usize>,
}

/// A place that is taken, and by whom.
struct TakenPlace {
    from: Origin,
    account: Option<String>,
    /// Somebody was told to leave, and does not count any more.
    leaving: bool,
    leave: Arc<Notify>,
}

impl Places {
    pub(crate) fn new(most: usize, per_address: usize, per_account: usize) -> Arc<Self> {
        Arc::new(Self { most, per_address, per_account, inside: Mutex::default() })
    }

    /// A place for somebody from `address`; none if there is none.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let from = origin(address);
        let mut inside = self.lock();
        let theirs = inside.addresses.get(&from).copied().unwrap_or(0);
        if theirs >= self.per_address {
            return None;
        }
        let staying = inside.held.values().filter(|held| !held.leaving).count();
        if staying >= self.most {
            let mut strangers = inside.held.values_mut();
            let oldest = strangers.find(|held| !held.leaving && held.account.is_none())?;
            oldest.leaving = true;
            oldest.leave.notify_one();
        }
        let (id, leave) = (inside.next, Arc::new(Notify::new()));
        inside.next += 1;
        let held = TakenPlace { from, account: None, leaving: false, leave: Arc::clone(&leave) };
        inside.held.insert(id, held);
        inside.addresses.insert(from, theirs + 1);
        Some(Place { places: Arc::clone(self), id, leave })
    }

    /// A thread that panicked left at most one place too many.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's place, until it is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    id: u64,
    leave: Arc<Notify>,
}

impl Place {
    /// Ready when somebody else needs the place more.
    pub(crate) async fn needed(&self) {
        self.leave.notified().await;
    }

    /// Counts the connection for an account; false if that has as many as it may.
    pub(crate) fn belongs_to(&self, account: &str) -> bool {
        let mut inside = self.places.lock();
        let Inside { held, accounts, .. } = &mut *inside;
        let count = accounts.entry(account.to_owned()).or_insert(0);
        let granted = *count < self.places.per_account;
        if granted && let Some(held) = held.get_mut(&self.id) {
            *count += 1;
            held.account = Some(account.to_owned());
        }
        granted
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inside = self.places.lock();
        let Some(held) = inside.held.remove(&self.id) else { return };
        less(&mut inside.addresses, &held.from);
        if let Some(account) = held.account {
            less(&mut inside.accounts, &account);
        }
    }
}

fn less<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
