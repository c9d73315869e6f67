//! Intervals of what is computed from released numbers.
//!
//! A [`Term`] is an expression over released numbers as far as its interval follows from theirs by interval arithmetic.
//!
//! # Guarantee
//! If the interval of every released number in a term holds its truth, then the term's interval holds what the
//! expression is at the truths, unless that is NULL. So if each of k of them holds with 1 − β/k, the term's holds with
//! 1 − β: the probabilities of failing add up, whether or not the numbers depend on each other.
//! # Proof
//! By induction on the term. Sums, differences, products, least and greatest are monotone in each argument where the
//! others are fixed, so their ends are at ends. A quotient is, if the divisor has one sign; otherwise there is no
//! interval. Functions that never fall map ends to ends. A conversion to a whole number moves x to one of the two
//! next to it, and one to a decimal by less than its last digit. CASE is one of its branches, so it is in the hull of
//! all. NULLIF is its first argument or NULL. COALESCE is one of its arguments, and LEAST and GREATEST are those of some
//! of their arguments, as they pass over NULL: their interval is the hull of all cases in which an argument may be NULL in
//! truth ([`Nothing`]). ∎

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An expression over released numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// A released number.
    Leaf(usize),
    /// A constant.
    Number(f64),
    Add(Box<Term>, Box<Term>),
    Subtract(Box<Term>, Box<Term>),
    Multiply(Box<Term>, Box<Term>),
    Divide(Box<Term>, Box<Term>),
    Absolute(Box<Term>),
    /// A function that never falls.
    Rising(Rising, Box<Term>),
    /// Moved to a whole number next to it.
    Whole(Box<Term>),
    /// Moved by at most this.
    Near(Box<Term>, f64),
    Least(Vec<Term>),
    Greatest(Vec<Term>),
    /// One of these.
    Any(Vec<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rising {
    Floor,
    Ceil,
    Trunc,
    /// To so many digits after the point.
    Round(i32),
    Sqrt,
    Exp,
}

/// What a number of no rows is in truth, and what is released for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Nothing {
    /// A count: 0, and never NULL.
    Counted,
    /// A sum: NULL in truth. What is released is noise around 0, so that 0 is in its interval.
    Zero,
    /// NULL in truth. What is released may be any number.
    Anything,
}

/// The most parts of a term: beyond, there is no interval.
const MOST: usize = 1_000;

impl Term {
    /// The term of an expression, given those of the columns it reads, and what each leaf is of no rows; `None` if its
    /// interval does not follow.
    pub(super) fn of(
        expr: &Expr,
        schema: &DFSchema,
        columns: &[Option<Term>],
        leaves: &[Nothing],
    ) -> Option<Self> {
        let term = of(expr, schema, columns, leaves)?;
        (term.size() <= MOST).then_some(term)
    }

    /// What it is of no rows.
    pub(super) fn of_nothing(&self, leaves: &[Nothing]) -> Nothing {
        match self {
            Self::Leaf(leaf) => leaves.get(*leaf).copied().unwrap_or(Nothing::Anything),
            Self::Number(_) => Nothing::Counted,
            // Each of them takes 0 to 0.
            Self::Absolute(a) | Self::Whole(a) | Self::Near(a, _) => a.of_nothing(leaves),
            Self::Rising(f, a) if *f != Rising::Exp => a.of_nothing(leaves),
            Self::Multiply(a, b) | Self::Divide(a, b) if matches!(**b, Self::Number(_)) => {
                a.of_nothing(leaves)
            }
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Multiply(a, b) | Self::Divide(a, b) => {
                match (a.of_nothing(leaves), b.of_nothing(leaves)) {
                    (Nothing::Counted, Nothing::Counted) => Nothing::Counted,
                    _ => Nothing::Anything,
                }
            }
            Self::Least(all) | Self::Greatest(all) => {
                match all.iter().any(|one| one.of_nothing(leaves) == Nothing::Counted) {
                    true => Nothing::Counted,
                    false => Nothing::Anything,
                }
            }
            Self::Rising(..) | Self::Any(_) => Nothing::Anything,
        }
    }

