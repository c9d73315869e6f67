//! What an attack tells: numbers for programs, tables and a picture for people, on a terminal or on
//! a page that needs nothing else.

use super::chart::Chart;
use crate::Failure;
use crate::anonymize::files;
use crate::anonymize::html::{STYLE, escape, table};
use crate::curator::table::Table;
use crate::report::Report;
use std::io::Write;
use std::path::PathBuf;

/// How it is told.
#[derive(clap::Args)]
pub(super) struct Telling {
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// Write a report with the picture here, as a page that needs nothing else; a name that ends in
    /// .svg gets the picture alone
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// What was found.
pub(super) struct Told {
    pub(super) title: String,
    /// What was done, in a sentence or two.
    pub(super) lead: String,
    /// For programs.
    pub(super) report: Report,
    pub(super) tables: Vec<Grid>,
    pub(super) charts: Vec<Chart>,
    /// What it means, a paragraph each.
    pub(super) meaning: Vec<String>,
}

/// A table of texts: its first columns are words, those from `numbers` on are numbers.
pub(super) struct Grid {
    pub(super) title: String,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) numbers: usize,
}

impl Told {
    /// Tells it, wherever it is wanted.
    pub(super) fn tell(&self, telling: &Telling, out: &mut impl Write) -> Result<(), Failure> {
        if let Some(path) = &telling.report {
            let alone = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"));
            let text = match (alone, self.charts.first()) {
                (true, Some(chart)) => chart.svg(),
                (true, None) => {
                    return Err(Failure::usage(
                        "this attack has no picture\nhint: give --report a name that ends in .html",
                    ));
                }
                (false, _) => self.page(),
            };
            files::write(path, |to| to.write_all(text.as_bytes()).map_err(Failure::writing))?;
        }
        if telling.json {
            return self.report.print(true, out);
        }
        self.print(out)
    }

    fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        let say =
            |out: &mut dyn Write, text: &str| writeln!(out, "{text}").map_err(Failure::writing);
        say(out, &wrapped(&self.lead))?;
        for grid in &self.tables {
            say(out, &format!("\n{}\n", grid.title))?;
            Table::of_texts(&grid.head, grid.rows.iter().map(|row| grid.padded(row)))
                .print("  ", out)?;
        }
        for chart in &self.charts {
            say(out, "")?;
            say(out, chart.text().trim_end())?;
        }
        for paragraph in &self.meaning {
            say(out, &format!("\n{}", wrapped(paragraph)))?;
        }
        Ok(())
    }

    fn page(&self) -> String {
        let paragraphs: String =
            self.meaning.iter().map(|text| format!("<p>{}</p>\n", escape(text))).collect();
        let pictures: String =
            self.charts.iter().map(|chart| format!("<figure>{}</figure>\n", chart.svg())).collect();
        let tables: String = self
            .tables
            .iter()
            .map(|grid| {
                let cells = |row: &Vec<String>| row.iter().map(|cell| escape(cell)).collect();
                let rows: Vec<Vec<String>> = grid.rows.iter().map(cells).collect();
                format!(
                    "<h2>{}</h2>\n{}",
                    escape(&grid.title),
                    table(&grid.head, &rows, grid.numbers)
                )
            })
            .collect();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style></head><body>\n<h1>{title}</h1>\n\
             <p class=\"soft\">{lead}</p>\n{pictures}{paragraphs}{tables}</body></html>\n",
            title = escape(&self.title),
            lead = escape(&self.lead),
        )
    }
}

impl Grid {
    /// Numbers to the right.
    fn padded(&self, row: &[String]) -> Vec<String> {
        let wide = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.max(self.head.get(at).map_or(0, |head| head.chars().count()))
        };
        let set = |(at, cell): (usize, &String)| match at >= self.numbers {
            true => format!("{}{cell}", " ".repeat(wide(at) - cell.chars().count())),
            false => cell.clone(),
        };
        row.iter().enumerate().map(set).collect()
    }
}

/// `73.1 %`.
pub(super) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    // 99.996 % is not 100 %: as many digits as it takes to see that.
    let text = |digits: usize| format!("{:.digits$}", 100.0 * share);
    match (1..5).find(|digits| share >= 1.0 || !text(*digits).starts_with("100")) {
        Some(digits) => format!("{} %", text(digits)),
        None => "> 99.999 %".to_owned(),
    }
}

/// A share with its 95 % interval: `73.1 % (71.1–75.0)`.
pub(super) fn measured(share: demure_attack::normal::Share) -> String {
    let (low, high) = share.interval(1.96);
    format!("{} ({:.1}–{:.1})", percent(share.rate()), 100.0 * low, 100.0 * high)
}

/// Lines of at most 90 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 90 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn almost_all_is_not_all_and_long_lines_are_broken() {
        assert_eq!((percent(0.99996), percent(1.0)), ("99.996 %".into(), "100.0 %".into()));
        assert_eq!(percent(1.0 - 1e-9), "> 99.999 %");
        assert_eq!((percent(0.5), percent(f64::NAN)), ("50.0 %".into(), "–".into()));
        let text = wrapped(&"word ".repeat(40));
        assert!(text.lines().count() > 2 && text.lines().all(|l| l.chars().count() <= 90));
    }
}
