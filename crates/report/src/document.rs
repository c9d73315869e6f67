//! A result with its tables, charts and explanation: on a terminal, or as a self-contained page.

use crate::chart::Chart;
use crate::page::{escape, page};
use crate::table::Table;
use crate::wrapped;
use std::fmt::Write;

/// The widest line of running text in a terminal.
const COLUMNS: usize = 90;

/// A result to present.
#[derive(Default)]
pub struct Document {
    /// The heading of the page.
    pub title: String,
    /// What was done, in a sentence or two.
    pub lead: String,
    /// The tables, each with its title.
    pub tables: Vec<Table>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// What it means, a paragraph each.
    pub meaning: Vec<String>,
}

impl Document {
    /// For a terminal: the lead, the tables, the charts, the meaning.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = wrapped(&self.lead, COLUMNS, "") + "\n";
        // Writing to a string cannot fail.
        for table in &self.tables {
            let _ = write!(text, "\n{}\n\n{}", table.title, table.text("  "));
        }
        for chart in &self.charts {
            let _ = writeln!(text, "\n{}", chart.text().trim_end());
        }
        for paragraph in &self.meaning {
            let _ = writeln!(text, "\n{}", wrapped(paragraph, COLUMNS, ""));
        }
        text
    }

    /// For a browser: the charts first, the tables last.
    #[must_use]
    pub fn html(&self) -> String {
        let (title, lead) = (escape(&self.title), escape(&self.lead));
        let mut body = format!("<h1>{title}</h1>\n<p class=\"soft\">{lead}</p>\n");
        self.charts.iter().for_each(|chart| body += &chart.figure());
        for text in &self.meaning {
            let _ = writeln!(body, "<p>{}</p>", escape(text));
        }
        for table in &self.tables {
            let _ = write!(body, "<h2>{}</h2>\n{}", escape(&table.title), table.html());
        }
        page(&self.title, &body)
    }
}

#[cfg(test)]
mod tests;
