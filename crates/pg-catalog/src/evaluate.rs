//! Evaluates an expression for a row.

use super::Inner;
use super::functions;
use super::names;
use super::plan::{Expr, Operator, Use};
use super::run::Side;
use super::types;
use super::value::{Row, Value, int, list, row_key, text};
use datafusion::arrow::array::StringArray;
use datafusion::arrow::compute::regexp_is_match_scalar;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The row of a query, and those of the enclosing queries.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) row: &'a [Value],
    pub(crate) outer: Option<&'a Scope<'a>>,
}

/// One execution of a statement, and its remaining resources.
pub(crate) struct Run<'a> {
    pub(crate) catalog: &'a Inner,
    /// Set when no one waits for it any more.
    cancelled: &'a AtomicBool,
    /// The remaining steps: each evaluated expression, each row and each four bytes of a new text take one.
    steps: Cell<u64>,
    /// The remaining cells: each value in a row of a join takes one.
    cells: Cell<u64>,
    /// The rows of common table expressions in scope.
    pub(crate) ctes: RefCell<HashMap<usize, Arc<Vec<Row>>>>,
    /// The rows of subqueries that read no row around them.
    pub(crate) constant: RefCell<HashMap<usize, Arc<Vec<Row>>>>,
    /// The joined relations, indexed.
    pub(crate) sides: RefCell<HashMap<usize, Arc<Side>>>,
    matches: RefCell<HashMap<(String, String, bool), bool>>,
}

/// The step limit of a statement: about a second of one processor.
const STEPS: u64 = 10_000_000;
/// The cell limit of a statement: about 150 megabytes at most, if all of it existed at once.
const CELLS: u64 = 4_000_000;
/// The largest number of cells of one join, and of bytes or items of one text or array.
const JOINED: usize = 2_000_000;
const LONGEST: usize = 1 << 20;
/// The largest number of bytes in an answer's texts.
const ANSWER: u64 = 32 << 20;

const TOO_LARGE: &str = "the catalog query takes too much; ask for less at once";

impl<'a> Run<'a> {
    pub(crate) fn new(catalog: &'a Inner, cancelled: &'a AtomicBool) -> Self {
        Self {
            catalog,
            cancelled,
            steps: Cell::new(STEPS),
            cells: Cell::new(CELLS),
            ctes: RefCell::default(),
            constant: RefCell::default(),
            sides: RefCell::default(),
            matches: RefCell::default(),
        }
    }