    /// COALESCE.
    fn first_of(mut all: Vec<Self>, leaves: &[Nothing]) -> Option<Self> {
        let first = all.first()?;
        Some(match (first.of_nothing(leaves), &all[1..]) {
            (Nothing::Counted, _) | (_, []) => all.swap_remove(0),
            // Where the sum is NULL in truth, its interval holds the 0.
            (Nothing::Zero, [Self::Number(0.0)]) => all.swap_remove(0),
            _ => Self::Any(all),
        })
    }

    /// LEAST, or GREATEST.
    fn extreme(all: Vec<Self>, leaves: &[Nothing], greatest: bool) -> Self {
        let of = if greatest { Self::Greatest } else { Self::Least };
        // Beside such a number, 0 changes nothing, as NULL does.
        let beyond_0 = |x: f64| if greatest { x >= 0.0 } else { x <= 0.0 };
        let past_0 = all.iter().any(|one| matches!(one, Self::Number(x) if beyond_0(*x)));
        let counts = |one: &&Self| match one.of_nothing(leaves) {
            Nothing::Counted => true,
            Nothing::Zero => past_0,
            Nothing::Anything => false,
        };
        let always: Vec<Self> = all.iter().filter(counts).cloned().collect();
        match always.len() {
            n if n == all.len() => of(all),
            0 => Self::Any(all),
            _ => Self::Any(vec![of(all), of(always)]),
        }
    }

    /// The released numbers in it.
    pub(super) fn leaves(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        self.visit(&mut |term| {
            if let Self::Leaf(leaf) = term {
                found.insert(*leaf);
            }
        });
        found
    }

    fn size(&self) -> usize {
        let mut size = 0;
        self.visit(&mut |_| size += 1);
        size
    }

    fn visit(&self, f: &mut impl FnMut(&Self)) {
        f(self);
        match self {
            Self::Leaf(_) | Self::Number(_) => {}
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Multiply(a, b) | Self::Divide(a, b) => {
                a.visit(f);
                b.visit(f);
            }
            Self::Absolute(a) | Self::Rising(_, a) | Self::Whole(a) | Self::Near(a, _) => {
                a.visit(f)
            }
            Self::Least(all) | Self::Greatest(all) | Self::Any(all) => {
                all.iter().for_each(|one| one.visit(f));
            }
        }
    }

    /// Its interval, given those of the leaves; `None` if it has none.
    pub(super) fn interval(&self, leaf: &dyn Fn(usize) -> Option<Ends>) -> Option<Ends> {
        let two = |a: &Self, b: &Self| Some((a.interval(leaf)?, b.interval(leaf)?));
        let all = |of: &[Self]| -> Option<Vec<Ends>> {
            of.iter().map(|term| term.interval(leaf)).collect()
        };
        let (low, high) = match self {
            Self::Leaf(i) => leaf(*i)?,
            Self::Number(x) => (*x, *x),
            Self::Add(a, b) => {
                let (a, b) = two(a, b)?;
                (a.0 + b.0, a.1 + b.1)
            }
            Self::Subtract(a, b) => {
                let (a, b) = two(a, b)?;
                (a.0 - b.1, a.1 - b.0)
            }
            Self::Multiply(a, b) => {
                let (a, b) = two(a, b)?;
                hull(&[a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1])
            }
            Self::Divide(a, b) => {
                let (a, b) = two(a, b)?;
                if b.0 <= 0.0 && b.1 >= 0.0 {
                    return None;
                }
                hull(&[a.0 / b.0, a.0 / b.1, a.1 / b.0, a.1 / b.1])
            }
            Self::Absolute(a) => {
                let a = a.interval(leaf)?;
                let far = a.0.abs().max(a.1.abs());
                let near = if a.0 <= 0.0 && a.1 >= 0.0 { 0.0 } else { a.0.abs().min(a.1.abs()) };
                (near, far)
            }
            Self::Rising(f, a) => {
                let a = a.interval(leaf)?;
                (f.at(a.0), f.at(a.1))
            }
            Self::Whole(a) => {
                let a = a.interval(leaf)?;
                (a.0.floor(), a.1.ceil())
            }
            Self::Near(a, by) => {
                let a = a.interval(leaf)?;
                (a.0 - by, a.1 + by)
            }
            Self::Least(of) => {
                let of = all(of)?;
                (least(of.iter().map(|x| x.0))?, least(of.iter().map(|x| x.1))?)
            }
            Self::Greatest(of) => {
                let of = all(of)?;
                (greatest(of.iter().map(|x| x.0))?, greatest(of.iter().map(|x| x.1))?)
            }
            Self::Any(of) => {
                let of = all(of)?;
                (least(of.iter().map(|x| x.0))?, greatest(of.iter().map(|x| x.1))?)
            }
        };
        (low.is_finite() && high.is_finite() && low <= high).then_some((low, high))
    }
}

