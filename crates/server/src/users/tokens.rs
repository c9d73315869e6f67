//! Tokens: made, shown by what tells them apart, and taken back. The file has their hashes.

use super::{Error, Result, User, Users, from_seconds, hex, random, user};
use demure_report::time;
use rusqlite::params;
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::SystemTime;

/// A token as it is listed: it cannot be used, and cannot be found from this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Tells it apart: the beginning of its hash.
    pub id: String,
    /// Whom it stands for; none if it reads metrics and nothing else.
    pub name: Option<String>,
    /// What it is for.
    pub label: String,
    /// Since when.
    pub created: SystemTime,
    /// Until when.
    pub expires: SystemTime,
    /// Whether it still lets anyone in.
    pub expired: bool,
}

/// On one line.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = self.name.as_deref().unwrap_or("(metrics)");
        let (word, end) = (if self.expired { "ended" } else { "until" }, time(self.expires));
        write!(f, "{}  {whose:20}  {word} {end}  {}", self.id, self.label)
    }
}

impl Users {
    /// A token that signs in as `name` for so many days. It is shown now and never again.
    pub fn add_token(&self, by: &str, name: &str, label: &str, days: u32) -> Result<String> {
        let token = format!("demure_{}", hex(&random()?));
        let hash: [u8; 32] = Sha256::digest(&token).into();
        let detail = format!("{name}, {label}, {days} days");
        let added = self.change(by, "token", &detail, |connection, now| {
            let expires = now.saturating_add(i64::from(days) * 86_400);
            connection.execute(
                "INSERT INTO tokens SELECT ?, name, ?, ?, ? FROM users WHERE name = ?",
                params![hash, label, now, expires, name],
            )
        })?;
        if added == 1 { Ok(token) } else { Err(Error::Unknown(name.to_owned())) }
    }

    /// A token that reads `/metrics` for so many days, and nothing else. It stands for nobody.
    pub fn add_metrics_token(&self, by: &str, label: &str, days: u32) -> Result<String> {
        let token = format!("demure_metrics_{}", hex(&random()?));
        let hash: [u8; 32] = Sha256::digest(&token).into();
        self.change(by, "metrics token", &format!("{label}, {days} days"), |connection, now| {
            let expires = now.saturating_add(i64::from(days) * 86_400);
            connection.execute(
                "INSERT INTO metrics_tokens VALUES (?, ?, ?, ?)",
                params![hash, label, now, expires],
            )
        })?;
        Ok(token)
    }

    /// The tokens of `name`, or all with those for metrics, the oldest first.
    pub fn tokens(&self, name: Option<&str>) -> Result<Vec<Token>> {
        let now = self.now();
        let sql = "SELECT hash, name, label, created, expires FROM tokens
                WHERE ?1 IS NULL OR name = ?1
            UNION ALL SELECT hash, NULL, label, created, expires FROM metrics_tokens
                WHERE ?1 IS NULL
            ORDER BY 4, 1";
        self.rows(sql, [name], |row| {
            let expires: i64 = row.get(4)?;
            Ok(Token {
                id: id(&row.get::<_, [u8; 32]>(0)?),
                name: row.get(1)?,
                label: row.get(2)?,
                created: from_seconds(row.get(3)?),
                expires: from_seconds(expires),
                expired: expires <= now,
            })
        })
    }

    /// Takes back one token of `name`, or one for metrics.
    pub fn revoke_token(&self, by: &str, name: Option<&str>, token: &str) -> Result<()> {
        let known = self.tokens(None)?;
        if !known.iter().any(|known| known.id == token && known.name.as_deref() == name) {
            return Err(Error::UnknownToken(token.to_owned()));
        }
        let detail = format!("{} {token}", name.unwrap_or("metrics token"));
        self.change(by, "revoke", &detail, |connection, _| match name {
            Some(name) => connection.execute(
                "DELETE FROM tokens WHERE name = ? AND lower(hex(substr(hash, 1, 8))) = ?",
                [name, token],
            ),
            None => connection.execute(
                "DELETE FROM metrics_tokens WHERE lower(hex(substr(hash, 1, 8))) = ?",
                [token],
            ),
        })?;
        Ok(())
    }

    /// Takes back all tokens of `name`.
    pub fn revoke_tokens(&self, by: &str, name: &str) -> Result<usize> {
        self.change(by, "revoke", name, |connection, _| {
            connection.execute("DELETE FROM tokens WHERE name = ?", [name])
        })
    }

    /// Who a token stands for.
    pub fn bearer(&self, token: &str) -> Result<User> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        let sql = "SELECT users.name, role FROM tokens JOIN users ON users.name = tokens.name
            WHERE hash = ? AND expires > ? AND NOT disabled";
        self.one(sql, params![hash, self.now()], user)?.ok_or(Error::Denied)
    }

    /// Whether a token may read metrics.
    pub fn reads_metrics(&self, token: &str) -> Result<bool> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        let sql = "SELECT 1 FROM metrics_tokens WHERE hash = ? AND expires > ?";
        let found = self.one(sql, params![hash, self.now()], |row| row.get::<_, i64>(0))?;
        Ok(found.is_some())
    }
}

fn id(hash: &[u8; 32]) -> String {
    hex(&hash[..8])
}

#[cfg(test)]
mod tests;
