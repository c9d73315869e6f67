//! Spending over time, as SVG: a staircase under the limit.

use crate::Failure;
use demure_files as files;
use demure_ledger::{Accounting, Entry, Kind, Ledger};
use demure_report::chart::{Axis, Chart, Mark, Series, seconds};
use demure_report::short;
use std::path::Path;
use std::time::SystemTime;

pub(super) fn write(path: &Path, ledger: &Ledger) -> Result<(), Failure> {
    let failed = |e: demure_ledger::Error| Failure::from(demure_curator::Error::from(e));
    let balance = ledger.balance().map_err(failed)?;
    let steps = steps(&ledger.entries().map_err(failed)?);
    let letter = if balance.limit.accounting == Accounting::Pure { "ε" } else { "ρ" };
    let svg = draw(&steps, balance.spent.main + balance.left.main, letter).svg();
    Ok(files::write_text(path, &svg)?)
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

fn draw(steps: &[(SystemTime, f64)], limit: f64, letter: &str) -> Chart {
    let first = steps.first().map_or(SystemTime::UNIX_EPOCH, |step| step.0);
    let last = steps.last().map_or(first, |step| step.0);
    let highest = steps.iter().map(|step| step.1).fold(limit, f64::max);
    let spent = steps.last().map_or(0.0, |step| step.1);
    let points: Vec<(f64, f64)> =
        [(first, 0.0)].iter().chain(steps).map(|(at, spent)| (seconds(*at), *spent)).collect();
    let series = Series::steps("", '─', &points);
    let areas: Vec<_> = series.points().iter().map(|(x, y)| (*x, 0.0, *y)).collect();
    Chart {
        title: format!("spent {} of {letter} {}", short(spent), short(limit)),
        x: Axis::time("", first, last),
        y: Axis::linear(letter, 0.0, 1.08 * highest.max(f64::MIN_POSITIVE)),
        series: vec![series, Series::band("", &areas)],
        marks: vec![Mark::Level(limit, format!("limit {}", short(limit)))],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_staircase_under_its_limit() {
        let at = |s: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(s);
        let chart = draw(&[(at(0), 0.0), (at(50), 1.0), (at(100), 1.5)], 2.0, "ε");
        assert_eq!(
            chart.series[0].points()[3..],
            [(50.0, 0.0), (50.0, 1.0), (100.0, 1.0), (100.0, 1.5)]
        );
        let svg = chart.svg();
        assert!(
            svg.contains("spent 1.5 of ε 2") && svg.contains("limit 2") && !svg.contains("NaN")
        );
        assert!(draw(&[], 0.0, "ρ").svg().starts_with("<svg"));
    }
}