/// The ends of an interval.
pub(super) type Ends = (f64, f64);

impl Rising {
    fn at(self, x: f64) -> f64 {
        match self {
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Trunc => x.trunc(),
            Self::Round(digits) => {
                let unit = 10f64.powi(digits);
                (x * unit).round() / unit
            }
            Self::Sqrt => x.max(0.0).sqrt(),
            Self::Exp => x.exp(),
        }
    }
}

fn least(of: impl Iterator<Item = f64>) -> Option<f64> {
    of.reduce(f64::min)
}

fn greatest(of: impl Iterator<Item = f64>) -> Option<f64> {
    of.reduce(f64::max)
}

/// NaN if any is: then there is no interval.
fn hull(ends: &[f64]) -> Ends {
    if ends.iter().any(|x| x.is_nan()) {
        return (f64::NAN, f64::NAN);
    }
    let fold = |f: fn(f64, f64) -> f64| ends.iter().copied().reduce(f).unwrap_or(f64::NAN);
    (fold(f64::min), fold(f64::max))
}

fn of(
    expr: &Expr,
    schema: &DFSchema,
    columns: &[Option<Term>],
    leaves: &[Nothing],
) -> Option<Term> {
    let inner = |expr: &Expr| of(expr, schema, columns, leaves);
    let kind = |expr: &Expr| expr.get_type(schema).ok();
    Some(match expr {
        Expr::Alias(alias) => inner(&alias.expr)?,
        Expr::Column(column) => columns.get(schema.maybe_index_of_column(column)?)?.clone()?,
        Expr::Literal(value, _) => Term::Number(number(value)?),
        Expr::Negative(a) => Term::Subtract(Box::new(Term::Number(0.0)), Box::new(inner(a)?)),
        Expr::Cast(cast) => {
            converted(inner(&cast.expr)?, &kind(&cast.expr)?, cast.field.data_type())?
        }
        Expr::TryCast(cast) => {
            converted(inner(&cast.expr)?, &kind(&cast.expr)?, cast.field.data_type())?
        }
        Expr::BinaryExpr(binary) => {
            let (a, b) = (Box::new(inner(&binary.left)?), Box::new(inner(&binary.right)?));
            let rounded = |term: Term| match kind(expr) {
                Some(of) if of.is_integer() => Some(Term::Whole(Box::new(term))),
                Some(DataType::Float64) => Some(term),
                Some(DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale)) => {
                    Some(Term::Near(Box::new(term), 10f64.powi(-i32::from(scale))))
                }
                _ => None,
            };
            match binary.op {
                Operator::Plus => Term::Add(a, b),
                Operator::Minus => Term::Subtract(a, b),
                Operator::Multiply => Term::Multiply(a, b),
                Operator::Divide => rounded(Term::Divide(a, b))?,
                _ => return None,
            }
        }
        Expr::Case(case) => {
            let branches = case.when_then_expr.iter().map(|(_, then)| then.as_ref());
            let branches = branches.chain(case.else_expr.as_deref());
            // Where it is NULL, no interval is claimed.
            let null = |expr: &&Expr| !matches!(expr, Expr::Literal(value, _) if value.is_null());
            let all: Option<Vec<Term>> = branches.filter(null).map(inner).collect();
            match all? {
                all if all.is_empty() => return None,
                several => Term::Any(several),
            }
        }
        Expr::ScalarFunction(call) => {
            let first = || Some(Box::new(inner(call.args.first()?)?));
            let all = || call.args.iter().map(inner).collect::<Option<Vec<Term>>>();
            let rising = |f: Rising| Some(Term::Rising(f, first()?));
            match (call.name(), call.args.len()) {
                ("abs", 1) => Term::Absolute(first()?),
                ("floor", 1) => rising(Rising::Floor)?,
                ("ceil", 1) => rising(Rising::Ceil)?,
                ("trunc", 1) => rising(Rising::Trunc)?,
                ("round" | "total_rounded", 1) => rising(Rising::Round(0))?,
                ("round", 2) => {
                    let Term::Number(digits) = inner(&call.args[1])? else { return None };
                    if digits.abs() > 300.0 {
                        return None;
                    }
                    rising(Rising::Round(digits as i32))?
                }
                ("sqrt", 1) => rising(Rising::Sqrt)?,
                ("exp", 1) => rising(Rising::Exp)?,
                ("coalesce" | "nvl", 1..) => {
                    let known = |one: &&Expr| !matches!(one, Expr::Literal(x, _) if x.is_null());
                    let known = call.args.iter().filter(known).map(inner);
                    Term::first_of(known.collect::<Option<_>>()?, leaves)?
                }
                ("nullif", 2) => Term::Any(vec![*first()?]),
                ("least", 1..) => Term::extreme(all()?, leaves, false),
                ("greatest", 1..) => Term::extreme(all()?, leaves, true),
                ("clamp", 3) => {
                    let [value, low, high] = <[Term; 3]>::try_from(all()?).ok()?;
                    Term::Least(vec![Term::Greatest(vec![value, low]), high])
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn number(value: &ScalarValue) -> Option<f64> {
    crate::rows::expression::number(value)
}

fn converted(term: Term, from: &DataType, to: &DataType) -> Option<Term> {
    let whole = from.is_integer();
    Some(match to {
        _ if from == to => term,
        DataType::Float64 if from.is_numeric() => term,
        _ if to.is_integer() && from.is_numeric() => match whole {
            true => term,
            false => Term::Whole(Box::new(term)),
        },
        DataType::Decimal128(_, _) | DataType::Decimal256(_, _) if whole => term,
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) if from.is_numeric() => {
            Term::Near(Box::new(term), 10f64.powi(-i32::from(*scale)))
        }
        _ => return None,
    })
}

/// The function that computes one end of a term's interval from the ends of its leaves: low, high, low, high, …
pub(super) fn end(term: Term, high: bool) -> ScalarUDF {
    let leaves: Vec<usize> = term.leaves().into_iter().collect();
    let text = format!("{term:?}");
    let signature = Signature::variadic_any(Volatility::Immutable);
    ScalarUDF::from(End { term, text, leaves, high, signature })
}

#[derive(Debug)]
struct End {
    term: Term,
    /// The term as text, by which two of them are compared.
    text: String,
    leaves: Vec<usize>,
    high: bool,
    signature: Signature,
}

impl PartialEq for End {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.high) == (&other.text, other.high)
    }
}

impl Eq for End {}

impl std::hash::Hash for End {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.text, self.high).hash(state);
    }
}

impl ScalarUDFImpl for End {
    fn name(&self) -> &'static str {
        "__demure_end"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = args.args.iter().map(|column| {
            let array: ArrayRef = column.to_array(args.number_rows)?;
            Ok(cast(&array, &DataType::Float64)?)
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
        let at = |column: Option<&ArrayRef>, row: usize| {
            let column = column?.as_primitive::<Float64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        let ends = (0..args.number_rows).map(|row| {
            let leaf = |leaf: usize| {
                let place = self.leaves.binary_search(&leaf).ok()?;
                Some((at(columns.get(2 * place), row)?, at(columns.get(2 * place + 1), row)?))
            };
            let (low, high) = self.term.interval(&leaf)?;
            Some(if self.high { high } else { low })
        });
        Ok(ColumnarValue::Array(Arc::new(ends.collect::<Float64Array>())))
    }
}

#[cfg(test)]
mod tests;
