//! Where findings go: JSON, a terminal, a page.

use super::options::Common;
use crate::Failure;
use demure_attack::findings::Findings;
use demure_files as files;
use std::io::Write;

/// Writes the report and prints the findings, as asked.
pub(super) fn print(
    found: &Findings,
    output: &Common,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if let Some(path) = &output.report {
        let alone = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"));
        let text = match (alone, found.document.charts.first()) {
            (true, Some(chart)) => chart.svg(),
            (true, None) => {
                return Err(Failure::usage(
                    "this attack has no picture\nhint: give --report a name that ends in .html",
                ));
            }
            (false, _) => found.document.html(),
        };
        files::write_text(path, &text)?;
    }
    let text = match output.json {
        true => format!("{}\n", found.json),
        false => found.document.text(),
    };
    out.write_all(text.as_bytes()).map_err(Failure::writing)
}
