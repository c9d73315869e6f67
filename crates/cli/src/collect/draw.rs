//! Estimates with their intervals, and a plan's curves, as SVG.

use super::rows::Table;
use crate::report::{grouped, short};
use demure_collect::plan::Point;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
/// Where bars begin.
const LEFT: f64 = 190.0;
/// Room for the numbers behind the bars.
const RIGHT: f64 = 130.0;
const ROW: f64 = 24.0;
/// More bars than these are not drawn.
const MOST: usize = 200;

const STYLE: &str = "<style>text{font:12px system-ui,sans-serif;fill:#444}.title{font-size:15px;\
     font-weight:600}.said{font-size:13px;font-weight:600}.grid{stroke:#ddd;fill:none}.bar{fill:#2060a055}.span{stroke:#2060a0;\
     stroke-width:1.5;fill:none}.at{fill:#2060a0}.hoeffding{stroke:#2060a0}.chernoff{stroke:#c0392b}\
     .exact{stroke:#2e8b57}.normal{stroke:#888;stroke-dasharray:5 4}.line{fill:none;stroke-width:2}\
     @media(prefers-color-scheme:dark){text{fill:#ccc}.grid{stroke:#444}.span{stroke:#7ab0e8}\
     .at{fill:#7ab0e8}.bar{fill:#7ab0e855}}</style>";

/// Horizontal bars, one a row, with the interval around each end.
pub(super) fn bars(question: &str, tables: &[Table]) -> String {
    let mut body = String::new();
    let mut y = 30.0;
    // Writing to a string cannot fail.
    let _ = writeln!(
        body,
        "<text class='title' x='16' y='{y}'>{}</text>",
        escaped(&question.chars().take(90).collect::<String>())
    );
    for table in tables {
        y += 26.0;
        let notes = table.note.lines().next().unwrap_or_default();
        let title =
            if tables.len() > 1 { format!("{}: {notes}", table.name) } else { notes.into() };
        let _ = writeln!(body, "<text x='16' y='{y}'>{}</text>", escaped(&title));
        y += 12.0;
        let shown = table.rows.len().min(MOST);
        let (from, to) = table.axis;
        let place =
            |v: f64| LEFT + ((v - from) / (to - from)).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
        let bottom = y + ROW * shown as f64;
        for i in 0..=4 {
            let value = from + (to - from) * f64::from(i) / 4.0;
            let x = place(value);
            let _ = writeln!(
                body,
                "<path class='grid' d='M{x:.1} {y:.1}V{bottom:.1}'/><text x='{x:.1}' y='{:.1}' \
                 text-anchor='middle'>{}</text>",
                bottom + 16.0,
                short(value)
            );
        }
        for row in &table.rows[..shown] {
            let (middle, x) = (y + ROW / 2.0, place(row.estimate));
            let _ = write!(
                body,
                "<text x='{}' y='{:.1}' text-anchor='end'>{}</text>\
                 <rect class='bar' x='{LEFT}' y='{:.1}' width='{:.1}' height='{:.1}'/>",
                LEFT - 8.0,
                middle + 4.0,
                escaped(&row.name.chars().take(26).collect::<String>()),
                y + 4.0,
                x - LEFT,
                ROW - 8.0,
            );
            let mut said = short((row.estimate * 1e4).round() / 1e4);
            if let Some((lower, upper)) = row.interval {
                let (a, b) = (place(lower), place(upper));
                let _ = write!(
                    body,
                    "<path class='span' d='M{a:.1} {0:.1}v8M{a:.1} {middle:.1}H{b:.1}M{b:.1} {0:.1}v8'/>",
                    middle - 4.0
                );
                said += &format!(" [{lower:.3}, {upper:.3}]");
            }
            let _ = writeln!(
                body,
                "<circle class='at' cx='{x:.1}' cy='{middle:.1}' r='3'/><text x='{}' y='{:.1}'>{said}</text>",
                WIDTH - RIGHT + 8.0,
                middle + 4.0
            );
            y += ROW;
        }
        y = bottom + 24.0;
        if shown < table.rows.len() {
            let _ = writeln!(
                body,
                "<text x='16' y='{y}'>the first {shown} of {}</text>",
                table.rows.len()
            );
            y += 16.0;
        }
    }
    whole(WIDTH, y + 8.0, question, &body)
}

/// What a plan's curve runs along.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Along {
    People,
    Epsilon,
}

impl Along {
    pub(super) fn of(self, point: &Point) -> f64 {
        match self {
            Self::People => point.people as f64,
            Self::Epsilon => point.epsilon,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Epsilon => "ε",
        }
    }
}

