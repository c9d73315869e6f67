//! A statement ends with its time, with its client and with the server: within a second nobody works
//! on it any more.

#![cfg(target_os = "linux")]

use crate::run;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PASSWORD: &str = "correct horse battery";

/// Minutes of work: 16⁴ rows of each of 3,000 people.
const LONG: &str = "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id JOIN t c ON b.id = c.id \
    JOIN t d ON c.id = d.id WHERE a.x + b.x + c.x + d.x > ";

struct Server {
    child: Child,
    wire: u16,
    web: u16,
    token: String,
}

impl Server {
    fn start(folder: &Path, timeout: &str) -> Self {
        let lines = (0..48_000).map(|i| format!("{},{}\n", i / 16, i % 16));
        let table = format!("id,x\n{}", lines.collect::<String>());
        std::fs::write(folder.join("t.csv"), table).unwrap();
        let policy = "[budget]\nepsilon = 100\n[tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n\
            [tables.t.columns]\nid = { type = \"integer\" }\n\
            x = { type = \"integer\", bounds = [0, 20] }\n";
        let file = folder.join("long.toml");
        std::fs::write(&file, policy).unwrap();
        let mut add = Command::new(env!("CARGO_BIN_EXE_demure"))
            .args(["user", "add", "ana", "--role", "analyst", "--password-stdin", "--policy"])
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        writeln!(add.stdin.take().unwrap(), "{PASSWORD}").unwrap();
        assert!(add.wait().unwrap().success());
        let made = run(&["user", "token", "ana", "--policy", file.to_str().unwrap()]);
        let token = made.out.split_whitespace().find(|word| word.starts_with("demure_"));
        let token = token.unwrap_or_else(|| panic!("{} {}", made.out, made.err)).to_owned();
        let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
            .arg("serve")
            .arg(&file)
            .args(["--pg", "127.0.0.1:0", "--http", "127.0.0.1:0", "--statement-timeout", timeout])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut told = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            told += &(line.unwrap() + "\n");
            if told.contains("Ctrl-C") {
                break;
            }
        }
        let after = |text: &str| -> u16 {
            let rest = told.split(text).nth(1).unwrap();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap()
        };
        Self { wire: after("port="), web: after("http://127.0.0.1:"), token, child }
    }

    /// Somebody who asks for a long time, over the wire or over HTTP.
    fn client(&self, wire: bool, least: u32) -> Child {
        let sql = format!("{LONG}{least}");
        let mut command = match wire {
            true => {
                let mut psql = Command::new("psql");
                let port = self.wire;
                psql.arg(format!("host=127.0.0.1 port={port} user=ana dbname=long"));
                psql.env("PGPASSWORD", PASSWORD).args(["-X", "-c", &sql]);
                psql
            }
            false => {
                let script = format!(
                    "import urllib.request as r, json\n\
                     u='http://127.0.0.1:{}/api/query'\n\
                     h={{'Content-Type':'application/json','Authorization':'Bearer {}'}}\n\
                     print(r.urlopen(r.Request(u, json.dumps({{'sql':{sql:?}}}).encode(), h)).read())",
                    self.web, self.token
                );
                let mut python = Command::new("python3");
                python.args(["-c", &script]);
                python
            }
        };
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Its processor time, in hundredths of a second.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    fn works(&self) -> bool {
        let before = self.ticks();
        std::thread::sleep(Duration::from_secs(2));
        // On a busy machine it gets a part of the processor alone.
        self.ticks() - before >= 6
    }

    /// Waits until it works on nothing, however long other programs keep it waiting: at most a second of two
    /// processors. Otherwise it works for minutes.
    fn comes_to_rest(&self) -> bool {
        let (begun, before) = (Instant::now(), self.ticks());
        while self.works() {
            if begun.elapsed() > Duration::from_secs(40) {
                return false;
            }
        }
        self.ticks() - before <= 200
    }

    /// Waits until it works on something.
    fn at_work(&self) {
        let begun = Instant::now();
        while !self.works() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody asks");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn work_ends_with_its_client_its_time_and_the_server() {
    if std::env::var("DEMURE_NO_CLIENTS").is_ok_and(|no| no == "1") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), "300");
    for (least, wire) in [(1, true), (2, false)] {
        let mut client = server.client(wire, least);
        server.at_work();
        client.kill().unwrap();
        client.wait().unwrap();
        assert!(
            server.comes_to_rest(),
            "it works for a client that has left; over the wire: {wire}"
        );
    }
    let mut client = server.client(true, 3);
    server.at_work();
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(1500));
    assert!(server.child.try_wait().unwrap().is_some(), "it runs on after SIGTERM");
    client.wait().unwrap();
    // What was debited stays spent, and the ledger is whole.
    let policy = folder.path().join("long.toml");
    let verified = run(&["budget", "verify", policy.to_str().unwrap()]);
    assert_eq!(verified.code, Some(0), "{}", verified.err);

    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "3");
    let mut client = server.client(true, 4);
    server.at_work();
    assert_eq!(client.wait().unwrap().code(), Some(1), "the statement's time is over");
    assert!(server.comes_to_rest(), "it works on a statement whose time is over");
}
