//! The place of a ledger, as a policy may write it: a file, or a PostgreSQL server without the password.

use crate::error::{Error, Result};
use postgres::Config;
use postgres::config::Host;
use std::net::IpAddr;
use std::path::PathBuf;

/// Where a ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A SQLite file on a local disk.
    File(PathBuf),
    /// A PostgreSQL server.
    Server(Address),
}

/// The address of a PostgreSQL server, which may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Whether a text is meant to be an address.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
    }

    /// Reads `postgres://user:password@host:port/database`.
    pub fn parse(text: &str) -> Result<Self> {
        config(text).map(|_| Self(text.to_owned()))
    }

    /// The address with the password, for connecting.
    pub(crate) fn url(&self) -> &str {
        &self.0
    }

    /// Whether it holds a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        config(&self.0).is_ok_and(|config| config.get_password().is_some())
    }

    /// The server, the database and the user, as a policy may write them.
    pub fn without_password(&self) -> Result<String> {
        let config = config(&self.0)?;
        let user = config.get_user().map(|user| format!("{}@", encoded(user))).unwrap_or_default();
        let (hosts, database, addresses) = parts(&config);
        let database = encoded(&database);
        // The folder of a socket is clearer as a parameter.
        if let [(folder, port)] = hosts.as_slice()
            && folder.starts_with('/')
        {
            let folder = encoded(folder);
            return Ok(format!("postgres://{user}/{database}?host={folder}&port={port}"));
        }
        let each = hosts.iter().map(|(host, port)| match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{}:{port}", encoded(host).replace('/', "%2F")),
        });
        let each = each.collect::<Vec<_>>().join(",");
        let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        let addresses = match addresses.is_empty() {
            true => String::new(),
            false => format!("?hostaddr={}", encoded(&addresses.join(",")).replace("%2C", ",")),
        };
        Ok(format!("postgres://{user}{each}/{database}{addresses}"))
    }

    /// Whether both are the same database on the same server. Users and passwords may differ.
    pub fn same_database(&self, other: &Self) -> Result<bool> {
        Ok(parts(&config(&self.0)?) == parts(&config(&other.0)?))
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.without_password().unwrap_or_default())
    }
}

/// Parses an address. The parser's error may quote the password.
pub(crate) fn config(text: &str) -> Result<Config> {
    if !Address::is_one(text) {
        return Err(Error::BadAddress);
    }
    text.parse().map_err(|_| Error::BadAddress)
}

/// Hosts with their ports, the database, and the addresses given for the hosts' names.
fn parts(config: &Config) -> (Vec<(String, u16)>, String, Vec<IpAddr>) {
    const PORT: u16 = 5432;
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(PORT);
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let name = match host {
            Host::Tcp(name) => name.to_lowercase(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        (name, port(at))
    });
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    (hosts.collect(), database.to_owned(), config.get_hostaddrs().to_vec())
}

/// Percent-encodes all but the characters that an address may contain.
fn encoded(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    let each = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    text.bytes().map(each).collect()
}

#[cfg(test)]
mod tests;
