//! A release, its verdicts and their witness sets in fields, or that no release was found.

use super::beside;
use crate::job::{Nearest, classes_json, shared_json};
use crate::model::Measure;
use crate::publish::Release;
use crate::publish::change::changes;
use crate::publish::served::Served;
use crate::publish::verdict::Verdict;
use crate::search::Suppression;
use demure_report::{Report, counted, grouped, named, percent, short};
use serde_json::{Value, json};

/// How many rows could be suppressed, and whether that was asked for.
#[derive(Clone, Copy)]
pub struct Limit {
    /// What was asked for, or the default.
    pub asked: Suppression,
    /// Whether it is the default.
    pub default: bool,
    /// So many rows of this table.
    pub rows: u64,
}

impl Limit {
    /// `at most 1,508 rows: --suppress is 5% unless given; 0 keeps every row`.
    #[must_use]
    pub fn text(self) -> String {
        let most = format!("at most {}", counted(self.rows, "row"));
        let asked = self.asked;
        match (self.default, asked) {
            (false, _) => most,
            (_, Suppression::Count(0)) => {
                format!("{most}: with this method, --suppress is 0 unless given")
            }
            (_, _) if self.rows == 0 => format!(
                "{most}: --suppress is {asked} unless given, which is less than one row here"
            ),
            (_, _) => format!("{most}: --suppress is {asked} unless given; 0 keeps every row"),
        }
    }

    fn json(self) -> Value {
        json!({ "limit": self.rows, "asked": self.asked.to_string(), "default": self.default })
    }
}

/// The fields of a release.
#[must_use]
pub fn report(release: &Release<'_>, limit: Limit, verdicts: &[Verdict]) -> Report {
    let rows = release.table.rows as f64;
    let suppressed = release.suppressed();
    let share = percent(suppressed as f64 / rows.max(1.0));
    let changes = changes(release);
    let stars: Vec<&str> = changes.iter().filter(|c| c.is_star()).map(|c| c.column).collect();
    let mut report = Report::default().field("method", release.method);
    if let Some(levels) = &release.levels {
        let names = || release.attributes.iter().map(|attribute| attribute.column.name.clone());
        let pairs = names().zip(&levels.chosen).zip(&levels.heights);
        let text = pairs.map(|((name, level), height)| format!("{name} {level} of {height}"));
        let text = text.collect::<Vec<_>>().join(", ");
        report =
            report.described("levels", named(names().zip(levels.chosen.iter().copied())), text);
    }
    report = report
        .field("rows", release.table.rows)
        .described(
            "suppressed",
            suppressed,
            format!("{} ({share}) of {}", grouped(suppressed as f64), limit.text()),
        )
        .hidden("suppress", limit.json())
        .described("classes", release.classes.len(), sizes(release))
        .described("columns", beside::changes_json(&changes), beside::changes_text(&changes))
        .hidden("stars", stars);
    if let Some((metric, score)) = release.score {
        report = report.described("score", score, format!("{} ({metric})", short(score)));
    }
    if let Some(levels) = &release.levels {
        let looked = grouped(levels.checked as f64);
        let text = match levels.proven {
            true => format!("yes: no other levels score less ({looked} looked at)"),
            false => format!(
                "no: others may score up to {} less ({looked} looked at)",
                short(levels.gap)
            ),
        };
        report = report
            .described("proven", levels.proven, text)
            .hidden(
                "gap",
                Some(levels.gap).filter(|gap| gap.is_finite()).map_or(Value::Null, Value::from),
            )
            .hidden("checked", levels.checked);
    }
    if let Some(parts) = release.parts.as_ref().filter(|parts| parts.stopped) {
        let text = "yes: parts may be coarser than they had to be";
        report = report.described("stopped", parts.stopped, text);
    }
    let report = models(report, verdicts);
    let report = match shared_json(release, verdicts) {
        Some(shared) => report.hidden("shared", shared),
        None => report,
    };
    report.hidden("each", classes_json(release, verdicts))
}

/// The field `models`.
#[must_use]
pub fn models(report: Report, verdicts: &[Verdict]) -> Report {
    let json: Vec<Value> = verdicts.iter().map(json_of).collect();
    let text: Vec<String> = verdicts.iter().map(line).collect();
    report.described("models", json, text.join("\n"))
}

