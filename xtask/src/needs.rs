//! What the tests need beside Rust: a PostgreSQL server with psql, and Python's clients.
//!
//! What is there is used. What is missing is installed: PostgreSQL by `apt-get` where that may be
//! done, else from PyPI into the target directory; the clients from PyPI, always there.

use crate::{Failure, metadata};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Clients that talk to the server in tests.
const CLIENTS: [&str; 3] = ["psycopg[binary]>=3.2", "asyncpg>=0.30", "sqlalchemy>=2.0"];

/// Environment for the tests: where what they need is.
pub(crate) fn met() -> Result<Vec<(&'static str, String)>, Failure> {
    let target = metadata::workspace()?.target;
    let venv = target.join("test-venv");
    let python = venv.join("bin/python");
    if !works(&python, "import psycopg, asyncpg, sqlalchemy") {
        eprintln!("needs: Python's clients, into {}", venv.display());
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv), "install Python 3 with venv")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"]).args(CLIENTS);
        run(&mut pip, "a network to PyPI is needed once")?;
    }
    let mut environment = vec![("DEMURE_TEST_PYTHON", python.display().to_string())];
    if let Some(programs) = postgres(&venv, &python)? {
        let path = std::env::var("PATH").unwrap_or_default();
        environment.push(("PATH", format!("{}:{path}", programs.display())));
    }
    Ok(environment)
}

/// Where PostgreSQL is, if it is not on the PATH already.
fn postgres(venv: &Path, python: &Path) -> Result<Option<PathBuf>, Failure> {
    if on_path("psql") && (on_path("initdb") || Path::new("/usr/lib/postgresql").exists()) {
        return Ok(None);
    }
    if is_root() && on_path("apt-get") {
        eprintln!("needs: PostgreSQL, from the system's packages");
        let hint = "install PostgreSQL by hand: its server and psql";
        run(Command::new("apt-get").args(["update", "-qq"]), hint)?;
        let mut install = Command::new("apt-get");
        install
            .args(["install", "-qq", "-y", "postgresql"])
            .env("DEBIAN_FRONTEND", "noninteractive");
        run(&mut install, hint)?;
        return Ok(None);
    }
    if !works(python, "import pgserver") {
        eprintln!("needs: PostgreSQL, into {}", venv.display());
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "pgserver"]);
        run(&mut pip, "install PostgreSQL by hand: its server and psql")?;
    }
    let place = "import os, pgserver; print(os.path.dirname(pgserver.__file__))";
    let told = Command::new(python).args(["-c", place]).output();
    let folder = told.ok().and_then(|told| String::from_utf8(told.stdout).ok());
    Ok(folder.map(|folder| Path::new(folder.trim()).join("pginstall/bin")))
}

fn works(python: &Path, script: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn on_path(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    let told = Command::new("id").arg("-u").output();
    told.is_ok_and(|told| told.stdout.starts_with(b"0"))
}

fn run(command: &mut Command, hint: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::new(format!("{command:?} failed"), hint.to_owned())),
    }
}
