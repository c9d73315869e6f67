//! `cargo xtask bench serve`: `demure serve` under load on loopback, beside PostgreSQL under the same tool.
//!
//! Both are asked by PostgreSQL's own `pgbench`, over TCP, in one run on one machine; its two threads
//! take their share of the same cores. Claims:
//! - 12 clients that ask again as soon as they are answered, each time for a small private count that
//!   nobody asked before, debited durably before a row is read: ≥ 500 a second in the slowest round, and
//!   the slowest answer in a hundred takes ≤ 50 ms in the middle round. The same at 525 a second, as
//!   many as come whatever is answered, is printed without a claim: there one pause of the disk
//!   makes everybody behind it wait;
//!   These answers leave as soon as they are ready (`schedule = "off"`): what is measured is the work. The same load
//!   on schedule, from 160 clients who each wait for their moment, is printed without a claim;
//! - answers that were bought before: ≥ 5,000 a second;
//! - memory is flat: after three more rounds of that load it is at most a tenth above what it was
//!   after the first;
//! - 1,000 connections that say nothing stay open, and those that ask are answered beside them.
//!
//! PostgreSQL does three jobs: the same count of the same rows with one durable row written to a
//! journal; `pgbench`'s own transaction (TPC-B-like); and its own lookup of one row. The ratios to
//! them are printed without a claim: PostgreSQL adds no noise and checks no budget.

#![forbid(unsafe_code)]

use demure_bench::demure;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PASSWORD: &str = "a password of the benchmark";
/// Rows of the table that is counted.
const PEOPLE: u32 = 1_000;
/// Seconds of a round.
const SECONDS: u32 = 20;
/// Rounds of the held load: the first warms up, and the others must not need more memory.
const ROUNDS: usize = 4;
/// Private queries that come a second.
const ARRIVE: u32 = 525;
/// Clients that wait for their moments, most of the time.
const WAITING: u32 = 160;
/// Connections that say nothing.
const IDLE: usize = 1000;

/// A count that nobody asked before: the draw is in its text.
const NEW: &str = "\\set n random(1, 1000000000)\n\
                   SELECT COUNT(*) FROM people WHERE age < 50 + :n / 1000000000.0;\n";
const OLD: &str = "SELECT COUNT(*) FROM people;\n";
/// The same work without privacy: a count, and a durable row that says so.
const PLAIN: &str = "\\set n random(1, 1000000000)\n\
                     INSERT INTO journal SELECT COUNT(*) FROM people WHERE age < 50 + :n / 1000000000.0;\n";

fn main() -> ExitCode {
    demure_bench::exit(run())
}

fn run() -> Fallible<bool> {
    let programs = programs().ok_or(
        "no pgbench and initdb found\nhint: install PostgreSQL with its server and client programs",
    )?;
    let folder = tempfile::tempdir()?;
    let mut table = String::from("id,age\n");
    for i in 0..PEOPLE {
        writeln!(table, "{i},{}", (u64::from(i) * 7919) % 100)?;
    }
    std::fs::write(folder.path().join("people.csv"), table)?;
    let postgres = Postgres::start(&programs, folder.path())?;
    let server = Demure::start(folder.path(), "off")?;
    let scheduled = Demure::start(folder.path(), "on")?;
    let met = measure(&programs, folder.path(), [&server, &scheduled], &postgres)?;
    println!("{}", if met { "every claim met" } else { "a claim was NOT met (marked !)" });
    Ok(met)
}

