//! `cargo xtask test`: everything that must pass before a commit, cheapest first.

use crate::{Failure, cargo, has_subcommand, layers, needs, packaging};
use std::time::Instant;

/// A step that is a cargo command.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    environment: Option<(&'static str, &'static str)>,
    /// The command that reproduces the failure, or fixes it.
    hint: &'static str,
}

const FORMAT: Step = Step {
    name: "format",
    arguments: &["fmt", "--all", "--check"],
    environment: None,
    hint: "`cargo fmt --all` mends it (`rustup component add rustfmt` if there is no such command)",
};

const LINTS: Step = Step {
    name: "lints",
    arguments: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    environment: None,
    hint: "`cargo clippy --workspace --all-targets -- -D warnings` shows it again \
           (`rustup component add clippy` if there is no such command)",
};

const DOCUMENTATION: Step = Step {
    name: "documentation",
    arguments: &["doc", "--workspace", "--no-deps"],
    environment: Some(("RUSTDOCFLAGS", "-D warnings")),
    hint: "`RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps` shows it again",
};

const NEXTEST: Step = Step {
    name: "tests",
    arguments: &["nextest", "run", "--workspace"],
    environment: None,
    hint: "`cargo nextest run -p <crate> <test>` runs one test",
};

const TESTS: Step = Step {
    name: "tests",
    arguments: &["test", "--workspace", "--lib", "--bins", "--tests", "--examples"],
    environment: None,
    hint: "`cargo test -p <crate> <test>` runs one test",
};

// nextest does not run these.
const DOCTESTS: Step = Step {
    name: "doctests",
    arguments: &["test", "--workspace", "--doc"],
    environment: None,
    hint: "`cargo test -p <crate> --doc` runs those of one crate",
};

// Without `advisories`, which needs the network and can fail without a change here.
const DEPENDENCIES: Step = Step {
    name: "dependencies",
    arguments: &["deny", "check", "bans", "licenses", "sources"],
    environment: None,
    hint: "the rules are in deny.toml",
};

/// Runs every step; stops at the first that fails.
pub(crate) fn run() -> Result<(), Failure> {
    let begun = Instant::now();
    FORMAT.run()?;
    timed("layers", layers::run)?;
    timed("packaging", packaging::run)?;
    LINTS.run()?;
    DOCUMENTATION.run()?;
    let mut environment = Vec::new();
    timed("needs", || {
        environment = needs::met()?;
        Ok(())
    })?;
    if has_subcommand("nextest") {
        NEXTEST.run_with(&environment)?;
    } else {
        TESTS.run_with(&environment)?;
    }
    DOCTESTS.run()?;
    if has_subcommand("deny") {
        DEPENDENCIES.run()?;
    } else {
        eprintln!("── dependencies: skipped, cargo-deny is not installed");
    }
    eprintln!("all passed in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        self.run_with(&[])
    }

    fn run_with(&self, environment: &[(&str, String)]) -> Result<(), Failure> {
        timed(self.name, || {
            let mut command = cargo();
            command.args(self.arguments).envs(self.environment);
            command.envs(environment.iter().map(|(name, value)| (name, value)));
            let failed = |how: String| {
                let what = format!("{}: `cargo {}` {how}", self.name, self.arguments.join(" "));
                Failure::new(what, self.hint)
            };
            match command.status() {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(failed(format!("failed ({status})"))),
                Err(error) => Err(failed(format!("did not start: {error}"))),
            }
        })
    }
}

fn timed(name: &str, step: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    eprintln!("── {name}");
    let begun = Instant::now();
    step()?;
    eprintln!("── {name}: passed in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}
