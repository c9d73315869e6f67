//! The report as a page: what the rows are like, how far they are from the source, and what not to use them for.

use super::Synthetic;
use super::domain::Domain;
use crate::error::Result;
use demure_core::unit::Beta;
use demure_curator::Codes;
use demure_report::bars::{self, Bar, Bars};
use demure_report::chart::Axis;
use demure_report::heat::{HeatCell, HeatMap};
use demure_report::page::{escape, page, table};
use demure_report::{grouped, percent};
use std::fmt::Write;

/// The most bars of a column. Ordered columns with more are shown in coarser bins, others by their most common values.
const MOST_BARS: usize = 16;
/// Pairs in the table: those that are furthest off.
const WORST: usize = 20;

impl Synthetic {
    /// A page without scripts. All of it is released: `select` and `cost` say what was asked and paid.
    pub fn page(&self, select: &str, cost: &str) -> Result<String> {
        let rows = self.rows.num_rows();
        let mut body = format!(
            "<h1>Synthetic table</h1>\n<p class=\"soft\">{} rows made for {}. No row is anyone's.</p>\n\
             <p><code>{}</code></p>\n",
            grouped(rows as f64),
            escape(cost),
            escape(select)
        );
        body += "<h2>How far the rows are from the source</h2>\n";
        body += &self.errors()?;
        body += NOT_FOR;
        body += "<h2>Columns of the synthetic rows</h2>\n";
        for (domain, codes) in self.saved.domains().iter().zip(self.codes.columns()) {
            let bars = bars_of(domain, codes);
            let axis =
                Axis::from_zero("share", bars.iter().map(|bar| bar.value).fold(1e-9, f64::max));
            let part = Bars { title: domain.in_words(), axis, rows: bars };
            let _ = writeln!(body, "<figure>{}</figure>", bars::svg(domain.name(), &[part]));
        }
        Ok(page("Synthetic table", &body))
    }

    fn errors(&self) -> Result<String> {
        let Some(report) = &self.report else {
            return Ok("<p>The error was not measured: it was not asked for, or there are no pairs of columns.</p>\n".to_owned());
        };
        let half = report.half_width(Beta::new(0.05)?)?;
        let (mean, deviation) = report.mean();
        let name = |column: usize| {
            self.saved.domains().get(column).map_or_else(String::new, |d| d.name().to_owned())
        };
        let mut text = format!(
            "<p>On average, {} ± {} of the rows of a cross table of two columns would have to move to match the \
             source. Each pair below is known to within ± {}, in 95 of 100 cases. These numbers were measured with \
             noise and are part of what was paid for; comparing with the raw table would be a leak.</p>\n",
            percent(mean.max(0.0)),
            percent(1.96 * deviation),
            percent(half)
        );
        let cells = report.pairs().iter().map(|pair| HeatCell {
            pair: pair.columns,
            value: pair.total_variation,
            words: format!(
                "{} and {}: {} ± {}",
                name(pair.columns.0),
                name(pair.columns.1),
                percent(pair.total_variation.max(0.0)),
                percent(half)
            ),
        });
        let map = HeatMap {
            title: "Error of each pair of columns".to_owned(),
            names: (0..self.saved.domains().len()).map(name).collect(),
            cells: cells.collect(),
        };
        let _ = writeln!(text, "<figure>{}</figure>", map.svg());
        let mut worst: Vec<_> = report.pairs().to_vec();
        worst.sort_by(|a, b| b.total_variation.total_cmp(&a.total_variation));
        let lines: Vec<Vec<String>> = worst
            .iter()
            .take(WORST)
            .map(|pair| {
                let (low, high) = (
                    (pair.total_variation - half).max(0.0),
                    (pair.total_variation + half).clamp(0.0, 1.0),
                );
                vec![
                    escape(&name(pair.columns.0)),
                    escape(&name(pair.columns.1)),
                    percent(pair.total_variation.max(0.0)),
                    format!("{} to {}", percent(low), percent(high)),
                ]
            })
            .collect();
        text += &table(&["column", "column", "error", "95 % interval"], &lines, 2);
        if worst.len() > WORST {
            let _ = writeln!(
                text,
                "<p class=\"soft\">The {WORST} pairs that are furthest off, of {}.</p>",
                worst.len()
            );
        }
        Ok(text)
    }
}

const NOT_FOR: &str = "<h2>What not to use it for</h2>\n\
<p class=\"note\">Standard errors, p-values and confidence intervals: synthetic rows are not a sample of people, and more \
rows do not make them more exact. Groups of a few rows: they may be missing, or be noise. Dependence among three and more \
columns that no pair shows. Histories: rows of one person are made one by one. Keys and joins with other tables.</p>\n";

/// The shares of a column's values in the synthetic rows.
fn bars_of(domain: &Domain, codes: &[u16]) -> Vec<Bar> {
    let mut counts = vec![0usize; domain.count()];
    for &code in codes {
        if let Some(count) = counts.get_mut(usize::from(code)) {
            *count += 1;
        }
    }
    let all = codes.len().max(1) as f64;
    let bar = |name: String, count: usize| Bar { name, value: count as f64 / all, interval: None };
    let null = usize::from(domain.nullable);
    let mut bars = Vec::new();
    match &domain.codes {
        Codes::Numbers(_) | Codes::Bins(_) => {
            let places = domain.codes.len();
            let each = places.div_ceil(MOST_BARS).max(1);
            for start in (0..places).step_by(each) {
                let end = (start + each).min(places);
                let count = counts[null + start..null + end].iter().sum();
                bars.push(bar(domain.range(start, end - 1), count));
            }
        }
        Codes::Booleans | Codes::Texts(_) => {
            let mut order: Vec<usize> = (0..domain.codes.len()).collect();
            order.sort_by_key(|&place| std::cmp::Reverse(counts[null + place]));
            let others: usize =
                order.iter().skip(MOST_BARS).map(|&place| counts[null + place]).sum();
            for &place in order.iter().take(MOST_BARS) {
                bars.push(bar(domain.range(place, place), counts[null + place]));
            }
            if order.len() > MOST_BARS {
                bars.push(bar(format!("{} others", order.len() - MOST_BARS), others));
            }
        }
    }
    if domain.nullable {
        bars.push(bar("NULL".to_owned(), counts[0]));
    }
    bars
}

impl Domain {
    /// The values from one place to another, in words.
    fn range(&self, first: usize, last: usize) -> String {
        match &self.codes {
            Codes::Booleans => ["false", "true"].get(first).map_or("", |text| text).to_owned(),
            Codes::Texts(texts) => texts.get(first).cloned().unwrap_or_default(),
            Codes::Numbers(all) => match (all.get(first), all.get(last)) {
                (Some(low), Some(high)) if low < high => {
                    format!("{} to {}", self.shown(*low), self.shown(*high))
                }
                (Some(only), _) => self.shown(*only),
                _ => String::new(),
            },
            Codes::Bins(_) => match (self.bin(first), self.bin(last)) {
                (Some(low), Some(high)) if self.shown(low.first) != self.shown(high.end) => {
                    format!("{} to {}", self.shown(low.first), self.shown(high.end))
                }
                (Some(only), _) => self.shown(only.first),
                _ => String::new(),
            },
        }
    }
}
