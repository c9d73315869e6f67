//! Decides which expressions may touch protected rows, and makes them total.
//!
//! This is an allow-list: everything else is refused. [`crate::rows::total`] explains why an expression must not be
//! able to fail on any row.

use crate::error::engine::expression;
use crate::refusal::{Refusal, Rule};
use crate::rows::expression::{depth, number, place, size, text};
use crate::rows::postgres::{self, format::is_understood, text::flags_are_understood};
use crate::rows::total::Total;
use crate::rows::unlimited;
use crate::rows::{INNER, NUMBER, RESERVED, Rows};
use crate::statement::limits::{DEEPEST, deep};
use crate::statement::names::type_in_words;
use Fails::{Never, Sometimes};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, DataFusionError, ScalarValue};
use datafusion::functions::core::expr_fn::{greatest, least};
use datafusion::functions::regex::regexp_like;
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, Operator, ScalarUDF, TryCast, Volatility, lit,
};
use std::sync::Arc;

/// The allowed functions of one row, by the engine's own names: deterministic, and total once wrapped.
///
/// To add one: its name here, and whether it fails on some row (when it does, `total.rs`, `may_fail`); its cost (`cost.rs`,
/// `function`); what is known of its values (`expression.rs`); arguments that must be constants (`constants`, below);
/// `docs/sql.md`; and a query in `tests/golden/functions.slt`. A test checks that no list lacks it. A function that the
/// engine lacks is written in `added_functions.rs`.
pub(crate) const FUNCTIONS: &[(&str, Fails)] = &[
    ("abs", Never),
    ("acos", Never),
    ("age", Never),
    ("ascii", Never),
    ("asin", Never),
    ("atan", Never),
    ("atan2", Never),
    ("bit_length", Never),
    ("btrim", Never),
    ("cbrt", Never),
    ("ceil", Sometimes),
    ("character_length", Never),
    ("clamp", Never),
    ("coalesce", Never),
    ("concat", Never),
    ("concat_ws", Never),
    ("contains", Never),
    ("cos", Never),
    ("cosh", Never),
    ("date_bin", Sometimes),
    ("date_part", Never),
    ("date_trunc", Sometimes),
    ("degrees", Never),
    ("ends_with", Never),
    ("exp", Never),
    ("floor", Sometimes),
    ("greatest", Never),
    ("initcap", Never),
    ("isfinite", Never),
    ("isnan", Never),
    ("iszero", Never),
    ("least", Never),
    ("left", Never),
    ("ln", Never),
    ("log", Never),
    ("log10", Never),
    ("log2", Never),
    ("lower", Never),
    ("lpad", Never),
    ("ltrim", Never),
    ("make_date", Never),
    ("nanvl", Never),
    ("nullif", Never),
    ("nvl", Never),
    ("octet_length", Never),
    ("overlay", Never),
    ("pi", Never),
    ("power", Sometimes),
    ("radians", Never),
    ("regexp_count", Never),
    ("regexp_like", Never),
    ("regexp_replace", Never),
    ("replace", Never),
    ("reverse", Never),
    ("right", Never),
    ("round", Sometimes),
    ("rpad", Never),
    ("rtrim", Never),
    ("signum", Never),
    ("sin", Never),
    ("sinh", Never),
    ("split_part", Sometimes),
    ("sqrt", Never),
    ("starts_with", Never),
    ("strpos", Never),
    ("substr", Sometimes),
    ("substring_match", Never),
    ("tan", Never),
    ("tanh", Never),
    ("to_char", Never),
    ("to_date", Never),
    ("to_timestamp", Never),
    ("translate", Never),
    ("trunc", Sometimes),
    ("upper", Never),
    ("width_bucket", Never),
];

/// Functions by other names, and aggregates: what a misspelt name may have meant.
pub(crate) const SPELLINGS: &[&str] = &[
    "avg",
    "ceiling",
    "char_length",
    "corr",
    "count",
    "current_date",
    "div",
    "extract",
    "ifnull",
    "length",
    "max",
    "median",
    "min",
    "mod",
    "mode",
    "now",
    "num_nonnulls",
    "pow",
    "sign",
    "stddev",
    "substring",
    "sum",
    "trim",
    "variance",
];

