//! Conditions on synthetic rows, as SQL writes them: `sex = 'F' AND age >= 65`.
//!
//! A condition becomes, for each column, the codes that meet it. Parts that are joined by AND may be about different
//! columns; within one part, OR and NOT may join conditions on one column.

use super::domain::Domain;
use crate::error::{Error, Result};
use crate::model::Condition;
use crate::rules::Rule;
use crate::schema::Schema;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use demure_curator::Codes;
use std::collections::BTreeMap;

/// The longest condition that is read.
const LONGEST: usize = 10_000;

/// Whether each code of a column meets a part of the condition; `None` where that is unknown, as for NULL.
struct Part {
    column: usize,
    meets: Vec<Option<bool>>,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq)]
enum Compare {
    Equal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Reads a condition on the rows of these columns.
pub(super) fn parse(text: &str, schema: &Schema, domains: &[Domain]) -> Result<Condition> {
    let mut condition = Condition::of(schema);
    for (column, codes) in codes(text, domains)? {
        condition = condition.is(domains[column].name(), &codes)?;
    }
    Ok(condition)
}

/// Reads what no row may be: a rule.
pub(super) fn forbidden(text: &str, schema: &Schema, domains: &[Domain]) -> Result<Rule> {
    let codes = codes(text, domains)?;
    let parts = codes.iter().map(|(column, codes)| (domains[*column].name(), codes.as_slice()));
    Rule::forbid(schema, &parts.collect::<Vec<_>>())
}

/// For each column that a condition is about, the codes that meet it.
fn codes(text: &str, domains: &[Domain]) -> Result<BTreeMap<usize, Vec<usize>>> {
    let unread = || {
        wrong("this condition cannot be read", "write it as after WHERE: sex = 'F' AND age >= 65")
    };
    if text.len() > LONGEST {
        return Err(unread());
    }
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text).map_err(|_| unread())?;
    let expr = parser.parse_expr().map_err(|_| unread())?;
    if parser.peek_token().token != datafusion::sql::sqlparser::tokenizer::Token::EOF {
        return Err(unread());
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for part in conjuncts(&expr) {
        let Part { column, meets } = read(part, domains)?;
        let all = || (0..meets.len()).collect();
        let codes = found.entry(column).or_insert_with(all);
        codes.retain(|&code| meets[code] == Some(true));
    }
    Ok(found)
}

fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Condition { what: what.into(), remedy: remedy.into() }
}

/// The parts that are joined by AND.
fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        Expr::Nested(inner) => conjuncts(inner),
        other => vec![other],
    }
}

fn read(expr: &Expr, domains: &[Domain]) -> Result<Part> {
    match expr {
        Expr::Nested(inner) => read(inner, domains),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => negated(read(expr, domains)?, true),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            compared(column(expr, domains)?, Compare::Equal, &Value::Boolean(true), domains)
        }
        Expr::IsTrue(inner) => read(inner, domains),
        Expr::IsNull(inner) => null(column(inner, domains)?, true, domains),
        Expr::IsNotNull(inner) => null(column(inner, domains)?, false, domains),
        Expr::InList { expr, list, negated: not } => {
            let column = column(expr, domains)?;
            let mut found = Part { column, meets: vec![Some(false); domains[column].count()] };
            for item in list {
                let part = compared(column, Compare::Equal, &literal(item)?, domains)?;
                found = joined(found, part, or)?;
            }
            negated(found, *not)
        }
        Expr::Between { expr, negated: not, low, high } => {
            let column = column(expr, domains)?;
            let low = compared(column, Compare::AtLeast, &literal(low)?, domains)?;
            let high = compared(column, Compare::AtMost, &literal(high)?, domains)?;
            negated(joined(low, high, and)?, *not)
        }
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            joined(read(left, domains)?, read(right, domains)?, and)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            joined(read(left, domains)?, read(right, domains)?, or)
        }
        Expr::BinaryOp { left, op, right } => {
            let (place, value, turned) = match column(left, domains) {
                Ok(place) => (place, literal(right)?, false),
                Err(error) => (column(right, domains).map_err(|_| error)?, literal(left)?, true),
            };
            let (compare, not) = match op {
                BinaryOperator::Eq => (Compare::Equal, false),
                BinaryOperator::NotEq => (Compare::Equal, true),
                BinaryOperator::Lt => (if turned { Compare::More } else { Compare::Less }, false),
                BinaryOperator::LtEq => {
                    (if turned { Compare::AtLeast } else { Compare::AtMost }, false)
                }
                BinaryOperator::Gt => (if turned { Compare::Less } else { Compare::More }, false),
                BinaryOperator::GtEq => {
                    (if turned { Compare::AtMost } else { Compare::AtLeast }, false)
                }
                _ => return Err(unknown()),
            };
            negated(compared(place, compare, &value, domains)?, not)
        }
        _ => Err(unknown()),
    }
}

fn unknown() -> Error {
    wrong(
        "this kind of condition is not available",
        "compare columns with values: =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, joined by AND",
    )
}

fn column(expr: &Expr, domains: &[Domain]) -> Result<usize> {
    let name = match expr {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(names) => names.last().ok_or_else(unknown)?,
        Expr::Nested(inner) => return column(inner, domains),
        _ => return Err(unknown()),
    };
    let same = |domain: &Domain| match name.quote_style {
        Some(_) => domain.name() == name.value,
        None => domain.name().eq_ignore_ascii_case(&name.value),
    };
    domains.iter().position(same).ok_or_else(|| {
        let known: Vec<&str> = domains.iter().map(Domain::name).collect();
        Error::NoColumn { name: name.value.clone(), known: known.join(", ") }
    })
}

