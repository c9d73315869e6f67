//! Whether an answer is the expected one.

use super::record::Record;

/// The rows of an answer, as text.
pub(crate) type Rows = Vec<Vec<String>>;

/// What differs, if anything does.
pub(crate) fn difference(record: &Record, columns: usize, answer: &Rows) -> Option<String> {
    let mut lines = record.expected.iter().map(|line| cells(line));
    let Some(header) = lines.next() else {
        return Some("there is no expected answer: run expect.py".to_owned());
    };
    if record.compare.contains {
        let within = |row: &Vec<String>| {
            answer.iter().any(|other| row.iter().all(|cell| other.contains(cell)))
        };
        let rows: Rows = lines.collect();
        return (!rows.iter().all(within)).then(|| shown(&rows, answer));
    }
    if header.len() != columns {
        return Some(format!("{columns} columns instead of {}", header.len()));
    }
    let expected: Rows = lines.collect();
    let answer = &without_empty_groups(record, &expected, answer);
    if record.compare.ordered {
        let same = expected.len() == answer.len()
            && expected.iter().zip(answer).all(|(one, other)| alike(record, one, other));
        return (!same).then(|| shown(&expected, answer));
    }
    // The first fitting row of the answer, for each expected one. Sorting would separate numbers that are all but equal.
    let mut left: Vec<&Vec<String>> = answer.iter().collect();
    let mut missing = 0;
    for row in &expected {
        match left.iter().position(|other| alike(record, row, other)) {
            Some(found) => drop(left.swap_remove(found)),
            None if record.compare.rare => missing += 1,
            None => return Some(shown(&expected, answer)),
        }
    }
    (!left.is_empty() || 2 * missing > expected.len()).then(|| shown(&expected, answer))
}

/// Every public key comes back, with 0 where no row has it, and an average somewhere in its bounds.
fn without_empty_groups(record: &Record, expected: &Rows, answer: &Rows) -> Rows {
    let keys = record.compare.keys;
    let empty = |row: &Vec<String>| {
        let rest = row.get(keys..).unwrap_or_default();
        let nothing = rest.iter().filter(|cell| nothing(cell)).count();
        keys > 0
            && 2 * nothing >= rest.len().max(1)
            && !expected.iter().any(|other| alike(record, other, row))
    };
    answer.iter().filter(|row| !empty(row)).cloned().collect()
}

fn cells(line: &str) -> Vec<String> {
    line.split(" | ").map(str::to_owned).collect()
}

fn nothing(cell: &str) -> bool {
    cell == "NULL" || cell.parse::<f64>().is_ok_and(|number| number.abs() < 1e-6)
}

fn alike(record: &Record, expected: &[String], answer: &[String]) -> bool {
    expected.len() == answer.len()
        && expected.iter().zip(answer).all(|(one, other)| match (list(one), list(other)) {
            (Some(one), Some(other)) => alike(record, &one, &other),
            _ => same(record, one, other),
        })
}

fn same(record: &Record, expected: &str, answer: &str) -> bool {
    match (expected.parse::<f64>(), answer.parse::<f64>()) {
        (Ok(x), Ok(y)) => {
            let off = (x - y).abs();
            // A NaN is like no number.
            off <= record.compare.within || off <= record.compare.relative * x.abs()
        }
        _ => plain(expected) == plain(answer),
    }
}

/// The elements of `{1,2}` or `[1, 2]`.
fn list(cell: &str) -> Option<Vec<String>> {
    let inner = cell.strip_prefix(['{', '['])?.strip_suffix(['}', ']'])?;
    Some(inner.split(',').map(|cell| cell.trim().to_owned()).collect())
}

/// A moment at midnight is its day.
fn plain(cell: &str) -> String {
    let cell = cell.replacen('T', " ", usize::from(cell.starts_with(|c: char| c.is_ascii_digit())));
    cell.strip_suffix(" 00:00:00").unwrap_or(&cell).to_owned()
}

fn shown(expected: &Rows, answer: &Rows) -> String {
    let table = |rows: &Rows| {
        let lines = rows.iter().take(8).map(|row| format!("    {}", row.join(" | ")));
        lines.collect::<Vec<_>>().join("\n")
    };
    format!(
        "expected ({} rows)\n{}\n  answered ({} rows)\n{}",
        expected.len(),
        table(expected),
        answer.len(),
        table(answer)
    )
}
