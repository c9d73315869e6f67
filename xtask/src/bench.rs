//! `cargo xtask bench <name>`: runs a benchmark and its peers on one machine.
//!
//! 1. If `benchmarks/peers/<name>.txt` exists, its requirements are installed in a virtual
//!    environment under the target directory.
//! 2. Each `benchmarks/peers/<name>_*.py` runs in it; its output, a JSON document, goes to
//!    `<target>/bench/<name>_*.json`.
//!    `accuracy` has the peers of `sql`.
//! 3. The workspace is built in release mode, and `benchmarks/src/bin/<name>.rs` runs with those files as
//!    arguments. It prints the ratios, and exits non-zero if one does not meet its claim.

use crate::{Failure, cargo, metadata, program, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Prints the names of the benchmarks.
pub(crate) fn list() -> Result<(), Failure> {
    for name in names()? {
        println!("{name}");
    }
    Ok(())
}

/// Runs the benchmark `name`.
pub(crate) fn run(name: &str) -> Result<(), Failure> {
    let names = names()?;
    if !names.iter().any(|known| known == name) {
        return Err(Failure::new(
            format!("no benchmark `{name}`"),
            match names.is_empty() {
                true => "benchmarks/src/bin holds none yet".to_owned(),
                false => format!("there is: {}", names.join(", ")),
            },
        ));
    }
    let target = metadata::workspace()?.target;
    // The same data and the same peers, of which other numbers are read.
    let results = peers(if name == "accuracy" { "sql" } else { name }, &target)?;
    // The whole workspace, so that shared crates are built once, with one set of features.
    let mut command = cargo();
    command.args(["build", "--release", "--workspace"]);
    succeed(&mut command, "it prints why it did not build")?;
    let binary = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let mut command = program(target.join("release").join(binary));
    command.args(&results);
    succeed(&mut command, "it prints what was too slow")
}

/// The binaries of the benchmarks crate.
fn names() -> Result<Vec<String>, Failure> {
    let mut names = stems(&root().join("benchmarks/src/bin"), "", ".rs")?;
    names.sort();
    Ok(names)
}

/// Runs the peers of `name`, and returns the files with their results.
fn peers(name: &str, target: &Path) -> Result<Vec<PathBuf>, Failure> {
    let folder = root().join("benchmarks/peers");
    let requirements = folder.join(format!("{name}.txt"));
    if !requirements.exists() {
        return Ok(Vec::new());
    }
    let python = environment(&requirements, &target.join("bench-venv"))?;
    let results = target.join("bench");
    fs::create_dir_all(&results).map_err(|error| unwritable(&results, &error))?;

    let mut made = Vec::new();
    let mut scripts = stems(&folder, &format!("{name}_"), ".py")?;
    scripts.sort();
    for script in scripts {
        eprintln!("── peer {script}");
        let mut command = program(&python);
        command.arg(folder.join(format!("{script}.py")));
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| did_not_start(&command, &error))?;
        if !output.status.success() {
            return Err(Failure::new(
                format!("peer {script} failed ({})", output.status),
                "its own message is above",
            ));
        }
        let result = results.join(format!("{script}.json"));
        fs::write(&result, output.stdout).map_err(|error| unwritable(&result, &error))?;
        made.push(result);
    }
    Ok(made)
}

/// Creates a virtual environment with `requirements`, and returns its Python. Does nothing if the same requirements
/// were installed there before.
fn environment(requirements: &Path, place: &Path) -> Result<PathBuf, Failure> {
    let wanted = fs::read_to_string(requirements).map_err(|error| {
        Failure::new(
            format!("{} cannot be read: {error}", requirements.display()),
            "it lists what the peers need, one requirement a line",
        )
    })?;
    let stem = requirements.file_stem().unwrap_or_default();
    let stamp = place.join(stem).with_extension("installed");
    let python =
        if cfg!(windows) { place.join("Scripts/python.exe") } else { place.join("bin/python") };
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }

    // Again even if there is a Python: an unfinished environment has one, without pip.
    eprintln!("── making a virtual environment in {}", place.display());
    let mut command = program("python3");
    command.args(["-m", "venv"]).arg(place);
    succeed(
        &mut command,
        "the peers need Python 3.10 or later with its venv module (Debian: apt install python3-venv)",
    )?;
    eprintln!("── installing {}", requirements.display());
    let mut command = program(&python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command.arg("--requirement").arg(requirements);
    succeed(&mut command, "pip needs the network, or a local index in its own configuration")?;
    fs::write(&stamp, wanted).map_err(|error| unwritable(&stamp, &error))?;
    Ok(python)
}

/// The names in `folder` of the form `prefix…suffix`, without the suffix.
fn stems(folder: &Path, prefix: &str, suffix: &str) -> Result<Vec<String>, Failure> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let read = || -> std::io::Result<Vec<String>> {
        fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    };
    let names = read().map_err(|error| {
        Failure::new(
            format!("{} cannot be read: {error}", folder.display()),
            "benchmarks/README.md says what belongs there",
        )
    })?;
    Ok(names
        .iter()
        .filter(|name| name.starts_with(prefix))
        .filter_map(|name| name.strip_suffix(suffix))
        .map(str::to_owned)
        .collect())
}

fn succeed(command: &mut Command, hint: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("{} failed ({status})", shown(command)), hint)),
        Err(error) => Err(did_not_start(command, &error)),
    }
}

fn did_not_start(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(
        format!("{} did not start: {error}", shown(command)),
        "is it installed, and on the PATH?",
    )
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        format!("{} cannot be written: {error}", path.display()),
        "results and the peers' environment go under the target directory",
    )
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests;
