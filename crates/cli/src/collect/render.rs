//! Estimates as rows: a name, a number, an interval, a bar. Legible without colour.

use demure_collect::estimate::{Estimate, Estimates, Method};
use demure_collect::survey::{Domain, Survey};
use demure_report::bars::{self, Bar, Bars, bar};
use demure_report::chart::Axis;
use demure_report::{grouped, short};
use std::fmt::Write;

/// Columns of a bar.
const BAR: usize = 36;
/// The longest name that is shown whole.
const NAME: usize = 24;
/// More rows than these are shown only if asked for.
const ROWS: usize = 40;

/// One thing that was estimated.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) estimate: f64,
    /// The interval, where there is one.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) consistent: Option<f64>,
}

/// The rows of one attribute.
pub(super) struct Table {
    pub(super) name: String,
    /// How it was made.
    pub(super) note: String,
    pub(super) rows: Vec<Row>,
    /// Where bars begin and end.
    pub(super) axis: (f64, f64),
}

/// A table for each attribute.
pub(super) fn tables(survey: &Survey, found: &Estimates) -> Vec<Table> {
    found.estimates.iter().zip(survey.parts()).map(|(e, part)| table(e, &part.domain)).collect()
}

fn table(estimate: &Estimate, domain: &Domain) -> Table {
    let name = estimate.name().to_owned();
    let answered = |n: u64| format!("{} answered", grouped(n as f64));
    let (note, rows): (String, Vec<Row>) = match estimate {
        Estimate::Frequencies(f) => {
            let intervals = match f.method {
                Method::Exact => "exact intervals",
                Method::Normal => "intervals by the normal approximation",
            };
            let row = |r: &demure_collect::estimate::Row| Row {
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
            let row = Row { name: "mean".into(), estimate: m.estimate, interval, consistent: None };
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
            let row = |b: &demure_collect::numeric::Bin| Row {
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
            let row = |r: &demure_collect::heavy::Text| Row {
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
        _ => (0.0, top(&rows)),
    };
    Table { name, note, rows, axis }
}

/// A round number that no bar is above; at most 1.
fn top(rows: &[Row]) -> f64 {
    let ends =
        rows.iter().map(|r| r.interval.map_or(r.estimate, |(_, upper)| upper.max(r.estimate)));
    let highest = ends.fold(0.0, f64::max);
    let round = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
    round.into_iter().find(|x| highest <= *x).unwrap_or(1.0)
}

/// All tables as one picture.
pub(super) fn svg(question: &str, tables: &[Table]) -> String {
    let part = |table: &Table| {
        let note = table.note.lines().next().unwrap_or_default();
        let title = match tables.len() > 1 {
            true => format!("{}: {note}", table.name),
            false => note.to_owned(),
        };
        let bar =
            |row: &Row| Bar { name: row.name.clone(), value: row.estimate, interval: row.interval };
        let axis = Axis::linear("", table.axis.0, table.axis.1);
        Bars { title, axis, rows: table.rows.iter().map(bar).collect() }
    };
    bars::svg(question, &tables.iter().map(part).collect::<Vec<_>>())
}

impl Table {
    /// The table in at most 80 columns or so; the largest rows if there are too many and not all are wanted.
    pub(super) fn text(&self, confidence: &str, all: bool) -> String {
        let mut shown: Vec<&Row> = self.rows.iter().collect();
        let left = shown.len().saturating_sub(ROWS);
        let cut = left > 0 && !all;
        if cut {
            shown.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
            shown.truncate(ROWS);
        }
        let width = shown.iter().map(|r| name(&r.name).chars().count()).max().unwrap_or(0).max(5);
        let digits = if self.axis.1 <= 1.0 && self.axis.0 >= 0.0 { 4 } else { 2 };
        let number = |x: f64| format!("{x:.digits$}");
        let span = |r: &Row| {
            r.interval.map_or(String::new(), |(a, b)| format!("{} – {}", number(a), number(b)))
        };
        let wide =
            shown.iter().map(|r| number(r.estimate).chars().count()).max().unwrap_or(0).max(8);
        let spans = shown.iter().map(|r| span(r).chars().count()).max().unwrap_or(0);
        let spans = if spans > 0 { spans.max(confidence.chars().count() + 9) } else { 0 };
        let nearest = shown.iter().any(|r| r.consistent.is_some());
        let mut text = format!("{:width$}  {:>wide$}", "value", "estimate");
        if spans > 0 {
            let _ = write!(text, "  {:spans$}", format!("{confidence} interval"));
        }
        if nearest {
            let _ = write!(text, "  {:>10}", "consistent");
        }
        let axis = Axis::linear("", self.axis.0, self.axis.1);
        let (low, high) = (short(self.axis.0), short(self.axis.1));
        let _ = writeln!(text, "  {low}{high:>rest$}", rest = BAR - low.chars().count());
        for row in shown {
            let _ = write!(text, "{:width$}  {:>wide$}", name(&row.name), number(row.estimate));
            if spans > 0 {
                let _ = write!(text, "  {:spans$}", span(row));
            }
            if nearest {
                let _ = write!(text, "  {:>10}", row.consistent.map(number).unwrap_or_default());
            }
            let bar = bar(&axis, row.estimate, row.interval, BAR);
            text = format!("{text}  {bar}").trim_end().to_owned() + "\n";
        }
        if cut {
            let _ = writeln!(text, "… and {left} smaller ones (--all shows them)");
        }
        text
    }
}

/// A name in few columns, without anything that a terminal would obey.
fn name(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { '·' } else { c }).collect();
    if clean.chars().count() <= NAME {
        return clean;
    }
    clean.chars().take(NAME - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(estimate: f64, lower: f64, upper: f64) -> Row {
        Row { name: "a".into(), estimate, interval: Some((lower, upper)), consistent: None }
    }

    #[test]
    fn axes_end_at_round_numbers_and_names_obey_nobody() {
        assert_eq!(top(&[row(0.01, 0.0, 0.03)]), 0.05);
        assert_eq!(name("a\u{1b}[31mb"), "a·[31mb");
    }

    #[test]
    fn many_rows_are_cut_to_the_largest() {
        let rows = (0..100).map(|i| row(f64::from(i) / 1000.0, 0.0, 0.2)).collect();
        let table = Table { name: "x".into(), note: String::new(), rows, axis: (0.0, 0.2) };
        let text = table.text("95 %", false);
        assert!(text.contains("… and 60 smaller") && text.contains("0.0990"), "{text}");
        assert_eq!(table.text("95 %", true).lines().count(), 101);
    }
}
