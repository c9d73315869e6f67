//! What was found, as text and as JSON.

use super::options::Effort;
use crate::Failure;
use demure_attack::audit::page::{Audit, html};
use demure_attack::audit::{Claim, Finding, Verdict};
use demure_files as files;
use demure_report::{Report, Table, grouped, named, short};
use serde_json::{Value, json};
use std::io::Write;

/// Prints one audit, or a table of several; exit code 1 if a claim is refuted.
pub(super) fn tell(audits: &[Audit], effort: &Effort, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(path) = &effort.report {
        files::write_text(path, &html(audits))?;
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
            note!("{all} audited, {count} violated, {} not refuted", all - count);
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

/// What every audit says first: what is claimed of what, what was shown, and the verdict.
pub(super) fn found((name, about): (&str, &str), claim: Claim, lower: f64, error: f64) -> Report {
    let verdict = claim.verdict(lower);
    let claimed = match (claim.epsilon, claim.delta) {
        (None, _) => "nothing".to_owned(),
        (Some(epsilon), 0.0) => format!("ε = {}", short(epsilon)),
        (Some(epsilon), delta) => format!("ε = {} at δ = {}", short(epsilon), short(delta)),
    };
    let words = match verdict {
        Verdict::Violated => "violated: the claim is false",
        Verdict::NotRefuted => {
            "not refuted: nothing found against the claim, which is no proof of it"
        }
        Verdict::NoClaim => "nothing claimed: give --epsilon to test a claim",
    };
    let confidence = format!("wrong with probability {error:e} at most, over everything tried");
    Report::default()
        .described("audited", name, format!("{name}: {about}"))
        .described("claimed", claim.epsilon, claimed)
        .hidden("delta", claim.delta)
        .described("epsilon_lower", lower, format!("ε is at least {lower:.4}"))
        .described("confidence", 1.0 - error, confidence)
        .described("verdict", verdict.to_string(), words)
}

/// The fields of one audit.
fn report(Audit { name, about, found: audit }: &Audit) -> Report {
    let [(p, p_low), (q, q_high)] = audit.frequencies();
    let [runs, tested, likelier, other] =
        [audit.runs, audit.tested, audit.counts.0, audit.counts.1].map(|n| grouped(n as f64));
    let (left, right) = (side(audit.left), side(!audit.left));
    let limits = format!("(p ≥ {}, q ≤ {})", short(p_low), short(q_high));
    let reachable = format!("so many runs can show ε = {:.2} at most", audit.reachable);
    let report = found((name, about), audit.claim, audit.epsilon_lower, audit.error)
        .described("event", audit.event.to_string(), format!("“{}”", audit.event))
        .described("neighbours", audit.pair.as_str(), audit.pair.as_str())
        .described(
            "frequencies",
            json!([p, q]),
            format!("{likelier} of {tested} on the {left}, {other} on the {right} {limits}"),
        )
        .hidden("likelier", left)
        .described("samples", audit.runs, format!("{runs} runs a side, {tested} of them tested"))
        .hidden("tested", audit.tested)
        .hidden("events_tested", audit.tests)
        .described("reachable", audit.reachable, reachable);
    match audit.claim.epsilon {
        None => report,
        Some(_) => report.described(
            "needed",
            named([("70%", needed(audit, 0.7).0), ("90%", needed(audit, 0.9).0)]),
            format!("{}\n{}", needed(audit, 0.7).1, needed(audit, 0.9).1),
        ),
    }
}

/// How many runs would show a share of the claim: for programs, and in words.
fn needed(audit: &Finding, share: f64) -> (Value, String) {
    let (this, best) = (audit.runs_for(share), audit.runs_at_best(share));
    let shows = match this {
        Some(runs) => format!("{} runs of this event show", grouped(runs as f64)),
        None => "no number of runs of this event shows".to_owned(),
    };
    let most = best.map_or("more".to_owned(), |runs| grouped(runs as f64));
    let percent = 100.0 * share;
    (
        json!({ "this_event": this, "at_best": best }),
        format!("{shows} {percent} % of the claim; the best event that the claim allows, {most}"),
    )
}
