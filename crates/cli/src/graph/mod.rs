//! `demure graph …`: statistics of an edge list under edge privacy. One file a statistic.
//!
//! | file | what |
//! |---|---|
//! | `source.rs` | the edge list, and how many vertices it has |
//! | `count.rs` | options that all counts share |
//! | `triangles.rs`, `stars.rs` | the two counts |
//! | `degrees.rs` | degrees in order, or how many vertices have each |
//! | `clustering.rs` | both counts, and their ratio |
//!
//! # Errors that are shown
//! `error_95` is what a reader may know (`demure_graph::CountRelease::error`); where there is none, a note says why.

mod clustering;
mod count;
mod degrees;
mod source;
mod stars;
mod triangles;

use crate::Failure;
use crate::counted::{Account, Paid};
use crate::input::Relation;
use crate::mechanism::{Loss, budget, one_line};
use clap::Subcommand;
use demure_core::mechanism::Guarantee;
use demure_graph::Graph;
use demure_report::{Report, plain};
use serde_json::Value;
use source::Source;
use std::io::Write;

/// Release a statistic of a graph: who is in it is public, who knows whom is not.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Triangles(triangles::Args),
    Stars(stars::Args),
    Degrees(degrees::Args),
    Clustering(clustering::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::Triangles(args) => triangles::run(args, out),
        Command::Stars(args) => stars::run(args, out),
        Command::Degrees(args) => degrees::run(args, out),
        Command::Clustering(args) => clustering::run(args, out),
    }
}

/// What all statistics take.
#[derive(clap::Args)]
struct Common {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    loss: Loss,
    /// Which graphs count as neighbours: one edge more or less, or one for another
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,
    /// Say what would be done, why, its error and its cost; open no file and draw nothing
    #[arg(long)]
    explain: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: Account,
}

impl Common {
    /// Writes what would be done, and what is promised.
    fn explained(
        &self,
        known: Report,
        guarantee: Guarantee,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        Ok(self.promise(known, guarantee).print(self.json, out)?)
    }

    /// Debits what a release costs, before the graph is read.
    fn pay(&self, name: &str, guarantee: Guarantee) -> Result<Paid, Failure> {
        self.source.check()?;
        if self.account.is_named() && self.source.vertices.is_none() {
            return Err(Failure::usage(
                "--policy needs --vertices: the number in the file is as protected as the edges\n\
                 hint: declare how many vertices there are, with and without edges",
            ));
        }
        self.account.pay(&format!("graph {name}"), (guarantee, 1), self.neighbours.into())
    }

    /// Writes a value, and what is known and promised of it: to stderr, or beside it as JSON.
    fn answer(
        &self,
        paid: Paid,
        value: &Value,
        known: Report,
        guarantee: Guarantee,
        graph: &Graph,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let known = paid.noted(known);
        let account = paid.settled(value)?;
        // Programs see, too, how many vertices were taken for public, and whether that was declared.
        let known = self
            .promise(known, guarantee)
            .hidden("vertices", graph.vertices())
            .hidden("vertices_declared", self.source.vertices.is_some());
        let text = match (self.json, value) {
            (true, value) => format!("{{\"value\":{value},{}}}\n", known.members()),
            (false, Value::Null) => "⊥\n".to_owned(),
            (false, value) => match plain(value) {
                nothing if nothing.is_empty() => nothing,
                text => text + "\n",
            },
        };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::writing)?;
        if value.is_null() {
            return Err(Failure::Unsatisfied(format!(
                "no answer (⊥): the test did not pass, which is an answer too; cost {}\n\
                 hint: propose a larger --bound, spend more, or use --method ladder, which always answers",
                known.text_of("guarantee")
            )));
        }
        if !self.json {
            note!("{}; {account}", one_line(&known, 1));
        }
        Ok(())
    }

    /// The fields that say what is promised.
    fn promise(&self, report: Report, guarantee: Guarantee) -> Report {
        let (name, text) = match self.neighbours {
            Relation::AddRemove => {
                ("add-remove", "add-remove (one edge present or absent; the vertices are public)")
            }
            Relation::Replace => (
                "replace",
                "replace (one edge in another's place; the vertices and the number of edges are public)",
            ),
        };
        let report = budget(report, guarantee).described("neighbours", name, text);
        report.field("guarantee", guarantee.to_string())
    }
}