/// Whether a function fails on some row, once wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    Never,
    /// It depends on the arguments: `Total::may_fail` says when.
    Sometimes,
}

/// Whether a function is known to fail on no row. One that is not listed is taken to fail.
pub(crate) fn never_fails(name: &str) -> bool {
    FUNCTIONS.contains(&(name, Never))
}

/// The largest expression, in nodes, after expanding every name in it.
const LARGEST: u32 = 2_500;

/// Functions that are already total, and that the optimizer knows better unwrapped.
const NATIVE: &[&str] = &["greatest", "least", "nullif"];

/// Functions whose second argument is a pattern to be compiled.
pub(crate) const PATTERNS: &[&str] =
    &["regexp_count", "regexp_like", "regexp_replace", "substring_match"];

/// `expr` made total, or the reason why it is refused.
pub(crate) fn admit(expr: Expr, rows: &Rows) -> Result<Expr, Refusal> {
    let schema = rows.schema();
    if size(&expr, rows) > LARGEST {
        return Err(Refusal::new(
            Rule::Statement,
            "an expression that is too large once every name in it is written out",
            "use each computed column once or twice, or aggregate in between",
        ));
    }
    // Measured after expansion, because the engine merges what is computed in several steps. A stack overflow that
    // only happens when some row gets there would reveal that row.
    if depth(&expr, rows) > DEEPEST {
        return Err(deep());
    }
    let mut refused = None;
    let outcome = expr.transform_up(|expr| match total(expr, schema) {
        Ok(expr) => Ok(Transformed::yes(expr)),
        Err(refusal) => {
            refused = Some(refusal);
            Err(DataFusionError::Plan(String::new()))
        }
    });
    match (outcome, refused) {
        (Ok(expr), _) => Ok(expr.data),
        (Err(_), Some(refusal)) => Err(refusal),
        (Err(error), None) => Err(unprepared(error)),
    }
}

fn unprepared(error: DataFusionError) -> Refusal {
    Refusal::new(Rule::Function, expression(&error), "write it more simply, or convert with CAST")
}

fn total(expr: Expr, schema: &DFSchema) -> Result<Expr, Refusal> {
    Ok(match expr {
        Expr::Column(ref column)
            if column.name.starts_with(RESERVED) && !column.name.starts_with(INNER) =>
        {
            return Err(function("a name that is reserved", "choose another name"));
        }
        Expr::Alias(alias) => *alias.expr,
        Expr::Column(_)
        | Expr::Literal(..)
        | Expr::Not(_)
        | Expr::IsNotNull(_)
        | Expr::IsNull(_)
        | Expr::IsTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNotFalse(_)
        | Expr::IsNotUnknown(_)
        | Expr::Between(_)
        | Expr::Case(_)
        | Expr::InList(_) => expr,
        Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. })
            if unlimited(field.data_type()) =>
        {
            return Err(function(
                format!("a conversion to {}", type_in_words(field.data_type())),
                "convert to a number, a text, a date or a time",
            ));
        }
        Expr::Cast(cast) => conversion(*cast.expr, cast.field.data_type(), schema),
        Expr::TryCast(cast) => conversion(*cast.expr, cast.field.data_type(), schema),
        Expr::Negative(inner) => match kind(&inner, schema) {
            Kind::Integer | Kind::Float => {
                match inner.as_literal().map(ScalarValue::arithmetic_negate) {
                    Some(Ok(value)) => Expr::Literal(value, None),
                    _ => Total::negation(*inner, schema).map_err(unprepared)?,
                }
            }
            Kind::Other => return Err(function("minus needs a number", "cast it first")),
        },
        Expr::Like(ref like) => {
            require_like(&like.pattern)?;
            expr
        }
        Expr::BinaryExpr(binary) => operator(binary, schema)?,
        Expr::ScalarFunction(call) => function_call(call, schema)?,
        Expr::ScalarSubquery(_)
        | Expr::Exists(_)
        | Expr::InSubquery(_)
        | Expr::SetComparison(_) => {
            return Err(Refusal::new(
                Rule::Subquery,
                "a subquery inside an expression over protected rows",
                "join on the person's id instead, or ask for the inner value first and write \
                 the number",
            ));
        }
        Expr::WindowFunction(_) => {
            return Err(Refusal::new(
                Rule::Clause,
                "a window over protected rows compares people with each other",
                "aggregate first, then use the window over the aggregated rows",
            ));
        }
        // Its value is a constant of the query by the time that rows are read.
        Expr::Placeholder(ref one) if one.id.starts_with(NUMBER) => expr,
        Expr::Placeholder(_) => {
            return Err(Refusal::new(
                Rule::Setting,
                "a parameter without a value",
                "give every parameter a value",
            ));
        }
        other => {
            let (what, remedy) = match &other {
                Expr::OuterReferenceColumn(_, column) => (
                    format!("`{}` of the query around a subquery", column.name),
                    "join the tables on the person's id instead",
                ),
                Expr::SimilarTo(_) => ("SIMILAR TO".to_owned(), "write it with ~ or LIKE"),
                Expr::Unnest(_) => ("unnest()".to_owned(), "leave it out"),
                Expr::GroupingSet(_) => {
                    ("a set of groupings".to_owned(), "ask for each grouping in a query of its own")
                }
                _ => (
                    "an expression of this kind".to_owned(),
                    "write it with CASE, arithmetic and comparisons",
                ),
            };
            let what = format!("{what} is not available over protected rows");
            return Err(Refusal::new(Rule::Function, what, remedy));
        }
    })
}

