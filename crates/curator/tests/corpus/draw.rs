//! Reproducible draws, days of the calendar, and CSV files: what the tables of the corpus are made with.

use std::fmt::Display;
use std::fs;
use std::path::Path;

/// SplitMix64 from a fixed seed: the same tables on every machine.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1).unsigned_abs()) as i64
    }

    /// True once in `n` draws, on average.
    pub(crate) fn one_in(&mut self, n: i64) -> bool {
        self.between(1, n) == 1
    }

    /// One of a list.
    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.between(0, list.len() as i64 - 1) as usize]
    }
}

/// A day as text, from its number since 1970-01-01.
pub(crate) fn day(number: i64) -> String {
    let z = number + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (d, m) = (of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    let y = year_of_era + era * 400 + i64::from(m <= 2);
    format!("{y:04}-{m:02}-{d:02}")
}

/// A moment as text, from its second since 1970-01-01.
pub(crate) fn moment(second: i64) -> String {
    let (date, of_day) = (second.div_euclid(86_400), second.rem_euclid(86_400));
    format!("{} {:02}:{:02}:{:02}", day(date), of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// An amount in cents as text: `12.05`.
pub(crate) fn cents(amount: i64) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", amount.abs() / 100, amount.abs() % 100)
}

/// The text of a value, or the empty text of a NULL.
pub(crate) fn or_null(value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Writes a table as CSV. No value holds a comma, a quote or a line break.
pub(crate) fn csv(folder: &Path, name: &str, header: &str, rows: &[String]) {
    let text = format!("{header}\n{}\n", rows.join("\n"));
    fs::write(folder.join(format!("{name}.csv")), text).expect("a table can be written");
}
