//! Chooses the operator that a symbol means for given types.

use super::plan::{Expr, Operator};
use super::scope::{Binder, Typed, unify};
use super::types::{self, BOOL, Oid, UNKNOWN};
use datafusion::sql::sqlparser::ast::{self, BinaryOperator, ValueWithSpan};

/// The operator of a symbol, and whether its result is negated.
fn operator(symbol: &BinaryOperator) -> Option<(Operator, bool)> {
    let plain = |operator| Some((operator, false));
    match symbol {
        BinaryOperator::Eq => plain(Operator::Equal),
        BinaryOperator::NotEq => plain(Operator::NotEqual),
        BinaryOperator::Lt => plain(Operator::Less),
        BinaryOperator::LtEq => plain(Operator::LessEqual),
        BinaryOperator::Gt => plain(Operator::Greater),
        BinaryOperator::GtEq => plain(Operator::GreaterEqual),
        BinaryOperator::Plus => plain(Operator::Add),
        BinaryOperator::Minus => plain(Operator::Subtract),
        BinaryOperator::Multiply => plain(Operator::Multiply),
        BinaryOperator::Divide => plain(Operator::Divide),
        BinaryOperator::Modulo => plain(Operator::Modulo),
        BinaryOperator::BitwiseAnd => plain(Operator::And),
        BinaryOperator::BitwiseOr => plain(Operator::Or),
        BinaryOperator::StringConcat => plain(Operator::Concat),
        BinaryOperator::PGRegexMatch => plain(Operator::Regex),
        BinaryOperator::PGRegexIMatch => plain(Operator::IRegex),
        BinaryOperator::PGRegexNotMatch => Some((Operator::Regex, true)),
        BinaryOperator::PGRegexNotIMatch => Some((Operator::IRegex, true)),
        BinaryOperator::PGLikeMatch => plain(Operator::Like(Some('\\'))),
        BinaryOperator::PGILikeMatch => plain(Operator::ILike(Some('\\'))),
        BinaryOperator::PGNotLikeMatch => Some((Operator::Like(Some('\\')), true)),
        BinaryOperator::PGNotILikeMatch => Some((Operator::ILike(Some('\\')), true)),
        // `OPERATOR(pg_catalog.~)`
        BinaryOperator::PGCustomBinaryOperator(parts) => match parts.last()?.as_str() {
            "=" => plain(Operator::Equal),
            "<>" | "!=" => plain(Operator::NotEqual),
            "<" => plain(Operator::Less),
            "<=" => plain(Operator::LessEqual),
            ">" => plain(Operator::Greater),
            ">=" => plain(Operator::GreaterEqual),
            "||" => plain(Operator::Concat),
            "~" => plain(Operator::Regex),
            "~*" => plain(Operator::IRegex),
            "!~" => Some((Operator::Regex, true)),
            "!~*" => Some((Operator::IRegex, true)),
            "~~" => plain(Operator::Like(Some('\\'))),
            "!~~" => Some((Operator::Like(Some('\\')), true)),
            _ => None,
        },
        _ => None,
    }
}

fn unknown(symbol: &BinaryOperator) -> String {
    format!("the catalog has no operator {symbol}")
}

fn turned(expr: Expr, turn: bool) -> Expr {
    if turn { Expr::Not(Box::new(expr)) } else { expr }
}

impl Binder<'_> {
    pub(crate) fn binary(
        &mut self,
        symbol: &BinaryOperator,
        a: Typed,
        b: Typed,
    ) -> Result<Typed, String> {
        let (operator, turn) = operator(symbol).ok_or_else(|| unknown(symbol))?;
        let (expr, oid) = self.operation(operator, a, b)?;
        Ok((turned(expr, turn), oid))
    }

    fn operation(&mut self, operator: Operator, a: Typed, b: Typed) -> Result<Typed, String> {
        let (a, b, oid) = match operator {
            Operator::Like(_) | Operator::ILike(_) | Operator::Regex | Operator::IRegex => {
                (self.coerce(a, types::TEXT)?, self.coerce(b, types::TEXT)?, BOOL)
            }
            Operator::Concat => {
                let arrays = [a.1, b.1].map(types::element_of);
                if let Some(element) = arrays[0].or(arrays[1]) {
                    let array = types::array_of(element).unwrap_or(types::TEXT_ARRAY);
                    let to = |side: Option<Oid>| if side.is_some() { array } else { element };
                    let known = [a.1 == UNKNOWN, b.1 == UNKNOWN];
                    let to_a = if known[0] { array } else { to(arrays[0]) };
                    let to_b = if known[1] { array } else { to(arrays[1]) };
                    let (a, b) = (self.coerce(a, to_a)?, self.coerce(b, to_b)?);
                    return Ok((Expr::Append(Box::new(a), Box::new(b)), array));
                }
                (self.coerce(a, types::TEXT)?, self.coerce(b, types::TEXT)?, types::TEXT)
            }
            Operator::Equal
            | Operator::NotEqual
            | Operator::Less
            | Operator::LessEqual
            | Operator::Greater
            | Operator::GreaterEqual => {
                let (a, b, _) = self.alike(a, b)?;
                (a, b, BOOL)
            }
            _ => {
                let common = match unify(a.1, b.1) {
                    UNKNOWN => types::INT4,
                    known => known,
                };
                (self.coerce(a, common)?, self.coerce(b, common)?, common)
            }
        };
        Ok((Expr::Binary(operator, Box::new(a), Box::new(b)), oid))
    }

    /// `left op ANY (right)`, or ALL, where `right` is an array or a subquery.
    pub(crate) fn quantified(
        &mut self,
        left: Typed,
        symbol: &BinaryOperator,
        right: Typed,
        all: bool,
    ) -> Result<Typed, String> {
        let (operator, turn) = operator(symbol).ok_or_else(|| unknown(symbol))?;
        if turn {
            return Err(unknown(symbol));
        }
        let (left, right) = match (left.1, types::element_of(right.1)) {
            // `'d' = ANY (kinds)`
            (UNKNOWN, Some(element)) => (self.coerce(left, element)?, right.0),
            (oid, None) => {
                let array = types::array_of(oid).ok_or("op ANY/ALL takes an array")?;
                let right = self.coerce(right, array)?;
                let element = types::element_of(array).unwrap_or(types::TEXT);
                (self.coerce(left, element)?, right)
            }
            (_, Some(element)) => {
                let common = unify(left.1, element);
                let array = types::array_of(common).ok_or("op ANY/ALL takes an array")?;
                let vector = matches!(right.1, types::INT2VECTOR | types::OIDVECTOR);
                let right = if vector { right.0 } else { self.coerce(right, array)? };
                (self.coerce(left, common)?, right)
            }
        };
        let (left, array) = (Box::new(left), Box::new(right));
        Ok((Expr::Quantified { operator, left, array, all }, BOOL))
    }

    /// LIKE and ILIKE.
    pub(crate) fn pattern(
        &mut self,
        (expr, pattern): (&ast::Expr, &ast::Expr),
        escape: Option<&ValueWithSpan>,
        fold: bool,
        negated: bool,
    ) -> Result<Typed, String> {
        let escape = match escape {
            None => Some('\\'),
            Some(given) => given.clone().into_string().unwrap_or_default().chars().next(),
        };
        let operator = if fold { Operator::ILike(escape) } else { Operator::Like(escape) };
        let (a, b) = (self.bind(expr)?, self.bind(pattern)?);
        let (expr, oid) = self.operation(operator, a, b)?;
        Ok((turned(expr, negated), oid))
    }
}
