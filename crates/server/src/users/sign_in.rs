//! Signing in: what an exchange begins with, and who is let in at its end.

use super::{Error, Mark, Result, User, Users, file, is_name, lock, user};
use crate::scram::{Verifier, equal};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::net::IpAddr;

impl Users {
    /// The verifier to begin an exchange with; of a name that nobody has, or that may not sign
    /// in now, one that nothing fits.
    pub fn verifier(&self, name: &str) -> Result<Verifier> {
        let now = self.now();
        let found = self.one(
            "SELECT salt, iterations, stored_key, server_key, disabled, failures, locked_until
             FROM users WHERE name = ?",
            [name],
            |row| {
                let verifier = Verifier {
                    salt: row.get(0)?,
                    iterations: row.get(1)?,
                    stored_key: row.get(2)?,
                    server_key: row.get(3)?,
                };
                let locked = self.locks.holds(name, row.get(5)?, row.get(6)?, now);
                Ok((verifier, row.get::<_, bool>(4)? || locked))
            },
        )?;
        let decoy = Verifier::decoy(name, &self.secret);
        Ok(match found {
            // The same salt as ever, so that a locked name looks like itself.
            Some((verifier, true)) => Verifier { stored_key: decoy.stored_key, ..verifier },
            Some((verifier, false)) => verifier,
            None => decoy,
        })
    }

    /// Judges an attempt to sign in as `name`: `proved` is the stored key that a proof or a
    /// password fitted, if it fitted one. Attempts are judged one after the other, each with the
    /// failures before it counted. `from` is for the record; failures of an `address` are limited.
    pub fn judge(
        &self,
        name: &str,
        proved: Option<&[u8; 32]>,
        from: &str,
        address: Option<IpAddr>,
    ) -> Result<(User, Mark)> {
        let now = self.now();
        let mut connection = self.lock();
        self.may_try(name, address)?;
        let judged = self.judged(&mut connection, name, proved, from, now);
        let judged = judged.map_err(|e: rusqlite::Error| file(&self.path, &e))?;
        if judged.is_none() {
            self.throttle.failed(name, address);
        }
        judged.ok_or(Error::Denied)
    }

    /// Whether somebody from an address may try to be `name`, after all that failed before.
    pub fn may_try(&self, name: &str, address: Option<IpAddr>) -> Result<()> {
        if self.throttle.allows(name, address) { Ok(()) } else { Err(Error::Throttled) }
    }

    fn judged(
        &self,
        connection: &mut Connection,
        name: &str,
        proved: Option<&[u8; 32]>,
        from: &str,
        now: i64,
    ) -> rusqlite::Result<Option<(User, Mark)>> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = "SELECT name, role, stored_key, disabled, failures, locked_until
            FROM users WHERE name = ?";
        let found = transaction
            .query_row(sql, [name], |row| {
                let locked = self.locks.holds(name, row.get(4)?, row.get(5)?, now);
                let key: [u8; 32] = row.get(2)?;
                // The password may have been changed since the exchange began.
                let fits = proved.is_some_and(|proved| equal(proved, &key));
                let admitted = fits && !row.get::<_, bool>(3)? && !locked;
                Ok((admitted.then_some((user(row)?, Mark::of(&key))), row.get::<_, i64>(4)?))
            })
            .optional()?;
        let admitted = match found {
            Some((Some(admitted), _)) => {
                let sql = "UPDATE users SET failures = 0, locked_until = 0 WHERE name = ?";
                transaction.execute(sql, [name])?;
                Some(admitted)
            }
            Some((None, failures)) => {
                let failures = failures.saturating_add(1);
                let length = lock::length(failures);
                let until = if length > 0 { now.saturating_add(length) } else { 0 };
                let sql = "UPDATE users SET failures = ?, locked_until = ? WHERE name = ?";
                transaction.execute(sql, params![failures, until, name])?;
                self.locks.begin(name, failures, until);
                None
            }
            None => None,
        };
        // Names come from anyone: the record keeps what can be a name.
        let shown = if is_name(name) { name } else { "(not a name)" };
        let action = if admitted.is_some() { "sign in" } else { "sign in failed" };
        transaction.execute(
            "INSERT INTO audit (time, who, action, detail) VALUES (?, ?, ?, ?)",
            params![now, shown, action, from],
        )?;
        transaction.commit()?;
        Ok(admitted)
    }

    /// Signs in with a password that was sent, as a web page does. Takes some tens of
    /// milliseconds, whoever it is.
    pub fn sign_in(
        &self,
        name: &str,
        password: &str,
        from: &str,
        address: Option<IpAddr>,
    ) -> Result<(User, Mark)> {
        self.may_try(name, address)?;
        let verifier = self.verifier(name)?;
        let proved = verifier.fits(password).then_some(&verifier.stored_key);
        self.judge(name, proved, from, address)
    }
}
