//! `demure budget …`: what was spent, by whom, and who may spend how much.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the commands |
//! | `own.rs` | which ledger it is: another one, and the head for keeping elsewhere |
//! | `show.rs` | balances and the journal, for people and programs |

mod own;
mod show;

use crate::Failure;
use crate::curator::options::ExpectHead;
use crate::curator::user as me;
use crate::input::number;
use clap::Subcommand;
use demure_core::unit::{Delta, Epsilon};
use demure_files as files;
use demure_ledger::{Accounting, Ledger, spending};
use demure_report::chart::Chart;
use std::io::Write;
use std::path::PathBuf;

/// Show, share out, freeze and check the budget of a policy
///
/// The ledger is a journal in which every line holds the hash of the line before. The policy
/// names it in its ledger section, from its first use on: a file beside the policy, or the PostgreSQL server
/// of the environment variable DEMURE_LEDGER (postgres://…), which several servers may share. What
/// is not that ledger is refused.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure budget show clinic.toml --plot spent.svg
  demure budget log clinic.toml --json
  demure budget grant clinic.toml ana --epsilon 0.5
  demure budget grant clinic.toml @oncology --epsilon 1 --members ana,bob
  demure budget period clinic.toml --epsilon 0.2
  demure budget freeze clinic.toml --why 'audit'
  demure budget anchor clinic.toml
  demure budget verify clinic.toml
  demure budget new clinic.toml --new-ledger --why 'other unit'")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what is spent and left: of the dataset, the period, each personal limit
    Show {
        #[command(flatten)]
        options: LedgerOptions,
        #[command(flatten)]
        plot: Plot,
    },
    /// Show every entry of the journal
    Log {
        #[command(flatten)]
        options: LedgerOptions,
        /// Of one person only
        #[arg(long, value_name = "NAME")]
        who: Option<String>,
        #[command(flatten)]
        plot: Plot,
    },
    /// Set a personal limit: how much an analyst, or a group, may ever be shown
    ///
    /// It counts every answer that they are shown, no matter who bought it. With `answers = "shared"` in the policy it
    /// counts what they buy: answers that others bought are then free.
    Grant {
        #[command(flatten)]
        options: LedgerOptions,
        /// An analyst's name, or @group
        subject: String,
        /// In all, from the first day on; 0 for no answers at all, not even those shown before
        #[arg(long, value_parser = number, required_unless_present_any = ["revoke", "members", "leave"])]
        epsilon: Option<f64>,
        /// In all
        #[arg(long, value_parser = number, default_value = "0")]
        delta: f64,
        /// Remove the personal limit: only the dataset's limit holds
        #[arg(long, conflicts_with = "epsilon")]
        revoke: bool,
        /// Put these analysts into the group
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        members: Vec<String>,
        /// Take these analysts out of the group
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        leave: Vec<String>,
    },
    /// Open a period: until the next one, all analysts together may spend so much
    #[command(alias = "window")]
    Period {
        #[command(flatten)]
        options: LedgerOptions,
        /// How much
        #[arg(long, value_parser = number, required_unless_present_any = ["close", "none"])]
        epsilon: Option<f64>,
        /// How much
        #[arg(long, value_parser = number, default_value = "0")]
        delta: f64,
        /// Close it: nothing may be spent until the next period
        #[arg(long, conflicts_with_all = ["epsilon", "none"])]
        close: bool,
        /// Remove it: only the dataset's limit holds
        #[arg(long, conflicts_with = "epsilon")]
        none: bool,
    },
    /// Stop all purchases; answers that an analyst was shown before stay free
    Freeze(Reason),
    /// Allow purchases again
    #[command(alias = "thaw")]
    Unfreeze(Reason),
    /// Replay the journal and check every hash
    Verify(LedgerOptions),
    /// Print the head of the journal, to be kept elsewhere: --expect-head checks it
    Anchor(LedgerOptions),
    /// Give the policy a new ledger with a full budget; what was spent before still counts for the same people
    New {
        /// The policy
        #[arg(value_name = "POLICY")]
        policy: PathBuf,
        /// Yes: what the old ledger and the new one spend adds up for the same people
        #[arg(long)]
        new_ledger: bool,
        /// For the record
        #[arg(long, default_value = "")]
        why: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
pub(super) struct LedgerOptions {
    /// The policy
    #[arg(value_name = "POLICY")]
    policy: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    head: ExpectHead,
}

#[derive(clap::Args)]
struct Reason {
    #[command(flatten)]
    options: LedgerOptions,
    /// For the record
    #[arg(long, default_value = "")]
    why: String,
}

#[derive(clap::Args)]
struct Plot {
    /// Draw spending over time into FILE (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Plot {
    fn write(&self, ledger: &Ledger) -> Result<(), Failure> {
        let Some(path) = &self.plot else { return Ok(()) };
        let balance = ledger.balance().map_err(failed)?;
        let steps = spending(&ledger.entries().map_err(failed)?);
        let letter = if balance.limit.accounting == Accounting::Pure { "ε" } else { "ρ" };
        let all = balance.spent.main + balance.left.main;
        Ok(files::write_text(path, &Chart::spending(&steps, all, letter).svg())?)
    }
}

fn failed(error: demure_ledger::Error) -> Failure {
    Failure::Curator(error.into())
}

impl LedgerOptions {
    fn open(&self) -> Result<Ledger, Failure> {
        Ok(demure_curator::ledger_expecting(&self.policy, self.head.anchor())?.1)
    }

    /// For reading: also a ledger that was replaced.
    fn look(&self) -> Result<Ledger, Failure> {
        use demure_ledger::Error::Replaced;
        match demure_curator::ledger_expecting(&self.policy, self.head.anchor()) {
            Err(error @ demure_curator::Error::Ledger(Replaced(_))) => {
                note!("note: {error}");
                let ledger = demure_curator::replaced_ledger_of(&self.policy)?.ok_or(error)?;
                let expected = self.head.anchor().map_or(Ok(()), |head| ledger.expect(head));
                expected.map_err(demure_curator::Error::from)?;
                Ok(ledger)
            }
            other => Ok(other?.1),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let by = me();
    let options = match &args.command {
        Command::Show { options, plot } => {
            let ledger = options.look()?;
            plot.write(&ledger)?;
            return show::balances(&ledger, options.json, out);
        }
        Command::Log { options, who, plot } => {
            let ledger = options.look()?;
            plot.write(&ledger)?;
            return show::journal(&ledger, who.as_deref(), options.json, out);
        }
        Command::Verify(options) => return show::verified(&options.look()?, options.json, out),
        Command::Anchor(options) => return own::anchor(&options.look()?, options.json, out),
        Command::New { policy, new_ledger, why, json } => {
            return own::renew(policy, *new_ledger, &by, why, *json, out);
        }
        Command::Grant { options, subject, epsilon, delta, revoke, members, leave } => {
            let ledger = options.open()?;
            if *revoke {
                ledger.revoke(&by, subject).map_err(failed)?;
            }
            match epsilon {
                Some(0.0) => ledger.deny(&by, subject).map_err(failed)?,
                Some(epsilon) => {
                    let (epsilon, delta) = (Epsilon::new(*epsilon)?, Delta::new(*delta)?);
                    ledger.grant(&by, subject, epsilon, delta).map_err(failed)?;
                }
                None => {}
            }
            members.iter().try_for_each(|who| ledger.join(&by, who, subject)).map_err(failed)?;
            leave.iter().try_for_each(|who| ledger.leave(&by, who, subject)).map_err(failed)?;
            options
        }
        Command::Period { options, epsilon, delta, close, none } => {
            let ledger = options.open()?;
            match epsilon {
                _ if *close => ledger.close_period(&by),
                _ if *none => ledger.remove_period(&by),
                Some(epsilon) => {
                    ledger.open_period(&by, Epsilon::new(*epsilon)?, Delta::new(*delta)?)
                }
                None => Ok(()),
            }
            .map_err(failed)?;
            options
        }
        Command::Freeze(Reason { options, why }) => {
            options.open()?.freeze(&by, why).map_err(failed)?;
            options
        }
        Command::Unfreeze(Reason { options, why }) => {
            options.open()?.unfreeze(&by, why).map_err(failed)?;
            options
        }
    };
    // What is in force now.
    show::balances(&options.open()?, options.json, out)
}
