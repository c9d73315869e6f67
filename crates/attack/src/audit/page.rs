//! An audit as a page: what was seen on both sides, and how the bound grows with runs.

use super::{Finding, Verdict};
use demure_report::page::{escape, page, table};
use demure_report::{grouped, short};
use std::path::Path;

/// One audit and what it was of.
pub struct Audit {
    /// A short name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// What was found.
    pub found: Finding,
}

impl Audit {
    /// An audit named after a file.
    #[must_use]
    pub fn of_file(path: &Path, about: String, found: Finding) -> Self {
        let name = path.file_stem().map_or("audit".into(), |name| name.to_string_lossy());
        Self { name: name.into_owned(), about, found }
    }
}

/// Audits as a page.
#[must_use]
pub fn html(audits: &[Audit]) -> String {
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
    page("Audit: report", &body)
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
    text + &found.seen().figure() + &found.growth().figure()
}
