//! Upper bounds on the cost of computing an expression on one row.
//!
//! The unit is about a nanosecond of an optimized build. An operation on values of a fixed width costs a few units;
//! one on texts costs *passes* over the longest text that it can get. That length follows from the statement, from
//! public rows and from [`LONGEST`]; protected data is not read.
//!
//! | what | passes |
//! |---|---|
//! | parts and lengths (`left`, `substr`, `contains`), a choice (`CASE`, `coalesce`), conversions | 1–2 |
//! | new texts (`concat`, `lower`, `reverse`, `replace`), search (`strpos`) | 4, plus 1 per 16 bytes searched for |
//! | `initcap` | 8 |
//! | `translate` | 64 |
//! | `to_date`, `lpad`, `overlay` | 4, and those of the format or of what is filled in |
//! | `LIKE` and regular expressions | the number of places of the pattern where a match can be, at least 4; 16 times that above 16 |
//! | `regexp_replace`, `substring_match` | 8 times as many |
//! | a function that is not listed | 128 |
//!
//! A function that may fail on a row, such as `date_trunc` for remote dates, is expensive if it does, and is counted
//! as if it always did. Numbers wider than a word cost more to divide.
//!
//! These are upper estimates, from the loops of the functions. A plain comparison of two texts costs one unit per 128
//! bytes.
//!
//! Every cost grows at most in proportion to the lengths of all texts: with texts s times as long it is at most s times as
//! large. The limits on a person's rows rest on this (`bound::cap`), and a test checks it for every function.

use crate::rows::total::{LONGEST, Total};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use regex_syntax::hir::{Hir, HirKind};

/// The cost of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Units for values of a fixed width.
    pub(crate) plain: u64,
    /// Passes over texts, whatever their length.
    pub(crate) passes: u64,
    /// Units for those passes, each with the greatest possible length of its text.
    pub(crate) bytes: u64,
    /// Functions that may fail on the row, each of which costs [`FAILURE`] if it does.
    pub(crate) failures: u64,
}

/// Units for a row on which a function fails: the row is found by bisection, so about two calls are for it alone
/// ([`crate::rows::total`]).
pub(crate) const FAILURE: u64 = 2_000;

impl Cost {
    /// All units.
    pub(crate) fn units(self) -> u64 {
        let failures = self.failures.saturating_mul(FAILURE);
        self.plain.saturating_add(self.bytes).saturating_add(failures)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            plain: self.plain.saturating_add(other.plain),
            passes: self.passes.saturating_add(other.passes),
            bytes: self.bytes.saturating_add(other.bytes),
            failures: self.failures.saturating_add(other.failures),
        }
    }

    /// The remaining cost without `part`.
    pub(crate) fn less(self, part: Self) -> Self {
        Self {
            plain: self.plain.saturating_sub(part.plain),
            passes: self.passes.saturating_sub(part.passes),
            bytes: self.bytes.saturating_sub(part.bytes),
            failures: self.failures.saturating_sub(part.failures),
        }
    }

    /// The cost `n` times.
    pub(crate) fn times(self, n: u64) -> Self {
        Self {
            plain: self.plain.saturating_mul(n),
            passes: self.passes.saturating_mul(n),
            bytes: self.bytes.saturating_mul(n),
            failures: self.failures.saturating_mul(n),
        }
    }
}

/// The range of an expression's value, and the cost of computing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computed {
    pub(crate) cost: Cost,
    /// The greatest length of the text, in bytes; 0 if it is not a text.
    pub(crate) longest: u64,
}

impl Computed {
    fn of(cost: Cost, longest: u64) -> Self {
        Self { cost, longest }
    }

    fn and_units(self, plain: u64) -> Self {
        Self { cost: self.cost.and(Cost { plain, ..Cost::default() }), ..self }
    }

    fn and_passes(self, passes: u64, length: u64) -> Self {
        let bytes = passes.saturating_mul(length);
        let passes = if length == 0 { 0 } else { passes };
        Self { cost: self.cost.and(Cost { passes, bytes, ..Cost::default() }), ..self }
    }

    fn and_failures(self, failures: u64) -> Self {
        Self { cost: self.cost.and(Cost { failures, ..Cost::default() }), ..self }
    }

    fn but_longest(self, longest: u64) -> Self {
        Self { longest, ..self }
    }
}

/// The longest text that a function produces; a longer one becomes NULL.
const MADE: u64 = LONGEST as u64;
/// How many times as long the search for groups takes as that for a match.
const GROUPED: u64 = 8;
/// Passes of a function that is not listed.
const UNKNOWN: u64 = 128;

