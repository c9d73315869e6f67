//! `demure user …`: who may ask the server.

use crate::Failure;
use crate::curator::user as me;
use clap::Subcommand;
use demure_report::time;
use demure_server::{Role, Users, json, users_path};
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// Add, list and disable those who may ask a server
///
/// Accounts are kept in a file beside the policy (clinic.toml: clinic.users). Passwords are not:
/// only SCRAM verifiers, which let nobody in. A server that runs sees every change at once.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure user add ana --role analyst --policy clinic.toml
  echo 'correct horse battery' | demure user add ana --role analyst --policy clinic.toml --password-stdin
  demure user list --policy clinic.toml
  demure user token ana --days 30 --policy clinic.toml
  demure user tokens --policy clinic.toml
  demure user revoke ana 0123456789abcdef --policy clinic.toml
  demure user metrics-token --label prometheus --days 365 --policy clinic.toml")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Add an account
    Add {
        /// Letters, digits, '.', '_' and '-'
        name: String,
        /// analyst: asks; steward: also sees the ledger and grants
        #[arg(long, value_parser = ["analyst", "steward"], default_value = "analyst")]
        role: String,
        #[command(flatten)]
        password: Password,
        #[command(flatten)]
        at: At,
    },
    /// Give an account another password, and unlock it; its sessions and tokens end
    Password {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        password: Password,
    },
    /// List the accounts
    List(Listed),
    /// Let nobody sign in as NAME any more
    Disable(AccountArgs),
    /// Let NAME sign in again
    Enable(AccountArgs),
    /// Make a token for HTTP; it is shown once
    Token {
        /// Whom it stands for
        name: String,
        /// For how many days
        #[arg(long, default_value_t = 30)]
        days: u32,
        /// What it is for
        #[arg(long, default_value = "")]
        label: String,
        /// Take back all tokens of NAME instead
        #[arg(long)]
        revoke: bool,
        #[command(flatten)]
        at: At,
    },
    /// List the tokens of NAME, or all; none can be used from what is shown
    Tokens {
        /// Whose; without it, everyone's, and those for metrics
        name: Option<String>,
        #[command(flatten)]
        listed: Listed,
    },
    /// Take back one token of NAME
    Revoke {
        /// Whose
        name: String,
        /// Which, as `demure user tokens` shows it
        #[arg(value_name = "TOKEN-ID")]
        token: String,
        #[command(flatten)]
        at: At,
    },
    /// Make a token that reads /metrics and nothing else; it is shown once
    MetricsToken {
        /// For how many days
        #[arg(long, default_value_t = 365)]
        days: u32,
        /// What it is for
        #[arg(long, default_value = "")]
        label: String,
        /// Take back this one instead, as `demure user tokens` shows it
        #[arg(long, value_name = "TOKEN-ID")]
        revoke: Option<String>,
        #[command(flatten)]
        at: At,
    },
    /// Show who did what with the accounts, the newest first
    Audit {
        /// How many lines
        #[arg(long, default_value_t = 50)]
        lines: u32,
        #[command(flatten)]
        listed: Listed,
    },
}

#[derive(clap::Args)]
struct At {
    /// The policy whose server it is about
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
}

#[derive(clap::Args)]
struct AccountArgs {
    /// Whose
    name: String,
    #[command(flatten)]
    at: At,
}

