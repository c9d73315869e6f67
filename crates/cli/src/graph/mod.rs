//! `demure graph …`: statistics of an edge list under edge privacy. One file a statistic.
//!
//! | file | what |
//! |---|---|
//! | `source.rs` | the edge list, and how many vertices it has |
//! | `parquet.rs` | edge lists in Parquet |
//! | `render.rs` | what is promised, as fields |
//! | `count.rs` | what counts share: methods, what is public of them, releases |
//! | `triangles.rs`, `stars.rs` | the two counts |
//! | `degrees.rs` | degrees in order, or how many vertices have each |
//! | `clustering.rs` | both counts, and their ratio |
//!
//! # Errors that are shown
//! `error_95` is what a reader may know: computed from n, the budget and what was released. The noise of a ladder or of a
//! smooth bound follows the graph, so its size is as protected as the graph: then `error_95` is null, and a note says why.

mod clustering;
mod count;
mod degrees;
mod render;
mod source;
mod stars;
mod triangles;

use crate::Failure;
use crate::mechanism::one_line;
use clap::Subcommand;
use demure_report::{Report, plain};
use serde_json::Value;
use std::io::Write;

/// Release a statistic of a graph: who is in it is public, who knows whom is not.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    Triangles(triangles::Args),
    Stars(stars::Args),
    Degrees(degrees::Args),
    Clustering(clustering::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.which {
        Which::Triangles(args) => triangles::run(args, out),
        Which::Stars(args) => stars::run(args, out),
        Which::Degrees(args) => degrees::run(args, out),
        Which::Clustering(args) => clustering::run(args, out),
    }
}

/// How an answer is shown.
#[derive(clap::Args)]
struct Shown {
    /// Say what would be done, why, its error and its cost; open no file and draw nothing
    #[arg(long)]
    explain: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Shown {
    /// Writes a value, and what is known of it: to stderr, or beside it as JSON.
    fn answer(&self, value: &Value, known: &Report, out: &mut impl Write) -> Result<(), Failure> {
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
            eprintln!("{}", one_line(known, 1));
        }
        Ok(())
    }
}