fn measure(
    programs: &Path,
    folder: &Path,
    [ours, scheduled]: [&Demure; 2],
    theirs: &Postgres,
) -> Fallible<bool> {
    let mut met = true;
    let mut claim = |holds: bool| {
        met &= holds;
        if holds { "" } else { " !" }
    };
    let ask = |port: u16, name: &str, job: Job<'_>, clients: u32, held: Option<u32>| {
        let bench = Bench { programs, folder, port, name, job, clients, held };
        bench.run()
    };
    println!("{:<44}{:>9}{:>10}{:>10}", "load", "a second", "p50, ms", "p99, ms");

    let mut memory = Vec::new();
    let mut held = Vec::new();
    for round in 0..ROUNDS {
        let load = ask(ours.port, "private", Job::Script(NEW), 12, None)?;
        load.tell(&format!("private, 12 clients, round {}", round + 1));
        memory.push(ours.memory()?);
        held.push(load);
    }
    // The first round warms the server up.
    let mut slowest: Vec<f64> = held[1..].iter().map(|load| load.p99).collect();
    slowest.sort_by(f64::total_cmp);
    let slowest = slowest[slowest.len() / 2];
    let fewest = held[1..].iter().map(|load| load.rate).fold(f64::INFINITY, f64::min);
    let arriving = ask(ours.port, "arriving", Job::Script(NEW), 12, Some(ARRIVE))?;
    arriving.tell(&format!("private, {ARRIVE}/s as they come"));
    let waiting = ask(scheduled.port, "scheduled", Job::Script(NEW), WAITING, None)?;
    waiting.tell(&format!("private, on schedule, {WAITING} clients"));
    let cached = ask(ours.port, "cached", Job::Script(OLD), 8, None)?;
    cached.tell("bought before, 8 clients");

    let plain = ask(theirs.port, "plain", Job::Script(PLAIN), 16, None)?;
    plain.tell("PostgreSQL: the count, and a journal row");
    let tpcb = ask(theirs.port, "tpcb", Job::BuiltIn("tpcb-like"), 16, None)?;
    tpcb.tell("PostgreSQL: pgbench's transaction");
    let select = ask(theirs.port, "select", Job::BuiltIn("select-only"), 8, None)?;
    select.tell("PostgreSQL: pgbench's lookup");

    let before = ours.memory()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let idle = runtime.block_on(connections(ours.port))?;
    let beside = ask(ours.port, "beside", Job::Script(OLD), 8, None)?;
    beside.tell(&format!("bought before, beside {} that are idle", idle.len()));
    let each = ours.memory()?.saturating_sub(before) as f64 / IDLE as f64;
    let alive = runtime.block_on(alive(&idle));

    println!();
    println!("private queries held: {fewest:.0}/s (≥ 500){}", claim(fewest >= 500.0));
    println!("the slowest answer in a hundred: {slowest:.1} ms (≤ 50){}", claim(slowest <= 50.0));
    println!("bought before: {:.0}/s (≥ 5,000){}", cached.rate, claim(cached.rate >= 5_000.0));
    let last = *memory.last().unwrap_or(&0) as f64 / memory[0] as f64;
    let told: Vec<String> = memory.iter().map(|k| format!("{:.0}", *k as f64 / 1e3)).collect();
    println!(
        "memory after each round: {} MB, the last {last:.2} × the first (≤ 1.1){}",
        told.join(", "),
        claim(last <= 1.1)
    );
    println!(
        "idle connections that still answer: {alive} of {IDLE}, {each:.0} kB each{}",
        claim(alive == IDLE && beside.rate >= 5_000.0)
    );
    println!(
        "ratios: private to PostgreSQL's same count {:.2}, to its transaction {:.2}; bought before to its lookup {:.2}",
        fewest / plain.rate,
        fewest / tpcb.rate,
        cached.rate / select.rate
    );
    Ok(met)
}

/// What `pgbench` asks.
#[derive(Clone, Copy)]
enum Job<'a> {
    Script(&'a str),
    BuiltIn(&'a str),
}

/// One run of `pgbench`.
struct Bench<'a> {
    programs: &'a Path,
    folder: &'a Path,
    port: u16,
    name: &'a str,
    job: Job<'a>,
    clients: u32,
    held: Option<u32>,
}

/// What came of it.
struct Load {
    rate: f64,
    p50: f64,
    p99: f64,
}

impl Load {
    fn tell(&self, what: &str) {
        println!("{what:<44}{:>9.0}{:>10.1}{:>10.1}", self.rate, self.p50, self.p99);
    }
}