fn literal(expr: &Expr) -> Result<Value> {
    match expr {
        Expr::Value(value) => Ok(value.value.clone()),
        Expr::TypedString(typed) => Ok(typed.value.value.clone()),
        Expr::Nested(inner) => literal(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match literal(expr)? {
            Value::Number(text, long) => Ok(Value::Number(format!("-{text}"), long)),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|a| !a), b.map(|b| !b)).map(|neither| !neither)
}

fn joined(
    a: Part,
    b: Part,
    with: impl Fn(Option<bool>, Option<bool>) -> Option<bool>,
) -> Result<Part> {
    if a.column != b.column {
        return Err(wrong(
            "OR and NOT join conditions on one column only",
            "sample twice, once for each condition; AND may join different columns",
        ));
    }
    let meets = a.meets.into_iter().zip(b.meets).map(|(a, b)| with(a, b)).collect();
    Ok(Part { column: a.column, meets })
}

fn negated(part: Part, not: bool) -> Result<Part> {
    let Part { column, meets } = part;
    let meets = meets.into_iter().map(|meets| meets.map(|meets| meets != not)).collect();
    Ok(Part { column, meets })
}

fn null(column: usize, wanted: bool, domains: &[Domain]) -> Result<Part> {
    let domain = &domains[column];
    let meets = (0..domain.count()).map(|code| (code == 0 && domain.nullable) == wanted);
    Ok(Part { column, meets: meets.map(Some).collect() })
}

/// The codes of a column whose values compare with a value.
fn compared(column: usize, compare: Compare, value: &Value, domains: &[Domain]) -> Result<Part> {
    let domain = &domains[column];
    let name = domain.name();
    let not_of_type = || {
        let kind = match domain.codes {
            Codes::Booleans => "true or false",
            Codes::Texts(_) => "a text in single quotes",
            _ if domain.data_type.is_temporal() => "a date or time in single quotes",
            _ => "a number",
        };
        wrong(format!("`{name}` is compared with another kind of value"), format!("write {kind}"))
    };
    let only_equal =
        || wrong(format!("the values of `{name}` have no order"), "compare it with = or IN");
    let found: Vec<bool> = match &domain.codes {
        Codes::Booleans => {
            let Value::Boolean(value) = value else { return Err(not_of_type()) };
            if compare != Compare::Equal {
                return Err(only_equal());
            }
            vec![!value, *value]
        }
        Codes::Texts(texts) => {
            let text = text_of(value).ok_or_else(not_of_type)?;
            if compare != Compare::Equal {
                return Err(only_equal());
            }
            texts.iter().map(|known| known == text).collect()
        }
        Codes::Numbers(all) => {
            let at = number(value, &domain.data_type).ok_or_else(not_of_type)?;
            all.iter().map(|x| holds(*x, compare, at)).collect()
        }
        Codes::Bins(lower) => {
            let at = number(value, &domain.data_type).ok_or_else(not_of_type)?;
            let bins = (0..lower.len()).map(|place| within(domain, place, compare, at));
            bins.collect::<Option<_>>().ok_or_else(|| cuts(domain, lower, at))?
        }
    };
    let null = domain.nullable.then_some(None);
    Ok(Part { column, meets: null.into_iter().chain(found.into_iter().map(Some)).collect() })
}

fn holds(x: f64, compare: Compare, at: f64) -> bool {
    match compare {
        Compare::Equal => x == at,
        Compare::Less => x < at,
        Compare::AtMost => x <= at,
        Compare::More => x > at,
        Compare::AtLeast => x >= at,
    }
}

/// Whether all numbers of a bin meet a comparison, or none; `None` if only some do.
fn within(domain: &Domain, place: usize, compare: Compare, at: f64) -> Option<bool> {
    let bin = domain.bin(place)?;
    // The bin of 0 holds 0 alone.
    if bin.first == 0.0 && bin.end <= f64::MIN_POSITIVE {
        return Some(holds(0.0, compare, at));
    }
    let first = holds(bin.first, compare, at);
    // Numbers come as close to an end that does not belong to the bin as they like.
    let last = match (bin.closed, compare) {
        (true, _) => holds(bin.end, compare, at),
        (false, Compare::Less | Compare::AtMost) => bin.end <= at,
        (false, Compare::More | Compare::AtLeast) => bin.end > at,
        (false, Compare::Equal) => false,
    };
    let inside = bin.first < at && at < bin.end;
    match compare {
        Compare::Equal if first && last => Some(true),
        Compare::Equal => (!first && !last && !inside).then_some(false),
        _ => (first == last).then_some(first),
    }
}

/// A comparison that would need a part of a bin.
fn cuts(domain: &Domain, lower: &[f64], at: f64) -> Error {
    let name = domain.name();
    let next = lower.partition_point(|begin| *begin <= at);
    let around = [next.checked_sub(1), Some(next)];
    let around: Vec<String> = around
        .into_iter()
        .filter_map(|place| lower.get(place?))
        .filter(|x| **x == 0.0 || x.abs() > f64::MIN_POSITIVE)
        .map(|x| domain.shown(*x))
        .collect();
    wrong(
        format!("the model keeps `{name}` in bins, and the condition cuts one"),
        format!("compare with >= or < and where a bin begins: {}", around.join(" or ")),
    )
}

fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
        _ => None,
    }
}

/// The number of a literal, as the column is coded.
fn number(value: &Value, data_type: &DataType) -> Option<f64> {
    if data_type.is_temporal() {
        let text = ScalarValue::Utf8(Some(text_of(value)?.to_owned()));
        return Codes::number_of(&text.cast_to(data_type).ok()?);
    }
    match value {
        Value::Number(text, _) => text.parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
