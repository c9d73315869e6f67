//! `demure serve`, `demure user` and `demure budget`, with real clients.
//!
//! `psql` and Python's clients are needed: `cargo xtask test` installs them, and says where they
//! are (`DEMURE_TEST_PYTHON`). `DEMURE_NO_CLIENTS=1` goes without.

use crate::{Run, run};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PASSWORD: &str = "correct horse battery";
/// In the table and never in an answer.
const CANARY: &str = "77231477";

/// A policy, its table and two accounts.
fn clinic(epsilon: f64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "id,age,ward,paid\n".to_owned();
    for i in 0..400 {
        let ward = ["north", "south", "east"][i % 3];
        table += &format!("{},{},{ward},{}.25\n", 77_231_000 + i, 20 + i % 60, i % 90);
    }
    table += &format!("{CANARY},33,north,12.5\n");
    std::fs::write(folder.path().join("stays.csv"), table).unwrap();
    let policy = format!(
        "[budget]\nepsilon = {epsilon:?}\nper_query = 0.5\n[tables.stays]\nsource = \"stays.csv\"\n\
         unit = \"id\"\n[tables.stays.columns]\nage = {{ type = \"integer\", bounds = [0, 110] }}\n\
         ward = {{ values = [\"north\", \"south\", \"east\"], nullable = false }}\n\
         paid = {{ type = \"real\", bounds = [0, 100], grid = 0.25 }}\n"
    );
    let file = folder.path().join("clinic.toml");
    std::fs::write(&file, policy).unwrap();
    for (name, role) in [("ana", "analyst"), ("sam", "steward")] {
        let added = with_input(&["user", "add", name, "--role", role, "--password-stdin"], &file);
        assert_eq!(added.code, Some(0), "{}", added.err);
    }
    folder
}

