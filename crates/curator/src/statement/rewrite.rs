//! PostgreSQL's spellings that the engine lacks, written in the engine's before a statement is planned.
//!
//! | written | planned |
//! |---|---|
//! | `now()`, `current_date`, `'today'::date`, `age(x)` | the time of the statement's start ([`super::clock`]) |
//! | `mod(a, b)`, `div(a, b)`, `sign(x)` | `a % b`, `trunc(a / b)`, `signum(x)` |
//! | `approx_count_distinct(x)` | `approx_distinct(x)` |
//! | `ifnull(a, b)`, `if(c, a, b)`, `iff(c, a, b)` | `coalesce`, `CASE` |
//! | `num_nulls(a, …)`, `num_nonnulls(a, …)` | a sum of `CASE` |
//! | `x = ANY (SELECT …)`, `x <> ALL (SELECT …)` | `IN`, `NOT IN` |
//! | `x = ANY(ARRAY[…])`, `x <> ALL(ARRAY[…])`, `x < ANY(…)` | `IN`, `NOT IN`, comparisons |
//! | `(a, b) IN ((1, 2), …)`, `(a, b) = (1, 2)` | comparisons of each part |
//! | `substring(x FROM 'pattern')` | `substring_match(x, 'pattern')` |
//! | `extract(decade FROM x)`, `date_trunc('century', x)`, units in the plural | arithmetic on the year |
//! | `FETCH FIRST n ROWS ONLY` | `LIMIT n` |
//! | `version()` | a constant |

use super::clock::{Clock, typed_text};
use crate::refusal::{Refusal, Rule};
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    self, BinaryOperator as Op, CaseWhen, DateTimeField, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, LimitClause, ObjectName,
    ObjectNamePart, Query, Select, SelectItem, UnaryOperator, Value, Visit, VisitMut, Visitor,
    VisitorMut,
};
use std::ops::ControlFlow;

/// The largest number of parts of expressions that are written several times.
const MOST_COPIED: usize = 20_000;

/// Writes a statement in the engine's spellings.
pub(super) fn statement(statement: &mut ast::Statement, clock: Clock) -> Result<(), Refusal> {
    let mut rewrite = Rewrite { clock, copied: 0, refused: None };
    let _ = statement.visit(&mut rewrite);
    rewrite.refused.map_or(Ok(()), Err)
}

struct Rewrite {
    clock: Clock,
    /// Parts that were written more than once.
    copied: usize,
    refused: Option<Refusal>,
}

impl VisitorMut for Rewrite {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        match fetched(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && let Some(name) = self.shown(expr)
            {
                let (expr, alias) = (expr.clone(), Ident::with_quote('"', name));
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some(constant) = typed_text(expr).and_then(|(text, to)| self.clock.word(text, to)) {
            *expr = constant;
            return ControlFlow::Continue(());
        }
        if let Expr::Function(Function { name, .. }) = expr
            && let [ObjectNamePart::Identifier(name)] = &mut name.0[..]
            && name.value.eq_ignore_ascii_case("approx_count_distinct")
        {
            *name = Ident::new("approx_distinct");
        }
        match self.written(expr) {
            Ok(Some(new)) => *expr = new,
            Ok(None) => {}
            Err(refusal) => return self.refuse(refusal),
        }
        ControlFlow::Continue(())
    }
}

impl Rewrite {
    fn refuse(&mut self, refusal: Refusal) -> ControlFlow<()> {
        self.refused = Some(refusal);
        ControlFlow::Break(())
    }

    /// The name of a column whose expression will be written differently.
    fn shown(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Function(call) => {
                let name = called(call)?;
                let ours = self.clock.function(&name).is_some()
                    || ["mod", "div", "sign", "ifnull", "if", "iff", "version", "age"]
                        .contains(&name.as_str())
                    || name.starts_with("num_n");
                ours.then_some(name)
            }
            Expr::Substring { substring_from: Some(from), .. } if text(from).is_some() => {
                Some("substring".to_owned())
            }
            Expr::Overlay { .. } => Some("overlay".to_owned()),
            _ => None,
        }
    }