/// `3, of 3 to 3 rows`.
fn sizes(release: &Release<'_>) -> String {
    let sizes = || release.classes.iter().map(|class| class.size);
    let count = grouped(release.classes.len() as f64);
    match (sizes().min(), sizes().max()) {
        (Some(least), Some(most)) => {
            format!("{count}, of {} to {} rows", grouped(least as f64), grouped(most as f64))
        }
        _ => count,
    }
}

/// For programs: no release was found, and this comes nearest.
#[must_use]
pub fn nothing_json(nearest: &Nearest) -> Value {
    json!({
        "released": false,
        "proven": nearest.proven,
        "nearest": {
            "levels": named(nearest.levels.iter().map(|(name, level)| (name.clone(), *level))),
            "suppressed": nearest.suppressed,
        },
        "limit": nearest.limit,
    })
}

/// The same for people, with what to try.
#[must_use]
pub fn nothing_text(nearest: &Nearest) -> String {
    let found = match nearest.proven {
        true => "no release satisfies this",
        false => "no release that satisfies this was found in time",
    };
    let levels: Vec<String> =
        nearest.levels.iter().map(|(name, level)| format!("{name} {level}")).collect();
    let (needed, limit) = (grouped(nearest.suppressed as f64), grouped(nearest.limit as f64));
    let allow = format!("try --suppress {}", nearest.suppressed);
    let (nearest, remedy) = match (levels.is_empty(), nearest.suppressed >= nearest.rows) {
        (true, _) => ("not even all rows as one class do".to_owned(), None),
        (_, true) => ("the nearest would suppress every row".to_owned(), None),
        _ => {
            let levels = levels.join(", ");
            let nearest = format!(
                "nearest is levels {levels}, which must suppress {needed} rows where {limit} may be"
            );
            (nearest, Some(allow))
        }
    };
    let remedy = remedy.map_or(String::new(), |allow| format!("{allow}, "));
    format!(
        "{found}; {nearest}. Nothing was written\n\
         hint: {remedy}ask for less, or give coarser levels (--hierarchy)"
    )
}

/// For people: `the class 32** of 120 rows`.
pub(crate) fn about(served: &Served) -> String {
    let rows = grouped(served.witness.rows() as f64);
    match served.kind {
        "class" => format!("the class itself, {rows} rows"),
        "table" => format!("the whole table, {rows} rows"),
        "coarser class" => format!("the class {} of {rows} rows", served.labels.join(", ")),
        "earlier part" => {
            format!("the part {} cuts up, {rows} rows", served.cuts)
        }
        _ => format!("{rows} rows"),
    }
}

/// For programs.
fn json_of(verdict: &Verdict) -> Value {
    json!({
        "name": verdict.name,
        "column": verdict.column,
        "holds": verdict.holds,
        "failing": verdict.failing,
        "worst": verdict.worst.map(|(_, m)| Some(m.to_f64()).filter(|x| x.is_finite())),
        "exact": verdict.worst.map(|(_, m)| m.to_string()),
    })
}

/// For people: `holds: 3-anonymity (worst 3)`.
fn line(verdict: &Verdict) -> String {
    let about = verdict.column.as_ref().map_or(String::new(), |name| format!(" of {name}"));
    let worst = verdict.worst.map_or(String::new(), |(_, m)| format!(", worst class {}", shown(m)));
    match verdict.holds {
        true => format!("{}{about}: holds{worst}", verdict.name),
        false if verdict.failing == 0 => format!("{}{about}: does NOT hold", verdict.name),
        false => {
            let classes = if verdict.failing == 1 { "class" } else { "classes" };
            let failing = verdict.failing;
            format!("{}{about}: does NOT hold in {failing} {classes}{worst}", verdict.name)
        }
    }
}

/// A measure as a fraction and as a number: `5/9 = 0.555556`.
pub(crate) fn shown(measure: Measure) -> String {
    let exact = measure.to_string();
    match measure {
        Measure::Exact(fraction) if fraction.denominator() == 1 => exact,
        Measure::Exact(_) | Measure::Root(_) => format!("{exact} = {}", short(measure.to_f64())),
        _ => exact,
    }
}
