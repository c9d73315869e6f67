//! What is told of a release, or of there being none.

use super::find::Nearest;
use super::release::Release;
use super::verdict::Verdict;
use super::witness::Sets;
use crate::Failure;
use demure_report::{Report, grouped, named, short};
use serde_json::{Value, json};
use std::io::Write;

/// More classes than this are not listed.
const LISTED: usize = 10_000;

/// The fields of a release.
pub(super) fn report(release: &Release<'_>, verdicts: &[Verdict]) -> Report {
    let rows = release.table.rows as f64;
    let suppressed = release.suppressed();
    let share = short(100.0 * suppressed as f64 / rows.max(1.0));
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
        .described("suppressed", suppressed, format!("{} ({share} %)", grouped(suppressed as f64)))
        .described("classes", release.classes.len(), sizes(release));
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
    let shared: Vec<Value> = verdicts
        .iter()
        .map(|verdict| match &verdict.sets {
            Sets::All(Some((served, _))) => served.json(release, values(release, verdict)),
            _ => Value::Null,
        })
        .collect();
    let report = models(report, verdicts);
    let report = match shared.iter().all(Value::is_null) {
        true => report,
        false => report.hidden("shared", shared),
    };
    report.hidden("each", each(release, verdicts))
}

/// The values of the column that a verdict is about.
pub(super) fn values<'a>(release: &Release<'a>, verdict: &Verdict) -> &'a [String] {
    let column = release.sensitive.iter().find(|c| Some(&c.name) == verdict.column.as_ref());
    column.map_or(&[][..], |column| column.values.as_slice())
}

/// Every class with its labels, its size, and what each model measures of it, exactly.
fn each(release: &Release<'_>, verdicts: &[Verdict]) -> Value {
    let class = |at: usize, size: u64| {
        let measure = |verdict: &Verdict| {
            let measure = verdict.measures.get(at).copied().flatten();
            measure.map_or(Value::Null, |measure| measure.to_string().into())
        };
        let mut told = json!({
            "labels": release.labels(at),
            "size": size,
            "measures": verdicts.iter().map(measure).collect::<Vec<_>>(),
        });
        let set = |verdict: &Verdict| match (&verdict.sets, verdict.set(at)) {
            (Sets::Each(_), Some(served)) => served.json(release, values(release, verdict)),
            _ => Value::Null,
        };
        if verdicts.iter().any(|verdict| matches!(verdict.sets, Sets::Each(_)))
            && let Some(told) = told.as_object_mut()
        {
            let sets = verdicts.iter().map(set).collect::<Vec<_>>();
            told.insert("witnesses".to_owned(), sets.into());
        }
        told
    };
    let sizes = release.classes.iter().enumerate().take(LISTED);
    sizes.map(|(at, found)| class(at, found.size)).collect()
}

/// The field `models`.
pub(super) fn models(report: Report, verdicts: &[Verdict]) -> Report {
    let json: Vec<Value> = verdicts.iter().map(Verdict::json).collect();
    let text: Vec<String> = verdicts.iter().map(Verdict::line).collect();
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

/// Says that there is none, and what comes nearest: exit code 1.
pub(super) fn nothing(nearest: &Nearest, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    if json {
        let told = json!({
            "released": false,
            "proven": nearest.proven,
            "nearest": {
                "levels": named(nearest.levels.iter().map(|(name, level)| (name.clone(), *level))),
                "suppressed": nearest.suppressed,
            },
            "limit": nearest.limit,
        });
        writeln!(out, "{told}").map_err(Failure::writing)?;
    }
    let found = match nearest.proven {
        true => "no release satisfies this",
        false => "no release that satisfies this was found in time",
    };
    let levels: Vec<String> =
        nearest.levels.iter().map(|(name, level)| format!("{name} {level}")).collect();
    let (needed, limit) = (grouped(nearest.suppressed as f64), grouped(nearest.limit as f64));
    let nearest = match (levels.is_empty(), nearest.suppressed >= nearest.rows) {
        (true, _) => "not even all rows as one class do".to_owned(),
        (_, true) => "the nearest would suppress every row".to_owned(),
        _ => format!(
            "nearest is levels {}, which must suppress {needed} rows where {limit} may be",
            levels.join(", ")
        ),
    };
    Err(Failure::Unsatisfied(format!(
        "{found}; {nearest}. Nothing was written\n\
         hint: allow more suppression (--suppress), ask for less, or give coarser levels (--hierarchy)"
    )))
}
