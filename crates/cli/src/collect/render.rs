//! Estimates as rows, for the terminal and as SVG.

use demure_collect::estimate::{Estimate, Estimates, Method};
use demure_collect::survey::{Domain, Survey};
use demure_report::estimates::{EstimateRow, EstimateTable, share_axis};
use demure_report::{grouped, short};
use std::fmt::Write;

/// A table for each attribute.
pub(super) fn tables(survey: &Survey, found: &Estimates) -> Vec<EstimateTable> {
    found.estimates.iter().zip(survey.parts()).map(|(e, part)| table(e, &part.domain)).collect()
}

fn table(estimate: &Estimate, domain: &Domain) -> EstimateTable {
    let name = estimate.name().to_owned();
    let answered = |n: u64| format!("{} answered", grouped(n as f64));
    let (note, rows): (String, Vec<EstimateRow>) = match estimate {
        Estimate::Frequencies(f) => {
            let intervals = match f.method {
                Method::Exact => "exact intervals",
                Method::Normal => "intervals by the normal approximation",
            };
            let row = |r: &demure_collect::estimate::Row| EstimateRow {
                name: r.value.clone(),
                estimate: r.estimate,
                interval: Some((r.lower, r.upper)),
                consistent: r.consistent,
            };
            let mut note = format!("{}, {}, {intervals}", f.mechanism, answered(f.people));
            let _ = write!(
                note,
                "\n1 % of fake reports could move a share by {}",
                short(f.poisoning.per_percent.min(1.0))
            );
            if let Some(z) = f.poisoning.sum_z.filter(|z| z.abs() > 5.0) {
                let _ = write!(
                    note,
                    "\nwarning: the estimates sum to {}, {:.0} standard errors off 1: some reports \
                     were not made by this survey's randomizer",
                    short(f.poisoning.sum),
                    z.abs()
                );
            }
            (note, f.rows.iter().map(row).collect())
        }
        Estimate::Mean(m) => {
            let interval = Some((m.lower, m.upper));
            let row = EstimateRow {
                name: "mean".into(),
                estimate: m.estimate,
                interval,
                consistent: None,
            };
            (
                format!(
                    "{}, {}, interval by the normal approximation",
                    m.mechanism,
                    answered(m.people)
                ),
                vec![row],
            )
        }
        Estimate::Distribution(d) => {
            let row = |b: &demure_collect::numeric::Bin| EstimateRow {
                name: format!("{} – {}", short(b.from), short(b.to)),
                estimate: b.estimate,
                interval: None,
                consistent: None,
            };
            let quartiles = [0.25, 0.5, 0.75].map(|q| short(d.quantile(q))).join(", ");
            let note = format!(
                "square-wave, {}, no intervals\nmean {}, quartiles {quartiles}",
                answered(d.people),
                short(d.mean)
            );
            (note, d.bins.iter().map(row).collect())
        }
        Estimate::Texts(t) => {
            let row = |r: &demure_collect::heavy::Text| EstimateRow {
                name: r.text.clone(),
                estimate: r.estimate,
                interval: Some((r.lower, r.upper)),
                consistent: None,
            };
            let note = format!(
                "prefix, {}; a text is found if more than about {} have it",
                answered(t.people),
                short(t.threshold)
            );
            (note, t.texts.iter().map(row).collect())
        }
        _ => (String::new(), Vec::new()),
    };
    let axis = match (domain, estimate) {
        (Domain::Number { low, high }, Estimate::Mean(_)) => (*low, *high),
        _ => share_axis(&rows),
    };
    EstimateTable { name, note, rows, axis }
}