    /// Counts an expression that is written `times`, and refuses too many.
    fn copy(&mut self, expr: &Expr, times: usize) -> Result<(), Refusal> {
        let mut count = Count(0);
        let _ = expr.visit(&mut count);
        self.copied = self.copied.saturating_add(count.0.saturating_mul(times));
        match self.copied > MOST_COPIED {
            false => Ok(()),
            true => Err(Refusal::new(
                Rule::Statement,
                "IN or ANY with lists that are too large once they are written out",
                "write shorter lists, or ask in several statements",
            )),
        }
    }

    fn written(&mut self, expr: &Expr) -> Result<Option<Expr>, Refusal> {
        Ok(match expr {
            Expr::Function(call) => self.function(call),
            Expr::AnyOp { left, compare_op, right, .. } => match elements(right) {
                Some(list) => Some(self.quantified(left, compare_op, &list, false)?),
                None if *compare_op == Op::Eq => within(left, right, false),
                None => None,
            },
            Expr::AllOp { left, compare_op, right } => match elements(right) {
                Some(list) => Some(self.quantified(left, compare_op, &list, true)?),
                None if *compare_op == Op::NotEq => within(left, right, true),
                None => None,
            },
            Expr::InList { expr, list, negated } => match expr.as_ref() {
                Expr::Tuple(parts) => {
                    let mut any = Vec::new();
                    for item in list {
                        let Expr::Tuple(values) = item else { return Ok(None) };
                        any.push(self.equal(parts, values)?);
                    }
                    let found = Expr::Nested(Box::new(joined(any, &Op::Or)));
                    Some(if *negated { not(found) } else { found })
                }
                _ => None,
            },
            Expr::BinaryOp { left, op: op @ (Op::Eq | Op::NotEq), right } => {
                match (left.as_ref(), right.as_ref()) {
                    (Expr::Tuple(left), Expr::Tuple(right)) => {
                        let same = self.equal(left, right)?;
                        Some(if *op == Op::Eq { same } else { not(same) })
                    }
                    _ => None,
                }
            }
            Expr::Substring { expr, substring_from: Some(from), substring_for: None, .. }
                if text(from).is_some() =>
            {
                Some(call("substring_match", vec![(**expr).clone(), (**from).clone()]))
            }
            Expr::Extract { field, expr, .. } => years(field, expr),
            _ => None,
        })
    }

    fn function(&self, function: &Function) -> Option<Expr> {
        let name = called(function)?;
        let arguments = arguments(function);
        if arguments.len() <= 1
            && let Some(constant) = self.clock.function(&name)
        {
            return Some(constant);
        }
        let mut args = arguments.into_iter();
        let mut next = || args.next();
        Some(match (name.as_str(), next(), next(), next(), next()) {
            ("mod", Some(a), Some(b), None, _) => nested(binary(nested(a), Op::Modulo, nested(b))),
            ("div", Some(a), Some(b), None, _) => {
                call("trunc", vec![binary(nested(a), Op::Divide, nested(b))])
            }
            ("sign", Some(x), None, ..) => call("signum", vec![x]),
            ("ifnull", Some(a), Some(b), None, _) => call("coalesce", vec![a, b]),
            ("if" | "iff", Some(condition), Some(a), b, None) => {
                case(condition, a, Some(b.unwrap_or(Expr::Value(Value::Null.with_empty_span()))))
            }
            ("age", Some(x), None, ..) => {
                call("age", vec![self.clock.function("current_date")?, x])
            }
            ("version", None, ..) => {
                string(concat!("Demure ", env!("CARGO_PKG_VERSION")).to_owned())
            }
            ("date_trunc", Some(unit), Some(x), None, _) => truncated(&unit, x)?,
            ("date_part", Some(part), Some(x), None, _) => {
                let part = text(&part)?.trim().to_ascii_lowercase();
                let field = match part.as_str() {
                    "decade" | "decades" => DateTimeField::Decade,
                    "century" | "centuries" => DateTimeField::Century,
                    "millennium" | "millennia" => DateTimeField::Millennium,
                    _ => return None,
                };
                years(&field, &x)?
            }
            ("num_nulls" | "num_nonnulls", Some(_), ..) => {
                let number =
                    |n: u8| Expr::Value(Value::Number(n.to_string(), false).with_empty_span());
                let one = |value: Expr| {
                    let value = Box::new(nested(value));
                    let counted = match name.as_str() {
                        "num_nulls" => Expr::IsNull(value),
                        _ => Expr::IsNotNull(value),
                    };
                    case(counted, number(1), Some(number(0)))
                };
                nested(joined(self::arguments(function).into_iter().map(one).collect(), &Op::Plus))
            }
            _ => return None,
        })
    }