/// A conversion that gives NULL where it is impossible.
///
/// The engine's own TRY_CAST returns an error for some values of some types (a date that is in no calendar, as text).
/// Between plain numbers, and from text to a number, it does not.
pub(crate) fn conversion(expr: Expr, to: &DataType, schema: &DFSchema) -> Expr {
    let plain = |t: &DataType| t.is_integer() || matches!(t, DataType::Float32 | DataType::Float64);
    if let Expr::Literal(value, _) = &expr
        && let Ok(value) = value.cast_to(to)
    {
        return Expr::Literal(value, None);
    }
    match expr.get_type(schema) {
        Ok(from) if from == *to => expr,
        Ok(from) if plain(to) && (plain(&from) || text(&from)) => {
            Expr::TryCast(TryCast::new(Box::new(expr), to.clone()))
        }
        Ok(from) if from.is_null() => Expr::TryCast(TryCast::new(Box::new(expr), to.clone())),
        _ => Total::conversion(expr, to.clone()),
    }
}

fn function(what: impl Into<String>, remedy: &str) -> Refusal {
    Refusal::new(Rule::Function, what, remedy)
}

enum Kind {
    Integer,
    Float,
    Other,
}

fn kind(expr: &Expr, schema: &DFSchema) -> Kind {
    match expr.get_type(schema) {
        Ok(t) if t.is_integer() => Kind::Integer,
        Ok(DataType::Float32 | DataType::Float64 | DataType::Float16) => Kind::Float,
        _ => Kind::Other,
    }
}

fn require_literal(pattern: &Expr) -> Result<(), Refusal> {
    match pattern {
        Expr::Literal(..) => Ok(()),
        Expr::TryCast(cast) => require_literal(&cast.expr),
        _ => Err(function(
            "a pattern that differs from row to row",
            "write the pattern as a constant",
        )),
    }
}

/// Flags of a pattern, or the place where its search begins. Others are refused: they would give NULL in every row, and
/// under `x`, or in a text that holds more than flags, the pattern would be another than the one that was measured.
fn require_option(option: &Expr) -> Result<(), Refusal> {
    let Expr::Literal(value, _) = option else { return Ok(()) };
    let flags = value.try_as_str().flatten().unwrap_or_default();
    let once = |(i, flag): (usize, char)| "ims".contains(flag) && !flags[..i].contains(flag);
    if !flags.char_indices().all(once) || value.is_null() {
        return Err(function(
            "a flag of a pattern that is not i, m or s, or is there twice",
            "leave it out",
        ));
    }
    match number(value) {
        Some(start) if start < 1.0 => {
            Err(function("a search that begins before the first character", "begin at 1 or later"))
        }
        _ => Ok(()),
    }
}