    /// Takes some of the remaining steps.
    pub(crate) fn spend(&self, steps: u64) -> Result<(), String> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err("the statement was cancelled".to_owned());
        }
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => Err(TOO_LARGE.to_owned()),
        }
    }

    /// Reserves space for one more row of a join that already has some.
    pub(crate) fn room(&self, rows: usize, width: usize) -> Result<(), String> {
        let left = self.cells.get().checked_sub(width as u64 + 1);
        let joined = (rows + 1).saturating_mul(width + 1);
        self.cells.set(left.filter(|_| joined <= JOINED).ok_or(TOO_LARGE)?);
        self.spend(1)
    }

    /// The key that identifies a row, which takes space.
    pub(crate) fn key(&self, row: &[Value]) -> Result<String, String> {
        self.spend(row.iter().map(Value::size).sum())?;
        Ok(row_key(row))
    }

    /// Checks that an answer is small enough to send: texts that rows share are sent with each row.
    pub(crate) fn sendable(&self, rows: &[Row]) -> Result<(), String> {
        let quarters: u64 = rows.iter().flatten().map(Value::size).sum();
        if quarters.saturating_mul(4) > ANSWER { Err(TOO_LARGE.to_owned()) } else { Ok(()) }
    }

    /// Whether a text matches a regular expression.
    fn matches(&self, subject: &str, pattern: &str, fold: bool) -> Result<bool, String> {
        // The form in which psql writes a name that it looks up.
        let name = pattern.strip_prefix("^(").and_then(|name| name.strip_suffix(")$"));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if let Some(name) = name.filter(|name| name.chars().all(plain) && !fold) {
            return Ok(subject == name);
        }
        let key = (subject.to_owned(), pattern.to_owned(), fold);
        if let Some(known) = self.matches.borrow().get(&key) {
            return Ok(*known);
        }
        // A repetition can turn a small pattern into a large automaton.
        self.spend(if pattern.contains('{') { 50_000 } else { 500 + pattern.len() as u64 })?;
        let flag = fold.then_some("i");
        let matched = regexp_is_match_scalar(&StringArray::from(vec![subject]), pattern, flag)
            .map_err(|_| format!("invalid regular expression: \"{pattern}\""))?
            .value(0);
        self.matches.borrow_mut().insert(key, matched);
        Ok(matched)
    }

    pub(crate) fn evaluate(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Value, String> {
        self.spend(1)?;
        let value = self.value(expr, scope)?;
        // Values that are only read are shared, and take no space.
        if !matches!(expr, Expr::Const(_) | Expr::Column { .. }) {
            self.spend(value.size())?;
        }
        Ok(value)
    }

    /// Whether a condition is true: not false and not unknown.
    pub(crate) fn holds(&self, expr: &Expr, scope: &Scope<'_>) -> Result<bool, String> {
        Ok(self.evaluate(expr, scope)?.truth() == Some(true))
    }

    pub(crate) fn values(&self, all: &[Expr], scope: &Scope<'_>) -> Result<Row, String> {
        all.iter().map(|expr| self.evaluate(expr, scope)).collect()
    }

    fn value(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Value, String> {
        let of = |expr: &Expr| self.evaluate(expr, scope);
        Ok(match expr {
            Expr::Const(value) => value.clone(),
            Expr::Parameter(_) => Value::Null,
            Expr::Column { depth, at } => {
                let mut scope = scope;
                for _ in 0..*depth {
                    scope = scope.outer.ok_or("a column of no query")?;
                }
                scope.row.get(*at).cloned().ok_or("a column of no relation")?
            }
            Expr::All(all) => self.logic(all, false, scope)?,
            Expr::AnyOf(all) => self.logic(all, true, scope)?,
            Expr::Not(a) => of(a)?.truth().map_or(Value::Null, |truth| Value::Bool(!truth)),
            Expr::IsNull(a) => Value::Bool(of(a)?.is_null()),
            Expr::Is(a, truth) => Value::Bool(of(a)?.truth() == Some(*truth)),
            Expr::Distinct(a, b) => Value::Bool(of(a)?.order(&of(b)?).is_ne()),
            Expr::Binary(operator, a, b) => self.binary(*operator, &of(a)?, &of(b)?)?,
            Expr::Append(a, b) => match (of(a)?, of(b)?) {
                (Value::Null, value) | (value, Value::Null) => value,
                (Value::List(a), Value::List(b)) => {
                    at_most(a.len() + b.len())?;
                    list([a.to_vec(), b.to_vec()].concat())
                }
                (Value::List(a), b) => list([a.to_vec(), vec![b]].concat()),
                (a, Value::List(b)) => list([vec![a], b.to_vec()].concat()),
                _ => Value::Null,
            },
            Expr::Quantified { operator, left, array, all } => {
                let (left, array) = (of(left)?, of(array)?);
                if array.is_null() {
                    return Ok(Value::Null);
                }
                let mut unknown = false;
                for item in array.items() {
                    self.spend(1)?;
                    match self.binary(*operator, &left, item)?.truth() {
                        Some(truth) if truth != *all => return Ok(Value::Bool(truth)),
                        Some(_) => {}
                        None => unknown = true,
                    }
                }
                if unknown { Value::Null } else { Value::Bool(*all) }
            }
            Expr::Case(whens, otherwise) => {
                for (when, then) in whens {
                    if self.holds(when, scope)? {
                        return of(then);
                    }
                }
                of(otherwise)?
            }
            Expr::Coalesce(all) => {
                for expr in all {
                    let value = of(expr)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Value::Null
            }
            Expr::Call(function, args) => {
                let args = self.values(args, scope)?;
                if function.strict && args.iter().any(Value::is_null) {
                    return Ok(Value::Null);
                }
                (function.call)(self.catalog, &args)?
            }
            Expr::Cast { expr, from, to } => cast(self.catalog, of(expr)?, *from, *to)?,
            Expr::Element { array, at, base } => {
                let (array, at) = (of(array)?, of(at)?.int());
                let at = at.and_then(|at| usize::try_from(at - base).ok());
                at.and_then(|at| array.items().get(at).cloned()).unwrap_or(Value::Null)
            }
            Expr::Field(record, at) => of(record)?.items().get(*at).cloned().unwrap_or(Value::Null),
            Expr::Array(all) => list(self.values(all, scope)?),
            Expr::Subquery(used, query) => {
                let rows = self.rows(query, scope)?;
                match used {
                    Use::Exists => Value::Bool(!rows.is_empty()),
                    Use::Array => list(rows.iter().filter_map(|r| r.first().cloned()).collect()),
                    Use::Scalar if rows.len() > 1 => {
                        return Err("a subquery used as an expression has more than one row".into());
                    }
                    Use::Scalar => {
                        rows.first().and_then(|r| r.first().cloned()).unwrap_or(Value::Null)
                    }
                }
            }
        })
    }

    /// AND or OR in three-valued logic; `decisive` is the value that decides it.
    fn logic(&self, all: &[Expr], decisive: bool, scope: &Scope<'_>) -> Result<Value, String> {
        let mut unknown = false;
        for expr in all {
            match self.evaluate(expr, scope)?.truth() {
                Some(truth) if truth == decisive => return Ok(Value::Bool(decisive)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { Value::Null } else { Value::Bool(!decisive) })
    }

    fn binary(&self, operator: Operator, a: &Value, b: &Value) -> Result<Value, String> {
        if a.is_null() || b.is_null() {
            return Ok(Value::Null);
        }
        let order = || a.order(b);
        Ok(match operator {
            Operator::Equal => Value::Bool(order().is_eq()),
            Operator::NotEqual => Value::Bool(order().is_ne()),
            Operator::Less => Value::Bool(order().is_lt()),
            Operator::LessEqual => Value::Bool(order().is_le()),
            Operator::Greater => Value::Bool(order().is_gt()),
            Operator::GreaterEqual => Value::Bool(order().is_ge()),
            Operator::Concat => {
                let (a, b) = (a.output(), b.output());
                at_most(a.len() + b.len())?;
                text(a + &b)
            }
            Operator::Like(escape) => {
                self.spend((a.str().len() * b.str().len()) as u64 / 256)?;
                Value::Bool(like(a.str(), b.str(), escape))
            }
            Operator::ILike(escape) => {
                self.spend((a.str().len() * b.str().len()) as u64 / 256)?;
                Value::Bool(like(&a.str().to_lowercase(), &b.str().to_lowercase(), escape))
            }
            Operator::Regex => Value::Bool(self.matches(a.str(), b.str(), false)?),
            Operator::IRegex => Value::Bool(self.matches(a.str(), b.str(), true)?),
            _ => arithmetic(operator, a, b)?,
        })
    }
}

/// The size limit of a value.
pub(crate) fn at_most(size: usize) -> Result<(), String> {
    if size > LONGEST { Err(TOO_LARGE.to_owned()) } else { Ok(()) }
}

fn arithmetic(operator: Operator, a: &Value, b: &Value) -> Result<Value, String> {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        let result = match operator {
            Operator::Add => a.checked_add(*b),
            Operator::Subtract => a.checked_sub(*b),
            Operator::Multiply => a.checked_mul(*b),
            Operator::Divide => a.checked_div(*b),
            Operator::Modulo => a.checked_rem(*b),
            Operator::And => Some(a & b),
            Operator::Or => Some(a | b),
            _ => None,
        };
        return result
            .map(int)
            .ok_or_else(|| "division by zero or integer out of range".to_owned());
    }
    let number = |value: &Value| match value {
        Value::Int(int) => Ok(*int as f64),
        Value::Float(float) => Ok(*float),
        _ => Err("an operator of numbers met something else".to_owned()),
    };
    let (a, b) = (number(a)?, number(b)?);
    Ok(Value::Float(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide if b != 0.0 => a / b,
        _ => return Err("division by zero, or an operator of integers".to_owned()),
    }))
}

/// SQL's LIKE: `%` is anything, `_` one character.
fn like(subject: &str, pattern: &str, escape: Option<char>) -> bool {
    enum Part {
        Many,
        One,
        Exactly(char),
    }
    let mut parts = Vec::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        parts.push(match c {
            c if Some(c) == escape => Part::Exactly(characters.next().unwrap_or(c)),
            '%' => Part::Many,
            '_' => Part::One,
            c => Part::Exactly(c),
        });
    }
    let subject: Vec<char> = subject.chars().collect();
    let (mut s, mut p, mut retry) = (0, 0, None);
    while s < subject.len() {
        match parts.get(p) {
            Some(Part::Many) => {
                retry = Some((p + 1, s));
                p += 1;
            }
            Some(Part::One) => (s, p) = (s + 1, p + 1),
            Some(Part::Exactly(c)) if *c == subject[s] => (s, p) = (s + 1, p + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (s, p) = (from + 1, after);
                }
                None => return false,
            },
        }
    }
    parts[p..].iter().all(|part| matches!(part, Part::Many))
}