/// The error by all methods, on logarithmic axes, with the plan marked.
pub(super) fn curves(title: &str, along: Along, points: &[Point], chosen: (f64, f64)) -> String {
    const HEIGHT: f64 = 380.0;
    let (left, right, top, bottom) = (70.0, WIDTH - 120.0, 50.0, HEIGHT - 50.0);
    type Line = (&'static str, fn(&Point) -> f64);
    let lines: [Line; 4] = [
        ("hoeffding", |p| p.errors.hoeffding),
        ("chernoff", |p| p.errors.chernoff),
        ("exact", |p| p.errors.exact),
        ("normal", |p| p.errors.normal),
    ];
    let all = || lines.iter().flat_map(|(_, of)| points.iter().map(of)).chain([chosen.1]);
    let positive = |x: &f64| *x > 0.0 && x.is_finite();
    let low = all().filter(positive).fold(f64::INFINITY, f64::min);
    let high = all().filter(positive).fold(f64::MIN_POSITIVE, f64::max);
    let (first, last) = match points {
        [first, .., last] => (along.of(first), along.of(last)),
        _ => (chosen.0 * 0.5, chosen.0 * 2.0),
    };
    let share = |v: f64, from: f64, to: f64| {
        ((v.max(f64::MIN_POSITIVE) / from).ln() / (to / from).ln().max(1e-9)).clamp(0.0, 1.0)
    };
    let x = |v: f64| left + share(v, first, last) * (right - left);
    let y = |v: f64| bottom - share(v, low, high) * (bottom - top);
    let mut body = format!("<text class='said' x='16' y='28'>{}</text>\n", escaped(title));
    let decades = (-9..=12).map(|power| 10f64.powi(power));
    for value in decades.flat_map(|decade| [decade, 2.0 * decade, 5.0 * decade]) {
        if (first..=last).contains(&value) {
            let _ = writeln!(
                body,
                "<path class='grid' d='M{0:.1} {top}V{bottom}'/><text x='{0:.1}' y='{1}' \
                 text-anchor='middle'>{2}</text>",
                x(value),
                bottom + 18.0,
                grouped(value)
            );
        }
        if (low..=high).contains(&value) {
            let _ = writeln!(
                body,
                "<path class='grid' d='M{left} {0:.1}H{right}'/><text x='{1}' y='{2:.1}' \
                 text-anchor='end'>{3}</text>",
                y(value),
                left - 8.0,
                y(value) + 4.0,
                short(value)
            );
        }
    }
    for (i, (name, of)) in lines.iter().enumerate() {
        let mut path = String::new();
        for point in points {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", x(along.of(point)), y(of(point)));
        }
        let at = top + 16.0 + 20.0 * i as f64;
        let _ = writeln!(
            body,
            "<path class='line {name}' d='{path}'/><path class='line {name}' d='M{} {at}h20'/>\
             <text x='{}' y='{}'>{name}</text>",
            right + 10.0,
            right + 36.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        body,
        "<circle class='at' cx='{:.1}' cy='{:.1}' r='5'/>\n<text x='{right}' y='{}' \
         text-anchor='end'>{}</text><text x='{left}' y='{}'>error</text>",
        x(chosen.0),
        y(chosen.1),
        HEIGHT - 12.0,
        along.name(),
        top - 6.0
    );
    whole(WIDTH, HEIGHT, title, &body)
}

fn whole(width: f64, height: f64, label: &str, body: &str) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' role='img' \
         aria-label='{}'>\n{STYLE}\n{body}</svg>\n",
        escaped(label)
    )
}

/// Text that stays text.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '\'' => safe += "&apos;",
            '"' => safe += "&quot;",
            // XML has no place for other control characters.
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::rows::Row;
    use super::*;

    #[test]
    fn a_picture_holds_its_words_as_text() {
        let row = Row {
            name: "<b>".into(),
            estimate: 0.5,
            interval: Some((0.25, 0.75)),
            consistent: None,
        };
        let table = Table { name: "x".into(), note: "n".into(), rows: vec![row], axis: (0.0, 1.0) };
        let svg = bars("a < b & 'c'", &[table]);
        assert!(svg.contains("a &lt; b &amp; &apos;c&apos;") && svg.contains("&lt;b&gt;"), "{svg}");
        // From ¼ to ¾ of 440 points, from 190 on.
        assert!(svg.contains("M300.0 ") && svg.contains("H520.0"), "{svg}");
        assert!(svg.contains("[0.250, 0.750]") && svg.ends_with("</svg>\n"));
    }
}
