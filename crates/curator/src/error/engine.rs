//! The engine's errors in plain words: what was written, and what there is instead. None of the engine's own words
//! reaches an analyst.
//!
//! The planner sees names and types and no row, so whatever it quotes is in the statement or in the policy. Errors
//! after the release may quote released values; they are reduced to their kind all the same.

use super::Error;
use crate::policy::nearest;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;

/// The names that a statement may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) tables: Vec<String>,
    pub(crate) functions: Vec<String>,
}

/// Why a statement cannot be planned.
pub(super) fn planning(error: &DataFusionError, known: &Known) -> Error {
    match reason(error, known) {
        Some(message) => Error::Sql(message),
        None => Error::Unplanned {
            message: "this statement cannot be planned as it is written; write it in simpler \
                      steps, for example with one subquery less"
                .to_owned(),
            details: error.strip_backtrace(),
        },
    }
}

/// Why an expression cannot be planned, in one line.
pub(crate) fn expression(error: &DataFusionError) -> String {
    let reason = reason(error, &Known::default());
    reason.unwrap_or_else(|| "an expression that cannot be planned as it is written".to_owned())
}

/// What failed after the release.
pub(super) fn after(error: &DataFusionError) -> String {
    let text = innermost(error).strip_backtrace();
    let lower = text.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    if let Some((name, fault)) = ours(&text) {
        return format!("{name}(): {fault}");
    }
    let what = match () {
        () if has("divide by zero") || has("division by zero") => "a division by zero",
        () if has("overflow") => "a number that is too large for its type",
        () if has("cast") || has("parsing") || has("parse") => {
            "a value that cannot be converted to the type asked for (TRY_CAST gives NULL instead)"
        }
        () if has("resources exhausted") || has("memory") => {
            "the rest of the query needs more memory than there is; write LIMIT or fewer joins"
        }
        () if has("more than one row") || has("multiple rows") => {
            "a subquery that is used as a value has more than one row"
        }
        () if has("not implemented") || has("not supported") => "a step that is not available",
        () => "a value could not be computed",
    };
    what.to_owned()
}

/// A constant of a statement that cannot be computed. Nothing was bought.
pub(crate) fn computing(error: &DataFusionError) -> String {
    format!("a constant of the statement cannot be computed: {}; nothing was spent", after(error))
}

/// The error that others are wrapped around.
fn innermost(error: &DataFusionError) -> &DataFusionError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            innermost(inner)
        }
        DataFusionError::Shared(inner) => innermost(inner),
        DataFusionError::Collection(all) => all.first().map_or(error, innermost),
        other => other,
    }
}

fn reason(error: &DataFusionError, known: &Known) -> Option<String> {
    match innermost(error) {
        DataFusionError::SchemaError(error, _) => Some(names(error)),
        DataFusionError::SQL(error, _) => Some(syntax(error, (0, 0))),
        other => planner(&other.strip_backtrace(), known),
    }
}

fn names(error: &SchemaError) -> String {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => missing(field, valid_fields),
        SchemaError::AmbiguousReference { field } => {
            let name = &field.name;
            format!("`{name}` is in more than one table here; write `table.{name}`")
        }
        SchemaError::DuplicateQualifiedField { qualifier, name } => format!(
            "`{qualifier}.{name}` is there twice; give one of the tables another name: \
             `{qualifier} AS other`"
        ),
        SchemaError::DuplicateUnqualifiedField { name } => {
            format!("two columns are named `{name}`; give one another name: `… AS other`")
        }
    }
}