/// The cost of `expr` on a row whose texts are at most as long as `longest` says for each column.
pub(crate) fn cost(expr: &Expr, longest: &impl Fn(&Column) -> u64) -> Computed {
    let of = |expr: &Expr| cost(expr, longest);
    match expr {
        Expr::Column(column) => Computed::of(Cost::default(), longest(column)),
        Expr::Literal(value, _) => {
            let length = value.try_as_str().flatten().map_or(0, str::len);
            Computed::of(Cost::default(), length as u64)
        }
        Expr::Alias(alias) => of(&alias.expr),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (left, right) = (of(left), of(right));
            let both = Computed::of(left.cost.and(right.cost), 0);
            match op {
                Operator::StringConcat => concatenated(&[left, right]),
                Operator::LikeMatch
                | Operator::ILikeMatch
                | Operator::NotLikeMatch
                | Operator::NotILikeMatch => like(both, left.longest, right.longest, false),
                _ => both.and_units(1 + left.longest.min(right.longest) / 128),
            }
        }
        Expr::Like(parts) => {
            let (text, pattern) = (of(&parts.expr), of(&parts.pattern));
            let both = Computed::of(text.cost.and(pattern.cost), 0);
            let part = match parts.pattern.as_ref() {
                Expr::Literal(value, _) => value
                    .try_as_str()
                    .flatten()
                    .is_some_and(|pattern| !pattern.trim_matches('%').contains(['%', '_', '\\'])),
                _ => false,
            };
            let both = if parts.case_insensitive { both.and_passes(4, text.longest) } else { both };
            like(both, text.longest, pattern.longest, part)
        }
        Expr::Case(case) => {
            let conditions = case.when_then_expr.iter().map(|(when, _)| of(when));
            let base = case.expr.iter().map(|expr| of(expr));
            let results = case.when_then_expr.iter().map(|(_, then)| of(then));
            let results: Vec<Computed> =
                results.chain(case.else_expr.iter().map(|expr| of(expr))).collect();
            let all = sum(conditions.chain(base).chain(results.iter().copied()));
            let chosen = results.iter().map(|result| result.longest).max().unwrap_or(0);
            let units = 4 * case.when_then_expr.len() as u64;
            all.and_units(units).and_passes(1, chosen).but_longest(chosen)
        }
        Expr::InList(list) => {
            let (value, items) = (of(&list.expr), list.list.iter().map(&of));
            let constant = list.list.iter().all(|item| matches!(item, Expr::Literal(..)));
            match constant {
                true => value.and_units(8 + value.longest / 8).but_longest(0),
                false => {
                    let compared = value.longest / 128 + 1;
                    let units = compared.saturating_mul(list.list.len() as u64);
                    sum(items.chain([value])).and_units(units).but_longest(0)
                }
            }
        }
        Expr::Cast(cast) => converted(of(&cast.expr), cast.field.data_type()),
        Expr::TryCast(cast) => converted(of(&cast.expr), cast.field.data_type()),
        Expr::ScalarFunction(call) => {
            let (found, total) = (function(call, &of), Total::of(call));
            let failures = u64::from(total.is_some_and(|total| total.may_fail(&call.args)));
            let wide = total.map_or(0, |total| wide(total.returns(), call.name()));
            found.and_failures(failures).and_units(wide)
        }
        Expr::AggregateFunction(call) => {
            let filter = call.params.filter.iter().map(|filter| of(filter));
            let arguments: Vec<Computed> = call.params.args.iter().map(&of).collect();
            let longest = arguments.iter().map(|argument| argument.longest).max().unwrap_or(0);
            sum(arguments.into_iter().chain(filter)).and_units(8 + longest / 8).but_longest(longest)
        }
        other => {
            let mut parts = Vec::new();
            // The closure never fails, so neither does the walk.
            let _ = other.apply_children(|child| {
                parts.push(of(child));
                Ok(TreeNodeRecursion::Continue)
            });
            let units = 2 + parts.iter().map(|part| part.longest / 128).sum::<u64>();
            sum(parts.into_iter()).and_units(units).but_longest(0)
        }
    }
}

/// Units for arithmetic on numbers wider than a word, and on calendars.
fn wide(returns: &DataType, name: &str) -> u64 {
    let divides = matches!(name, "total_/" | "total_%");
    match returns {
        DataType::Date32 | DataType::Timestamp(..) if matches!(name, "total_+" | "total_-") => 60,
        DataType::Decimal256(..) if divides => 200,
        DataType::Decimal256(..) => 32,
        DataType::Decimal128(..) if divides => 32,
        DataType::Decimal128(..) => 8,
        _ => 0,
    }
}