/// Flags of a replacement.
fn require_flags(flags: &Expr) -> Result<(), Refusal> {
    match flags.as_literal().map(|value| value.try_as_str().flatten()) {
        Some(Some(flags)) if !flags_are_understood(flags) => Err(function(
            format!("regexp_replace() with the flags '{flags}'"),
            "there is: 'g' for every match, 'i' for either case, 'gi' for both",
        )),
        _ => Ok(()),
    }
}

/// A format that is understood: another would give NULL in every row.
fn require_format(format: &Expr) -> Result<(), Refusal> {
    match format.as_literal().map(|value| value.try_as_str().flatten()) {
        Some(Some(text)) if !is_understood(text) => Err(function(
            format!("the format '{text}' of a date or time"),
            "write it with YYYY, YY, MM, MON, MONTH, DD, DDD, HH24, HH12, MI, SS, MS, US, AM and \
             signs, for example 'YYYY-MM-DD'",
        )),
        _ => Ok(()),
    }
}

/// The value of one of our functions on constants, or a refusal that says why it has none.
fn constant(call: &ScalarFunction, schema: &DFSchema) -> Result<Expr, Refusal> {
    match Total::constant(&call.func, &call.args, schema) {
        Ok(value) => Ok(Expr::Literal(value, None)),
        Err(error) => {
            let text = error.strip_backtrace();
            let reason = text.rsplit("(): ").next().unwrap_or_default().lines().next();
            Err(function(
                format!("{}() of these constants: {}", call.name(), reason.unwrap_or_default()),
                "write another constant",
            ))
        }
    }
}

/// The parts of a time that can be extracted, and those that it can be truncated to.
const PARTS: [&str; 16] = [
    "year",
    "isoyear",
    "quarter",
    "month",
    "week",
    "day",
    "doy",
    "dow",
    "isodow",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
    "epoch",
];
const CUTS: [&str; 10] = [
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
];

/// Refuses what the engine cannot compute of any time: it would be NULL in every row.
fn require_time(
    function_of_times: &Arc<ScalarUDF>,
    arguments: &[Expr],
    schema: &DFSchema,
) -> Result<(), Refusal> {
    let name = function_of_times.name();
    if Total::works(function_of_times, arguments, schema) {
        return Ok(());
    }
    let (what, remedy) = match name {
        "date_part" => ("a part that this kind of time does not have", list(&PARTS)),
        "date_trunc" => ("a part that this kind of time does not have", list(&CUTS)),
        _ => ("an interval that times cannot be put in", "write one above 0".to_owned()),
    };
    let part = arguments.first().and_then(Expr::as_literal);
    let part = part.and_then(|value| value.try_as_str().flatten()).unwrap_or_default();
    let part = if part.is_empty() { String::new() } else { format!("'{part}', ") };
    Err(function(format!("{name}() of {part}{what}"), &remedy))
}

fn list(parts: &[&str]) -> String {
    format!("there is: {}", parts.join(", "))
}

/// Requires a constant LIKE pattern that is short enough to compile in any case.
fn require_like(pattern: &Expr) -> Result<(), Refusal> {
    require_literal(pattern)?;
    match pattern {
        Expr::Literal(value, _)
            if value.try_as_str().flatten().is_none_or(|p| p.len() <= 1_000) =>
        {
            Ok(())
        }
        _ => Err(function("a LIKE pattern of more than 1,000 bytes", "write a shorter pattern")),
    }
}

/// The memory in bytes for all regular expressions of a query together. Matching takes time in proportion to it and to
/// the text, so a larger limit would let one row take seconds.
pub(crate) const LARGEST_PATTERNS: usize = 1 << 18;

/// The memory that a compiled pattern takes, case-sensitive or not, up to a factor of two; `None` if it does not
/// compile or is too large. The engine compiles it when a row gets there, and must not fail then.
pub(crate) fn pattern_size(pattern: &Expr) -> Option<usize> {
    let text = match pattern {
        Expr::Literal(value, _) => value.try_as_str().flatten()?,
        _ => return None,
    };
    let fits = |size: usize, insensitive: bool| {
        let mut builder = regex::RegexBuilder::new(text);
        builder.case_insensitive(insensitive).size_limit(size).build().is_ok()
    };
    let mut sizes = (10..=LARGEST_PATTERNS.ilog2()).map(|bits| 1 << bits);
    sizes.find(|&size| fits(size, true) && fits(size, false))
}

