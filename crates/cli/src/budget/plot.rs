//! Spending over time, as SVG: a staircase under the limit.

use crate::Failure;
use crate::anonymize::files;
use crate::report::{short, time};
use demure_ledger::{Accounting, Entry, Kind, Ledger};
use std::fmt::Write;
use std::path::Path;
use std::time::SystemTime;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 50.0;
const TOP: f64 = 30.0;
const RIGHT: f64 = 20.0;

pub(super) fn write(path: &Path, ledger: &Ledger) -> Result<(), Failure> {
    let failed = |e: demure_ledger::Error| Failure::from(demure_curator::Error::from(e));
    let balance = ledger.balance().map_err(failed)?;
    let steps = steps(&ledger.entries().map_err(failed)?);
    let letter = if balance.limit.accounting == Accounting::Pure { "ε" } else { "ρ" };
    let svg = draw(&steps, balance.spent.main + balance.left.main, letter);
    files::write(path, |to| std::io::Write::write_all(to, svg.as_bytes()).map_err(Failure::writing))
}

/// When something was spent or taken back, and how much was spent then.
fn steps(entries: &[Entry]) -> Vec<(SystemTime, f64)> {
    let (mut spent, mut steps) = (0.0f64, Vec::new());
    for entry in entries {
        match entry.kind {
            Kind::Limit if steps.is_empty() => {}
            Kind::Reserve => spent += entry.price.main,
            Kind::Cancel => spent = (spent - entry.price.main).max(0.0),
            _ => continue,
        }
        steps.push((entry.time, spent));
    }
    steps
}

fn draw(steps: &[(SystemTime, f64)], limit: f64, letter: &str) -> String {
    let first = steps.iter().map(|step| step.0).min().unwrap_or(SystemTime::UNIX_EPOCH);
    let last = steps.iter().map(|step| step.0).max().unwrap_or(first);
    let seconds = |at: SystemTime| at.duration_since(first).unwrap_or_default().as_secs_f64();
    let span = seconds(last).max(1.0);
    let highest =
        steps.iter().map(|step| step.1).fold(limit, f64::max).max(f64::MIN_POSITIVE) * 1.08;
    let x = |at: SystemTime| LEFT + seconds(at) / span * (WIDTH - LEFT - RIGHT);
    let y = |spent: f64| HEIGHT - BOTTOM - spent / highest * (HEIGHT - BOTTOM - TOP);
    let mut line = format!("M{:.1} {:.1}", LEFT, y(0.0));
    for (at, spent) in steps {
        // Writing to a string cannot fail.
        let _ = write!(line, " H{:.1} V{:.1}", x(*at), y(*spent));
    }
    let end = steps.last().map_or(0.0, |step| step.1);
    let _ = write!(line, " H{:.1}", WIDTH - RIGHT);
    let area = format!("{line} V{:.1} H{LEFT} Z", y(0.0));
    let mut ticks = String::new();
    for i in 0..=4 {
        let value = limit * f64::from(i) / 4.0;
        let _ = write!(
            ticks,
            "<path class='grid' d='M{LEFT} {0:.1}H{1}'/><text x='{2}' y='{3:.1}' \
             text-anchor='end'>{4}</text>",
            y(value),
            WIDTH - RIGHT,
            LEFT - 8.0,
            y(value) + 4.0,
            short(value)
        );
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' \
         aria-label='spent {} of {letter} {}'>\n\
         <style>text{{font:12px system-ui,sans-serif;fill:#555}}.grid{{stroke:#ddd;fill:none}}\
         .limit{{stroke:#c0392b;stroke-dasharray:6 4;fill:none}}.spent{{stroke:#2060a0;\
         stroke-width:2;fill:none}}.area{{fill:#2060a022}}\
         @media(prefers-color-scheme:dark){{text{{fill:#bbb}}.grid{{stroke:#444}}}}</style>\n\
         <text x='{LEFT}' y='18'>spent, {letter} (limit {})</text>\n{ticks}\n\
         <path class='area' d='{area}'/>\n<path class='spent' d='{line}'/>\n\
         <path class='limit' d='M{LEFT} {3:.1}H{4}'/>\n\
         <text x='{LEFT}' y='{5}'>{6}</text><text x='{4}' y='{5}' text-anchor='end'>{7}</text>\n</svg>\n",
        short(end),
        short(limit),
        short(limit),
        y(limit),
        WIDTH - RIGHT,
        HEIGHT - BOTTOM + 22.0,
        time(first),
        time(last),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_staircase_under_its_limit() {
        let at = |s: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(s);
        let svg = draw(&[(at(0), 0.0), (at(50), 1.0), (at(100), 1.5)], 2.0, "ε");
        assert!(svg.contains("spent 1.5 of ε 2") && svg.contains("class='limit'"));
        // One step across at the middle, one up at the end.
        assert_eq!(svg.matches(" H405.0 V").count(), 2, "{svg}");
        assert!(draw(&[], 0.0, "ρ").starts_with("<svg"));
    }
}