    /// `left op ANY (list)` or `left op ALL (list)`.
    fn quantified(
        &mut self,
        left: &Expr,
        op: &Op,
        list: &[Expr],
        all: bool,
    ) -> Result<Expr, Refusal> {
        let expr = Box::new(left.clone());
        if list.is_empty() {
            return Ok(Expr::Value(Value::Boolean(all).with_empty_span()));
        }
        match (op, all) {
            (Op::Eq, false) => {
                return Ok(Expr::InList { expr, list: list.to_vec(), negated: false });
            }
            (Op::NotEq, true) => {
                return Ok(Expr::InList { expr, list: list.to_vec(), negated: true });
            }
            _ => {}
        }
        self.copy(left, list.len())?;
        let each =
            list.iter().map(|item| binary(nested(left.clone()), op.clone(), nested(item.clone())));
        Ok(nested(joined(each.collect(), if all { &Op::And } else { &Op::Or })))
    }

    /// Whether each part equals the value at its place.
    fn equal(&mut self, parts: &[Expr], values: &[Expr]) -> Result<Expr, Refusal> {
        if parts.len() != values.len() || parts.is_empty() {
            return Err(Refusal::new(
                Rule::Statement,
                format!("a row of {} values compared with one of {}", parts.len(), values.len()),
                "write as many values on both sides: (a, b) IN ((1, 2), (3, 4))",
            ));
        }
        parts.iter().try_for_each(|part| self.copy(part, 1))?;
        let each = parts.iter().zip(values);
        let each =
            each.map(|(part, value)| binary(nested(part.clone()), Op::Eq, nested(value.clone())));
        Ok(nested(joined(each.collect(), &Op::And)))
    }
}

/// Counts expressions.
struct Count(usize);

impl Visitor for Count {
    type Break = ();

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

/// `= ANY (SELECT …)` as IN, and `<> ALL (SELECT …)` as NOT IN.
fn within(left: &Expr, right: &Expr, negated: bool) -> Option<Expr> {
    match right {
        Expr::Subquery(subquery) => Some(Expr::InSubquery {
            expr: Box::new(left.clone()),
            subquery: subquery.clone(),
            negated,
        }),
        Expr::Nested(inner) => within(left, inner, negated),
        _ => None,
    }
}

/// Refuses a number of rows below 0, which would fail only after the release.
fn counted(query: &Query) -> Result<(), Refusal> {
    let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause else {
        return Ok(());
    };
    let below = |expr: &Expr| matches!(expr, Expr::UnaryOp { op: UnaryOperator::Minus, .. });
    let named = [("LIMIT", limit.as_ref()), ("OFFSET", offset.as_ref().map(|o| &o.value))];
    match named.into_iter().find(|(_, expr)| expr.is_some_and(below)) {
        Some((clause, _)) => Err(Refusal::new(
            Rule::Statement,
            format!("{clause} with a number below 0"),
            format!("write {clause} 10, or leave it out"),
        )),
        None => Ok(()),
    }
}

/// `FETCH FIRST n ROWS ONLY` as `LIMIT n`.
fn fetched(query: &mut Query) -> Result<(), Refusal> {
    counted(query)?;
    let Some(fetch) = query.fetch.take() else { return Ok(()) };
    if fetch.with_ties || fetch.percent {
        return Err(Refusal::new(
            Rule::Statement,
            "FETCH with PERCENT or WITH TIES is not available",
            "write FETCH FIRST 10 ROWS ONLY, or LIMIT 10",
        ));
    }
    let one = Expr::Value(Value::Number("1".to_owned(), false).with_empty_span());
    let rows = Some(fetch.quantity.unwrap_or(one));
    match &mut query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) if limit.is_none() => *limit = rows,
        None => {
            query.limit_clause =
                Some(LimitClause::LimitOffset { limit: rows, offset: None, limit_by: Vec::new() });
        }
        Some(_) => {
            return Err(Refusal::new(
                Rule::Statement,
                "both LIMIT and FETCH FIRST",
                "write one of them",
            ));
        }
    }
    Ok(())
}