/// Converts a value from one type to another.
pub(crate) fn cast(
    catalog: &Inner,
    value: Value,
    from: types::Oid,
    to: types::Oid,
) -> Result<Value, String> {
    if value.is_null() || from == to {
        return Ok(value);
    }
    if let Value::Text(given) = &value
        && !types::is_text(to)
    {
        if from == types::REGPROC && types::is_int(to) {
            return Ok(int(names::find_procedure(catalog, given)));
        }
        return functions::read(catalog, given, to);
    }
    Ok(match to {
        _ if types::is_text(to) => match (from, to) {
            (_, types::REGPROC) => names::procedure(catalog, value.int().unwrap_or(0)),
            (_, types::CHAR) => text(value.output().chars().take(1).collect::<String>()),
            (types::BOOL, _) => text(if value.truth() == Some(true) { "true" } else { "false" }),
            _ => text(functions::write(catalog, &value, from)),
        },
        types::BOOL => Value::Bool(value.int().is_some_and(|int| int != 0)),
        types::FLOAT4 | types::FLOAT8 | types::NUMERIC => match value {
            Value::Int(int) => Value::Float(int as f64),
            other => other,
        },
        _ if types::is_int(to) => match value {
            Value::Bool(truth) => int(i64::from(truth)),
            Value::Float(float) => int(float.round() as i64),
            other => other,
        },
        _ => match (types::element_of(from), types::element_of(to), &value) {
            (Some(from), Some(to), Value::List(items)) => {
                let items = items.iter().map(|item| cast(catalog, item.clone(), from, to));
                list(items.collect::<Result<_, _>>()?)
            }
            _ => return Err("that cast is not one of the catalog's".to_owned()),
        },
    })
}
