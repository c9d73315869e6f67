//! `demure collect serve`: a collector that anyone may run.

use super::estimate::{How, rejected};
use super::guest::Door;
use super::promise::{self, Promise};
use super::service::{Service, router};
use super::{counted, randomize};
use crate::Failure;
use crate::curator::runtime;
use crate::serve::interrupted;
use demure_collect::desk::Desk;
use demure_collect::survey::Survey;
use demure_core::random::SystemRandom;
use demure_report::{Report, short};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The longest that open requests may take after Ctrl-C.
const LAST: Duration = Duration::from_secs(10);

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
    /// The survey
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,

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
    how: How,

    /// Say where it listens as one JSON object
    #[arg(long)]
    json: bool,
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
    // What is served is what was read, even if the file changes.
    let text = std::fs::read_to_string(&args.survey).map_err(|source| Failure::File {
        what: format!("reading the survey {}", args.survey.display()),
        source,
    })?;
    let survey = Survey::parse(&text)?;
    let options = args.how.options()?;
    let store = args.store.clone().unwrap_or_else(|| args.survey.with_extension("reports"));
    // The promise is on disk before the first report is taken.
    let promise = promise::write(&args.survey, &survey)?;
    let desk = Desk::open(&store, survey, &mut SystemRandom::new()?)?;
    let recovered = desk.recovered();
    let opening = opening(args, &desk, &store.display().to_string(), &promise);
    if recovered.cut > 0 {
        eprintln!(
            "note: the last run ended in the middle of a write; {} that nobody was told of are cut off",
            counted(recovered.cut, "byte")
        );
    }
    let service = Arc::new(Service::new(desk, text, options));
    runtime()?.block_on(serve(args, &service, opening, out))?;
    let (reports, dropped) = service.status();
    let dropped = rejected(&dropped);
    let also = if dropped.is_empty() { String::new() } else { format!("; not counted: {dropped}") };
    // Nobody else holds it: the runtime and all its tasks are gone.
    if let Some(service) = Arc::into_inner(service) {
        service.close()?;
    }
    eprintln!("closed; {} on disk{also}", counted(reports, "report"));
    Ok(())
}

async fn serve(
    args: &Args,
    service: &Arc<Service>,
    opening: Report,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let failed = |source| Failure::File { what: format!("listening at {}", args.http), source };
    let listener = TcpListener::bind(args.http).await.map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    let report = Report::default()
        .field("page", format!("http://{at}/"))
        .field("reports", format!("http://{at}/reports"))
        .append(opening);
    report.print(args.json, out)?;
    if !args.json {
        writeln!(out, "Ctrl-C stops it.").map_err(Failure::writing)?;
    }
    out.flush().map_err(Failure::writing)?;

    let (stop, stopped) = oneshot::channel::<()>();
    let app = router(Arc::clone(service));
    let running = axum::serve(Door::new(listener), app).with_graceful_shutdown(async {
        // A sender that is gone stops it as well.
        let _ = stopped.await;
    });
    let running = tokio::spawn(running.into_future());
    tokio::select! {
        () = interrupted() => eprintln!("stopping; open requests finish first"),
        () = service.failure() => {}
    }
    let _ = stop.send(());
    // A request that never ends is given up: nobody was told that its reports are stored.
    let _ = tokio::time::timeout(LAST, running).await;
    Ok(())
}

/// What is told at the start.
fn opening(args: &Args, desk: &Desk, store: &str, promise: &Promise) -> Report {
    let survey = desk.survey();
    let epsilon = survey.epsilon().get();
    let kept = desk.recovered().reports;
    let written = if promise.new { "written now" } else { "there already" };
    Report::default()
        .field("survey", args.survey.display().to_string())
        .field("question", survey.question())
        .field("answers", randomize::form(survey))
        .described(
            "epsilon",
            epsilon,
            format!("{} each ({})", short(epsilon), survey.parts()[0].mechanism),
        )
        .described("store", store, format!("{store} ({} in it)", counted(kept, "report")))
        .hidden("stored", kept)
        .described(
            "ledger",
            promise.place.as_str(),
            format!("{} ({}, {written})", promise.place, promise.event),
        )
}
