//! Changes rows that a rule forbids.

use super::draws::Draws;
use crate::estimate::Estimate;
use crate::rules::Rules;

/// How often a value is exchanged with that of another row before it is changed.
const EXCHANGES: usize = 200;
/// How often a value is changed before the whole row is replaced.
const CHANGES: usize = 50;

/// Makes every row obey the rules: by exchanging a value with another row, which keeps the one-way counts; else by
/// drawing another value; else by replacing the row with `valid`. `columns` holds codes for all columns that rules
/// combine.
pub(super) fn repair(
    estimate: &Estimate,
    rules: &Rules,
    valid: &[u16],
    columns: &mut [Vec<u16>],
    draws: &mut Draws,
) {
    let rows = columns.first().map_or(0, Vec::len);
    for row in 0..rows {
        for attempt in 0..EXCHANGES + CHANGES {
            let Some(broken) = broken(rules, columns, row) else { break };
            let column = broken[draws.below(broken.len())];
            if attempt < EXCHANGES {
                let other = draws.below(rows);
                exchange(rules, columns, column, row, other);
            } else {
                columns[column][row] = draw(&estimate.profiles[column].shares, draws);
            }
        }
        if broken(rules, columns, row).is_some() {
            for (column, values) in
                columns.iter_mut().enumerate().filter(|(c, _)| rules.concern(*c))
            {
                values[row] = valid[column];
            }
        }
    }
}

/// The columns of a rule about several columns that the row breaks.
fn broken(rules: &Rules, columns: &[Vec<u16>], row: usize) -> Option<Vec<usize>> {
    let broken = rules.broken(|column| columns[column][row])?;
    Some(broken.forbidden.iter().map(|(column, _)| *column).collect())
}

/// Exchanges a value if neither row breaks a rule about that column afterwards.
fn exchange(rules: &Rules, columns: &mut [Vec<u16>], column: usize, row: usize, other: usize) {
    columns[column].swap(row, other);
    let fine = |row: usize| rules.allow(column, |column| columns[column][row]);
    if !(fine(row) && fine(other)) {
        columns[column].swap(row, other);
    }
}

/// A code by its share; never one of share 0.
fn draw(shares: &[f64], draws: &mut Draws) -> u16 {
    let mut rest = draws.unit();
    let mut last = 0;
    for (code, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        last = code;
        if rest < share {
            break;
        }
        rest -= share;
    }
    last as u16
}