/// The memory that a LIKE pattern takes: the engine turns it into a regular expression unless it only tests for a
/// prefix, a suffix or a substring.
pub(crate) fn like_size(pattern: &Expr) -> usize {
    let Expr::Literal(value, _) = pattern else { return LARGEST_PATTERNS };
    let Some(text) = value.try_as_str().flatten() else { return 0 };
    let inner = text.trim_start_matches('%').trim_end_matches('%');
    if !inner.contains(['%', '_', '\\']) {
        return 0;
    }
    let part = |c: char| match c {
        '%' => ".*".to_owned(),
        '_' => ".".to_owned(),
        other => regex::escape(&other.to_string()),
    };
    let expression = format!("(?s)^{}$", text.chars().map(part).collect::<String>());
    pattern_size(&lit(expression)).unwrap_or(LARGEST_PATTERNS + 1)
}

/// Requires a constant regular expression that the engine can compile.
fn require_pattern(pattern: &Expr) -> Result<(), Refusal> {
    require_literal(pattern)?;
    match pattern_size(pattern) {
        Some(_) => Ok(()),
        None => Err(function(
            match pattern.as_literal().and_then(|value| value.try_as_str().flatten()) {
                Some(text) if text.len() <= 100 => {
                    format!("the regular expression '{text}' cannot be used")
                }
                _ => "a regular expression that cannot be used".to_owned(),
            },
            "write a valid and smaller one, as a constant text",
        )),
    }
}

fn operator(binary: BinaryExpr, schema: &DFSchema) -> Result<Expr, Refusal> {
    use Operator as O;
    let (left, right) = (kind(&binary.left, schema), kind(&binary.right, schema));
    let wrap = match binary.op {
        O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::And | O::Or => false,
        O::IsDistinctFrom | O::IsNotDistinctFrom => false,
        O::StringConcat => true,
        O::Plus | O::Minus | O::Multiply => {
            !matches!((left, right), (Kind::Integer, Kind::Integer) | (Kind::Float, Kind::Float))
        }
        O::Divide | O::Modulo => !matches!((left, right), (Kind::Float, Kind::Float)),
        O::LikeMatch | O::ILikeMatch | O::NotLikeMatch | O::NotILikeMatch => {
            require_like(&binary.right)?;
            false
        }
        O::RegexMatch | O::RegexIMatch | O::RegexNotMatch | O::RegexNotIMatch => {
            return matches(binary, schema);
        }
        op => {
            let what = format!("the operator {op} is not available over protected rows");
            return Err(function(what, "write it with arithmetic and comparisons"));
        }
    };
    if !wrap {
        return Ok(Expr::BinaryExpr(binary));
    }
    Total::arithmetic(binary.op, *binary.left, *binary.right, schema).map_err(unprepared)
}

/// `text ~ pattern` and its variants, as a function call.
fn matches(binary: BinaryExpr, schema: &DFSchema) -> Result<Expr, Refusal> {
    require_pattern(&binary.right)?;
    let mut arguments = vec![*binary.left, *binary.right];
    if matches!(binary.op, Operator::RegexIMatch | Operator::RegexNotIMatch) {
        arguments.push(lit("i"));
    }
    let found = Total::function(regexp_like(), arguments, schema).map_err(unprepared)?;
    Ok(match binary.op {
        Operator::RegexNotMatch | Operator::RegexNotIMatch => Expr::Not(Box::new(found)),
        _ => found,
    })
}

/// Arguments that must be constants, because the engine takes them from the first row, or treats them differently if
/// they are the same in all rows.
fn constants(name: &str) -> std::ops::Range<usize> {
    match name {
        "date_part" | "date_trunc" => 0..1,
        "round" | "trunc" | "lpad" | "rpad" | "to_char" | "to_date" | "to_timestamp" => 1..2,
        _ => 0..0,
    }
}

