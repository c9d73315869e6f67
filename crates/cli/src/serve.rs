//! `demure serve …`: one budget, any client.

use crate::Failure;
use crate::curator::options::ExpectHead;
use crate::curator::{runtime, warn};
use demure_curator::{Curator, clinic, left_in_words};
use demure_server::pg::Encryption;
use demure_server::tls::Tls;
use demure_server::users::one_time_password;
use demure_server::{Limits, QueryService, Role, Server, StartError, Users, users_path};
use serde_json::json;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Serve a policy to psql, psycopg, JDBC, BI tools, HTTP and a browser, from one budget
///
/// Accounts are added with `demure user add`; there is none from the start. By default only this
/// machine can connect; other addresses need a certificate. With a certificate, connections
/// without TLS are refused. Ctrl-C lets what runs finish.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure serve --demo
  demure user add ana --role analyst --policy clinic.toml
  demure serve clinic.toml
  psql 'host=127.0.0.1 port=5433 user=ana dbname=clinic'
  demure serve clinic.toml --pg 0.0.0.0:5433 --http 0.0.0.0:8642 --tls-cert cert.pem --tls-key key.pem")]
pub(crate) struct Args {
    /// The policy
    #[arg(value_name = "POLICY", required_unless_present = "demo")]
    policy: Option<PathBuf>,
    /// Serve a made-up clinic, with a password that is printed
    #[arg(long, conflicts_with = "policy")]
    demo: bool,
    /// Where the PostgreSQL wire listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5433")]
    pg: SocketAddr,
    /// Where HTTP and the console listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8642")]
    http: SocketAddr,
    /// A certificate with its chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen to other machines without TLS: passwords and answers can be read on the way
    #[arg(long)]
    insecure_remote: bool,
    #[command(flatten)]
    head: ExpectHead,
    /// With a certificate, also take connections of the PostgreSQL wire without TLS; it must
    /// listen at a loopback address
    #[arg(long, requires = "tls_cert")]
    plaintext_on_loopback: bool,
    /// The longest that a statement may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    statement_timeout: u64,
    /// Connections of one kind, from all addresses
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections)]
    connections: usize,
    /// Connections of one kind from one address; behind a proxy all have the proxy's
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections_per_address)]
    connections_per_address: usize,
    /// Connections of the PostgreSQL wire of one account
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections_per_account)]
    connections_per_account: usize,
    /// How long somebody who has signed in may say nothing on the PostgreSQL wire, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().idle_time.as_secs())]
    idle_timeout: u64,
}

impl Args {
    fn limits(&self) -> Limits {
        Limits {
            statement_time: Duration::from_secs(self.statement_timeout.max(1)),
            connections: self.connections.max(1),
            connections_per_address: self.connections_per_address.max(1),
            connections_per_account: self.connections_per_account.max(1),
            idle_time: Duration::from_secs(self.idle_timeout.max(1)),
            ..Limits::default()
        }
    }