impl Bench<'_> {
    fn run(&self) -> Fallible<Load> {
        let logs = tempfile::tempdir_in(self.folder)?;
        let mut command = Command::new(self.programs.join("pgbench"));
        command.env("PGPASSWORD", PASSWORD).arg("-n").args(["-h", "127.0.0.1", "-U", "bench"]);
        command.args(["-p", &self.port.to_string(), "-c", &self.clients.to_string(), "-j", "2"]);
        command.args(["-T", &SECONDS.to_string(), "-l", "--log-prefix"]);
        command.arg(logs.path().join("log"));
        if let Some(rate) = self.held {
            command.args(["-R", &rate.to_string()]);
        }
        match self.job {
            Job::Script(text) => {
                let script = self.folder.join(format!("{}.sql", self.name));
                std::fs::write(&script, text)?;
                command.arg("-f").arg(script);
            }
            Job::BuiltIn(name) => {
                command.args(["-b", name]);
            }
        }
        command.arg("bench");
        let done = command.stdin(Stdio::null()).output()?;
        let told = String::from_utf8_lossy(&done.stdout);
        let rate = told.lines().find_map(|line| {
            let rest = line.strip_prefix("tps = ")?;
            rest.split_whitespace().next()?.parse::<f64>().ok()
        });
        let (true, Some(rate)) = (done.status.success(), rate) else {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("pgbench ({}) failed:\n{told}{said}", self.name).into());
        };
        // Client, transaction, microseconds since it was due, …
        let mut times: Vec<f64> = Vec::new();
        for entry in std::fs::read_dir(logs.path())? {
            let text = std::fs::read_to_string(entry?.path())?;
            let third = |line: &str| line.split(' ').nth(2)?.parse::<f64>().ok();
            times.extend(text.lines().filter_map(third).map(|us| us / 1000.0));
        }
        times.sort_by(f64::total_cmp);
        let at = |q: f64| times.get((times.len() as f64 * q) as usize).copied();
        let (Some(p50), Some(p99)) = (at(0.5), at(0.99)) else {
            return Err(format!("pgbench ({}) logged nothing", self.name).into());
        };
        Ok(Load { rate, p50, p99 })
    }
}

/// `demure serve` with one analyst and one table.
struct Demure {
    process: Child,
    port: u16,
}

impl Demure {
    fn start(folder: &Path, schedule: &str) -> Fallible<Self> {
        let demure = demure().map_err(|error| error.to_string())?;
        // The database is called as the policy is.
        let folder = folder.join(schedule);
        std::fs::create_dir(&folder)?;
        let policy = folder.join("bench.toml");
        std::fs::write(
            &policy,
            format!(
                "[budget]\nepsilon = 10000000.0\nper_query = 0.5\n\
                 [timing]\nschedule = '{schedule}'\nnew_queries_per_minute = 'off'\n\
                 [tables.people]\nsource = '../people.csv'\nunit = 'id'\nrows = {PEOPLE}\n\
                 [tables.people.columns]\n\
                 id = {{ type = 'integer', nullable = false }}\n\
                 age = {{ type = 'integer', bounds = [0, 110], nullable = false }}\n"
            ),
        )?;
        let mut add = Command::new(&demure)
            .args(["user", "add", "bench", "--role", "analyst", "--password-stdin", "--policy"])
            .arg(&policy)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let line = format!("{PASSWORD}\n");
        add.stdin.take().ok_or("no stdin")?.write_all(line.as_bytes())?;
        if !add.wait()?.success() {
            return Err("the account could not be made".into());
        }
        let mut process = Command::new(&demure)
            .args(["serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            // All of them come from one address, and with one account.
            .args(["--connections-per-address", "2000", "--connections-per-account", "2000"])
            .arg(&policy)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut port = None;
        for line in BufReader::new(out).lines() {
            let line = line?;
            let after = line.split_once("port=").map(|(_, rest)| rest);
            port = after.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
            if port.is_some() {
                break;
            }
        }
        Ok(Self { process, port: port.ok_or("it did not say where it listens")? })
    }

    /// Kilobytes that it has in memory.
    fn memory(&self) -> Fallible<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| "the system does not tell what memory it needs".into())
    }
}