/// The elements of `ARRAY[…]`, or of `'{…}'` as an array.
fn elements(list: &Expr) -> Option<Vec<Expr>> {
    match list {
        Expr::Array(array) => Some(array.elem.clone()),
        Expr::Nested(inner) => elements(inner),
        Expr::Tuple(items) => Some(items.clone()),
        Expr::Cast { expr, data_type: of @ ast::DataType::Array(_), .. } => match text(expr) {
            Some(written) => listed(written, &of.to_string()),
            None => elements(expr),
        },
        other => listed(text(other)?, ""),
    }
}

/// The elements of `{a,b,"c d"}`; numbers where the type is one of numbers.
fn listed(written: &str, of: &str) -> Option<Vec<Expr>> {
    let inner = written.trim().strip_prefix('{')?.strip_suffix('}')?;
    if inner.contains(['{', '}', '\\']) {
        return None;
    }
    if inner.trim().is_empty() {
        return Some(Vec::new());
    }
    let of = of.to_ascii_lowercase();
    let numbers =
        ["int", "numeric", "decimal", "float", "double", "real"].iter().any(|n| of.contains(n));
    let element = |element: &str| {
        let element = element.trim();
        let quoted = element.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        if quoted.is_none() && element.eq_ignore_ascii_case("null") {
            return Some(Expr::Value(Value::Null.with_empty_span()));
        }
        let number = quoted.is_none() && element.parse::<f64>().is_ok_and(f64::is_finite);
        Some(match (numbers, number) {
            (true, true) => match element.strip_prefix('-') {
                Some(digits) => Expr::UnaryOp {
                    op: UnaryOperator::Minus,
                    expr: Box::new(Expr::Value(
                        Value::Number(digits.to_owned(), false).with_empty_span(),
                    )),
                },
                None => Expr::Value(Value::Number(element.to_owned(), false).with_empty_span()),
            },
            (true, false) => return None,
            _ => string(quoted.unwrap_or(element).to_owned()),
        })
    };
    // A comma within quotes is not supported: an odd number of quotes shows it.
    let parts: Vec<&str> = inner.split(',').collect();
    if parts.iter().any(|part| part.matches('"').count() % 2 == 1) {
        return None;
    }
    parts.into_iter().map(element).collect()
}

/// Decades, centuries and millennia of a time.
fn years(field: &DateTimeField, time: &Expr) -> Option<Expr> {
    let number = |n: i32| Expr::Value(Value::Number(n.to_string(), false).with_empty_span());
    let year = || call("date_part", vec![string("year".to_owned()), time.clone()]);
    let over = |by: i32, add: i32| {
        let year = if add == 0 { year() } else { nested(binary(year(), Op::Plus, number(add))) };
        Some(nested(binary(year, Op::Divide, number(by))))
    };
    match field {
        DateTimeField::Decade => over(10, 0),
        DateTimeField::Century => over(100, 99),
        DateTimeField::Millennium => over(1000, 999),
        DateTimeField::Custom(name) if name.quote_style.is_none() => {
            let field = match name.value.to_ascii_lowercase().as_str() {
                "decade" | "decades" => DateTimeField::Decade,
                "century" | "centuries" => DateTimeField::Century,
                "millennium" | "millennia" | "millenium" => DateTimeField::Millennium,
                _ => return None,
            };
            years(&field, time)
        }
        _ => None,
    }
}

