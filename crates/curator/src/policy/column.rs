//! Reads a column's section of a policy.

use super::problem::Notes;
use super::section::{self, Form, Node, Section};
use super::{ColumnBounds, ColumnKind, ColumnPolicy, Mistake, PointInTime, TimeFormat, Value};
use demure_core::mechanism::Bounds;
use demure_core::unit::Grid;
use std::collections::HashSet;
use toml::de::DeValue;
use toml::value::Datetime;

/// The longest list of values; longer ones belong in a public table.
const MOST: usize = 100_000;

const COLUMN: Form = &[
    ("bounds", "`bounds = [low, high]`"),
    ("grid", "`grid = 0.01`"),
    ("type", "`type = \"integer\"`"),
    ("format", "`format = \"%d.%m.%Y\"`"),
    ("decimal", "`decimal = \",\"` or `decimal = \".\"`"),
    ("values", "`values = [\"a\", \"b\"]`"),
    ("nullable", "`nullable = false`"),
    ("hidden", "`hidden = true`"),
];

/// The decimal separators: whether it is a comma.
pub(super) const DECIMALS: &[(&str, bool)] = &[(",", true), (".", false)];

/// Reads a column of a table whose numbers have a decimal comma, or not. Wrong entries are noted and left out of the
/// result.
pub(super) fn read(
    name: &str,
    at: usize,
    node: &Node<'_>,
    decimal_comma: bool,
    notes: &mut Notes<'_>,
) -> ColumnPolicy {
    let mut column = ColumnPolicy { decimal_comma, ..ColumnPolicy::named(name) };
    let DeValue::Table(fields) = node.get_ref() else {
        let (key, owner) = (name.to_owned(), "the columns".to_owned());
        let found = section::described(node.get_ref());
        let remedy = format!("`{name} = {{ bounds = [low, high] }}`");
        notes.mistake(at, Mistake::WrongKind { key, owner, found, remedy });
        return column;
    };
    let section = Section::new(format!("column `{name}`"), at, fields, COLUMN, notes);
    let flag = |found: section::FieldResult<bool>| found.ok().flatten().map(|(flag, _)| flag);
    column.nullable = flag(section.boolean("nullable", notes)).unwrap_or(true);
    column.hidden = flag(section.boolean("hidden", notes)).unwrap_or(false);
    let kinds = [
        ("integer", ColumnKind::Integer),
        ("real", ColumnKind::Real),
        ("text", ColumnKind::Text),
        ("boolean", ColumnKind::Boolean),
        ("date", ColumnKind::Date),
        ("time", ColumnKind::Time),
    ];
    column.kind =
        super::read::choice(&section, "type", &kinds, notes).ok().flatten().map(|(k, _)| k);
    column.format = format(&mut column, &section, notes);
    decimal(&mut column, &section, notes);
    column.bounds = bounds(name, column.kind, &section, notes);
    column.grid = grid(name, &section, column.bounds, notes);
    column.values = values(name, &section, notes);
    agree(&column, &section, notes);
    column
}

/// How dates or times are written. Without a type, it says which of the two they are.
fn format(
    column: &mut ColumnPolicy,
    section: &Section<'_, '_>,
    notes: &mut Notes<'_>,
) -> Option<TimeFormat> {
    let (given, at) = section.text("format", notes).ok()??;
    let name = || column.name.clone();
    let found = TimeFormat::parse(given).map_err(|fault| Mistake::Format { column: name(), fault });
    let kind = column.kind;
    let found = found.and_then(|format| match kind {
        None | Some(ColumnKind::Date | ColumnKind::Time) => Ok(format),
        Some(_) => Err(Mistake::FormatOfOthers { column: name() }),
    });
    match found {
        Ok(format) => {
            let own = if format.has_time() { ColumnKind::Time } else { ColumnKind::Date };
            column.kind.get_or_insert(own);
            Some(format)
        }
        Err(mistake) => {
            notes.mistake(at, mistake);
            None
        }
    }
}

/// How numbers are written, unless the table says it.
fn decimal(column: &mut ColumnPolicy, section: &Section<'_, '_>, notes: &mut Notes<'_>) {
    let Ok(Some((comma, at))) = super::read::choice(section, "decimal", DECIMALS, notes) else {
        return;
    };
    column.decimal_comma = comma;
    if !matches!(column.kind, None | Some(ColumnKind::Integer | ColumnKind::Real)) {
        notes.mistake(at, Mistake::DecimalOfOthers { column: column.name.clone() });
    }
}

