//! Numbers, percentages and times as text.

use std::time::SystemTime;

/// A number with as many digits as a reader needs: `2.99573`, `1.000e-7`.
#[must_use]
pub fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let magnitude = x.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{x:.3e}");
    }
    let digits = (5.0 - magnitude).clamp(0.0, 9.0) as usize;
    trimmed(&format!("{x:.digits$}")).to_owned()
}

/// A number with all its digits.
#[must_use]
pub fn full(x: f64) -> String {
    let plain = x == 0.0 || !x.is_finite() || (1e-4..1e16).contains(&x.abs());
    if plain { x.to_string() } else { format!("{x:e}") }
}

/// A short number with thousands separators: `73,778`.
#[must_use]
pub fn grouped(x: f64) -> String {
    thousands(&short(x), 4)
}

/// `1 report`, `2 reports`.
#[must_use]
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n as f64), if n == 1 { "" } else { "s" })
}

/// A short number with thousands separators from 10,000 on: 2024 may be a year, 20,240 is a count.
#[must_use]
pub fn grouped_if_long(x: f64) -> String {
    thousands(&short(x), 5)
}

/// A value and the half-width of its interval, both rounded so that the half-width has two digits.
#[must_use]
pub fn with_error(x: f64, error: f64) -> (String, String) {
    let digits = match error > 0.0 {
        true => (1.0 - error.log10().floor()).clamp(0.0, 9.0) as usize,
        false => 6,
    };
    (thousands(&format!("{x:.digits$}"), 5), thousands(&format!("{error:.digits$}"), 5))
}

/// The same for integers; the half-width is rounded up.
#[must_use]
pub fn whole_with_error(x: f64, error: f64) -> (String, String) {
    (thousands(&format!("{x:.0}"), 5), thousands(&format!("{:.0}", error.ceil()), 5))
}

/// The longest exact number on an axis; longer ones are rounded.
const LONGEST_TICK: usize = 8;

/// A number on an axis: `0.001`, `1e-5`, `20,000`.
#[must_use]
pub fn tick(x: f64) -> String {
    if x == 0.0 || (1e-4..1e6).contains(&x.abs()) {
        return grouped(x);
    }
    let exact = format!("{x:e}");
    if exact.len() <= LONGEST_TICK { exact } else { short(x) }
}

/// A share as a percentage with at most two digits after the point: `3.82 %`. A share that is not 0 is never shown as
/// 0, and one below 1 never as 100.
#[must_use]
pub fn percent(share: f64) -> String {
    percentage(share, 2, true)
}

/// The same with one digit after the point, so that numbers in a column align: `50.0 %`.
#[must_use]
pub fn percent_aligned(share: f64) -> String {
    percentage(share, 1, false)
}

fn percentage(share: f64, digits: usize, trim: bool) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    let text = |digits: usize| format!("{:.digits$}", 100.0 * share);
    let least = format!("{:.digits$}", 0.0);
    if share > 0.0 && text(digits) == least {
        return format!("< {:.digits$} %", 10f64.powi(-(digits as i32)));
    }
    // 99.996 % is not 100 %: uses as many digits as it takes to show that.
    match (digits..5).find(|digits| share >= 1.0 || !text(*digits).starts_with("100")) {
        Some(digits) if trim => format!("{} %", trimmed(&text(digits))),
        Some(digits) => format!("{} %", text(digits)),
        None => "> 99.999 %".to_owned(),
    }
}

/// Removes zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// Adds thousands separators to a decimal whose whole part has at least `least` digits.
fn thousands(text: &str, least: usize) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find(['.', 'e']).unwrap_or(rest.len()));
    if whole.len() < least || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let digits: Vec<char> = whole.chars().collect();
    let groups: Vec<String> = digits.rchunks(3).rev().map(|group| group.iter().collect()).collect();
    format!("{sign}{}{fraction}", groups.join(","))
}

/// A time as people and programs read it: `2026-11-15 16:45:00Z`.
#[must_use]
pub fn time(at: SystemTime) -> String {
    moment(at).replace('T', " ")
}

/// A time as RFC 3339 writes it: `2026-11-15T16:45:00Z`; before 1970 as 1970.
#[must_use]
pub fn moment(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day since 1970, in the Gregorian calendar. Years begin in March, so that leap days come last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