/// The cost of all parts; the result is not a text.
fn sum(parts: impl Iterator<Item = Computed>) -> Computed {
    Computed::of(parts.fold(Cost::default(), |sum, part| sum.and(part.cost)), 0)
}

fn concatenated(parts: &[Computed]) -> Computed {
    let length = parts.iter().fold(0u64, |length, part| {
        // A value that is not a text is converted to one.
        length.saturating_add(if part.longest == 0 { 64 } else { part.longest })
    });
    let all = sum(parts.iter().copied()).and_units(16);
    all.and_passes(4, length).but_longest(length.min(MADE))
}

/// A pattern with `%` and `_`: a prefix, a suffix or a `part` is searched for, other patterns are matched place by
/// place.
fn like(both: Computed, text: u64, pattern: u64, part: bool) -> Computed {
    both.and_units(16).and_passes(if part { 2 } else { matched(pattern) }, text)
}

/// The passes of a matcher that can be in so many places at once. With many it keeps making new states: some sixteen times as
/// dear, as measured.
fn matched(places: u64) -> u64 {
    if places > 16 { places.saturating_mul(16) } else { places.max(4) }
}

fn converted(value: Computed, to: &DataType) -> Computed {
    match (value.longest, crate::rows::expression::text(to)) {
        (0, true) => value.and_units(64).but_longest(64),
        (0, false) => value.and_units(4),
        // Unchanged: it already is a text.
        (_, true) => value,
        (length, false) => value.and_units(32).and_passes(1, length).but_longest(0),
    }
}