    /// Reads the certificate; refuses addresses that others reach without one.
    fn encryption(&self) -> Result<Encryption, Failure> {
        let failed = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
        let encryption = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                demure_ledger::access::check(key).map_err(|e| failed(&e))?;
                let tls = Tls::read(certificate, key).map_err(|e| failed(&e))?;
                match self.plaintext_on_loopback {
                    true => Encryption::Offered(tls),
                    false => Encryption::Required(tls),
                }
            }
            _ => Encryption::None,
        };
        let plain = matches!(encryption, Encryption::None) && !self.insecure_remote;
        if let Some(address) =
            [self.pg, self.http].into_iter().find(|at| plain && !at.ip().is_loopback())
        {
            return Err(Failure::usage(format!(
                "{address} can be reached from other machines, and there is no TLS\n\
                 hint: give --tls-cert and --tls-key, or --insecure-remote if you must"
            )));
        }
        if self.plaintext_on_loopback && !self.pg.ip().is_loopback() {
            return Err(Failure::usage(format!(
                "--plaintext-on-loopback: {} can be reached from other machines\n\
                 hint: listen at a loopback address with --pg 127.0.0.1:5433, or leave it out",
                self.pg
            )));
        }
        Ok(encryption)
    }
}

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let encryption = args.encryption()?;
    // Lives as long as the server.
    let folder;
    let (policy, users, password) = match &args.policy {
        Some(policy) => {
            (policy.clone(), Users::open(&users_path(policy), Arc::new(SystemTime::now))?, None)
        }
        None => {
            let failed = |source| Failure::File { what: "making the clinic".into(), source };
            folder = tempfile::tempdir().map_err(failed)?;
            let policy = clinic::make(folder.path(), 20_000, 2024).map_err(failed)?;
            let (users, password) = (Users::in_memory()?, one_time_password()?);
            users.add("demo", "demo", Role::Steward, &password)?;
            (policy, users, Some(password))
        }
    };
    let runtime = runtime()?;
    let curator = runtime.block_on(Curator::open_expecting(&policy, args.head.anchor()))?;
    warn(&curator);
    let name = policy.file_stem().unwrap_or_default().to_string_lossy();
    let service = {
        // Statements run in this runtime.
        let _within = runtime.enter();
        QueryService::new(Arc::clone(&curator), users, &name, args.limits())
    };
    let secure = !matches!(encryption, Encryption::None);
    let server = Server::bind(Arc::clone(&service), args.pg, args.http, encryption)?;
    let text = opening(&server, &service, &policy, secure, password.as_deref(), json)?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::writing)?;
    server.run(|| {
        note!("stopping; {} statements have half a second to finish", service.running());
    });
    Ok(())
}

/// What is said at the start.
fn opening(
    server: &Server,
    service: &QueryService,
    policy: &Path,
    secure: bool,
    password: Option<&str>,
    json: bool,
) -> Result<String, Failure> {
    let (curator, accounts) = (&service.curator, service.users.list()?.len());
    let (wire, web) = (
        server.pg_address().map_err(Failure::writing)?,
        server.http_address().map_err(Failure::writing)?,
    );
    let scheme = if secure { "https" } else { "http" };
    let tables = curator.tables();
    if json {
        let object = json!({
            "policy": policy.display().to_string(),
            "tables": tables.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "accounts": accounts,
            "database": service.name,
            "postgresql": wire.to_string(),
            "console": format!("{scheme}://{web}/"),
            "password": password,
            "schedule": curator.policy().timing.schedule,
        });
        return Ok(format!("{object}\n"));
    }
    let tables = tables.iter().map(|(name, columns)| format!("{name} ({} columns)", columns.len()));
    let balance = curator.ledger().balance().map_err(demure_curator::Error::from)?;
    let mut text = format!(
        "policy      {policy}\ntables      {tables}\nbudget      left {left}\naccounts    {accounts}\n\
         PostgreSQL  psql \"host={host} port={port} user={user} dbname={name}\"\n\
         console     {scheme}://{web}/\n",
        policy = policy.display(),
        tables = tables.collect::<Vec<_>>().join(", "),
        left = left_in_words(&balance),
        host = wire.ip(),
        port = wire.port(),
        user = password.map_or("NAME", |_| "demo"),
        name = service.name,
    );
    match password {
        Some(password) => {
            text += &format!("sign in     user demo, password {password} (until it stops)\n");
        }
        None if accounts == 0 => {
            text += &format!(
                "note        nobody can sign in yet: demure user add NAME --policy {}\n",
                policy.display()
            );
        }
        None => {}
    }
    if !curator.policy().timing.schedule {
        text +=
            "note        `schedule` is off in the policy: the time of an answer tells of people\n";
    }
    Ok(text + "Ctrl-C stops it.\n")
}

impl From<StartError> for Failure {
    fn from(StartError { what, source }: StartError) -> Self {
        Self::File { what, source }
    }
}
