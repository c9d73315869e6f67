//! What the tests need besides Rust: a PostgreSQL server with psql, Python's and Java's clients, and a browser.
//!
//! Installed programs are used, and missing ones are installed: PostgreSQL by `apt-get` if possible, otherwise from
//! PyPI into the target directory; Python's clients always from PyPI into the target directory; the JDBC driver and
//! Chromium by `apt-get`. If those two are not available, the two tests that use them are left out, with a message.

use crate::{Failure, metadata};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Clients that talk to the server in tests, and the driver of the browser.
const CLIENTS: [&str; 4] =
    ["psycopg[binary]>=3.2", "asyncpg>=0.30", "sqlalchemy>=2.0", "playwright>=1.50"];

/// Where Debian puts the JDBC driver.
const DRIVER: &str = "/usr/share/java/postgresql.jar";

/// The environment for the tests, with the places of what they need.
pub(crate) fn met() -> Result<Vec<(&'static str, String)>, Failure> {
    let target = metadata::workspace()?.target;
    let venv = target.join("test-venv");
    let python = venv.join("bin/python");
    if !works(&python, "import psycopg, asyncpg, sqlalchemy, playwright") {
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
    if let Some(chromium) = chromium() {
        environment.push(("DEMURE_TEST_CHROMIUM", chromium));
    }
    if java() {
        environment.push(("DEMURE_TEST_JDBC", DRIVER.to_owned()));
    }
    Ok(environment)
}

/// The place of PostgreSQL, if it is not on the PATH already.
fn postgres(venv: &Path, python: &Path) -> Result<Option<PathBuf>, Failure> {
    if on_path("psql") && (on_path("initdb") || Path::new("/usr/lib/postgresql").exists()) {
        return Ok(None);
    }
    if may_install() {
        eprintln!("needs: PostgreSQL, from the system's packages");
        install(&["postgresql"], "install PostgreSQL by hand: its server and psql")?;
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

/// The name of a browser that runs here, if there is one or one can be installed.
fn chromium() -> Option<String> {
    let runs = || {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let place = names.into_iter().find_map(place)?;
        let mut asked = Command::new(&place);
        asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success()).then(|| place.display().to_string())
    };
    if runs().is_none() && may_install() {
        eprintln!("needs: Chromium, from the system's packages");
        left_out(install(&["chromium"], ""));
    }
    let found = runs();
    if found.is_none() {
        eprintln!("needs: no Chromium: the console is not driven");
    }
    found
}

/// Whether there is a Java that runs a source file, and the JDBC driver.
fn java() -> bool {
    let there = || Path::new(DRIVER).is_file() && on_path("java") && on_path("javac");
    if !there() && may_install() {
        eprintln!("needs: Java and PostgreSQL's driver for it, from the system's packages");
        left_out(install(&["default-jdk-headless", "libpostgresql-jdbc-java"], ""));
    }
    if !there() {
        eprintln!("needs: no JDBC driver: its client is not tried");
    }
    there()
}

/// Whether the system's packages can be installed.
fn may_install() -> bool {
    is_root() && on_path("apt-get")
}

fn install(packages: &[&str], hint: &str) -> Result<(), Failure> {
    run(Command::new("apt-get").args(["update", "-qq"]), hint)?;
    let mut install = Command::new("apt-get");
    install
        .args(["install", "-qq", "-y", "--no-install-recommends"])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null());
    run(&mut install, hint)
}

/// Reports why something optional could not be installed.
fn left_out(installed: Result<(), Failure>) {
    if let Err(why) = installed {
        eprintln!("needs: {}", why.what);
    }
}

fn works(python: &Path, script: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The path of a program.
fn place(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn on_path(program: &str) -> bool {
    place(program).is_some()
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
