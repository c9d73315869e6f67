//! Balances and the journal, for people and programs.

use super::failed;
use crate::Failure;
use demure_curator::{entry_in_words, question_in_words};
use demure_ledger::{Accounting, Balances, Entry, Ledger, Price, Share};
use demure_report::bars::gauge;
use demure_report::{Report, printable, short, time};
use demure_server::json;
use serde_json::{Map, Value, json};
use std::io::Write;

fn price(price: &Price, accounting: Accounting) -> Value {
    json::price(price, accounting == Accounting::Zcdp)
}

fn words(price: &Price, accounting: Accounting) -> String {
    demure_curator::price_in_words(price, accounting == Accounting::Zcdp)
}

pub(super) fn balances(ledger: &Ledger, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let Balances { dataset, period, limits, groups, frozen, .. } =
        ledger.balances().map_err(failed)?;
    let accounting = dataset.limit.accounting;
    let share = |share: &Share| {
        json!({
            "granted": { "epsilon": share.epsilon, "delta": share.delta },
            "spent": price(&share.spent, accounting),
            "left": price(&share.left, accounting),
        })
    };
    let line = |share: &Share| {
        let spent = share.spent.main / share.most.main;
        format!(
            "{} spent {}, left {} of ε {}",
            gauge(if share.most.main > 0.0 { spent } else { 1.0 }),
            words(&share.spent, accounting),
            words(&share.left, accounting),
            short(share.epsilon)
        )
    };
    let all = dataset.spent.main + dataset.left.main;
    let spent = if all > 0.0 { dataset.spent.main / all } else { 1.0 };
    let mut report = Report::default()
        .hidden("accounting", if accounting == Accounting::Pure { "pure" } else { "zcdp" })
        .described(
            "limit",
            json!({ "epsilon": dataset.limit.epsilon.get(), "delta": dataset.limit.delta.get() }),
            format!("ε {}, δ {}", dataset.limit.epsilon, dataset.limit.delta.get()),
        )
        .described(
            "spent",
            price(&dataset.spent, accounting),
            format!(
                "{} {} (ε {} in all)",
                gauge(spent),
                words(&dataset.spent, accounting),
                short(dataset.spent_epsilon)
            ),
        )
        .hidden("spent_epsilon", dataset.spent_epsilon)
        .described("left", price(&dataset.left, accounting), words(&dataset.left, accounting));
    if let Some(open) = &period {
        report = report.described("period", share(open), line(open));
    }
    if !limits.is_empty() {
        let width = limits.iter().map(|limit| limit.subject.chars().count()).max().unwrap_or(0);
        let text =
            limits.iter().map(|limit| format!("{:width$}  {}", limit.subject, line(&limit.share)));
        let text = text.collect::<Vec<_>>().join("\n");
        let value: Map<String, Value> =
            limits.iter().map(|limit| (limit.subject.clone(), share(&limit.share))).collect();
        report = report.described("limits", value, text);
    }
    if !groups.is_empty() {
        let value: Map<String, Value> =
            groups.iter().map(|group| (group.name.clone(), json!(group.members))).collect();
        let text =
            groups.iter().map(|group| format!("{}: {}", group.name, group.members.join(", ")));
        report = report.described("groups", value, text.collect::<Vec<_>>().join("\n"));
    }
    if let Some(frozen) = &frozen {
        let value = json!({ "by": frozen.by, "why": frozen.why });
        let text = format!("by {} ({}): nobody can spend anything", frozen.by, frozen.why);
        report = report.described("frozen", value, text);
    }
    Ok(report.print(json, out)?)
}

pub(super) fn journal(
    ledger: &Ledger,
    who: Option<&str>,
    json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let accounting = ledger.balance().map_err(failed)?.limit.accounting;
    let entries = ledger.entries().map_err(failed)?;
    let shown = |entry: &&Entry| who.is_none_or(|who| entry.who == who);
    if json {
        let concentrated = accounting == Accounting::Zcdp;
        let lines = entries.iter().filter(shown);
        let lines = lines.map(|entry| json::entry(entry, concentrated, time));
        return Ok(Report::default()
            .field("entries", lines.collect::<Vec<Value>>())
            .print(true, out)?);
    }
    for entry in entries.iter().filter(shown) {
        let what = entry_in_words(entry, accounting == Accounting::Zcdp);
        let line = format!(
            "{:6}  {}  {:8}  {:16}  {what}",
            entry.seq,
            time(entry.time),
            entry.kind.to_string(),
            entry.who
        );
        // Analysts chose names and wrote questions: their control characters must not reach the steward's terminal.
        writeln!(out, "{}", printable(&line)).map_err(Failure::writing)?;
        for line in entry.question.iter().flat_map(question_in_words) {
            writeln!(out, "          {}", printable(&line)).map_err(Failure::writing)?;
        }
    }
    Ok(())
}

pub(super) fn verified(ledger: &Ledger, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let found = ledger.verify().map_err(failed)?;
    let accounting = ledger.balance().map_err(failed)?.limit.accounting;
    let head = json::hex(&found.head);
    Ok(Report::default()
        .described(
            "verified",
            true,
            "every line is as it was written and follows from the one before",
        )
        .field("entries", found.entries)
        .field("reserved", found.reserved)
        .field("cancelled", found.cancelled)
        .field("answered", found.settled)
        .field("received", found.received)
        .field("repriced", found.repriced)
        .field("beyond", found.beyond)
        .described("spent", price(&found.spent, accounting), words(&found.spent, accounting))
        .described("head", head.as_str(), format!("{head} (note it elsewhere)"))
        .print(json, out)?)
}
