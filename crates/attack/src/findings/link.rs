//! Who falls, by which class, and why.

use super::Findings;
use crate::link::{Fallen, Finding, Linked, Tables};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Records, Table, grouped, printable};
use serde_json::{Value, json};

/// More classes than this are not listed.
const LISTED: usize = 12;

/// The findings, `lead` first; `knows` says whether the attacker rules values out.
/// What was found by linking tables; `lead` says of what.
#[must_use]
pub fn linked(lead: String, of: &Tables, knows: bool, found: &Linked) -> Findings {
    let (fallen, summary) = (found.fallen(), &found.summary);
    let count = |finding| summary.count(finding);
    let (before, alike) = (found.unique_before, count(Finding::Homogeneous));
    let (right, by_chance) = (summary.right, summary.by_chance);
    let learnt = [
        ("unique_in_original", "alone with their quasi-identifiers in the original", before),
        ("unique", "unique: one published row fits", count(Finding::Unique)),
        ("homogeneous", "homogeneous: all rows that fit have one value", alike),
        ("known", "known: the other values are ruled out", count(Finding::Known)),
        ("intersected", "intersected: one value is in both releases", count(Finding::Intersected)),
        ("open", "open: several values are left", count(Finding::Open)),
        ("unmatched", "not found: no row fits", count(Finding::Unmatched)),
        ("certain", "learnt for certain, of all", summary.certain()),
        ("guessed_right", "guessed right, the likeliest value of each", right),
        ("guessed_right_by_chance", "guessed right by the table's commonest value", by_chance),
    ];
    let mut json = json!({
        "attack": "link", "people": found.people.len(), "published_rows": found.first.rows,
        "classes": found.first.histograms.len(), "k": found.first.k(),
    });
    learnt.iter().for_each(|(key, _, count)| json[key] = (*count).into());
    json["learnt_by_values_ruled_out"] = (0..=5).map(|r| summary.at_worst(r)).collect();
    let concerns = |(key, ..): &&(&str, &str, u64)| match *key {
        "known" => knows,
        "intersected" => found.second.is_some(),
        _ => true,
    };
    let learnt = learnt.iter().filter(concerns).map(|(_, words, n)| line(*words, *n, found));
    let title = format!(
        "What is learnt of `{}` ({} classes of at least {} rows)",
        of.sensitive,
        grouped(found.first.histograms.len() as f64),
        found.first.k()
    );
    let learnt = Table::of_texts(&["", "people", "share"], learnt).numbers_from(1).titled(title);
    let (classes, objects) = classes(of, found, &fallen);
    json["fallen"] = objects.into();
    let mut tables = vec![learnt, worst_case(found)];
    tables.extend((!fallen.is_empty()).then_some(classes));
    Findings {
        json,
        document: Document {
            title: "Linkage: people found in an anonymized table".to_owned(),
            lead,
            tables,
            charts: Vec::new(),
            meaning: meaning(found),
        },
    }
}

/// So many people, and their share of all.
fn line(name: impl Into<String>, count: u64, found: &Linked) -> Vec<String> {
    let share = count as f64 / found.people.len().max(1) as f64;
    vec![name.into(), grouped(count as f64), percent(share)]
}

fn worst_case(found: &Linked) -> Table {
    let most = found.summary.learnt.iter().map(|l| l.to_rule_out).max().unwrap_or(0).min(5);
    let at = |values: usize| line(values.to_string(), found.summary.at_worst(values), found);
    Table::of_texts(&["values", "people", "share"], (0..=most).map(at)).numbers_from(0).titled(
        "Background knowledge, at worst: an attacker who can rule out so many values learns so many",
    )
}

/// The first classes as a table, and all as objects.
fn classes(of: &Tables, found: &Linked, fallen: &[Fallen]) -> (Table, Vec<Value>) {
    let labels = |f: &Fallen| found.first.labels[f.class].clone();
    let named = |f: &Fallen| {
        let each = of.quasi.iter().zip(labels(f)).map(|(name, label)| format!("{name} {label}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let title = match fallen.len() > LISTED {
        true => {
            format!("The classes by which people fall (the first {LISTED} of {})", fallen.len())
        }
        false => "The classes by which people fall".to_owned(),
    };
    let (mut table, objects) = Records::of(fallen)
        .shown("class", named)
        .named("class", labels)
        .shown("rows", |f| found.first.size(f.class).to_string())
        .named("rows", |f| found.first.size(f.class))
        .shown("people", |f| f.people.to_string())
        .named("people", |f| f.people)
        .named("finding", |f| f.finding.to_string())
        .shown("why", |f| f.why.clone())
        .named("why", |f| printable(&f.why))
        .finish(title, 4);
    table.columns.iter_mut().for_each(|column| column.cells.truncate(LISTED));
    (table, objects)
}

fn meaning(found: &Linked) -> Vec<String> {
    let certain = found.summary.certain();
    let mut text = Vec::new();
    let k = found.first.k();
    if certain > 0 && k > 1 {
        text.push(format!(
            "Every class has {k} rows or more, and still {} people ({}) are learnt for certain: \
             k-anonymity hides which row is whose, not what the rows say.",
            grouped(certain as f64),
            percent(certain as f64 / found.people.len() as f64)
        ));
    }
    let second = found.summary.count(Finding::Intersected);
    if second > 0 {
        text.push(format!(
            "{} of them fall by two releases together, each of which keeps its own promise: \
             anonymity does not compose. Publish once, or under one budget.",
            grouped(second as f64)
        ));
    }
    let unmatched = found.summary.count(Finding::Unmatched);
    if found.first.idle > 0 || unmatched > 0 {
        text.push(format!(
            "{} labels of the release stand for nobody, and {unmatched} people fit no row: if columns were \
             made coarser in words, say how with --hierarchy column=FILE.",
            found.first.idle
        ));
    }
    text.push(
        "Certain means: if the published rows are truthful and the person is in the table. \
         `demure anonymize` can promise l-diversity or t-closeness, which bound what a class says; \
         only a budget bounds what all releases say together."
            .to_owned(),
    );
    text
}