/// Two finite numbers, two dates or two times, the lower first.
fn bounds(
    name: &str,
    kind: Option<ColumnKind>,
    section: &Section<'_, '_>,
    notes: &mut Notes<'_>,
) -> Option<ColumnBounds> {
    let (list, at) = section.typed("bounds", notes, DeValue::as_array).ok()??;
    let written: Vec<&DeValue<'_>> = list.iter().map(|bound| bound.get_ref()).collect();
    let found = match &written[..] {
        [DeValue::Datetime(low), DeValue::Datetime(high)] => times(name, low, high),
        [low, high] => match (section::number(low), section::number(high)) {
            (Some(low), Some(high)) => numbers(name, low, high),
            (None, None) => Err(Mistake::BoundsLength { column: name.to_owned() }),
            _ => Err(Mistake::BoundsMixed { column: name.to_owned() }),
        },
        _ => Err(Mistake::BoundsLength { column: name.to_owned() }),
    };
    match found.and_then(|bounds| of_kind(name, bounds, kind)) {
        Ok(bounds) => Some(bounds),
        Err(mistake) => {
            notes.mistake(at, mistake);
            None
        }
    }
}

fn numbers(name: &str, low: f64, high: f64) -> Result<ColumnBounds, Mistake> {
    let column = name.to_owned();
    match () {
        () if !(low.is_finite() && high.is_finite()) => Err(Mistake::BoundsNotFinite { column }),
        () if low >= high => Err(Mistake::BoundsReversed { column, low, high }),
        () => Ok(ColumnBounds::Numbers(low, high)),
    }
}

fn times(name: &str, low: &Datetime, high: &Datetime) -> Result<ColumnBounds, Mistake> {
    let column = || name.to_owned();
    let read = |written| {
        PointInTime::read(written)
            .map_err(|found| Mistake::BoundsNotLocal { column: column(), found })
    };
    let (low, high) = (read(low)?, read(high)?);
    match () {
        () if low.is_day() != high.is_day() => Err(Mistake::BoundsMixed { column: column() }),
        () if low >= high => Err(Mistake::BoundsOfTimesReversed { column: column(), low, high }),
        () => Ok(ColumnBounds::Times(low, high)),
    }
}

/// Refuses bounds that values of the declared type cannot have.
fn of_kind(
    name: &str,
    bounds: ColumnBounds,
    kind: Option<ColumnKind>,
) -> Result<ColumnBounds, Mistake> {
    use ColumnKind as K;
    let column = name.to_owned();
    match (kind, bounds.times()) {
        (Some(K::Date), Some((low, _))) if !low.is_day() => Err(Mistake::TimesOfDates { column }),
        (Some(K::Date | K::Time), None) => Err(Mistake::NumbersOfTimes { column }),
        (Some(K::Integer | K::Real | K::Text | K::Boolean), Some(_)) => {
            Err(Mistake::TimesOfOthers { column })
        }
        _ => Ok(bounds),
    }
}

/// The grid, rounded down to a power of two, after checking that the bounds fit it.
fn grid(
    name: &str,
    section: &Section<'_, '_>,
    bounds: Option<ColumnBounds>,
    notes: &mut Notes<'_>,
) -> Option<f64> {
    let given = section.number("grid", notes).ok()?;
    let column = name.to_owned();
    let (grid, at) = match given {
        None => (None, section.get("bounds").map_or(section.at, |node| node.span().start)),
        Some((grid, at)) if !(grid.is_finite() && grid > 0.0) => {
            notes.mistake(at, Mistake::GridNotPositive { column });
            return None;
        }
        Some((_, at)) if section.get("bounds").is_none() => {
            notes.mistake(at, Mistake::GridAlone { column });
            return None;
        }
        Some((_, at)) if bounds.is_some_and(|bounds| bounds.times().is_some()) => {
            notes.mistake(at, Mistake::GridOfTimes { column });
            return None;
        }
        Some((grid, at)) => (Some(power_below(grid)), at),
    };
    let (low, high) = bounds?.numbers()?;
    let wanted = grid.is_some();
    let fit = match grid {
        None => Bounds::new(low, high),
        Some(grid) => grid.and_then(|grid| Bounds::on(low, high, grid)),
    };
    match fit {
        Ok(fit) => wanted.then(|| fit.grid().spacing()),
        Err(source) => {
            let remedy = fitting(low, high);
            notes.mistake(at, Mistake::BoundsOnGrid { column, source, remedy });
            None
        }
    }
}

