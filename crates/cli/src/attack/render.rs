//! What an attack found: fields for programs, tables and pictures for people, on a terminal or on a page.

use super::options::Common;
use crate::Failure;
use demure_attack::normal::Share;
use demure_files as files;
use demure_report::document::Document;
use demure_report::number::percent_aligned;
use serde_json::Value;
use std::io::Write;

/// What was found.
pub(super) struct Findings {
    /// For programs.
    pub(super) json: Value,
    /// For people.
    pub(super) document: Document,
}

impl Findings {
    /// Writes the report and prints the findings, as asked.
    pub(super) fn print(&self, output: &Common, out: &mut impl Write) -> Result<(), Failure> {
        if let Some(path) = &output.report {
            let alone = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"));
            let text = match (alone, self.document.charts.first()) {
                (true, Some(chart)) => chart.svg(),
                (true, None) => {
                    return Err(Failure::usage(
                        "this attack has no picture\nhint: give --report a name that ends in .html",
                    ));
                }
                (false, _) => self.document.html(),
            };
            files::write_text(path, &text)?;
        }
        let text = match output.json {
            true => format!("{}\n", self.json),
            false => self.document.text(),
        };
        out.write_all(text.as_bytes()).map_err(Failure::writing)
    }
}

/// A share with its 95 % interval: `73.1 % (71.1–75.0)`.
pub(super) fn measured(share: Share) -> String {
    let (low, high) = share.interval(1.96);
    format!("{} ({:.1}–{:.1})", percent_aligned(share.rate()), 100.0 * low, 100.0 * high)
}
