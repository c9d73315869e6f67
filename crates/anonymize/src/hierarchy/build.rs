//! Hierarchies built from the values of a column. An empty text (a missing
//! value) stays empty on every level below the last, `*`.

use super::{Hierarchy, STAR, refuse_missing};
use crate::error::{Error, Result};
use crate::table::Column;

/// Decimal numbers are compared in billionths, exactly.
const UNIT: i128 = 1_000_000_000;

/// Numbers become half-open intervals `[a, b)` of growing width, then `*`.
/// Each width must be a multiple of the one before.
pub fn intervals(column: &Column, origin: f64, widths: &[f64]) -> Result<Hierarchy> {
    let scaled = |x: f64| (x * UNIT as f64).round() as i128;
    let steps: Vec<i128> = widths.iter().map(|&width| scaled(width)).collect();
    let nested = steps.windows(2).all(|pair| pair[0] > 0 && pair[1] % pair[0] == 0);
    if !origin.is_finite()
        || origin.abs() > 1e18
        || widths.iter().any(|w| !(1e-9..=1e18).contains(w))
        || !nested
    {
        return Err(Error::OutOfRange {
            parameter: "the widths of intervals",
            allowed: "positive, each a multiple of the one before, from a finite origin",
        });
    }
    let origin = scaled(origin);
    paths(column, |text| {
        let value = decimal(text)?;
        let labels = steps.iter().map(|&step| {
            let low = origin + (value - origin).div_euclid(step) * step;
            format!("[{}, {})", show(low), show(low + step))
        });
        Some(labels.collect())
    })
}

/// Characters are replaced by `*` from the right, one more a level, down to a
/// lone `*`. Shorter values are filled up, so that all are equally long.
pub fn masking(column: &Column) -> Result<Hierarchy> {
    let longest = column.values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
    let keep: Vec<usize> = (1..longest).rev().collect();
    prefixes(column, &keep)
}

/// The first characters are kept, fewer on each level (`keep` falls), the rest
/// becomes `*`; then a lone `*`.
pub fn prefixes(column: &Column, keep: &[usize]) -> Result<Hierarchy> {
    if keep.windows(2).any(|pair| pair[0] <= pair[1]) || keep.contains(&0) {
        return Err(Error::OutOfRange {
            parameter: "the lengths of prefixes",
            allowed: "falling and at least 1",
        });
    }
    let longest = column.values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
    paths(column, |text| {
        let labels = keep.iter().map(|&count| {
            let kept: String = text.chars().take(count).collect();
            kept + &STAR.repeat(longest.saturating_sub(count))
        });
        Some(labels.collect())
    })
}

/// `YYYY-MM-DD`, with or without a time after it, becomes the day (if any
/// value has a time), the month, the year, `*`.
pub fn dates(column: &Column) -> Result<Hierarchy> {
    let timed = column.values.iter().any(|value| value.len() > 10);
    paths(column, |text| {
        let day = text.get(..10)?;
        let digits = |range: std::ops::Range<usize>| {
            let part = day.get(range)?;
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<u32>().ok()).flatten()
        };
        let (_, month, date) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
        let bytes = text.as_bytes();
        let separated = bytes[4] == b'-'
            && bytes[7] == b'-'
            && matches!(bytes.get(10), None | Some(b'T' | b' '));
        if !separated || !(1..=12).contains(&month) || !(1..=31).contains(&date) {
            return None;
        }
        let mut labels = vec![text.get(..7)?.to_owned(), text.get(..4)?.to_owned()];
        if timed {
            labels.insert(0, day.to_owned());
        }
        Some(labels)
    })
}

