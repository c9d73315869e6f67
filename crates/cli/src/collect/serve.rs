//! `demure collect serve`: a collector that anyone may run.

use super::Common;
use super::estimate::IntervalOptions;
use crate::Failure;
use crate::curator::{runtime, user};
use demure_report::{Report, counted, short};
use demure_server::interrupted;
use demure_server::reports::{Collector, CollectorError};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Take reports over HTTP, store them, and show the estimates as they come in
///
/// POST /reports takes reports (JSON, one a line, or binary) and answers when they are on disk. GET / is a live
/// page, GET /estimates its numbers, GET /survey.toml the survey for those who are asked. Reports are kept beside
/// the survey (exam.toml: exam.reports), and what was promised is written into its ledger
/// (exam.ledger). Anyone who reaches the service may send and read: put it behind TLS and your
/// own sign-in if that is too many. Ctrl-C lets what is under way finish.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect serve exam.toml
  demure collect serve exam.toml --http 127.0.0.1:9000 --store /var/lib/demure/exam.reports

Then: curl --data-binary @reports.jsonl http://127.0.0.1:8643/reports")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// Where it listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8643")]
    http: SocketAddr,
    /// Where the reports are kept; beside the survey unless given
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Listen to other machines, without TLS: who sends what, and when, can be seen on the way
    #[arg(long)]
    insecure_remote: bool,
    #[command(flatten)]
    intervals: IntervalOptions,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if !args.http.ip().is_loopback() && !args.insecure_remote {
        return Err(Failure::usage(format!(
            "{} can be reached from other machines, and there is no TLS\n\
             hint: listen at 127.0.0.1 behind a server that has TLS, or give --insecure-remote if you \
             must: reports are private by themselves, but who sends one is seen",
            args.http
        )));
    }
    let options = args.intervals.options()?;
    let collector = Collector::open(&args.common.survey, args.store.as_deref(), options, &user())?;
    let cut = collector.recovered().cut;
    if cut > 0 {
        note!(
            "note: the last run ended in the middle of a write; {} that were never acknowledged are cut off",
            counted(cut, "byte")
        );
    }
    let collector = Arc::new(collector);
    runtime()?.block_on(serve(args, &collector, out))?;
    let (reports, dropped) = collector.status();
    let also =
        if dropped.total() == 0 { String::new() } else { format!("; not counted: {dropped}") };
    // Nobody else holds it: the runtime and all its tasks are gone.
    if let Some(collector) = Arc::into_inner(collector) {
        collector.close()?;
    }
    note!("closed; {} on disk{also}", counted(reports, "report"));
    Ok(())
}

async fn serve(
    args: &Args,
    collector: &Arc<Collector>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let failed = |source| Failure::File { what: format!("listening at {}", args.http), source };
    let listener = TcpListener::bind(args.http).await.map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    let report = Report::default()
        .field("page", format!("http://{at}/"))
        .field("reports", format!("http://{at}/reports"))
        .append(opening(args, collector));
    report.print(args.common.json, out)?;
    if !args.common.json {
        writeln!(out, "Ctrl-C stops it.").map_err(Failure::writing)?;
    }
    let interrupted = interrupted();
    out.flush().map_err(Failure::writing)?;
    let stopping = async move {
        interrupted.await;
        note!("stopping; open requests finish first");
    };
    collector.serve(listener, stopping).await.map_err(failed)
}

/// What is said at the start.
fn opening(args: &Args, collector: &Collector) -> Report {
    let (survey, promise) = (collector.survey(), collector.promise());
    let (epsilon, kept) = (survey.epsilon().get(), collector.recovered().reports);
    let answers: Vec<String> = survey.attributes().iter().map(|a| a.domain.to_string()).collect();
    let written = if promise.new { "written now" } else { "there already" };
    let each = format!("{} each ({})", short(epsilon), survey.parts()[0].mechanism);
    let store = collector.store().display().to_string();
    let stored = format!("{store} ({} in it)", counted(kept, "report"));
    let ledger = format!("{} ({}, {written})", promise.place, promise.event);
    Report::default()
        .field("survey", args.common.survey.display().to_string())
        .field("question", survey.question())
        .field("answers", answers.join("; "))
        .described("epsilon", epsilon, each)
        .described("store", store, stored)
        .hidden("stored", kept)
        .described("ledger", promise.place.as_str(), ledger)
}

impl From<CollectorError> for Failure {
    fn from(error: CollectorError) -> Self {
        match error {
            CollectorError::Collect(error) => error.into(),
            CollectorError::Ledger(error) => Self::Curator(error.into()),
            error => Self::usage(error.to_string()),
        }
    }
}
