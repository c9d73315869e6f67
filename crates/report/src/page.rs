//! HTML pages without scripts; their charts and style are inline.

/// The style of pages, in light and dark.
const STYLE: &str = concat!(include_str!("page.css"), include_str!("chart.css"));

/// A whole page; `body` is already HTML.
#[must_use]
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head><body>\n{body}</body></html>\n",
        escape(title)
    )
}

/// A table: its head, and rows of cells that are already HTML. Columns from `numbers` on are numbers.
#[must_use]
pub fn table(head: &[&str], rows: &[Vec<String>], numbers: usize) -> String {
    let class = |i: usize| if i >= numbers { " class=\"number\"" } else { "" };
    let line = |cells: &[String], tag: &str| -> String {
        let cell = |(i, text): (usize, &String)| format!("<{tag}{}>{text}</{tag}>", class(i));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let head: Vec<String> = head.iter().map(|text| escape(text)).collect();
    let body: String = rows.iter().map(|row| line(row, "td")).collect();
    format!("<div class=\"scroll\"><table>\n{}{body}</table></div>\n", line(&head, "th"))
}

/// Escapes text for HTML and XML.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML does not allow other control characters.
            c if c.is_control() && !matches!(c, '\n' | '\t') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