/// The largest grid of at most `spacing`, which is positive and finite.
fn power_below(spacing: f64) -> demure_core::Result<Grid> {
    // The exponent of a float; −1023 below the normal ones, which no grid reaches anyway.
    Grid::power_of_two(((spacing.to_bits() >> 52) & 0x7ff) as i32 - 1023)
}

/// The grids that the core accepts for these bounds, in words.
fn fitting(low: f64, high: f64) -> String {
    let distance = high - low;
    let finest = (distance / 2f64.powi(30)).max(low.abs().max(high.abs()) / 2f64.powi(62));
    let fits = power_below(finest)
        .and_then(|grid| Grid::power_of_two(grid.exponent() + 1))
        .and_then(|grid| Bounds::on(low, high, grid));
    match fits {
        Ok(fit) => format!("a `grid` from {:?} to {distance:?}", fit.grid().spacing()),
        Err(_) => "narrower bounds around 0".to_owned(),
    }
}

/// Values of one kind, without duplicates.
fn values(name: &str, section: &Section<'_, '_>, notes: &mut Notes<'_>) -> Option<Vec<Value>> {
    let (list, at) = section.typed("values", notes, DeValue::as_array).ok()??;
    let column = name.to_owned();
    if list.is_empty() {
        notes.mistake(at, Mistake::ValuesEmpty { column });
        return None;
    }
    if list.len() > MOST {
        notes.mistake(at, Mistake::ValuesMany { column, count: list.len() });
        return None;
    }
    let mut values: Vec<Value> = Vec::with_capacity(list.len());
    let mut seen = HashSet::new();
    for node in list.iter() {
        let (at, column) = (node.span().start, column.clone());
        match value(node.get_ref()) {
            Err(found) => notes.mistake(at, Mistake::ValuesKind { column, found }),
            Ok(value) => {
                if let Some(first) = values.first().filter(|first| first.kind() != value.kind()) {
                    let mistake = mixed(column, first, &value);
                    notes.mistake(at, mistake);
                    // One mistake of this kind explains them all.
                    return None;
                }
                if !seen.insert(shown(&value)) {
                    notes.mistake(at, Mistake::ValuesTwice { column, value: shown(&value) });
                }
                values.push(value);
            }
        }
    }
    Some(values)
}

fn value(value: &DeValue<'_>) -> Result<Value, &'static str> {
    match value {
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Boolean(boolean) => Ok(Value::Boolean(*boolean)),
        DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix())
            .map(Value::Integer)
            .map_err(|_| "a whole number beyond 64 bits"),
        DeValue::Float(real) => match real.as_str().parse::<f64>() {
            // Adding 0 turns −0 into 0.
            Ok(real) if real.is_finite() => Ok(Value::Real(real + 0.0)),
            _ => Err("a number that is not finite"),
        },
        DeValue::Datetime(date) if date.date.is_some() && date.time.is_none() => {
            Ok(Value::Date(date.to_string()))
        }
        other => Err(match other {
            DeValue::Datetime(_) => "a time",
            other => section::described(other),
        }),
    }
}

fn mixed(column: String, first: &Value, second: &Value) -> Mistake {
    let hint = match (first, second) {
        (Value::Real(_), Value::Integer(_)) | (Value::Integer(_), Value::Real(_)) => {
            ", e.g. 2.0 for 2"
        }
        _ => "",
    };
    Mistake::ValuesMixed { column, first: first.kind(), second: second.kind(), hint }
}

/// The value as a policy writes it.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        Value::Integer(whole) => whole.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Date(date) => date.clone(),
    }
}

/// Checks that bounds and values agree.
fn agree(column: &ColumnPolicy, section: &Section<'_, '_>, notes: &mut Notes<'_>) {
    let (Some(bounds), Some(values)) = (column.bounds, &column.values) else { return };
    let at = section.get("values").map_or(section.at, |node| node.span().start);
    let Some((low, high)) = bounds.numbers() else {
        notes.mistake(at, Mistake::TimesAndValues { column: column.name.clone() });
        return;
    };
    for value in values {
        let number = match value {
            Value::Integer(whole) => *whole as f64,
            Value::Real(real) => *real,
            Value::Text(_) | Value::Boolean(_) | Value::Date(_) => {
                let (column, kind) = (column.name.clone(), value.kind());
                notes.mistake(at, Mistake::BoundsAndValues { column, kind });
                return;
            }
        };
        if !(low..=high).contains(&number) {
            let (column, value) = (column.name.clone(), shown(value));
            notes.mistake(at, Mistake::ValueOutside { column, value });
        }
    }
}

#[cfg(test)]
mod tests;
