//! A PostgreSQL server of the test's own: a cluster in a temporary directory, on a
//! Unix socket, gone when the test ends.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running server.
pub(crate) struct Server {
    directory: tempfile::TempDir,
    programs: PathBuf,
    process: Option<Child>,
}

impl Server {
    /// Starts one. `None` if `DEMURE_NO_POSTGRES=1` says that there is to be none.
    pub(crate) fn start() -> Option<Self> {
        if std::env::var("DEMURE_NO_POSTGRES").is_ok_and(|no| no == "1") {
            return None;
        }
        let programs = programs().expect(
            "these tests need PostgreSQL: install it (Debian: `apt install postgresql`), put its \
             `initdb` on the PATH, or set DEMURE_NO_POSTGRES=1 to go without",
        );
        let directory = tempfile::tempdir().unwrap();
        if is_root() {
            // The server refuses to run as root; so it runs as its own user.
            let owned = Command::new("chown").arg("postgres").arg(directory.path()).status();
            assert!(owned.unwrap().success(), "there must be a user `postgres`");
        }
        let mut server = Self { directory, programs, process: None };
        let made = server
            .program("initdb")
            .arg("-D")
            .arg(server.data())
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"])
            .args(["--no-sync", "--no-instructions"])
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb");
        server.run(&[]);
        Some(server)
    }

    /// Starts the server of this cluster, with settings like `fsync=off`.
    pub(crate) fn run(&mut self, settings: &[&str]) {
        self.stop("INT");
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.directory.path());
        for setting in ["listen_addresses=", "max_connections=60"].iter().chain(settings) {
            command.args(["-c", setting]);
        }
        self.process = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let (socket, start) = (self.directory.path().join(".s.PGSQL.5432"), Instant::now());
        while !self.answers(&socket) {
            assert!(start.elapsed() < Duration::from_secs(180), "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the server: `INT` in good order, `QUIT` as if it had crashed.
    pub(crate) fn stop(&mut self, signal: &str) {
        if let Some(mut process) = self.process.take() {
            let pid = process.id().to_string();
            let _ = Command::new("kill").args(["-s", signal, &pid]).status();
            let _ = process.wait();
        }
    }

    pub(crate) fn address(&self) -> String {
        let directory = self.directory.path().display();
        format!("postgres://postgres@/postgres?host={directory}")
    }

    fn answers(&self, socket: &Path) -> bool {
        match UnixStream::connect(socket) {
            Ok(_) => {
                let ready = self
                    .program("pg_isready")
                    .arg("-q")
                    .arg("-h")
                    .arg(socket.parent().unwrap())
                    .status();
                ready.is_ok_and(|ready| ready.success())
            }
            Err(error) => {
                assert!(error.kind() != ErrorKind::PermissionDenied, "{error}");
                false
            }
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A program of PostgreSQL's, as a user that it accepts.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command;
        if is_root() {
            command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        } else {
            command = Command::new(program);
        }
        command.current_dir("/");
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop("INT");
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0\n"))
}

/// Where PostgreSQL's programs are: on the PATH, or where Debian puts the newest.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    places.extend(versions.into_iter().rev());
    // A link on the PATH leads to where the other programs are.
    let real =
        |place: PathBuf| Some(place.join("initdb").canonicalize().ok()?.parent()?.to_owned());
    places.into_iter().find_map(real)
}