/// A column that does not exist.
fn missing(field: &Column, valid: &[Column]) -> String {
    let name = &field.name;
    let shown = |column: &&Column| {
        !column.name.starts_with("__demure_") && !column.name.contains(['(', ' '])
    };
    let valid: Vec<&Column> = valid.iter().filter(shown).collect();
    let mut tables: Vec<String> = Vec::new();
    for column in &valid {
        if let Some(table) = column.relation.as_ref().map(ToString::to_string)
            && !tables.contains(&table)
        {
            tables.push(table);
        }
    }
    let of = field.relation.as_ref().map(ToString::to_string);
    if let Some(table) = &of
        && !tables.contains(table)
    {
        let there = near_or_all(table, tables.iter().map(String::as_str));
        return format!(
            "`{table}.{name}`: there is no table `{table}` in this part of the query{there}"
        );
    }
    let here: Vec<&str> = match &of {
        Some(table) => {
            let own = |column: &&&Column| {
                column.relation.as_ref().is_some_and(|relation| relation.to_string() == *table)
            };
            valid.iter().filter(own).map(|column| column.name.as_str()).collect()
        }
        None => valid.iter().map(|column| column.name.as_str()).collect(),
    };
    let place = match (&of, &tables[..]) {
        (Some(table), _) => format!(" in `{table}`"),
        (None, []) => String::new(),
        (None, tables) => {
            let quoted: Vec<String> = tables.iter().map(|table| format!("`{table}`")).collect();
            format!(" in {}", quoted.join(" or "))
        }
    };
    let near = near_or_all(name, here.into_iter());
    let text = "; if it is a text, write it in single quotes";
    let text = if name.chars().all(|c| c.is_alphanumeric() || c == '_') && near.contains("mean") {
        ""
    } else {
        text
    };
    format!("there is no column `{name}`{place}{near}{text}")
}

/// The name that was probably meant, or all names if they are few.
fn near_or_all<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    const FEW: usize = 15;
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    if let Some(near) = nearest(name, all.iter().copied()) {
        return format!("; did you mean `{near}`?");
    }
    match all.len() {
        0 => String::new(),
        1..=FEW => format!("; there is: {}", all.join(", ")),
        _ => format!("; there is: {}, …", all[..FEW].join(", ")),
    }
}

/// Where a statement stops being SQL, and what was expected there. The statement began after so many lines, and after
/// so many characters of its first line.
pub(crate) fn syntax(error: &ParserError, begins: (u64, u64)) -> String {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return "the statement is nested too deeply; ask in several statements".to_owned();
        }
    };
    let (what, place) = match text.rsplit_once(" at Line: ") {
        Some((what, place)) => {
            let mut numbers = place.split(", Column: ").map(|n| n.trim().parse::<u64>().ok());
            (what, numbers.next().flatten().zip(numbers.next().flatten()))
        }
        None => (text.as_str(), None),
    };
    let place = match place {
        Some((1, column)) => format!(" at line {}, column {}", begins.0 + 1, begins.1 + column),
        Some((line, column)) => format!(" at line {}, column {column}", begins.0 + line),
        None => String::new(),
    };
    if let Some((expected, found)) =
        what.strip_prefix("Expected: ").and_then(|rest| rest.rsplit_once(", found: "))
    {
        let near = nearest(&found.to_lowercase(), KEYWORDS.iter().copied());
        let near = near.filter(|near| !near.eq_ignore_ascii_case(found));
        let near =
            near.map_or(String::new(), |near| format!("; did you mean {}?", near.to_uppercase()));
        let found = match found {
            "EOF" => "the end of the statement".to_owned(),
            found => format!("`{found}`"),
        };
        let expected = expected.replace("an SQL statement", "SELECT, SHOW, SET or EXPLAIN PRIVACY");
        return format!("syntax error{place}: found {found}, expected {expected}{near}");
    }
    let lower = what.to_ascii_lowercase();
    let what = match () {
        () if lower.contains("unterminated string") => "a text whose closing quote is missing",
        () if lower.contains("expected close delimiter") => "a name whose closing quote is missing",
        () if lower.contains("multi-line comment") => "a comment that is not closed",
        () if lower.contains("no statement") || lower.contains("empty") => "no statement",
        () => "this is not SQL as it is understood here",
    };
    format!("syntax error{place}: {what}")
}

/// Words with which statements and their parts begin.
const KEYWORDS: &[&str] = &[
    "select", "from", "where", "group", "order", "having", "limit", "with", "explain", "show",
    "join", "union", "values", "distinct", "between", "describe", "reset",
];

/// The part of a text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = &text[text.find(before)? + before.len()..];
    Some(&rest[..rest.find(after)?])
}

