//! The order of a sensitive column's values, for the ordered distance.

use super::Mistake;
use crate::error::Result;
use crate::table::Column;

/// The codes of the column's values from the lowest to the highest.
///
/// `typed` holds `column=a,b,c`, `column=number`, `column=text` or `column=appearance`; the last
/// one of a column counts. Without one, numbers go by size and texts by alphabet.
pub(super) fn of(column: &Column, typed: &[String]) -> Result<Vec<u32>> {
    let mut how = None;
    for (i, text) in (1..).zip(typed) {
        let (name, order) = text.split_once('=').ok_or(Mistake::OrderForm { number: i })?;
        if name == column.name {
            how = Some(order);
        }
    }
    let mut codes: Vec<u32> = (0..column.values.len() as u32).collect();
    let text = |code: &u32| column.values.get(*code as usize).map_or("", String::as_str);
    let numbers: Option<Vec<f64>> =
        column.values.iter().map(|v| v.trim().parse().ok().filter(|x: &f64| !x.is_nan())).collect();
    let size = |numbers: &[f64], code: u32| numbers.get(code as usize).copied().unwrap_or(0.0);
    match (how, numbers) {
        (Some("appearance"), _) => {}
        (Some("number") | None, Some(numbers)) => {
            codes.sort_by(|a, b| size(&numbers, *a).total_cmp(&size(&numbers, *b)));
        }
        (Some("number"), None) => {
            return Err(Mistake::NotNumbers { column: column.name.clone() }.into());
        }
        (Some("text") | None, _) => codes.sort_by(|a, b| text(a).cmp(text(b))),
        (Some(list), _) => {
            let list: Vec<&str> = list.split(',').map(str::trim).collect();
            let place = |code: &u32| list.iter().position(|item| *item == text(code));
            let unlisted: Vec<u32> = codes.iter().copied().filter(|c| place(c).is_none()).collect();
            if !unlisted.is_empty() {
                let rows = column.codes.iter().filter(|code| unlisted.contains(code)).count();
                let (column, values) = (column.name.clone(), unlisted.len());
                return Err(Mistake::NotInOrder { column, rows, values }.into());
            }
            codes.sort_by_key(place);
        }
    }
    Ok(codes)
}

#[cfg(test)]
mod tests;