fn with_input(args: &[&str], policy: &Path) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(args)
        .arg("--policy")
        .arg(policy)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{PASSWORD}\n").as_bytes()).unwrap();
    Run::of(child.wait_with_output().unwrap())
}

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(policy: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
            .arg("serve")
            .arg(policy)
            .args(["--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut told = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            told += &line;
            told.push('\n');
            if line.starts_with("Ctrl-C") {
                break;
            }
        }
        let port = told.split("port=").nth(1).and_then(|rest| rest.split(' ').next());
        let port = port.unwrap_or_else(|| panic!("it did not start: {told}")).parse().unwrap();
        Self { child, port }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    fn psql(&self, user: &str, password: &str, options: &str, statements: &[&str]) -> Run {
        let mut command = Command::new("psql");
        command
            .arg(format!(
                "host=127.0.0.1 port={} user={user} dbname=clinic connect_timeout=20 {options}",
                self.port
            ))
            .env("PGPASSWORD", password)
            .args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        for statement in statements {
            command.args(["-c", statement]);
        }
        Run::of(command.output().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn without_clients() -> bool {
    std::env::var("DEMURE_NO_CLIENTS").is_ok_and(|no| no == "1")
}

fn policy(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("clinic.toml")
}

#[test]
fn psql_asks_is_told_the_cost_and_is_refused() {
    if without_clients() {
        return;
    }
    let folder = clinic(1.2);
    let server = Server::start(&policy(&folder), &[]);
    let ask = |statements: &[&str]| server.psql("ana", PASSWORD, "", statements);
    let answered = ask(&["SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward ORDER BY ward"]);
    assert_eq!(answered.code, Some(0), "{}", answered.err);
    assert!(answered.out.starts_with("east|") && answered.out.lines().count() == 3);
    assert!(answered.err.contains("NOTICE:  cost ε 0.5; left ε 0.7"), "{}", answered.err);
    // Asked again it is the same, and free.
    let again = ask(&["SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward ORDER BY ward"]);
    assert_eq!(again.out, answered.out);
    assert!(again.err.contains("bought before"), "{}", again.err);
    for (statement, expected) in [
        ("SELECT * FROM stays", "would show rows"),
        ("COPY stays TO '/tmp/out.csv'", "ERROR"),
        ("INSERT INTO stays VALUES (1)", "ERROR"),
        ("CREATE TABLE x (a INT)", "ERROR"),
        ("DROP TABLE stays", "ERROR"),
        ("SELECT COUNT(*) FROM 'stays.csv'", "ERROR"),
        ("SELECT pg_read_file('stays.csv')", "ERROR"),
        ("SET datafusion.execution.batch_size = 1", "ERROR"),
        ("SELECT id FROM stays WHERE id = 77231477", "would show rows"),
        ("SELECT COUNT(*) FROM stays; DROP TABLE stays", "ERROR"),
    ] {
        let refused = ask(&[statement]);
        assert_ne!(refused.code, Some(0), "{statement}");
        assert!(refused.err.contains(expected), "{statement}: {}", refused.err);
        assert!(!refused.err.contains("77231477") || statement.contains("77231477"));
    }
    let over = ask(&["SET demure.epsilon = 5", "SELECT AVG(paid) FROM stays"]);
    assert!(over.err.contains("the budget has") && over.err.contains("nothing was spent"));
    // Twice 0.5 is within 1.2 (the count before DROP was answered); the third time is not.
    assert_eq!(ask(&["SELECT COUNT(*) FROM stays"]).code, Some(0), "bought before");
    assert_eq!(ask(&["SELECT SUM(age) FROM stays"]).code, Some(1), "0.5 of 0.2 left");
}

#[test]
fn whoever_is_not_let_in_asks_nothing() {
    if without_clients() {
        return;
    }
    let folder = clinic(10.0);
    let server = Server::start(&policy(&folder), &[]);
    let attempt = |user: &str, password: &str| {
        server.psql(user, password, "", &["SELECT COUNT(*) FROM stays"])
    };
    for (user, password) in [("ana", "wrong password"), ("eve", PASSWORD), ("ana", "")] {
        let refused = attempt(user, password);
        assert_eq!(refused.code, Some(2), "{user}");
        assert!(refused.out.is_empty());
    }
    // Five wrong ones in a row lock even the right one out.
    for _ in 0..5 {
        attempt("sam", "wrong password");
    }
    let locked = attempt("sam", PASSWORD);
    assert!(locked.err.contains("password authentication failed"), "{}", locked.err);
    assert_eq!(attempt("ana", PASSWORD).code, Some(0), "others are not locked");
    // Disabled while the server runs.
    let policy = policy(&folder);
    let disabled = run(&["user", "disable", "ana", "--policy", policy.to_str().unwrap()]);
    assert_eq!(disabled.code, Some(0));
    assert_eq!(attempt("ana", PASSWORD).code, Some(2));
    let other = server.psql("ana", PASSWORD, "dbname=other", &["SELECT 1"]);
    assert_eq!(other.code, Some(2));
    let audit = run(&["user", "audit", "--policy", policy.to_str().unwrap(), "--json"]);
    assert!(audit.out.contains("sign in failed") && audit.out.contains("disable"));
}

/// A client that is told where the server is, and finds everything as it should be.
fn succeeds(client: &mut Command, server: &Server) {
    let ran = client.args([&server.port.to_string(), PASSWORD]).output().map(Run::of).unwrap();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(!ran.out.contains(CANARY), "{}", ran.out);
}

#[test]
fn clients_in_python() {
    if without_clients() {
        return;
    }
    let python = std::env::var("DEMURE_TEST_PYTHON").unwrap_or_else(|_| {
        panic!("`cargo xtask test` installs the clients; or set DEMURE_NO_CLIENTS=1 to go without")
    });
    let folder = clinic(1000.0);
    let server = Server::start(&policy(&folder), &[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients.py");
    succeeds(Command::new(python).arg(script), &server);
}

#[test]
fn clients_in_java() {
    // `cargo xtask test` says where the driver is, or that it cannot be had.
    let (false, Ok(driver)) = (without_clients(), std::env::var("DEMURE_TEST_JDBC")) else {
        eprintln!("left out: no JDBC driver");
        return;
    };
    let folder = clinic(100_000.0);
    let server = Server::start(&policy(&folder), &[]);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/Jdbc.java");
    succeeds(Command::new("java").args(["-cp", &driver]).arg(program), &server);
}

#[test]
fn other_machines_need_tls_and_tls_works() {
    let folder = clinic(10.0);
    let policy = policy(&folder);
    let name = policy.to_str().unwrap();
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    let (cert, key) = (tls.join("cert.pem"), policy.with_file_name("key.pem"));
    std::fs::copy(tls.join("key.pem"), &key).unwrap();
    let chmod = |mode: u32| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&key, mode).unwrap();
    };
    for mode in [0o644, 0o640] {
        chmod(mode);
        let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
        let exposed = run(&["serve", name, "--tls-cert", cert, "--tls-key", key]);
        assert_eq!(exposed.code, Some(2));
        assert!(exposed.err.contains("chmod 600"), "{}", exposed.err);
    }
    chmod(0o600);
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let open = run(&["serve", name, "--pg", "0.0.0.0:0", "--http", "127.0.0.1:0"]);
    assert_eq!(open.code, Some(2));
    assert!(open.err.contains("there is no TLS"), "{}", open.err);
    // What cannot be used is not replaced by nothing.
    for (cert, key) in [(key, key), (cert, cert), (cert, "no/such.pem"), (name, key)] {
        let bad = run(&["serve", name, "--tls-cert", cert, "--tls-key", key]);
        assert_eq!(bad.code, Some(2), "{cert} {key}: {}", bad.err);
    }
    if without_clients() {
        return;
    }
    let server = Server::start(&policy, &["--tls-cert", cert, "--tls-key", key]);
    for options in [
        format!("sslmode=verify-full sslrootcert={cert} channel_binding=require"),
        "sslmode=require channel_binding=disable".to_owned(),
    ] {
        let asked = server.psql("ana", PASSWORD, &options, &["SELECT COUNT(*) FROM stays"]);
        assert_eq!(asked.code, Some(0), "{options}: {}", asked.err);
    }
    let plain = server.psql("ana", PASSWORD, "sslmode=disable", &["SELECT 1"]);
    assert_eq!(plain.code, Some(2));
    assert!(plain.err.contains("this server needs TLS"), "{}", plain.err);
    // Unless it is allowed by name, on this machine alone.
    let both = ["--tls-cert", cert, "--tls-key", key, "--plaintext-on-loopback"];
    let open = run(&[&["serve", name, "--pg", "0.0.0.0:0"], &both[..]].concat());
    assert_eq!(open.code, Some(2));
    assert!(open.err.contains("--plaintext-on-loopback"), "{}", open.err);
    let server = Server::start(&policy, &both);
    for options in ["sslmode=disable", "sslmode=require"] {
        let asked = server.psql("ana", PASSWORD, options, &["SELECT 1"]);
        assert_eq!(asked.code, Some(0), "{options}: {}", asked.err);
    }
}

#[test]
fn tokens_are_listed_and_taken_back() {
    let folder = clinic(10.0);
    let policy = policy(&folder);
    let name = policy.to_str().unwrap();
    let user = |args: &[&str]| {
        let ran = run(&[&["user"], args, &["--policy", name]].concat());
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        ran.out
    };
    let token = user(&["token", "ana", "--label", "notebook"]);
    let metrics = user(&["metrics-token", "--label", "prometheus"]);
    let listed: Value = serde_json::from_str(&user(&["tokens", "--json"])).unwrap();
    let listed = listed["tokens"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 2);
    let shown = user(&["tokens"]);
    assert!(shown.contains("notebook") && shown.contains("(metrics)"), "{shown}");
    assert!(!shown.contains(token.trim()) && !shown.contains(metrics.trim()));
    let id = |label: &str| {
        let found = listed.iter().find(|token| token["label"] == label).unwrap();
        found["id"].as_str().unwrap().to_owned()
    };
    let other = run(&["user", "revoke", "sam", &id("notebook"), "--policy", name]);
    assert_eq!(other.code, Some(2), "it is not sam's");
    user(&["revoke", "ana", &id("notebook")]);
    user(&["metrics-token", "--revoke", &id("prometheus")]);
    assert!(user(&["tokens"]).contains("there are no tokens"));
    // Another password ends tokens.
    user(&["token", "ana"]);
    let changed = with_input(&["user", "password", "ana", "--password-stdin"], &policy);
    assert_eq!(changed.code, Some(0), "{}", changed.err);
    assert!(user(&["tokens", "ana"]).contains("there are no tokens"));
}

#[test]
fn it_stops_when_it_is_told_to() {
    let folder = clinic(10.0);
    for signal in ["INT", "TERM"] {
        let mut server = Server::start(&policy(&folder), &[]);
        server.signal(signal);
        let begun = Instant::now();
        let code = loop {
            if let Some(status) = server.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(code, Some(0), "{signal}");
    }
}

#[test]
fn killed_under_load_nothing_is_lost() {
    if without_clients() {
        return;
    }
    let kills = std::env::var("DEMURE_KILLS").ok().and_then(|k| k.parse().ok()).unwrap_or(4);
    let folder = clinic(1e6);
    let policy = policy(&folder);
    let mut received = 0;
    for round in 0..kills {
        let mut server = Server::start(&policy, &[]);
        let head = policy.with_extension("ledger-head");
        let before = std::fs::read(&head).unwrap();
        let mut clients: Vec<Child> = (0..4)
            .map(|client| {
                let mut statements = String::new();
                for i in 0..400 {
                    // Each a question of its own: nothing is answered from before.
                    let n = (round * 4 + client) * 400 + i;
                    statements += &format!(
                        "SELECT 'got', COUNT(*) FROM stays WHERE paid < 50 + {n}.0 / 1000000;\n"
                    );
                }
                let mut child = Command::new("psql")
                    .arg(format!("host=127.0.0.1 port={} user=ana dbname=clinic", server.port))
                    .env("PGPASSWORD", PASSWORD)
                    .args(["-X", "-A", "-t", "-q"])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                // Its reader takes them as it goes; it may end before it has read all.
                let mut input = child.stdin.take().unwrap();
                std::thread::spawn(move || input.write_all(statements.as_bytes()));
                child
            })
            .collect();
        // On a busy machine signing in alone takes longer: until something is debited.
        let begun = Instant::now();
        while std::fs::read(&head).unwrap() == before && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(2000 + 137 * round as u64 % 400));
        server.signal("KILL");
        server.child.wait().unwrap();
        for client in &mut clients {
            let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
            received += std::iter::from_fn(|| lines.next()).filter(|l| l.is_ok()).count();
            client.wait().unwrap();
        }
    }
    assert!(received > 8, "too few answers to say anything: {received}");
    let name = policy.to_str().unwrap();
    let verified = run(&["budget", "verify", name, "--json"]);
    assert_eq!(verified.code, Some(0), "{}", verified.err);
    let verified: Value = serde_json::from_str(&verified.out).unwrap();
    let (reserved, settled) =
        (verified["reserved"].as_u64().unwrap(), verified["answered"].as_u64().unwrap());
    assert!(settled >= received as u64 && reserved >= settled, "{received} {settled} {reserved}");
    let spent = verified["spent"]["epsilon"].as_f64().unwrap();
    assert!(spent >= 0.499 * received as f64, "{spent} for {received}");
}

#[test]
fn budgets_are_shown_shared_out_and_frozen() {
    let folder = clinic(4.0);
    let policy = policy(&folder);
    let name = policy.to_str().unwrap();
    let json = |args: &[&str]| -> Value {
        let ran = run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    };
    let shown = json(&["budget", "show", name, "--json"]);
    assert_eq!(shown["left"]["epsilon"], 4.0);
    json(&["budget", "grant", name, "ana", "--epsilon", "0.6", "--json"]);
    let granted = json(&[
        "budget",
        "grant",
        name,
        "@ward",
        "--epsilon",
        "2",
        "--members",
        "ana,bob",
        "--json",
    ]);
    assert_eq!(granted["limits"]["ana"]["granted"]["epsilon"], 0.6);
    assert_eq!(granted["groups"]["@ward"][1], "bob");
    let ask = |sql: &str| run(&["query", name, sql, "--as", "ana", "--epsilon", "0.5"]);
    assert_eq!(ask("SELECT COUNT(*) FROM stays").code, Some(0));
    let over = ask("SELECT AVG(paid) FROM stays");
    assert_eq!(over.code, Some(1));
    assert!(over.err.contains("the limit of ana has ε 0.1 left"), "{}", over.err);
    let spent = json(&["budget", "show", name, "--json"]);
    let of_group = spent["limits"]["@ward"]["spent"]["epsilon"].as_f64().unwrap();
    assert!((of_group - 0.5).abs() < 1e-9, "{of_group}");
    json(&["budget", "grant", name, "ana", "--revoke", "--json"]);
    json(&["budget", "freeze", name, "--why", "audit", "--json"]);
    let frozen = ask("SELECT AVG(paid) FROM stays");
    assert_eq!(frozen.code, Some(1));
    assert!(frozen.err.contains("frozen") && frozen.err.contains("audit"), "{}", frozen.err);
    assert_eq!(ask("SELECT COUNT(*) FROM stays").code, Some(0), "what was bought stays free");
    json(&["budget", "unfreeze", name, "--json"]);
    json(&["budget", "period", name, "--epsilon", "0.4", "--json"]);
    assert!(ask("SELECT AVG(paid) FROM stays").err.contains("the period has ε 0.4 left"));
    json(&["budget", "window", name, "--none", "--json"]);
    let plot = folder.path().join("spent.svg");
    let log = json(&["budget", "log", name, "--json", "--plot", plot.to_str().unwrap()]);
    let kinds: Vec<&str> =
        log["entries"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    for kind in ["limit", "grant", "member", "reserve", "settle", "freeze", "thaw", "window"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert!(std::fs::read_to_string(plot).unwrap().contains("class=\"c0 line\""));
    assert_eq!(json(&["budget", "verify", name, "--json"])["verified"], true);
}
