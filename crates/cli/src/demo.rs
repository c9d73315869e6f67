//! `demure demo`: a made-up clinic, five questions, one refusal.
//!
//! The clinic and the questions are `demure_curator::clinic`'s.

use crate::Failure;
use crate::curator::{Conversation, formats, render, runtime, user};
use crate::input::{positive, whole};
use demure_curator::clinic::{self, QUESTIONS, Question, REFUSED};
use demure_curator::policy::odds;
use demure_curator::{Answer, Curator, Outcome};
use demure_report::{bars, grouped, wrapped};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Show what Demure does: a made-up clinic, five questions, one refusal
///
/// Makes patients and visits, opens them under a policy of ε 3, asks, and says of each answer how
/// wrong it may be, what it cost and what is left. The patients are the same every time; the noise
/// is real and is not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure demo --patients 10000
  demure demo --patients 5000 --keep clinic")]
pub(crate) struct Args {
    /// Keep the tables, the policy and the ledger in this new folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// How many patients to make up, up to ten million
    #[arg(long, value_name = "N", default_value = "100000", value_parser = positive)]
    patients: u32,
    /// Other patients
    #[arg(long, value_name = "N", default_value = "2024", value_parser = whole)]
    seed: u64,
}

const MOST_PATIENTS: u32 = 10_000_000;

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    if args.patients > MOST_PATIENTS {
        return Err(Failure::usage("--patients must be at most 10,000,000"));
    }
    let failed = |source| Failure::File { what: "making the clinic".into(), source };
    let temporary = match &args.keep {
        Some(folder) => {
            fresh(folder)?;
            None
        }
        None => Some(tempfile::tempdir().map_err(failed)?),
    };
    let folder = match (&args.keep, &temporary) {
        (Some(folder), _) => folder.as_path(),
        (None, Some(temporary)) => temporary.path(),
        (None, None) => Path::new("."),
    };
    let policy = clinic::make(folder, args.patients, args.seed).map_err(failed)?;

    let runtime = runtime()?;
    let curator = runtime.block_on(Curator::open(&policy))?;
    let mut conversation = Conversation::with(runtime, &curator, &user());
    if json {
        return as_json(&mut conversation, args.keep.as_ref().map(|_| &*policy), out);
    }
    say(out, &opening(args.patients, &conversation))?;
    for (number, question) in QUESTIONS.iter().enumerate() {
        say(out, &asked(number + 1, question))?;
        match conversation.ask(question)? {
            Outcome::Answer(answer) => show(&answer, question.chart, out)?,
            _ => return Err(Failure::usage("the demo asked something that has no answer")),
        }
    }
    say(out, &asked(QUESTIONS.len() + 1, &REFUSED))?;
    match conversation.ask(&REFUSED) {
        Ok(_) => return Err(Failure::usage("the budget was not kept: please report this")),
        Err(error) => {
            let Some((what, _)) = error.refusal() else { return Err(error.into()) };
            say(out, &format!("   refused: {}\n", wrapped(&what, 80, "            ")))?;
        }
    }
    say(out, &closing(args.keep.as_deref(), args.patients))
}

/// The same questions and the refusal as one object.
fn as_json(
    conversation: &mut Conversation,
    policy: Option<&Path>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut questions = Vec::new();
    for question in QUESTIONS.iter().chain([&REFUSED]) {
        let mut object =
            json!({ "asks": question.asks, "sql": question.sql, "epsilon": question.epsilon });
        match conversation.ask(question) {
            Ok(Outcome::Answer(answer)) => object["answer"] = formats::object(&answer)?,
            Ok(_) => {}
            Err(error) => {
                let Some((what, _)) = error.refusal() else { return Err(error.into()) };
                object["refused"] = json!(what);
            }
        }
        questions.push(object);
    }
    let object =
        json!({ "policy": policy.map(|path| path.display().to_string()), "questions": questions });
    writeln!(out, "{object}").map_err(Failure::writing)
}

impl Conversation {
    /// Asks at the question's price, with intervals.
    fn ask(&mut self, question: &Question) -> Result<Outcome, demure_curator::Error> {
        let settings = self.session.settings_mut();
        settings.intervals = true;
        settings.set("demure.epsilon", &question.epsilon.to_string())?;
        self.run(question.sql)
    }
}

/// A folder of that name that holds nothing yet.
fn fresh(folder: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::File { what: "--keep: the folder".into(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(Failure::usage(
            "--keep needs a folder that is new or empty\n\
             hint: if it is a clinic already, ask it with `demure shell FOLDER/clinic.toml`",
        ));
    }
    Ok(())
}

/// Shows it now: the next answer may take a moment.
fn say(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::writing)
}

fn opening(patients: u32, conversation: &Conversation) -> String {
    let budget = conversation.curator().policy().budget;
    format!(
        "A made-up clinic: {} patients, their visits of one year, and a policy that allows\n\
         ε {} for all answers together, for ever:\n{}.\n",
        grouped(f64::from(patients)),
        budget.epsilon,
        wrapped(&odds(budget.epsilon, budget.neighbours), 80, "")
    )
}

fn asked(number: usize, question: &Question) -> String {
    let sql = question.sql.replace('\n', "\n   ");
    format!("{number}  {}\n\n   {sql}\n   -- at ε {}\n", question.asks, question.epsilon)
}

fn show(answer: &Answer, chart: bool, out: &mut impl Write) -> Result<(), Failure> {
    let table = render::table(answer, true)?;
    let with_errors = table.columns.iter().any(|c| c.cells.iter().any(|cell| cell.error.is_some()));
    let bars = if chart { bars::of_table(&table, "   ") } else { None };
    let text = bars.unwrap_or_else(|| table.text("   "));
    out.write_all(text.as_bytes()).map_err(Failure::writing)?;
    let errors = if with_errors { Vec::new() } else { answer.errors_in_words() };
    for line in errors {
        writeln!(out, "   {line}").map_err(Failure::writing)?;
    }
    for note in &answer.notes {
        writeln!(out, "   {}", wrapped(note, 80, "   ")).map_err(Failure::writing)?;
    }
    say(out, &format!("   {}\n", answer.cost_in_words()))
}

fn closing(kept: Option<&Path>, patients: u32) -> String {
    let folder = kept.map_or_else(|| "clinic".to_owned(), |folder| folder.display().to_string());
    let mut text = String::from(
        "± or (low to high) is a 95 % interval: the noise, and what weights may have taken away. The\n\
         noise is new in every run of the demo; within one budget the same question gets the same\n\
         answer, free.\n\
         Nothing exact has been printed.\n\n\
         Try next:\n",
    );
    if kept.is_none() {
        let patients = match patients {
            100_000 => String::new(),
            other => format!(" --patients {other}"),
        };
        text.push_str(&format!("  demure demo --keep {folder}{patients}\n"));
    }
    text.push_str(&format!(
        "  demure explain {folder}/clinic.toml 'SELECT AVG(age) FROM patients'\n  \
           demure query {folder}/clinic.toml 'SELECT AVG(age) FROM patients' --intervals\n  \
           demure shell {folder}/clinic.toml\n  \
           less {folder}/clinic.toml"
    ));
    text
}