/// The message of one of our own functions: its name, and what is wrong.
fn ours(text: &str) -> Option<(&str, &str)> {
    let at = text.find("(): ")?;
    let name = text[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let fault = text[at + 4..].lines().next()?;
    let known = [
        "age",
        "isfinite",
        "lpad",
        "make_date",
        "overlay",
        "regexp_replace",
        "rpad",
        "substring_match",
        "to_date",
        "to_timestamp",
        "width_bucket",
    ];
    known.contains(&name).then_some((name, fault))
}

/// What the planner says in a text of its own.
fn planner(text: &str, known: &Known) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    if let Some((name, fault)) = ours(text) {
        return Some(format!("{name}(): {fault}"));
    }
    if let Some(at) = text.find("() is written ") {
        let from = text[..at].rfind(' ').map_or(0, |from| from + 1);
        return Some(text[from..].split(". No function").next()?.lines().next()?.to_owned());
    }
    if let Some(at) = text.find("a series of ") {
        return Some(text[at..].lines().next()?.to_owned());
    }
    if let Some(at) = text.find("CLAMP takes") {
        return Some(text[at..].split(". No function").next()?.lines().next()?.to_owned());
    }
    if let Some(name) = between(text, "table '", "' not found") {
        let bare = name.strip_prefix("datafusion.public.").or(name.strip_prefix("datafusion."));
        let name = bare.unwrap_or(name);
        let near = near_or_all(name, known.tables.iter().map(String::as_str));
        return Some(format!("there is no table `{name}`{near}"));
    }
    if let Some(name) = between(text, "table function '", "' not found") {
        return Some(format!("there is no table function {name}()"));
    }
    if let Some(name) = between(text, "Invalid function '", "'") {
        let lower = name.to_ascii_lowercase();
        if let Some((_, here)) = ELSEWHERE.iter().find(|(there, _)| there.contains(&&*lower)) {
            return Some(format!("there is no function {name}(); write {here}"));
        }
        let near = nearest(name, known.functions.iter().map(String::as_str));
        let near = near.map_or("; those that there are: docs/sql.md".to_owned(), |near| {
            format!("; did you mean {near}()?")
        });
        return Some(format!("there is no function {name}(){near}"));
    }
    if has("must appear in the group by clause") || has("must be in group by") {
        let column =
            between(text, "column \"", "\"").or_else(|| between(text, "references: ", " must"));
        let column = column.map(|column| column.rsplit('.').next().unwrap_or(column));
        return Some(match column {
            Some(column) => format!(
                "`{column}` is neither in GROUP BY nor in an aggregate; write GROUP BY {column}, or \
                 an aggregate of it such as COUNT({column})"
            ),
            None => "a column that is neither in GROUP BY nor in an aggregate; add it to GROUP BY"
                .to_owned(),
        });
    }
    if has("aggregate functions are not allowed in the where") {
        return Some(
            "an aggregate in WHERE; write it after GROUP BY: … HAVING COUNT(*) > 10".to_owned(),
        );
    }
    if let Some(position) = between(text, "Cannot find column with position ", " ") {
        let most = between(text, "Valid columns: 1 to ", "\n");
        let most = most.or_else(|| text.split("Valid columns: 1 to ").nth(1)).unwrap_or("…");
        return Some(format!(
            "there is no column {position} to group or order by; SELECT has columns 1 to {}",
            most.trim()
        ));
    }
    if has("have the same name") || has("require unique expression names") {
        return Some(
            "two columns have the same name; give one another name: `… AS other`".to_owned(),
        );
    }
    if let Some(name) = between(text, "WITH query name \"", "\"") {
        return Some(format!("WITH has two queries named `{name}`; give one another name"));
    }
    if let Some(types) = text.split("common argument type for comparison operation ").nth(1) {
        let types = in_words(types.lines().next()?);
        return Some(format!("these types cannot be compared: {types}; convert one: CAST(x AS …)"));
    }
    if let Some(types) = between(text, "Cannot coerce arithmetic expression ", " to valid types") {
        let types = in_words(types);
        return Some(format!(
            "there is no arithmetic on these types: {types}; convert one: CAST(x AS …)"
        ));
    }
    if let Some(rest) = text.split("coerce arguments to satisfy a call to '").nth(1) {
        let name = rest.split('\'').next()?;
        let given = between(rest, "coercion from ", " to the signature").unwrap_or_default();
        let given = in_words(given).replace(['[', ']'], "");
        return Some(match given.is_empty() {
            true => format!("{name}() does not take these arguments"),
            false => format!("{name}() does not take these arguments: {given}"),
        });
    }
    if has("but received string") || has("but received utf8") {
        let name = between(text, "unction '", "'")?;
        return Some(format!(
            "{name}() of a text; convert it: {name}(CLAMP(CAST(x AS REAL), low, high))"
        ));
    }
    if has("function '") && (has("expects") || has("requires") || has("argument")) {
        return Some(wrong_arguments(between(text, "unction '", "'")?));
    }
    if let Some(name) = between(text, "The function '", "'") {
        return Some(wrong_arguments(name));
    }
    if has("in like expression") || has("in ilike expression") {
        return Some(
            "LIKE compares texts; write the pattern in single quotes: x LIKE 'a%'".to_owned(),
        );
    }
    if let Some(value) = between(text, "Cannot cast string '", "' to value of ") {
        let to = text.split("to value of ").nth(1).unwrap_or_default().replace(" type", "");
        return Some(format!("'{value}' is not a {}", in_words(to.lines().next()?)));
    }
    if let Some(value) = between(text, "Error parsing timestamp from '", "'") {
        return Some(format!("'{value}' is not a date or time; write it as '2024-12-31 23:59:59'"));
    }
    if has("divide by zero") {
        return Some("a division by zero".to_owned());
    }
    if has("union") && has("number of columns") || has("different number of columns") {
        return Some("the parts of UNION have different numbers of columns".to_owned());
    }
    if has("outerreferencecolumn")
        || has("outer_ref")
        || has("correlated")
        || has("outer is not available")
    {
        return Some(
            "a subquery that uses a column of the query around it in this place; join the tables \
             on the person's id instead"
                .to_owned(),
        );
    }
    if has("lateral") {
        return Some(
            "LATERAL in this place; join the tables on the person's id instead".to_owned(),
        );
    }
    if has("escape_char") || has("escape character") {
        return Some("LIKE with ESCAPE of another sign than a backslash".to_owned());
    }
    if has("select * with no tables") {
        return Some("`SELECT *` without FROM; write the tables after FROM".to_owned());
    }
    if has("should return only one column") || has("subquery should") || has("too many columns") {
        return Some("a subquery that is used as a value has more than one column".to_owned());
    }
    if has("single sql statement") || has("multiple statements") {
        return Some("more than one statement; ask one at a time".to_owned());
    }
    if let Some(name) = between(text, "The window ", " is not defined") {
        return Some(format!("there is no WINDOW named `{name}`"));
    }
    if has("in list") || has("inlist") {
        return Some("IN with values of different types; write them as one type".to_owned());
    }
    if has("placeholder") || has("parameter") {
        return Some(
            "a parameter whose value or type is not known; write CAST($1 AS …)".to_owned(),
        );
    }
    if has("recursive") {
        return Some("WITH RECURSIVE is not available".to_owned());
    }
    if let Some(what) = text.split("This feature is not implemented: ").nth(1) {
        // Only a name that stands alone: anything else may be a piece of the engine's plan.
        let what = what.lines().next()?;
        let plain = what.len() <= 40 && what.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
        return plain.then(|| format!("{what} is not available"));
    }
    None
}