#[derive(clap::Args)]
struct Listed {
    #[command(flatten)]
    at: At,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[group(skip)]
struct Password {
    /// Read the password from the first line of stdin instead of asking for it
    #[arg(long)]
    password_stdin: bool,
}

impl At {
    fn open(&self) -> Result<Users, Failure> {
        if !self.policy.is_file() {
            return Err(Failure::usage("--policy: there is no such file"));
        }
        Ok(Users::open(&users_path(&self.policy), Arc::new(SystemTime::now))?)
    }
}

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let by = me();
    let done = match &args.command {
        Command::Add { name, role, password, at } => {
            let users = at.open()?;
            // The value was parsed.
            let role = Role::parse(role).unwrap_or(Role::Analyst);
            users.add(&by, name, role, &password.read()?)?;
            // Without a ledger nobody has asked before.
            if !demure_curator::ledger_path(&at.policy).exists() {
                note!("note: start the server with `demure serve {}`", at.policy.display());
            }
            format!("{name} can sign in as {role}\n")
        }
        Command::Password { account: AccountArgs { name, at }, password } => {
            at.open()?.set_password(&by, name, &password.read()?)?;
            format!("{name} has another password; sessions and tokens have ended\n")
        }
        Command::Disable(AccountArgs { name, at }) => {
            at.open()?.set_disabled(&by, name, true)?;
            format!("{name} cannot sign in any more\n")
        }
        Command::Enable(AccountArgs { name, at }) => {
            at.open()?.set_disabled(&by, name, false)?;
            format!("{name} can sign in again\n")
        }
        Command::Token { name, revoke: true, at, .. } => {
            let taken = at.open()?.revoke_tokens(&by, name)?;
            format!("{taken} tokens of {name} are taken back\n")
        }
        Command::Token { name, days, label, at, .. } => {
            made(&at.open()?.add_token(&by, name, label, *days)?, *days)
        }
        Command::Revoke { name, token, at } => {
            at.open()?.revoke_token(&by, Some(name), token)?;
            format!("token {token} of {name} is taken back\n")
        }
        Command::MetricsToken { revoke: Some(token), at, .. } => {
            at.open()?.revoke_token(&by, None, token)?;
            format!("metrics token {token} is taken back\n")
        }
        Command::MetricsToken { days, label, at, .. } => {
            made(&at.open()?.add_metrics_token(&by, label, *days)?, *days)
        }
        Command::List(Listed { at, json }) => {
            let accounts = at.open()?.list()?;
            let nothing = "there are no accounts yet: `demure user add NAME --policy …`\n";
            match json {
                true => object("users", accounts.iter().map(|it| json::account(it, time))),
                false => list(&accounts, nothing),
            }
        }
        Command::Tokens { name, listed: Listed { at, json } } => {
            let tokens = at.open()?.tokens(name.as_deref())?;
            let nothing = "there are no tokens: `demure user token NAME --policy …`\n";
            match json {
                true => object("tokens", tokens.iter().map(|it| json::token(it, time))),
                false => list(&tokens, nothing),
            }
        }
        Command::Audit { lines, listed: Listed { at, json } } => {
            let record = at.open()?.record(*lines)?;
            match json {
                true => object("audit", record.iter().map(|it| json::record(it, time))),
                false => list(&record, ""),
            }
        }
    };
    let done = match json && !done.starts_with('{') {
        true => format!("{}\n", json!({ kind_of(&args.command): done.trim_end() })),
        false => done,
    };
    out.write_all(done.as_bytes()).map_err(Failure::writing)
}

/// What a command that shows no list prints, for programs.
fn kind_of(command: &Command) -> &'static str {
    match command {
        Command::Token { revoke: false, .. } | Command::MetricsToken { revoke: None, .. } => {
            "token"
        }
        _ => "done",
    }
}

fn object(name: &str, lines: impl Iterator<Item = Value>) -> String {
    format!("{}\n", json!({ name: lines.collect::<Vec<_>>() }))
}

fn made(token: &str, days: u32) -> String {
    note!("note: it is shown only now; use it as `Authorization: Bearer …` for {days} days");
    format!("{token}\n")
}

/// A line each, or what to do where there is nothing.
fn list<T: Display>(all: &[T], nothing: &str) -> String {
    match all.is_empty() {
        true => nothing.to_owned(),
        false => all.iter().map(|one| format!("{one}\n")).collect(),
    }
}

impl Password {
    /// From stdin, or asked for twice without showing it.
    fn read(&self) -> Result<String, Failure> {
        let stdin = std::io::stdin();
        if self.password_stdin {
            return line(&mut stdin.lock());
        }
        if !stdin.is_terminal() {
            return Err(Failure::usage(
                "there is no terminal to ask for a password\nhint: give it as one line with \
                 --password-stdin",
            ));
        }
        let _hidden = Hidden::begin();
        eprint!("password: ");
        let first = line(&mut stdin.lock())?;
        eprint!("\nagain: ");
        let again = line(&mut stdin.lock())?;
        eprintln!();
        if first == again { Ok(first) } else { Err(Failure::usage("the passwords differ")) }
    }
}

fn line(from: &mut impl BufRead) -> Result<String, Failure> {
    let mut text = String::new();
    let failed = |source| Failure::File { what: "reading the password".into(), source };
    from.read_line(&mut text).map_err(failed)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// While it lives, the terminal does not show what is typed.
struct Hidden;

impl Hidden {
    fn begin() -> Self {
        echo("-echo");
        Self
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        echo("echo");
    }
}

fn echo(how: &str) {
    // Where there is no stty the password shows, and can still be given.
    let _ = std::process::Command::new("stty").arg(how).status();
}