fn function(call: &ScalarFunction, of: &impl Fn(&Expr) -> Computed) -> Computed {
    let name = call.name();
    let name = name.strip_prefix("total_").unwrap_or(name);
    let arguments: Vec<Computed> = call.args.iter().map(of).collect();
    let length = |i: usize| arguments.get(i).map_or(0, |argument| argument.longest);
    let number = |i: usize| match call.args.get(i) {
        Some(Expr::Literal(value, _)) => crate::rows::expression::number(value),
        _ => None,
    };
    let all = sum(arguments.iter().copied());
    // For what is repeated for each byte of another text: the length that a text can have, whatever is known of this one.
    let any_length = |i: usize| match call.args.get(i) {
        Some(Expr::Literal(..)) | None => length(i),
        Some(_) if length(i) == 0 => 0,
        Some(_) => MADE,
    };
    let text = length(0);
    let longest = arguments.iter().map(|argument| argument.longest).max().unwrap_or(0);
    match name {
        "+" | "-" | "*" | "/" | "%" | "negative" | "abs" | "ceil" | "floor" | "isnan"
        | "iszero" | "nanvl" | "signum" | "octet_length" | "bit_length" | "ascii" => {
            all.and_units(4)
        }
        "round" | "trunc" | "sqrt" | "degrees" | "radians" | "pi" => all.and_units(8),
        "acos" | "asin" | "atan" | "atan2" | "cbrt" | "cos" | "cosh" | "exp" | "ln" | "log"
        | "log10" | "log2" | "power" | "sin" | "sinh" | "tan" | "tanh" => all.and_units(32),
        "date_bin" | "date_part" | "date_trunc" | "age" | "make_date" | "width_bucket" => {
            all.and_units(64)
        }
        "days" | "later" | "earlier" | "since" | "interval_length" | "rounded" | "rounded_away" => {
            all.and_units(16)
        }
        "interval_of_length" | "interval_field" | "interval_times" | "interval_over"
        | "moment_number" => all.and_units(32),
        // No pattern of n characters makes more than nine from each.
        "to_char" => {
            let made = length(1).saturating_mul(9).clamp(1, MADE);
            all.and_units(128).and_passes(16, length(1)).but_longest(made)
        }
        "isfinite" => all.and_units(4),
        "to_timestamp" if call.args.len() == 1 => all.and_units(16),
        // The format is short, and a text is read once.
        "to_date" | "to_timestamp" => {
            all.and_units(64).and_passes(4, text).and_passes(64, length(1))
        }
        "lpad" | "rpad" => {
            // Of at most four bytes each.
            let made = number(1).map_or(MADE, |n| 4u64.saturating_mul(n.max(0.0) as u64));
            all.and_units(32)
                .and_passes(4, text)
                .and_passes(4, made)
                .but_longest(made.clamp(1, MADE))
        }
        "overlay" => {
            let made = text.saturating_add(length(1));
            all.and_units(32).and_passes(4, made).but_longest(made.clamp(1, MADE))
        }
        "concat" | "concat_ws" | "||" => concatenated(&arguments),
        "greatest" | "least" | "nullif" | "clamp" | "coalesce" | "nvl" => {
            let units = 2 * arguments.len() as u64;
            all.and_units(units).and_passes(1, longest).but_longest(longest)
        }
        "held" => arguments.first().copied().unwrap_or_default().and_units(1),
        "starts_with" | "ends_with" => all.and_units(8 + length(1) / 16),
        "character_length" => all.and_units(8).and_passes(2, text),
        "contains" => all.and_units(16).and_passes(2, text),
        "left" | "right" | "substr" => {
            let characters = number(if name == "substr" { 2 } else { 1 });
            // Of at most four bytes each; from the end where the number is below 0.
            let made = characters.filter(|n| *n >= 0.0);
            let made = made.map_or(u64::MAX, |n| 4u64.saturating_mul(n as u64));
            all.and_units(16).and_passes(2, text).but_longest(text.min(made).clamp(1, MADE))
        }
        "lower" | "upper" | "reverse" => {
            all.and_units(16).and_passes(4, text).but_longest(text.saturating_mul(2).min(MADE))
        }
        "initcap" => {
            all.and_units(16).and_passes(8, text).but_longest(text.saturating_mul(2).min(MADE))
        }
        "btrim" | "ltrim" | "rtrim" => {
            all.and_units(16).and_passes(4 + any_length(1) / 4, text).but_longest(text.min(MADE))
        }
        "replace" | "split_part" | "strpos" => {
            let made = if name == "strpos" { 0 } else { text.min(MADE) };
            all.and_units(32).and_passes(4 + any_length(1) / 16, text).but_longest(made)
        }
        "translate" => {
            let read = text.saturating_add(length(1)).saturating_add(length(2));
            all.and_units(32).and_passes(64, read).but_longest(text.saturating_mul(4).min(MADE))
        }
        "regexp_count" | "regexp_like" | "regexp_replace" | "substring_match" => {
            // A longer text becomes NULL before it is matched.
            let read = text.min(MADE);
            let once = matched(places(call.args.get(1)));
            // Each match that is counted may look as far ahead as a match can be long, and costs by itself: some 64
            // units, as measured.
            let (least, most) = match_lengths(call.args.get(1));
            let ahead = most.clamp(1, MADE);
            let passes = match name {
                "regexp_count" | "regexp_replace" => {
                    once.saturating_mul(ahead).saturating_add(64 / least.clamp(1, 64))
                }
                _ => once,
            };
            let all = all.and_units(32);
            match name {
                // Groups are found place by place, and the new text is made in a few passes more.
                "regexp_replace" | "substring_match" => {
                    let passes = passes.saturating_mul(GROUPED);
                    all.and_passes(passes, read).and_passes(8, MADE).but_longest(MADE)
                }
                _ => all.and_passes(passes, read),
            }
        }
        _ if name.starts_with("cast_") => {
            let to = call.func.name();
            let text = to.ends_with("Utf8") || to.ends_with("Utf8View");
            let to = if text { DataType::Utf8 } else { DataType::Null };
            converted(all.but_longest(longest), &to).and_units(if text { 4 } else { 32 })
        }
        _ => all.and_units(64).and_passes(UNKNOWN, longest).but_longest(MADE),
    }
}

/// How short and how long a match of a regular expression can be, in bytes.
fn match_lengths(pattern: Option<&Expr>) -> (u64, u64) {
    let Some(Expr::Literal(value, _)) = pattern else { return (0, u64::MAX) };
    match value.try_as_str().flatten().map(regex_syntax::parse) {
        Some(Ok(pattern)) => {
            let properties = pattern.properties();
            let least = properties.minimum_len().map_or(0, |bytes| bytes as u64);
            (least, properties.maximum_len().map_or(u64::MAX, |bytes| bytes as u64))
        }
        Some(Err(_)) => (0, u64::MAX),
        None => (1, 0),
    }
}

/// The number of places of a regular expression where a match can be at the same time: each may cost a step for every
/// byte of the text.
fn places(pattern: Option<&Expr>) -> u64 {
    let Some(Expr::Literal(value, _)) = pattern else { return u64::MAX };
    match value.try_as_str().flatten().map(regex_syntax::parse) {
        Some(Ok(pattern)) => within(&pattern),
        Some(Err(_)) => u64::MAX,
        None => 0,
    }
}

fn within(pattern: &Hir) -> u64 {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            within(&repetition.sub).saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => within(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0u64, |sum, part| sum.saturating_add(within(part)))
        }
    }
}

#[cfg(test)]
mod tests;