impl Drop for Demure {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A cluster of its own, with the same table and what `pgbench` needs.
struct Postgres {
    process: Child,
    port: u16,
}

impl Postgres {
    fn start(programs: &Path, folder: &Path) -> Fallible<Self> {
        let home = folder.join("postgres");
        std::fs::create_dir(&home)?;
        let root = Command::new("id").arg("-u").output()?.stdout.starts_with(b"0\n");
        if root {
            // The server refuses to run as root; so it runs as its own user, who must get there.
            succeed(Command::new("chown").arg("postgres").arg(&home))?;
            succeed(Command::new("chmod").arg("755").arg(folder))?;
        }
        let program = |name: &str| {
            let path = programs.join(name);
            let mut command =
                Command::new(if root { "setpriv".as_ref() } else { path.as_os_str() });
            if root {
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(path);
            }
            command.current_dir("/");
            command
        };
        let data = home.join("data");
        succeed(
            program("initdb")
                .arg("-D")
                .arg(&data)
                .args(["-A", "trust", "-U", "bench", "-E", "UTF8", "--locale=C"])
                .arg("--no-instructions")
                .stdout(Stdio::null()),
        )?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let process = program("postgres")
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&home)
            .args(["-c", "listen_addresses=127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let running = Self { process, port };
        let place = ["-h", "127.0.0.1", "-p", &port.to_string(), "-U", "bench"].map(str::to_owned);
        let begun = Instant::now();
        while !program("pg_isready").arg("-q").args(&place).status()?.success() {
            if begun.elapsed() > Duration::from_secs(30) {
                return Err("PostgreSQL does not start".into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let psql = |text: &str| {
            let mut command = Command::new(programs.join("psql"));
            command.args(&place).args(["-q", "-v", "ON_ERROR_STOP=1", "-c", text]);
            command.current_dir(folder);
            command
        };
        succeed(psql("CREATE DATABASE bench").arg("postgres"))?;
        succeed(psql("CREATE TABLE people (id int, age int)").arg("bench"))?;
        succeed(psql("CREATE TABLE journal (n bigint)").arg("bench"))?;
        succeed(psql("\\copy people FROM 'people.csv' CSV HEADER").arg("bench"))?;
        let mut fill = Command::new(programs.join("pgbench"));
        succeed(fill.args(&place).args(["-i", "-q", "-s", "10", "bench"]).stderr(Stdio::null()))?;
        Ok(running)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-s", "INT", &pid]).status();
        let _ = self.process.wait();
    }
}

fn succeed(command: &mut Command) -> Fallible<()> {
    match command.status()?.success() {
        true => Ok(()),
        false => Err(format!("{command:?} failed").into()),
    }
}

/// Where PostgreSQL's programs are: where Debian puts the newest, or on the PATH.
fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    places.sort();
    places.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    places.extend(std::env::split_paths(&path));
    places.into_iter().find(|place| ["pgbench", "initdb"].iter().all(|p| place.join(p).is_file()))
}

type Idle = tokio_postgres::Client;

/// Connections that signed in and say nothing, some at a time.
async fn connections(port: u16) -> Fallible<Vec<Idle>> {
    let mut open = Vec::with_capacity(IDLE);
    while open.len() < IDLE {
        let mut some = tokio::task::JoinSet::new();
        for _ in 0..50.min(IDLE - open.len()) {
            let mut config = tokio_postgres::Config::new();
            config.host("127.0.0.1").port(port).user("bench").dbname("bench").password(PASSWORD);
            some.spawn(async move {
                let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                Ok::<_, tokio_postgres::Error>(client)
            });
        }
        while let Some(client) = some.join_next().await {
            open.push(client??);
        }
    }
    Ok(open)
}

/// How many of them answer.
async fn alive(idle: &[Idle]) -> usize {
    let mut alive = 0;
    for client in idle {
        alive += usize::from(client.simple_query(OLD).await.is_ok());
    }
    alive
}
