//! What was found, as text and as JSON.

use super::options::Effort;
use super::page;
use crate::Failure;
use demure_attack::audit::{Finding, Verdict};
use demure_files as files;
use demure_report::{Report, Table, grouped, named, short};
use serde_json::{Value, json};
use std::io::Write;

/// One audit and what it was of.
pub(super) struct Audit {
    /// A short name.
    pub(super) name: String,
    /// What it is.
    pub(super) about: String,
    pub(super) found: Finding,
}

/// Prints one audit, or a table of several; exit code 1 if a claim is refuted.
pub(super) fn tell(audits: &[Audit], effort: &Effort, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(path) = &effort.report {
        files::write(path, |file| page::write(audits, file))?;
    }
    match audits {
        [audit] => report(audit).print(effort.json, out)?,
        _ if effort.json => {
            let all: Vec<Value> = audits
                .iter()
                .map(|audit| {
                    let object = format!("{{{}}}", report(audit).members());
                    serde_json::from_str(&object).unwrap_or(Value::Null)
                })
                .collect();
            writeln!(out, "{}", json!({ "audits": all, "violated": violated(audits) }))
                .map_err(Failure::writing)?;
        }
        _ => {
            table(audits).print("", out)?;
            let (all, count) = (audits.len(), violated(audits));
            eprintln!("{all} audited, {count} violated, {} not refuted", all - count);
        }
    }
    out.flush().map_err(Failure::writing)?;
    if violated(audits) > 0 { Err(Failure::Told(1)) } else { Ok(()) }
}

fn violated(audits: &[Audit]) -> usize {
    audits.iter().filter(|audit| audit.found.verdict() == Verdict::Violated).count()
}

fn table(audits: &[Audit]) -> Table {
    let row = |Audit { name, found, .. }: &Audit| {
        vec![
            name.clone(),
            found.verdict().to_string(),
            found.claim.epsilon.map_or("–".to_owned(), short),
            short(found.claim.delta),
            format!("{:.3}", found.epsilon_lower),
            grouped(found.runs as f64),
        ]
    };
    let head = ["mechanism", "verdict", "claimed ε", "δ", "ε at least", "runs"];
    Table::of_texts(&head, audits.iter().map(row)).numbers_from(2)
}

fn side(left: bool) -> &'static str {
    if left { "left" } else { "right" }
}

/// The fields of one audit.
fn report(Audit { name, about, found }: &Audit) -> Report {
    let [(p, p_low), (q, q_high)] = found.frequencies();
    let confidence = 1.0 - found.error;
    let claimed = found.claim.epsilon.map_or(Value::Null, Value::from);
    let needed = |share: f64| {
        let runs = |runs: Option<u64>| runs.map_or(Value::Null, Value::from);
        json!({ "this_event": runs(found.runs_for(share)), "at_best": runs(found.runs_at_best(share)) })
    };
    let mut report = Report::default()
        .described("audited", name.as_str(), format!("{name}: {about}"))
        .described(
            "claimed",
            claimed,
            match (found.claim.epsilon, found.claim.delta) {
                (None, _) => "nothing".to_owned(),
                (Some(epsilon), 0.0) => format!("ε = {}", short(epsilon)),
                (Some(epsilon), delta) => format!("ε = {} at δ = {}", short(epsilon), short(delta)),
            },
        )
        .hidden("delta", found.claim.delta)
        .described(
            "epsilon_lower",
            found.epsilon_lower,
            format!("ε is at least {:.4}", found.epsilon_lower),
        )
        .described(
            "confidence",
            confidence,
            format!("wrong with probability {:e} at most, over everything tried", found.error),
        )
        .described(
            "verdict",
            found.verdict().to_string(),
            match found.verdict() {
                Verdict::Violated => "violated: the claim is false".to_owned(),
                Verdict::NotRefuted => {
                    "not refuted: nothing found against the claim, which is no proof of it"
                        .to_owned()
                }
                Verdict::NoClaim => "nothing claimed: give --epsilon to test a claim".to_owned(),
            },
        )
        .described("event", found.event.to_string(), format!("“{}”", found.event))
        .described("neighbours", found.pair.as_str(), found.pair.as_str())
        .described(
            "frequencies",
            json!([p, q]),
            format!(
                "{} of {} on the {}, {} on the {} (p ≥ {}, q ≤ {})",
                grouped(found.counts.0 as f64),
                grouped(found.tested as f64),
                side(found.left),
                grouped(found.counts.1 as f64),
                side(!found.left),
                short(p_low),
                short(q_high)
            ),
        )
        .hidden("likelier", side(found.left))
        .described(
            "samples",
            found.runs,
            format!(
                "{} runs a side, {} of them tested",
                grouped(found.runs as f64),
                grouped(found.tested as f64)
            ),
        )
        .hidden("tested", found.tested)
        .hidden("events_tested", found.tests)
        .described(
            "reachable",
            found.reachable,
            format!("so many runs can show ε = {:.2} at most", found.reachable),
        );
    if found.claim.epsilon.is_some() {
        let words = |share: f64| {
            let percent = 100.0 * share;
            let this = match found.runs_for(share) {
                Some(runs) => format!("{} runs of this event show", grouped(runs as f64)),
                None => "no number of runs of this event shows".to_owned(),
            };
            let best = found.runs_at_best(share).map_or("more".to_owned(), |n| grouped(n as f64));
            format!("{this} {percent} % of the claim; the best event that the claim allows, {best}")
        };
        report = report.described(
            "needed",
            named([("70%", needed(0.7)), ("90%", needed(0.9))]),
            format!("{}\n{}", words(0.7), words(0.9)),
        );
    }
    report
}
