//! Numbers and prices in words.

use demure_ledger::Price;

/// A number with six digits.
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

/// A price in words.
#[must_use]
pub fn price(price: &Price, concentrated: bool) -> String {
    let symbol = if concentrated { "ρ" } else { "ε" };
    // What rounding left over is nothing.
    match (price.main < 1e-12, price.delta == 0.0) {
        (true, true) => "nothing".to_owned(),
        (_, true) => format!("{symbol} {}", short(price.main)),
        (true, _) => format!("{symbol} 0, δ {:.1e}", price.delta),
        _ => format!("{symbol} {}, δ {:.1e}", short(price.main), price.delta),
    }
}
