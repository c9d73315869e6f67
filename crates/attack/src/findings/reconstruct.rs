//! What reconstruction found: tables, the cliff, and where a budget sits.

use super::Findings;
use crate::curator::reconstruct::{Budgeted, LEVELS, RATIOS, ReconstructionOutcome};
use crate::reconstruct::{Database, Measured, Method};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Records, Table, grouped, short};
use serde_json::json;

/// What a reconstruction found.
#[must_use]
pub fn reconstructed(found: &ReconstructionOutcome) -> Findings {
    let root = (found.rows as f64).sqrt();
    let noised = measured(&found.noised)
        .shown("σ", |m| m.sigma().map_or("–".to_owned(), short))
        .shown("σ/√n", |m| m.sigma().map_or("–".to_owned(), |sigma| short(sigma / root)))
        .shown("recovered", share)
        .shown("Φ(√(m−n)/(4σ))", theory)
        .finish("Noise of standard deviation σ on every answer", 0);
    let databases = measured(&found.databases)
        .shown("what it does", |m| name(m.attack.database))
        .shown("answered", |m| percent(m.answered.rate()))
        .shown("recovered", share)
        .shown("in theory", theory)
        .finish("Databases that do something else", 1);
    let (_, by_queries) = measured(&found.by_queries).finish("", 0);
    let of = found.solvers.first().map_or(0, |solved| solved.measured.attack.rows);
    let solvers = Records::of(&found.solvers)
        .shown("by", |solved| solved.by.to_owned())
        .named("by", |solved| solved.by)
        .named("rows", |solved| solved.measured.attack.rows)
        .number("recovered", "recovered", |solved| solved.measured.recovered.rate(), percent)
        .shown("in theory", |solved| theory(&solved.measured))
        .number("seconds", "seconds", |solved| solved.seconds, |s| format!("{s:.3}"))
        .finish(format!("Two ways to solve, on the same answers (n = {of}, m = 4 n, σ = √n/2)"), 1);
    let curator = Records::of(&found.curator)
        .number("ε", "budget", |b| b.budget.get(), short)
        .number("spent", "spent", |b| b.spent, short)
        .named("queries", |b| b.queries)
        .number("σ", "sigma", |b| b.sigma, short)
        .number("by subsets", "recovered", |b| b.subsets.rate(), percent)
        .number("in theory", "expected", |b| b.expected.unwrap_or(f64::NAN), percent)
        .number("seat by seat", "recovered_seat_by_seat", |b| b.seats.rate(), percent)
        .number("at most", "bound", |b| b.most, percent)
        .finish(
            format!(
                "The curator: {} subsets in SQL for one budget, or one sum of each seat for the same",
                grouped(2.0 * found.rows as f64)
            ),
            0,
        );
    let lead = format!(
        "{} made-up people with a secret bit each. The attacker asks {} random subsets how \
         many have it, and solves for all bits {}. A coin would be right 50 % of the time.",
        grouped(found.rows as f64),
        grouped(found.queries as f64),
        match found.method {
            Method::LeastSquares => "by least squares",
            Method::LinearProgram(_) => "by a linear program",
        }
    );
    Findings {
        json: json!({
            "attack": "reconstruct", "rows": found.rows, "queries": found.queries,
            "noised": noised.1, "databases": databases.1, "by_queries": by_queries,
            "solvers": solvers.1, "curator": curator.1,
        }),
        document: Document {
            title: "Reconstruction: random subsets, and every row solved for".to_owned(),
            lead,
            tables: vec![noised.0, databases.0, by_queries_table(found), solvers.0, curator.0],
            charts: found.charts(),
            meaning: meaning(found, root),
        },
    }
}

/// What programs read of every experiment.
fn measured(all: &[Measured]) -> Records<'_, Measured> {
    Records::of(all)
        .named("database", |m| name(m.attack.database))
        .named("sigma", Measured::sigma)
        .named("rows", |m| m.attack.rows)
        .named("queries", |m| m.attack.queries)
        .named("answered", |m| m.answered.rate())
        .named("recovered", |m| m.recovered.rate())
        .named("bits", |m| m.recovered.trials)
        .named("expected", |m| m.expected)
}

fn by_queries_table(found: &ReconstructionOutcome) -> Table {
    let row = |(level, some): (&f64, &[Measured])| {
        let cells = some.iter().map(|m| format!("{} / {}", share(m), theory(m)));
        std::iter::once(short(*level)).chain(cells).collect()
    };
    let head = ["σ/√n", "m = 1.25 n", "m = 1.5 n", "m = 2 n", "m = 4 n", "m = 8 n"];
    let rows = LEVELS.iter().zip(found.by_queries.chunks(RATIOS.len())).map(row);
    Table::of_texts(&head, rows)
        .numbers_from(0)
        .titled("More queries: recovered / in theory, by σ/√n and m/n")
}

fn meaning(found: &ReconstructionOutcome, root: f64) -> Vec<String> {
    let mut text = vec![
        "The cliff: below noise of √n/8 all rows come back, above some √n hardly any more than a \
         coin gives. Rounding is noise of a third of its step, and suppressing small counts adds \
         none: both fall. Asking more moves the cliff outwards as √m, for free, unless the queries are counted."
            .to_owned(),
    ];
    // The budget that is nearest to 1, which is a usual one.
    let usual = |a: &&Budgeted, b: &&Budgeted| {
        let from_one = |b: &Budgeted| b.budget.get().ln().abs();
        from_one(a).total_cmp(&from_one(b))
    };
    if let Some(worst) = found.curator.iter().min_by(usual) {
        text.push(format!(
            "The curator counts: at ε {} for everything together, {} subsets get noise of {} each, \
             {} times √n, and give {} of the rows. Seat by seat, one sum for each person, the \
             same budget gives {}; on average no attack, of any kind, recovers more of such bits than {}.",
            short(worst.budget.get()),
            grouped(worst.queries as f64),
            short(worst.sigma.round()),
            short((worst.sigma / root).round()),
            percent(worst.subsets.rate()),
            percent(worst.seats.rate()),
            percent(worst.most),
        ));
    }
    text
}

fn share(m: &Measured) -> String {
    percent(m.recovered.rate())
}

fn theory(m: &Measured) -> String {
    m.expected.map_or("–".to_owned(), percent)
}

fn name(database: Database) -> String {
    match database {
        Database::Plain => "plain".to_owned(),
        Database::Noised { sigma } => format!("noise of {}", short(sigma)),
        Database::Rounding { step } => format!("rounds to multiples of {step}"),
        Database::Threshold { least } => format!("suppresses counts below {least}"),
    }
}
