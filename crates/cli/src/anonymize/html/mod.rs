//! The report: one HTML page without scripts, its pictures and its style inside.

mod learnt;
pub(crate) mod plot;
mod section;

use super::release::Release;
use super::verdict::Verdict;
use crate::Failure;
use demure_anonymize::class::Class;
use std::io::Write;

/// Writes the page.
pub(super) fn write(
    release: &Release<'_>,
    before: &[Class],
    old: &[Verdict],
    verdicts: &[Verdict],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let sections = [
        section::summary(release),
        section::verdicts(release, verdicts),
        learnt::beliefs(release)?,
        section::pictures(release, before, old, verdicts),
        learnt::risks(release, before)?,
        learnt::lost(release),
        section::classes(release, verdicts),
    ];
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Anonymized table: report</title>\n<style>\n{}</style></head><body>\n{}\n\
         </body></html>\n",
        STYLE,
        sections.concat()
    );
    out.write_all(page.as_bytes()).map_err(Failure::writing)
}

/// How pages look, in light and dark.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Text that HTML does not take for markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A share as people read it: `3.82 %`.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        x if x > 0.0 && x < 0.005 => "< 0.01 %".to_owned(),
        x => {
            let text = format!("{x:.2}");
            format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// A table: its head, and rows of cells that are HTML already. Columns from `numbers` on are
/// numbers.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], numbers: usize) -> String {
    let class = |i: usize| if i >= numbers { " class=\"number\"" } else { "" };
    let line = |cells: &[String], tag: &str| -> String {
        let cell = |(i, text): (usize, &String)| format!("<{tag}{}>{text}</{tag}>", class(i));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let head: Vec<String> = head.iter().map(|text| escape(text)).collect();
    let body: String = rows.iter().map(|row| line(row, "td")).collect();
    format!("<div class=\"scroll\"><table>\n{}{body}</table></div>\n", line(&head, "th"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_and_never_to_nothing() {
        let shown = [0.0, 0.038_193_8, 1.0, 1e-6, 0.5].map(percent);
        assert_eq!(shown, ["0 %", "3.82 %", "100 %", "< 0.01 %", "50 %"]);
    }

    #[test]
    fn nothing_in_a_table_is_markup_unless_it_is_meant() {
        assert_eq!(escape("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
        let made = table(&["a<", "n"], &[vec!["<b>x</b>".to_owned(), "1".to_owned()]], 1);
        assert!(made.contains("<th>a&lt;</th><th class=\"number\">n</th>"));
        assert!(made.contains("<td><b>x</b></td><td class=\"number\">1</td>"));
    }
}
