//! An audit as a page: what was seen on both sides, and how the bound grows with runs.

use super::told::Audit;
use crate::Failure;
use crate::anonymize::html::plot::{Bars, Group, ceiling};
use crate::anonymize::html::{STYLE, escape, table};
use crate::report::{grouped, short};
use demure_attack::audit::limit::epsilon_lower;
use demure_attack::audit::{Finding, Verdict};
use std::fmt::Write as _;
use std::io::Write;

/// Writes the page.
pub(super) fn write(audits: &[Audit], out: &mut impl Write) -> Result<(), Failure> {
    let mut body = String::from("<h1>Audit</h1>\n");
    body.push_str(
        "<p class=\"soft\">A lower bound on the ε that is really delivered, from outputs alone. \
         “Violated” means that the claim is false, but for an error of the stated probability. “Not refuted” means that \
         nothing was found against it, which is no proof: the telling input or event may not have been \
         among those tried.</p>\n",
    );
    body.push_str(&summary(audits));
    for audit in audits {
        body.push_str(&one(audit));
    }
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Audit: report</title>\n<style>\n{STYLE}\
         svg .line {{ fill: none; stroke: var(--after); stroke-width: 2; }}\n\
         svg .claim {{ stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 5 4; }}\n\
         svg .here {{ fill: var(--before); }}\n</style></head><body>\n{body}\n</body></html>\n"
    );
    out.write_all(page.as_bytes()).map_err(Failure::writing)
}

fn verdict(found: &Finding) -> String {
    let class = match found.verdict() {
        Verdict::Violated => "bad",
        Verdict::NotRefuted => "good",
        Verdict::NoClaim => "soft",
    };
    format!("<span class=\"{class}\">{}</span>", found.verdict())
}

fn summary(audits: &[Audit]) -> String {
    let row = |Audit { name, found, .. }: &Audit| {
        vec![
            format!("<a href=\"#{0}\">{0}</a>", escape(name)),
            verdict(found),
            found.claim.epsilon.map_or("–".to_owned(), short),
            short(found.claim.delta),
            format!("{:.3}", found.epsilon_lower),
            format!("{:.2}", found.reachable),
            grouped(found.runs as f64),
        ]
    };
    let rows: Vec<Vec<String>> = audits.iter().map(row).collect();
    let head = ["audited", "verdict", "claimed ε", "δ", "ε at least", "reachable", "runs a side"];
    table(&head, &rows, 2)
}

fn one(Audit { name, about, found }: &Audit) -> String {
    let [(p, p_low), (q, q_high)] = found.frequencies();
    let side = |left: bool| if left { "left" } else { "right" };
    let mut text = format!(
        "<h2 id=\"{0}\">{0}</h2>\n<p>{1}</p>\n\
         <p>Neighbours: {2}. The event <b>{3}</b> happened in {4} of {5} tested runs on the {6} and in \
         {7} on the {8}: {9} against {10}, with limits {11} and {12}. Each of {13} tested events had \
         an equal share of the error of {14:e}.</p>\n",
        escape(name),
        escape(about),
        escape(&found.pair),
        escape(&found.event.to_string()),
        grouped(found.counts.0 as f64),
        grouped(found.tested as f64),
        side(found.left),
        grouped(found.counts.1 as f64),
        side(!found.left),
        short(p),
        short(q),
        short(p_low),
        short(q_high),
        found.tests,
        found.error,
    );
    // Labels of many bars would run into each other: every fourth has one, and marks go between.
    let many = found.picture.bars.len() > 12;
    let group = |(i, bar): (usize, &demure_attack::audit::Bar)| Group {
        label: match (many, i % 4, bar.marked) {
            (false, _, true) => format!("▲ {}", bar.label),
            (false, _, false) | (true, 0, _) => bar.label.clone(),
            (true, 2, true) => "▲".to_owned(),
            _ => String::new(),
        },
        heights: bar.shares.iter().map(|share| 100.0 * share).collect(),
    };
    let groups: Vec<Group> = found.picture.bars.iter().enumerate().map(group).collect();
    let bars = Bars {
        title: &format!("{} (▲: in the event)", found.picture.feature),
        x: "what was seen",
        y: "percent of the runs that scouted",
        series: &["left", "right"],
        groups,
    };
    text.push_str(&bars.svg());
    text.push_str(&curve(found));
    text
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;

/// The bound that these frequencies would give with other numbers of runs, on a logarithmic axis.
fn curve(found: &Finding) -> String {
    let [(p, _), (q, _)] = found.frequencies();
    let error = found.error_each();
    let exponents: Vec<f64> = (0..=48).map(|i| 2.0 + f64::from(i) / 8.0).collect();
    let at = |n: f64| {
        let count = |share: f64| (share * n).round() as u64;
        epsilon_lower(count(p), count(q), n as u64, found.claim.delta, error)
    };
    let values: Vec<f64> = exponents.iter().map(|e| at(10f64.powf(*e))).collect();
    let claimed = found.claim.epsilon.unwrap_or(0.0);
    let top = ceiling(values.iter().copied().fold(claimed, f64::max).max(0.1));
    let x = |exponent: f64| LEFT + (exponent - 2.0) / 6.0 * (WIDTH - LEFT - RIGHT);
    let y = |epsilon: f64| HEIGHT - BOTTOM - epsilon / top * (HEIGHT - BOTTOM - TOP);
    let mut out = format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"bound against runs\">\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"18\">What so many runs of this event would show</text>\n"
    );
    for step in 0..=4 {
        let value = top * f64::from(step) / 4.0;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"end\" x=\"{}\" y=\"{:.1}\">{:.2}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(value) + 4.0,
            value,
            at = y(value),
        );
    }
    for decade in 2..=8 {
        let _ = writeln!(
            out,
            "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">10{}</text>",
            x(f64::from(decade)),
            HEIGHT - BOTTOM + 16.0,
            ["²", "³", "⁴", "⁵", "⁶", "⁷", "⁸"].get(decade as usize - 2).unwrap_or(&""),
        );
    }
    let points: Vec<String> = exponents
        .iter()
        .zip(&values)
        .map(|(exponent, value)| format!("{:.1},{:.1}", x(*exponent), y(*value)))
        .collect();
    let _ = writeln!(out, "<polyline class=\"line\" points=\"{}\"/>", points.join(" "));
    if claimed > 0.0 {
        let _ = writeln!(
            out,
            "<line class=\"claim\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\">claimed</text>",
            WIDTH - RIGHT,
            LEFT + 6.0,
            y(claimed) - 5.0,
            at = y(claimed),
        );
    }
    let _ = writeln!(
        out,
        "<circle class=\"here\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"><title>this audit</title></circle>\
         <text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">tested runs a side</text>\
         <text class=\"middle\" transform=\"translate(14 {:.1}) rotate(-90)\">ε at least</text></svg></figure>",
        x((found.tested.max(100) as f64).log10().min(8.0)),
        y(found.epsilon_lower),
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0,
        (TOP + HEIGHT - BOTTOM) / 2.0,
    );
    out
}
