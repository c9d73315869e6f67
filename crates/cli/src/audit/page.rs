//! An audit as a page: what was seen on both sides, and how the bound grows with runs.

use super::render::Audit;
use crate::Failure;
use demure_attack::audit::limit::epsilon_lower;
use demure_attack::audit::{Finding, Verdict};
use demure_report::chart::{Axis, Chart, Mark, Series};
use demure_report::page::{escape, page, table};
use demure_report::{grouped, short};
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
    out.write_all(page("Audit: report", &body).as_bytes()).map_err(Failure::writing)
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
    let text = format!(
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
    let label = |(i, bar): (usize, &demure_attack::audit::Bar)| match (many, i % 4, bar.marked) {
        (false, _, true) => format!("▲ {}", bar.label),
        (false, _, false) | (true, 0, _) => bar.label.clone(),
        (true, 2, true) => "▲".to_owned(),
        _ => String::new(),
    };
    let bars = &found.picture.bars;
    let shares =
        |side: usize| -> Vec<f64> { bars.iter().map(|bar| 100.0 * bar.shares[side]).collect() };
    let (left, right) = (shares(0), shares(1));
    let highest = left.iter().chain(&right).copied().fold(0.0, f64::max);
    let picture = Chart {
        title: format!("{} (▲: in the event)", found.picture.feature),
        x: Axis::names("what was seen", bars.iter().enumerate().map(label).collect()),
        y: Axis::from_zero("percent of the runs that scouted", highest),
        series: vec![Series::bars("left", '▒', left), Series::bars("right", '█', right)],
        ..Chart::default()
    };
    text + &picture.figure() + &curve(found).figure()
}

/// The bound that these frequencies would give with other numbers of runs.
fn curve(found: &Finding) -> Chart {
    let [(p, _), (q, _)] = found.frequencies();
    let error = found.error_each();
    let at = |n: f64| {
        let count = |share: f64| (share * n).round() as u64;
        (n, epsilon_lower(count(p), count(q), n as u64, found.claim.delta, error))
    };
    let points: Vec<(f64, f64)> =
        (0..=48).map(|i| at(10f64.powf(2.0 + f64::from(i) / 8.0))).collect();
    let claimed = found.claim.epsilon;
    let highest = points.iter().map(|p| p.1).fold(claimed.unwrap_or(0.0), f64::max).max(0.1);
    let here = ((found.tested.max(100) as f64).min(1e8), found.epsilon_lower);
    Chart {
        title: "What so many runs of this event would show".to_owned(),
        x: Axis::logarithmic("tested runs a side", 1e2, 1e8),
        y: Axis::from_zero("ε at least", highest),
        series: vec![
            Series::line("the bound on ε", '·', points),
            Series::dots("this audit", 'o', vec![here]),
        ],
        marks: claimed
            .map(|epsilon| Mark::Level(epsilon, "claimed".to_owned()))
            .into_iter()
            .collect(),
        ..Chart::default()
    }
}
