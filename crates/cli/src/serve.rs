//! `demure serve …`: one budget, any client.

use crate::Failure;
use crate::curator::options::ExpectHead;
use crate::curator::{render, runtime};
use crate::demo;
use demure_curator::Curator;
use demure_server::tls::Tls;
use demure_server::users::one_time_password;
use demure_server::{Desk, Limits, Role, Users, http, pg, users_path};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// What statements under way have to finish in when the server is told to stop.
const LAST_MOMENT: Duration = Duration::from_millis(500);

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

    fn encryption(&self, tls: Option<Tls>) -> pg::Encryption {
        match tls {
            None => pg::Encryption::None,
            Some(tls) if self.plaintext_on_loopback => pg::Encryption::Offered(tls),
            Some(tls) => pg::Encryption::Required(tls),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            demure_ledger::access::check(key).map_err(|e| Failure::usage(e.to_string()))?;
            Some(Tls::read(certificate, key).map_err(|e| Failure::usage(e.to_string()))?)
        }
        _ => None,
    };
    for address in [args.pg, args.http] {
        if !address.ip().is_loopback() && tls.is_none() && !args.insecure_remote {
            return Err(Failure::usage(format!(
                "{address} can be reached from other machines, and there is no TLS\n\
                 hint: give --tls-cert and --tls-key, or --insecure-remote if you must"
            )));
        }
    }
    if args.plaintext_on_loopback && !args.pg.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "--plaintext-on-loopback: {} can be reached from other machines\n\
             hint: listen at a loopback address with --pg 127.0.0.1:5433, or leave it out",
            args.pg
        )));
    }
    // Lives as long as the server.
    let folder;
    let (policy, password) = match &args.policy {
        Some(policy) => (policy.clone(), None),
        None => {
            let failed = |source| Failure::File { what: "making the clinic".into(), source };
            folder = tempfile::tempdir().map_err(failed)?;
            let policy = demo::clinic(folder.path()).map_err(failed)?;
            (policy, Some(one_time_password()?))
        }
    };
    let users = match &password {
        Some(password) => {
            let users = Users::in_memory()?;
            users.add("demo", "demo", Role::Steward, password)?;
            users
        }
        None => Users::open(&users_path(&policy), Arc::new(SystemTime::now))?,
    };
    // A connection needs a descriptor, and many systems give a program 1,024 until it asks for more.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let runtime = runtime()?;
    // Whoever is let in, and whether the server is well, waits for no statement: those who accept
    // connections and check passwords have threads of their own.
    let failed = |source| Failure::File { what: "starting threads".into(), source };
    let front = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("front")
        .enable_all()
        .build()
        .map_err(failed)?;
    runtime.block_on(serve(args, &policy, users, password.as_deref(), tls, &front, out))
}

async fn serve(
    args: &Args,
    policy: &Path,
    users: Users,
    password: Option<&str>,
    tls: Option<Tls>,
    front: &Runtime,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let curator = Curator::open_expecting(policy, args.head.anchor()).await?;
    for warning in &curator.policy().warnings {
        eprintln!("warning: {warning}");
    }
    let name = policy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let accounts = users.list()?.len();
    let desk = Desk::new(Arc::clone(&curator), users, &name, args.limits());
    // A socket belongs to the runtime that it was made in.
    let bind = |address: SocketAddr| async move {
        let bound = front.spawn(TcpListener::bind(address)).await;
        bound
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|source| Failure::File { what: format!("listening at {address}"), source })
    };
    let (wire, web) = (bind(args.pg).await?, bind(args.http).await?);
    let at = |listener: &TcpListener| listener.local_addr().map_err(Failure::writing);
    let (wire_at, web_at) = (at(&wire)?, at(&web)?);
    let scheme = if tls.is_some() { "https" } else { "http" };
    let user = password.map_or("NAME", |_| "demo");
    let mut text = format!(
        "policy      {}\ntables      {}\nbudget      left {}\naccounts    {accounts}\n\
         PostgreSQL  psql \"host={} port={} user={user} dbname={name}\"\n\
         console     {scheme}://{web_at}/\n",
        policy.display(),
        tables(&curator),
        render::left(&curator.ledger().balance().map_err(demure_curator::Error::from)?),
        wire_at.ip(),
        wire_at.port(),
    );
    match password {
        Some(password) => {
            text += &format!("sign in     user demo, password {password} (until it stops)\n")
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
    text += "Ctrl-C stops it.\n";
    let interrupted = interrupted();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::writing)?;

    let (stop, stopped) = watch::channel(false);
    let encryption = args.encryption(tls.clone());
    let wire = front.spawn(pg::serve(wire, encryption, Arc::clone(&desk), stopped.clone()));
    let acceptor = tls.as_ref().map(|tls| tls.acceptor(&[b"http/1.1"]));
    let ending = {
        let mut stopped = stopped.clone();
        async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        }
    };
    let settings = http::HttpSettings::default();
    let web = front.spawn(http::serve(web, acceptor, Arc::clone(&desk), settings, ending));
    interrupted.await;
    let running = desk.running();
    eprintln!("stopping; {running} statements have half a second to finish");
    // Nobody listens any more where they have ended already.
    let _ = stop.send(true);
    // What has not ended by then ends with the runtime; its debits stay spent.
    let _ = tokio::time::timeout(LAST_MOMENT, async { tokio::join!(wire, web) }).await;
    // One whole file, for whoever copies it now. What cannot be done stays in the log.
    let _ = curator.ledger().checkpoint();
    Ok(())
}

/// Ends at Ctrl-C, or when a supervisor asks for it: from when it is called, not from when it is
/// waited for.
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        async move {
            let waits = signals.into_iter().flatten().map(|mut one| {
                Box::pin(async move {
                    one.recv().await;
                })
            });
            let waits: Vec<_> = waits.collect();
            // Where no signal can be waited for, the server runs until it is killed.
            match waits.is_empty() {
                true => std::future::pending().await,
                false => drop(futures::future::select_all(waits).await),
            }
        }
    }
    #[cfg(not(unix))]
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}

fn tables(curator: &Curator) -> String {
    let tables = curator.tables();
    let names = tables.iter().map(|(name, columns)| format!("{name} ({} columns)", columns.len()));
    names.collect::<Vec<_>>().join(", ")
}
