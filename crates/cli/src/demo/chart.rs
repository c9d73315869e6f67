//! Bars with error bars: `██████├─┼─┤ 412 ± 30`.

use crate::curator::table::Table;

/// The cells of the longest bar.
const WIDTH: usize = 44;

/// A bar for each row: the first column names it, the last that has an error is drawn.
/// Nothing for values that a bar from 0 cannot show.
pub(super) fn bars(table: &Table) -> Option<Vec<String>> {
    let names = table.columns.first()?;
    let values =
        table.columns.iter().rev().find(|c| c.cells.iter().any(|cell| cell.error.is_some()))?;
    let numbers: Option<Vec<(f64, f64)>> =
        values.cells.iter().map(|c| Some((c.number?, c.error?))).collect();
    let numbers = numbers?;
    let most = numbers.iter().map(|(x, error)| x + error).fold(0.0, f64::max);
    if !most.is_finite() || most <= 0.0 {
        return None;
    }
    let width = |text: &str| text.chars().count();
    let named = names.cells.iter().map(|cell| width(&cell.text)).max()?.max(width(&names.name));
    let digits = values.cells.iter().map(|cell| width(&cell.text)).max()?;
    let mut lines = vec![format!("{:named$}  {}", names.name, values.name)];
    for ((name, value), (x, error)) in names.cells.iter().zip(&values.cells).zip(numbers) {
        let half = value.half.as_deref().unwrap_or_default();
        let bar = bar(x / most, error / most);
        lines.push(format!("{:named$}  {bar:WIDTH$} {:>digits$} ± {half}", name.text, value.text));
    }
    Some(lines)
}

/// A bar to `x` with an error bar around it, both as shares of the width.
fn bar(x: f64, error: f64) -> String {
    let cell = |share: f64| (share.clamp(0.0, 1.0) * (WIDTH - 1) as f64).round() as usize;
    let (low, at, high) = (cell(x - error), cell(x), cell(x + error));
    (0..=high)
        .map(|here| match here {
            _ if here < low => '█',
            _ if here == at => '┼',
            _ if here == low => '├',
            _ if here == high => '┤',
            _ => '─',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_bar_sits_around_the_end_of_its_bar() {
        assert_eq!(bar(0.0, 0.0), "┼");
        assert_eq!(bar(10.0 / 43.0, 0.0), format!("{}┼", "█".repeat(10)));
        assert_eq!(bar(10.0 / 43.0, 2.0 / 43.0), format!("{}├─┼─┤", "█".repeat(8)));
        assert_eq!(bar(1.0, 0.0).chars().count(), WIDTH);
        assert_eq!(bar(-1.0, 0.1), "┼");
    }
}