/// Values in a stated order become groups of `widths[0]` neighbours, then of
/// `widths[1]`, …, then `*`. Each width must be a multiple of the one before.
/// Every value of `order` is a leaf, whether it occurs or not.
pub fn ordered_groups<S: AsRef<str>>(
    column: &Column,
    order: &[S],
    widths: &[usize],
) -> Result<Hierarchy> {
    if widths.contains(&0) || widths.windows(2).any(|pair| pair[1] % pair[0] != 0) {
        return Err(Error::OutOfRange {
            parameter: "the widths of groups",
            allowed: "positive, each a multiple of the one before",
        });
    }
    let path = |(position, leaf): (usize, &S)| {
        let mut path = vec![leaf.as_ref().to_owned()];
        for &width in widths {
            let first = position / width * width;
            let last = (first + width - 1).min(order.len() - 1);
            path.push(match first == last {
                true => order[first].as_ref().to_owned(),
                false => format!("{}–{}", order[first].as_ref(), order[last].as_ref()),
            });
        }
        path.push(STAR.to_owned());
        path
    };
    let paths: Vec<Vec<String>> = order.iter().enumerate().map(path).collect();
    Hierarchy::from_paths(column, &paths)
}

/// A tree in TOML: a table is an inner node named by its key, an array holds
/// leaves. The root is `*`. A leaf that is less deep than others stands for
/// itself on the levels it lacks.
///
/// ```toml
/// Europe = { North = ["Norway", "Sweden"], South = ["Italy"] }
/// Asia = ["Japan"]
/// ```
pub fn tree(column: &Column, text: &str) -> Result<Hierarchy> {
    let what = || format!("the hierarchy of `{}`", column.name);
    let root: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(before).filter(|&byte| byte == b'\n').count() as u64;
        Error::Malformed { what: what(), line, why: "not well-formed TOML" }
    })?;
    let mut paths = Vec::new();
    let mut above = vec![STAR.to_owned()];
    for (name, node) in &root {
        descend(name, node, &mut above, &mut paths).ok_or_else(|| Error::Malformed {
            what: what(),
            line: 0,
            why: "a node is neither a table of nodes nor an array of texts",
        })?;
    }
    let depth = paths.iter().map(Vec::len).max().unwrap_or(0);
    for path in &mut paths {
        // From the leaf up; a shallow leaf is repeated at the front.
        path.reverse();
        let leaf = path.first().cloned().unwrap_or_default();
        let lacking = depth - path.len();
        path.splice(0..0, std::iter::repeat_n(leaf, lacking));
    }
    Hierarchy::from_paths(column, &paths)
}

/// Collects the paths, from the root down, of the leaves under a node.
fn descend(
    name: &str,
    node: &toml::Value,
    above: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
) -> Option<()> {
    above.push(name.to_owned());
    match node {
        toml::Value::Table(children) => {
            for (name, child) in children {
                descend(name, child, above, paths)?;
            }
        }
        toml::Value::Array(leaves) => {
            for leaf in leaves {
                let mut path = above.clone();
                path.push(leaf.as_str()?.to_owned());
                paths.push(path);
            }
        }
        _ => return None,
    }
    above.pop();
    Some(())
}

/// One path a value, from the labels between the leaf and `*`; values for which
/// there are none are counted and refused.
fn paths(column: &Column, labels: impl Fn(&str) -> Option<Vec<String>>) -> Result<Hierarchy> {
    let between: Vec<Option<Vec<String>>> = column
        .values
        .iter()
        .map(|value| if value.is_empty() { Some(Vec::new()) } else { labels(value) })
        .collect();
    let known: Vec<Option<u32>> = between.iter().map(|labels| labels.as_ref().map(|_| 0)).collect();
    refuse_missing(column, &known)?;
    let depth = between.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let full = |(value, labels): (&String, Option<Vec<String>>)| {
        let mut path = vec![value.clone()];
        path.extend(labels.unwrap_or_default());
        path.resize(depth + 1, String::new());
        path.push(STAR.to_owned());
        path
    };
    let paths: Vec<Vec<String>> = column.values.iter().zip(between).map(full).collect();
    Hierarchy::from_paths(column, &paths)
}

/// A decimal number in billionths; nothing if it has more digits than that.
fn decimal(text: &str) -> Option<i128> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fraction = fraction.trim_end_matches('0');
    if !plain(whole)
        || !plain(fraction)
        || whole.len() > 18
        || fraction.len() > 9
        || digits.is_empty()
        || digits == "."
    {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    let value = whole * UNIT + fraction;
    Some(if negative { -value } else { value })
}

/// Billionths as a decimal number, without trailing zeros.
fn show(value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, fraction) = (value.abs() / UNIT, value.abs() % UNIT);
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    let digits = format!("{fraction:09}");
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests;
