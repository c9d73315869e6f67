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
mod tests {
    use super::*;

    #[test]
    fn text_and_page_hold_everything() {
        let table = Table::of_texts(&["a"], [vec!["1".to_owned()]]).titled("T < 1");
        let document = Document {
            title: "Title".to_owned(),
            lead: "lead".to_owned(),
            tables: vec![table],
            charts: Vec::new(),
            meaning: vec!["so what".to_owned()],
        };
        assert_eq!(document.text(), "lead\n\nT < 1\n\n  a\n  ─\n  1\n\nso what\n");
        let html = document.html();
        assert!(html.contains("<h2>T &lt; 1</h2>") && html.contains("<p>so what</p>"), "{html}");
    }
}
