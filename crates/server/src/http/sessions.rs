//! The cookies in force: in memory, as hashes.
//!
//! # Guarantee
//! A session ends `time` after its last use, when it is closed, when its account gets another
//! password or is disabled, from wherever, and with the process. What is
//! kept of its id is a hash, so nothing that is read from memory or a core file opens one.
//! There are at most `most` at once, and at most [`EACH`] of one account: one who signs in again
//! and again ends their own sessions, not those of others.

use crate::users::{self, Clock, Mark, hex, random};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The most sessions of one account.
const EACH: usize = 32;

type Hash = [u8; 32];

pub(super) struct Sessions {
    inside: Mutex<HashMap<Hash, Session>>,
    clock: Clock,
    time: Duration,
    most: usize,
}

struct Session {
    name: String,
    /// Of the password that opened it.
    mark: Mark,
    used: SystemTime,
}

impl Sessions {
    pub(super) fn new(clock: Clock, time: Duration, most: usize) -> Self {
        Self { inside: Mutex::default(), clock, time, most: most.max(1) }
    }

    /// A new session's id. It is not kept.
    pub(super) fn open(&self, name: &str, mark: Mark) -> Result<String, users::Error> {
        let id = hex(&random()?);
        let now = (self.clock)();
        let mut sessions = self.lock();
        sessions.retain(|_, kept| self.lasts(kept, now));
        while sessions.values().filter(|kept| kept.name == name).count() >= EACH {
            forget_oldest(&mut sessions, |kept| kept.name == name);
        }
        while sessions.len() >= self.most {
            forget_oldest(&mut sessions, |_| true);
        }
        sessions.insert(hash(&id), Session { name: name.to_owned(), mark, used: now });
        Ok(id)
    }

    /// Whose session it is, and of which password; its time begins anew.
    pub(super) fn find(&self, id: &str) -> Option<(String, Mark)> {
        let (now, mut sessions) = ((self.clock)(), self.lock());
        let kept = sessions.get_mut(&hash(id)).filter(|kept| self.lasts(kept, now))?;
        kept.used = now;
        Some((kept.name.clone(), kept.mark))
    }

    pub(super) fn close(&self, id: &str) {
        self.lock().remove(&hash(id));
    }

    /// Ends all sessions of an account.
    pub(super) fn close_all(&self, name: &str) {
        self.lock().retain(|_, kept| kept.name != name);
    }

    /// A clock that goes back ends nothing.
    fn lasts(&self, kept: &Session, now: SystemTime) -> bool {
        now.duration_since(kept.used).unwrap_or_default() < self.time
    }

    /// A thread that panicked left at most one session too many or too few.
    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, Session>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(id: &str) -> Hash {
    Sha256::digest(id).into()
}

fn forget_oldest(sessions: &mut HashMap<Hash, Session>, of: impl Fn(&Session) -> bool) {
    let among = sessions.iter().filter(|(_, kept)| of(kept));
    if let Some(oldest) = among.min_by_key(|(_, kept)| kept.used).map(|(hash, _)| *hash) {
        sessions.remove(&oldest);
    }
}

#[cfg(test)]
mod tests;
