//! Numbers and prices in words.

use demure_ledger::{Accounting, Balance, Entry, Kind, Outcome, Price, Question};

/// A number with six significant digits.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    if x.abs() < 1e-6 {
        let text = format!("{x:.5e}");
        let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", number.trim_end_matches('0').trim_end_matches('.'));
    }
    let digits = (5.0 - x.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{x:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Rounds the numbers in a text to six digits: `pure(eps=0.299999999999997)` becomes `pure(eps=0.3)`.
pub(crate) fn rounded(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        shown.push_str(before);
        let part = |c: char| c.is_ascii_digit() || c == '.';
        let mut end = number.find(|c| !part(c)).unwrap_or(number.len());
        // An exponent, as in 1.5e-7.
        if let Some(power) = number[end..].strip_prefix('e') {
            let digits = power.strip_prefix('-').unwrap_or(power);
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            if length > 0 {
                end += 1 + (power.len() - digits.len()) + length;
            }
        }
        let (number, after) = number.split_at(end);
        match number.parse::<f64>() {
            Ok(x) if number.contains(['.', 'e']) => shown.push_str(&short(x)),
            _ => shown.push_str(number),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// A price in words.
#[must_use]
pub fn price(price: &Price, concentrated: bool) -> String {
    let symbol = if concentrated { "ρ" } else { "ε" };
    // Treats rounding residue as 0.
    match (price.main < 1e-12, price.delta == 0.0) {
        (true, true) => "nothing".to_owned(),
        (_, true) => format!("{symbol} {}", short(price.main)),
        (true, _) => format!("{symbol} 0, δ {:.1e}", price.delta),
        _ => format!("{symbol} {}, δ {:.1e}", short(price.main), price.delta),
    }
}

/// What is left of a budget: `ε 2.5 of 3`; for zCDP `ρ 0.08; what is spent amounts to ε 0.9 of 3`. δ where some was
/// spent.
#[must_use]
pub fn left(balance: &Balance) -> String {
    // What rounding left over is nothing.
    let left = short(if balance.left.main < 1e-12 { 0.0 } else { balance.left.main });
    let all = short(balance.limit.epsilon.get());
    let main = match balance.limit.accounting {
        Accounting::Pure => format!("ε {left} of {all}"),
        Accounting::Zcdp => {
            let spent = short(balance.spent_epsilon);
            format!("ρ {left}; what is spent amounts to ε {spent} of {all}")
        }
    };
    match balance.spent.delta > 0.0 {
        true => format!("{main}, δ {:.1e}", balance.left.delta),
        false => main,
    }
}

/// What a line of the ledger is about, on one line.
#[must_use]
pub fn entry(entry: &Entry, concentrated: bool) -> String {
    let cost = || price(&entry.price, concentrated);
    match entry.kind {
        Kind::Reserve => {
            let outcome = match entry.outcome {
                Some(Outcome::Answered) => "answered",
                Some(Outcome::Cancelled) => "taken back",
                Some(_) => "no answer",
                None => "",
            };
            // Where the question is known, that is shown instead.
            let query = match entry.question {
                Some(_) => String::new(),
                None => entry.query.split_whitespace().collect::<Vec<_>>().join(" "),
            };
            let query: String = query.chars().take(100).collect();
            [cost(), outcome.to_owned(), query].join("  ").trim_end().to_owned()
        }
        Kind::Receive => format!("{}  bought by somebody else", cost()),
        Kind::Settle | Kind::Cancel => {
            format!("line {}", entry.refers.map_or_else(String::new, |seq| seq.to_string()))
        }
        // A ledger's id and what it replaces, or what replaces it; a table's unit and source.
        Kind::Identity | Kind::Unit | Kind::Replaced => {
            [&*entry.key, &*entry.event, &*entry.query].join("  ")
        }
        _ => entry.event.clone(),
    }
}

/// A question as it was written, line by line, and below it its values and settings.
#[must_use]
pub fn question(question: &Question) -> Vec<String> {
    let Question { sql, values, settings, complete, .. } = question;
    let mut lines: Vec<String> =
        sql.lines().map(|line| line.replace('\t', "    ").trim_end().to_owned()).collect();
    let values = values.iter().enumerate().map(|(at, value)| format!("${} = {value}", at + 1));
    let settings = settings.iter().map(|(name, value)| format!("{name} = {value}"));
    let beside: Vec<String> = values.chain(settings).collect();
    if !beside.is_empty() {
        lines.push(format!("-- {}", beside.join(", ")));
    }
    if !complete {
        lines.push("-- the question was longer; the ledger stores its beginning".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests;