fn wrong_arguments(name: &str) -> String {
    let form = match name {
        "percentile_cont" | "percentile_disc" | "approx_percentile_cont" | "quantile_cont" => {
            format!("; write {name}(0.5) WITHIN GROUP (ORDER BY x)")
        }
        "round" | "trunc" => format!("; write {name}(x) or {name}(x, 2)"),
        _ => String::new(),
    };
    format!("{name}() is called with a wrong number or kind of arguments{form}")
}

/// Functions of other engines, and what to write here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["len"], "length(x)"),
    (&["average", "avrage", "avarage"], "avg(x)"),
    (&["year"], "extract(year FROM x)"),
    (&["quarter"], "extract(quarter FROM x)"),
    (&["month"], "extract(month FROM x)"),
    (&["week", "weekofyear"], "extract(week FROM x)"),
    (&["day", "dayofmonth"], "extract(day FROM x)"),
    (&["dayofweek", "weekday"], "extract(dow FROM x)"),
    (&["dayofyear"], "extract(doy FROM x)"),
    (&["hour"], "extract(hour FROM x)"),
    (&["minute"], "extract(minute FROM x)"),
    (&["second"], "extract(second FROM x)"),
    (&["monthname"], "to_char(x, 'Month')"),
    (&["dayname"], "to_char(x, 'Day')"),
    (&["date"], "x::date"),
    (
        &["datediff", "date_diff", "timestampdiff", "days_between"],
        "later::date - earlier::date, which is a number of days",
    ),
    (&["dateadd", "date_add", "adddate", "timestampadd"], "x + INTERVAL '1 day'"),
    (&["date_sub", "subdate"], "x - INTERVAL '1 day'"),
    (&["last_day", "eomonth"], "date_trunc('month', x) + INTERVAL '1 month' - INTERVAL '1 day'"),
    (&["strftime", "format_datetime", "time_format"], "to_char(x, 'YYYY-MM-DD')"),
    (&["str_to_date", "parse_date", "strptime"], "to_date(x, 'YYYY-MM-DD')"),
    (&["unix_timestamp", "epoch"], "extract(epoch FROM x)"),
    (&["getdate", "sysdate", "curdate"], "current_date"),
    (
        &["percentile", "quantile", "approx_quantile"],
        "percentile_cont(0.9) WITHIN GROUP (ORDER BY x)",
    ),
    (&["count_if", "countif"], "COUNT(*) FILTER (WHERE condition)"),
    (&["sum_if", "sumif"], "SUM(x) FILTER (WHERE condition)"),
    (&["avg_if", "avgif", "averageif"], "AVG(x) FILTER (WHERE condition)"),
    (&["uniq", "countd", "count_distinct"], "COUNT(DISTINCT x)"),
    (&["isnull"], "coalesce(x, y)"),
    (&["nvl2"], "CASE WHEN x IS NOT NULL THEN y ELSE z END"),
    (&["decode"], "CASE x WHEN 1 THEN 'a' ELSE 'b' END"),
    (&["safe_divide", "divide", "try_divide"], "a / NULLIF(b, 0)"),
    (&["charindex"], "strpos(text, part)"),
    (&["ucase"], "upper(x)"),
    (&["lcase"], "lower(x)"),
    (&["truncate"], "trunc(x)"),
    (&["to_number", "tonumber", "toint"], "CAST(x AS REAL)"),
    (&["to_varchar", "tostring", "str"], "CAST(x AS TEXT)"),
    (&["regexp_matches", "regexp_contains", "rlike"], "x ~ 'pattern'"),
    (&["group_concat", "listagg"], "COUNT(DISTINCT x): a list of values has no private form"),
];

/// The engine's names of types in words: `Utf8 = Int64` becomes `text = integer`.
fn in_words(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        let (plain, parameters) = match word {
            "Utf8" | "LargeUtf8" | "Utf8View" | "String" => ("text", false),
            "Boolean" => ("boolean", false),
            "Date32" | "Date64" => ("date", false),
            "Null" => ("NULL", false),
            "Timestamp" => ("timestamp", true),
            "Interval" | "Duration" => ("interval", true),
            "Time32" | "Time64" => ("time", true),
            "List" | "LargeList" | "FixedSizeList" => ("list", true),
            "Struct" => ("row", true),
            "Dictionary" => ("text", true),
            "Binary" | "LargeBinary" | "BinaryView" => ("bytes", false),
            number if number.starts_with("Int") || number.starts_with("UInt") => ("integer", false),
            number if number.starts_with("Float") => ("real", false),
            number if number.starts_with("Decimal") => ("numeric", true),
            other => (other, false),
        };
        shown.push_str(plain);
        rest = &rest[end..];
        if parameters && let Some(close) = closing(rest) {
            rest = &rest[close..];
        }
    }
    shown.push_str(rest);
    shown
}

/// Where a parenthesis closes that opens at the start of a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests;
