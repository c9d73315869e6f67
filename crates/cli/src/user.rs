//! `demure user …`: who may ask the server.

use crate::Failure;
use crate::curator::user as me;
use clap::Subcommand;
use demure_report::Report;
use demure_server::users::Token;
use demure_server::{Role, Users, users_path};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
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
        /// Whose
        name: String,
        #[command(flatten)]
        password: Password,
        #[command(flatten)]
        at: At,
    },
    /// List the accounts
    List {
        #[command(flatten)]
        at: At,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let nobody sign in as NAME any more
    Disable {
        /// Whose
        name: String,
        #[command(flatten)]
        at: At,
    },
    /// Let NAME sign in again
    Enable {
        /// Whose
        name: String,
        #[command(flatten)]
        at: At,
    },
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
        at: At,
        /// As JSON
        #[arg(long)]
        json: bool,
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
        at: At,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct At {
    /// The policy whose server it is about
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
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

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let by = me();
    match &args.command {
        Command::Add { name, role, password, at } => {
            let users = at.open()?;
            // The value was parsed.
            let role = Role::parse(role).unwrap_or(Role::Analyst);
            users.add(&by, name, role, &password.read()?)?;
            say(out, &format!("{name} can sign in as {role}\n"))?;
            if !beside(&at.policy) {
                eprintln!("note: start the server with `demure serve {}`", at.policy.display());
            }
            Ok(())
        }
        Command::Password { name, password, at } => {
            at.open()?.set_password(&by, name, &password.read()?)?;
            say(out, &format!("{name} has another password; sessions and tokens have ended\n"))
        }
        Command::List { at, json } => list(&at.open()?, *json, out),
        Command::Disable { name, at } => {
            at.open()?.set_disabled(&by, name, true)?;
            say(out, &format!("{name} cannot sign in any more\n"))
        }
        Command::Enable { name, at } => {
            at.open()?.set_disabled(&by, name, false)?;
            say(out, &format!("{name} can sign in again\n"))
        }
        Command::Token { name, revoke: true, at, .. } => {
            let taken = at.open()?.revoke_tokens(&by, name)?;
            say(out, &format!("{taken} tokens of {name} are taken back\n"))
        }
        Command::Token { name, days, label, at, .. } => {
            let token = at.open()?.add_token(&by, name, label, *days)?;
            made(&token, *days, out)
        }
        Command::Tokens { name, at, json } => {
            tokens(&at.open()?.tokens(name.as_deref())?, *json, out)
        }
        Command::Revoke { name, token, at } => {
            at.open()?.revoke_token(&by, Some(name), token)?;
            say(out, &format!("token {token} of {name} is taken back\n"))
        }
        Command::MetricsToken { revoke: Some(token), at, .. } => {
            at.open()?.revoke_token(&by, None, token)?;
            say(out, &format!("metrics token {token} is taken back\n"))
        }
        Command::MetricsToken { days, label, at, .. } => {
            let token = at.open()?.add_metrics_token(&by, label, *days)?;
            made(&token, *days, out)
        }
        Command::Audit { lines, at, json } => audit(&at.open()?, *lines, *json, out),
    }
}

/// Whether a ledger is there already: somebody has asked before.
fn beside(policy: &Path) -> bool {
    demure_curator::ledger_path(policy).exists()
}

fn say(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    out.write_all(text.as_bytes()).map_err(Failure::writing)
}

fn made(token: &str, days: u32, out: &mut impl Write) -> Result<(), Failure> {
    say(out, &format!("{token}\n"))?;
    eprintln!("note: it is shown only now; use it as `Authorization: Bearer …` for {days} days");
    Ok(())
}

fn tokens(tokens: &[Token], json: bool, out: &mut impl Write) -> Result<(), Failure> {
    if json {
        let lines = tokens.iter().map(|token| {
            json!({
                "id": token.id,
                "name": token.name,
                "reads": if token.name.is_some() { "everything of the account" } else { "metrics" },
                "label": token.label,
                "created": demure_report::time(token.created),
                "expires": demure_report::time(token.expires),
                "expired": token.expired,
            })
        });
        let lines: Vec<Value> = lines.collect();
        return Ok(Report::default().field("tokens", lines).print(true, out)?);
    }
    if tokens.is_empty() {
        return say(out, "there are no tokens: `demure user token NAME --policy …`\n");
    }
    for token in tokens {
        let whose = token.name.as_deref().unwrap_or("(metrics)");
        let (word, expires) = (if token.expired { "ended" } else { "until" }, token.expires);
        let (id, label, end) = (&token.id, &token.label, demure_report::time(expires));
        say(out, &format!("{id}  {whose:20}  {word} {end}  {label}\n"))?;
    }
    Ok(())
}

fn list(users: &Users, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let accounts = users.list()?;
    let lines = accounts.iter().map(|account| {
        json!({
            "name": account.user.name,
            "role": account.user.role.name(),
            "created": demure_report::time(account.created),
            "disabled": account.disabled,
            "locked": account.locked,
            "tokens": account.tokens,
        })
    });
    let lines: Vec<Value> = lines.collect();
    if json {
        return Ok(Report::default().field("users", lines).print(true, out)?);
    }
    if accounts.is_empty() {
        return say(out, "there are no accounts yet: `demure user add NAME --policy …`\n");
    }
    for account in accounts {
        let state = match (account.disabled, account.locked) {
            (true, _) => "  disabled",
            (_, true) => "  locked for now, after wrong passwords",
            _ => "",
        };
        let tokens = match account.tokens {
            0 => String::new(),
            n => format!("  {n} tokens"),
        };
        let since = demure_report::time(account.created);
        let (name, role) = (account.user.name, account.user.role);
        say(out, &format!("{name:20}  {role:8}  since {since}{tokens}{state}\n"))?;
    }
    Ok(())
}

fn audit(users: &Users, lines: u32, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let record = users.record(lines)?;
    let time = |at| demure_report::time(at);
    if json {
        let lines = record.iter().map(|line| {
            json!({ "time": time(line.time), "who": line.who, "action": line.action, "detail": line.detail })
        });
        return Ok(Report::default()
            .field("audit", lines.collect::<Vec<Value>>())
            .print(true, out)?);
    }
    for line in record {
        say(
            out,
            &format!("{}  {:16}  {:16}  {}\n", time(line.time), line.who, line.action, line.detail),
        )?;
    }
    Ok(())
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