/// `date_trunc` to a unit that the engine lacks, or that it knows by another name.
fn truncated(unit: &Expr, time: Expr) -> Option<Expr> {
    let name = text(unit)?.trim().to_ascii_lowercase();
    let number = |n: i32| Expr::Value(Value::Number(n.to_string(), false).with_empty_span());
    let year = |time: Expr| call("date_part", vec![string("year".to_owned()), time]);
    // The first year of the span of this many years that begins in a year that leaves this rest.
    let first = |time: Expr, span: i32, rest: i32| {
        let since = binary(year(time), Op::Minus, number(rest));
        let whole = binary(
            nested(binary(nested(since), Op::Divide, number(span))),
            Op::Multiply,
            number(span),
        );
        let begins = binary(nested(whole), Op::Plus, number(rest));
        let day = call("make_date", vec![begins, number(1), number(1)]);
        Expr::Cast {
            kind: ast::CastKind::Cast,
            expr: Box::new(day),
            data_type: ast::DataType::Timestamp(None, ast::TimezoneInfo::None),
            array: false,
            format: None,
        }
    };
    let singular = match name.as_str() {
        "decade" | "decades" => return Some(first(time, 10, 0)),
        "century" | "centuries" => return Some(first(time, 100, 1)),
        "millennium" | "millennia" => return Some(first(time, 1000, 1)),
        "years" => "year",
        "quarters" => "quarter",
        "months" => "month",
        "weeks" => "week",
        "days" => "day",
        "hours" => "hour",
        "minutes" => "minute",
        "seconds" => "second",
        "milliseconds" => "millisecond",
        "microseconds" => "microsecond",
        _ => return None,
    };
    Some(call("date_trunc", vec![string(singular.to_owned()), time]))
}

/// The name of a function, in lower case, unless it is a window or has clauses of its own.
fn called(call: &Function) -> Option<String> {
    let [ObjectNamePart::Identifier(name)] = &call.name.0[..] else { return None };
    let plain = call.over.is_none() && call.filter.is_none() && call.within_group.is_empty();
    plain.then(|| name.value.to_lowercase())
}

/// The positional arguments of a call; none if there is another kind of argument.
fn arguments(call: &Function) -> Vec<Expr> {
    let FunctionArguments::List(list) = &call.args else { return Vec::new() };
    let each = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    match list.clauses.is_empty() && list.duplicate_treatment.is_none() {
        true => each.collect::<Option<Vec<Expr>>>().unwrap_or_default(),
        false => Vec::new(),
    }
}

/// The text of a constant.
fn text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
            _ => None,
        },
        Expr::Nested(inner) => text(inner),
        _ => None,
    }
}

fn string(text: String) -> Expr {
    Expr::Value(Value::SingleQuotedString(text).with_empty_span())
}

fn nested(expr: Expr) -> Expr {
    match expr {
        simple @ (Expr::Value(_)
        | Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Nested(_)) => simple,
        other => Expr::Nested(Box::new(other)),
    }
}

fn not(expr: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(expr)) }
}

fn binary(left: Expr, op: Op, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// All of them joined by an operator, as flat as possible.
fn joined(mut exprs: Vec<Expr>, op: &Op) -> Expr {
    if exprs.len() > 1 {
        let rest = exprs.split_off(exprs.len() / 2);
        return binary(nested(joined(exprs, op)), op.clone(), nested(joined(rest, op)));
    }
    exprs.pop().unwrap_or_else(|| Expr::Value(Value::Null.with_empty_span()))
}

fn case(condition: Expr, result: Expr, otherwise: Option<Expr>) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition, result }],
        else_result: otherwise.map(Box::new),
    }
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
    let list = FunctionArgumentList {
        duplicate_treatment: None,
        args: args.collect(),
        clauses: Vec::new(),
    };
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
