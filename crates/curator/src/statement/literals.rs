//! Arithmetic between numbers that a statement writes out, computed exactly: `0.06 + 0.01` is 0.07.
//!
//! In SQL a number with a point is a decimal. The engine reads it as a float, and the sum of the floats nearest to 0.06
//! and 0.01 is not the float nearest to 0.07: rows at the edge would be lost. So such arithmetic is carried out before
//! the statement is planned, and the planner sees the result. Where a result has too many digits, the arithmetic is
//! left to the engine.

use datafusion::sql::sqlparser::ast::{self, BinaryOperator, UnaryOperator, Value, ValueWithSpan};
use datafusion::sql::sqlparser::tokenizer::Span;
use std::ops::ControlFlow;

/// The most digits that a number may have after the point.
const MOST_DIGITS: u32 = 30;

/// Replaces arithmetic between numbers by its result, wherever one of them has a point.
pub(crate) fn fold(statement: &mut ast::Statement) {
    let _ = ast::visit_expressions_mut(statement, |expr: &mut ast::Expr| {
        if let Some(result) = result(expr) {
            *expr = result;
        }
        ControlFlow::<()>::Continue(())
    });
}

/// `mantissa` / 10^`scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exact {
    mantissa: i128,
    scale: u32,
    /// Whether it is written with a point or an exponent: then it is no integer.
    point: bool,
}

/// The operands have been replaced already: children are visited first.
fn result(expr: &ast::Expr) -> Option<ast::Expr> {
    let ast::Expr::BinaryOp { left, op, right } = expr else { return None };
    let (left, right) = (operand(left)?, operand(right)?);
    if !left.point && !right.point {
        return None; // integers stay the engine's
    }
    let found = match op {
        BinaryOperator::Plus => left.plus(right),
        BinaryOperator::Minus => left.plus(right.negative()?),
        BinaryOperator::Multiply => left.times(right),
        BinaryOperator::Divide => left.over(right),
        BinaryOperator::Modulo => left.modulo(right),
        _ => None,
    }?;
    found.written()
}

fn operand(expr: &ast::Expr) -> Option<Exact> {
    match expr {
        ast::Expr::Value(ValueWithSpan { value: Value::Number(text, _), .. }) => Exact::read(text),
        ast::Expr::Nested(inner) => operand(inner),
        ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr } => operand(expr)?.negative(),
        ast::Expr::UnaryOp { op: UnaryOperator::Plus, expr } => operand(expr),
        _ => None,
    }
}

impl Exact {
    /// A number as it is written: `12`, `1.5`, `.5`, `1e-3`.
    fn read(text: &str) -> Option<Self> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let point = text.contains(['.', 'e', 'E']);
        match u32::try_from(scale) {
            Ok(scale) => Self { mantissa, scale, point }.fitting(),
            Err(_) => {
                let larger = 10i128.checked_pow(scale.unsigned_abs())?;
                Some(Self { mantissa: mantissa.checked_mul(larger)?, scale: 0, point })
            }
        }
    }

    fn fitting(self) -> Option<Self> {
        (self.scale <= MOST_DIGITS).then_some(self)
    }

    fn negative(self) -> Option<Self> {
        Some(Self { mantissa: self.mantissa.checked_neg()?, ..self })
    }

    /// The mantissa with this many digits after the point.
    fn at(self, scale: u32) -> Option<i128> {
        self.mantissa.checked_mul(10i128.checked_pow(scale.checked_sub(self.scale)?)?)
    }

    fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let mantissa = self.at(scale)?.checked_add(other.at(scale)?)?;
        Some(Self { mantissa, scale, point: true })
    }

    fn times(self, other: Self) -> Option<Self> {
        let mantissa = self.mantissa.checked_mul(other.mantissa)?;
        Self { mantissa, scale: self.scale + other.scale, point: true }.fitting()
    }

    /// The quotient, if it has an end.
    fn over(self, other: Self) -> Option<Self> {
        if other.mantissa == 0 {
            return None;
        }
        (0..=MOST_DIGITS).find_map(|more| {
            // (m / 10^s) / (n / 10^t) = (m · 10^(t + more) / n) / 10^(s + more)
            let dividend = self.mantissa.checked_mul(10i128.checked_pow(other.scale + more)?)?;
            if dividend.checked_rem(other.mantissa)? != 0 {
                return None;
            }
            let mantissa = dividend.checked_div(other.mantissa)?;
            Self { mantissa, scale: self.scale + more, point: true }.fitting()
        })
    }

    fn modulo(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let mantissa = self.at(scale)?.checked_rem(other.at(scale)?)?;
        Some(Self { mantissa, scale, point: true })
    }

    /// The number as a statement writes it, with a point.
    fn written(self) -> Option<ast::Expr> {
        let (size, scale) = (self.mantissa.unsigned_abs(), self.scale.max(1));
        let size = size.checked_mul(10u128.checked_pow(scale - self.scale)?)?;
        let one = 10u128.checked_pow(scale)?;
        let text = format!("{}.{:0width$}", size / one, size % one, width = scale as usize);
        let value = Value::Number(text, false);
        let number = ast::Expr::Value(ValueWithSpan { value, span: Span::empty() });
        Some(if self.mantissa < 0 {
            let expr = Box::new(number);
            let negative = ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr };
            ast::Expr::Nested(Box::new(negative))
        } else {
            number
        })
    }
}

#[cfg(test)]
mod tests;