fn function_call(call: ScalarFunction, schema: &DFSchema) -> Result<Expr, Refusal> {
    let name = call.func.name().to_owned();
    if name.starts_with("total_") {
        return Ok(Expr::ScalarFunction(call));
    }
    if call.func.signature().volatility != Volatility::Immutable {
        let what = format!("{name}() differs from call to call");
        return Err(function(what, "write the value as a constant"));
    }
    if !FUNCTIONS.iter().any(|(known, _)| *known == name) {
        let what = format!("the function {name}() is not available over protected rows");
        let remedy = "use one of the functions listed in docs/sql.md, or apply it after the \
                      aggregate";
        return Err(function(what, remedy));
    }
    if PATTERNS.contains(&name.as_str()) {
        call.args.iter().skip(1).take(1).try_for_each(require_pattern)?;
        call.args.iter().skip(2).try_for_each(require_literal)?;
        match name.as_str() {
            "regexp_replace" => call.args.iter().skip(3).try_for_each(require_flags)?,
            _ => call.args.iter().skip(2).try_for_each(require_option)?,
        }
    }
    let bin = if name == "date_bin" { [0, 2].as_slice() } else { &[] };
    for i in constants(&name).chain(bin.iter().copied()) {
        if call.args.get(i).is_some_and(|argument| !matches!(argument, Expr::Literal(..))) {
            let what = format!("{name}() with argument {} that is not a constant", i + 1);
            return Err(function(what, "write that argument as a constant"));
        }
    }
    if postgres::is_ours(&call.func) && call.args.iter().all(|arg| matches!(arg, Expr::Literal(..)))
    {
        return constant(&call, schema);
    }
    if matches!(name.as_str(), "to_date" | "to_timestamp") {
        call.args.iter().skip(1).try_for_each(require_format)?;
    }
    if matches!(name.as_str(), "date_part" | "date_trunc" | "date_bin") {
        require_time(&call.func, &call.args, schema)?;
    }
    if name == "replace" {
        // The text can only get shorter.
        let length = |i: usize| match call.args.get(i) {
            Some(Expr::Literal(value, _)) => value.try_as_str().flatten().map(str::len),
            _ => None,
        };
        match (length(1), length(2)) {
            (Some(from), Some(to)) if from >= to && from > 0 => {}
            _ => {
                return Err(function(
                    "replace() that may lengthen a text",
                    "write constants, the second not longer than the first",
                ));
            }
        }
    }
    let ScalarFunction { func, mut args } = call;
    Ok(match name.as_str() {
        "clamp" => match (args.pop(), args.pop(), args.pop()) {
            (Some(high), Some(low), Some(value)) => {
                if let (Expr::Literal(low, _), Expr::Literal(high, _)) = (&low, &high)
                    && let (Some(low), Some(high)) = (place(low), place(high))
                    && low > high
                {
                    return Err(function(
                        "CLAMP with its bounds reversed",
                        "write the lower first",
                    ));
                }
                // NULL stays NULL: `least` and `greatest` would skip it.
                let clamped = least(vec![greatest(vec![value.clone(), low]), high]);
                present(value, clamped)
            }
            _ => return Err(function("clamp takes three arguments", "write CLAMP(x, low, high)")),
        },
        // Expanded, so that no branch is evaluated inside a function that may fail.
        "coalesce" | "nvl" => {
            let last = args.pop().map(Box::new);
            let whens = args.into_iter();
            let whens: Vec<_> = whens
                .map(|a| (Box::new(Expr::IsNotNull(Box::new(a.clone()))), Box::new(a)))
                .collect();
            match last {
                Some(last) if whens.is_empty() => *last,
                last => Expr::Case(Case::new(None, whens, last)),
            }
        }
        native if NATIVE.contains(&native) => Expr::ScalarFunction(ScalarFunction { func, args }),
        _ => Total::function(func, args, schema).map_err(unprepared)?,
    })
}

/// `then` if `value` is not NULL, otherwise NULL.
pub(crate) fn present(value: Expr, then: Expr) -> Expr {
    let when = (Box::new(Expr::IsNotNull(Box::new(value))), Box::new(then));
    Expr::Case(Case::new(None, vec![when], None))
}

#[cfg(test)]
mod tests;
