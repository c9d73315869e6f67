//! Binding expressions.

use super::bind::{ident, parts};
use super::functions::{self, ANY};
use super::plan::{Aggregate, AggregateKind, Expr, Operator, Series, Slot, Sort, SortBy, Use};
use super::scope::{Binder, Typed};
use super::types::{self, BOOL, UNKNOWN};
use super::value::{Value, int};
use datafusion::sql::sqlparser::ast::{
    self, AccessExpr, BinaryOperator, DuplicateTreatment, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArguments, Subscript, TrimWhereField, UnaryOperator,
    WindowType,
};

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn not(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::Not(boxed(expr)) } else { expr }
}

impl Binder<'_> {
    /// Binds an expression; returns it with its type.
    pub(crate) fn bind(&mut self, expr: &ast::Expr) -> Result<Typed, String> {
        self.deeper(|binder| binder.bind_here(expr))
    }

    /// Binds a condition.
    pub(crate) fn condition(&mut self, expr: &ast::Expr) -> Result<Expr, String> {
        let typed = self.bind(expr)?;
        self.coerce(typed, BOOL)
    }

    fn bind_here(&mut self, expr: &ast::Expr) -> Result<Typed, String> {
        Ok(match expr {
            ast::Expr::Nested(inner) | ast::Expr::Collate { expr: inner, .. } => {
                self.bind(inner)?
            }
            ast::Expr::Identifier(name) => self.name(&[ident(name)])?,
            ast::Expr::CompoundIdentifier(names) => {
                self.name(&names.iter().map(ident).collect::<Vec<_>>())?
            }
            ast::Expr::Value(value) => self.value(&value.value)?,
            ast::Expr::CompoundFieldAccess { root, access_chain } => {
                self.access(root, access_chain)?
            }
            ast::Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                (Expr::All(self.chain(expr, &BinaryOperator::And)?), BOOL)
            }
            ast::Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
                (Expr::AnyOf(self.chain(expr, &BinaryOperator::Or)?), BOOL)
            }
            ast::Expr::BinaryOp { left, op, right } => {
                let (a, b) = (self.bind(left)?, self.bind(right)?);
                self.binary(op, a, b)?
            }
            ast::Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                (Expr::Not(boxed(self.condition(expr)?)), BOOL)
            }
            ast::Expr::UnaryOp { op: UnaryOperator::Plus, expr } => self.bind(expr)?,
            ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match self.bind(expr)? {
                (Expr::Const(Value::Int(number)), oid) => (Expr::Const(int(-number)), oid),
                other => {
                    self.binary(&BinaryOperator::Minus, (Expr::Const(int(0)), types::INT4), other)?
                }
            },
            ast::Expr::IsNull(e) | ast::Expr::IsUnknown(e) => self.is_null(e, false)?,
            ast::Expr::IsNotNull(e) | ast::Expr::IsNotUnknown(e) => self.is_null(e, true)?,
            ast::Expr::IsTrue(e) => (Expr::Is(boxed(self.condition(e)?), true), BOOL),
            ast::Expr::IsFalse(e) => (Expr::Is(boxed(self.condition(e)?), false), BOOL),
            ast::Expr::IsNotTrue(e) => (not(Expr::Is(boxed(self.condition(e)?), true), true), BOOL),
            ast::Expr::IsNotFalse(e) => {
                (not(Expr::Is(boxed(self.condition(e)?), false), true), BOOL)
            }
            ast::Expr::IsDistinctFrom(a, b) => self.distinct(a, b, false)?,
            ast::Expr::IsNotDistinctFrom(a, b) => self.distinct(a, b, true)?,
            ast::Expr::InList { expr, list, negated } => {
                let mut all = vec![self.bind(expr)?];
                for item in list {
                    all.push(self.bind(item)?);
                }
                let (mut all, _) = self.all_alike(all)?;
                let left = boxed(all.remove(0));
                let (operator, array) = (Operator::Equal, boxed(Expr::Array(all)));
                (not(Expr::Quantified { operator, left, array, all: false }, *negated), BOOL)
            }
            ast::Expr::InSubquery { expr, subquery, negated } => {
                let left = self.bind(expr)?;
                let right = self.subquery(Use::Array, subquery)?;
                let (expr, oid) = self.quantified(left, &BinaryOperator::Eq, right, false)?;
                (not(expr, *negated), oid)
            }
            ast::Expr::Between { expr, negated, low, high } => {
                let (low, high) = (self.bind(low)?, self.bind(high)?);
                let (value, again) = (self.bind(expr)?, self.bind(expr)?);
                let (above, _) = self.binary(&BinaryOperator::GtEq, value, low)?;
                let (below, _) = self.binary(&BinaryOperator::LtEq, again, high)?;
                (not(Expr::All(vec![above, below]), *negated), BOOL)
            }
            ast::Expr::Like { negated, expr, pattern, escape_char, .. } => {
                self.pattern((expr, pattern), escape_char.as_ref(), false, *negated)?
            }
            ast::Expr::ILike { negated, expr, pattern, escape_char, .. } => {
                self.pattern((expr, pattern), escape_char.as_ref(), true, *negated)?
            }
            ast::Expr::AnyOp { left, compare_op, right, .. } => {
                let (left, right) = (self.bind(left)?, self.array(right)?);
                self.quantified(left, compare_op, right, false)?
            }
            ast::Expr::AllOp { left, compare_op, right } => {
                let (left, right) = (self.bind(left)?, self.array(right)?);
                self.quantified(left, compare_op, right, true)?
            }
            ast::Expr::Cast { expr, data_type, .. } => {
                let name = data_type.to_string();
                let to =
                    types::named(&name).ok_or_else(|| format!("type \"{name}\" does not exist"))?;
                let typed = self.bind(expr)?;
                (self.coerce(typed, to)?, to)
            }
            ast::Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())?
            }
            ast::Expr::Exists { subquery, negated } => {
                let (exists, oid) = self.subquery(Use::Exists, subquery)?;
                (not(exists, *negated), oid)
            }
            ast::Expr::Subquery(query) => self.subquery(Use::Scalar, query)?,
            ast::Expr::Array(array) => {
                let all = array.elem.iter().map(|item| self.bind(item));
                let all = all.collect::<Result<Vec<_>, _>>()?;
                let (all, element) = self.all_alike(all)?;
                let array = types::array_of(element).ok_or("an array of what has none")?;
                (Expr::Array(all), array)
            }
            ast::Expr::Substring { expr, substring_from, substring_for, .. } => {
                let one = (Expr::Const(int(1)), types::INT4);
                let mut args = vec![self.bind(expr)?];
                args.push(match substring_from {
                    Some(from) => self.bind(from)?,
                    None => one,
                });
                if let Some(length) = substring_for {
                    args.push(self.bind(length)?);
                }
                self.call("substring", args)?
            }
            ast::Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    _ => "btrim",
                };
                let mut args = vec![self.bind(expr)?];
                let characters = trim_characters.as_ref().and_then(|all| all.first());
                if let Some(what) = trim_what.as_deref().or(characters) {
                    args.push(self.bind(what)?);
                }
                self.call(name, args)?
            }
            ast::Expr::Position { expr, r#in } => {
                let args = vec![self.bind(r#in)?, self.bind(expr)?];
                self.call("strpos", args)?
            }
            ast::Expr::Function(function) => self.function(function)?,
            other => return Err(format!("the catalog does not know the expression {other}")),
        })
    }

    fn value(&mut self, value: &ast::Value) -> Result<Typed, String> {
        Ok(match value {
            ast::Value::Number(digits, _) => match digits.parse::<i64>() {
                Ok(number) if i32::try_from(number).is_ok() => {
                    (Expr::Const(int(number)), types::INT4)
                }
                Ok(number) => (Expr::Const(int(number)), types::INT8),
                Err(_) => (Expr::Const(types::input(digits, types::NUMERIC)?), types::NUMERIC),
            },
            ast::Value::Boolean(truth) => (Expr::Const(Value::Bool(*truth)), BOOL),
            ast::Value::Null => (Expr::Const(Value::Null), UNKNOWN),
            ast::Value::Placeholder(number) => self.parameter(number)?,
            other => match other.clone().into_string() {
                Some(given) => Self::literal(&given),
                None => return Err(format!("the catalog does not know the literal {other}")),
            },
        })
    }

    fn name(&mut self, parts: &[String]) -> Result<Typed, String> {
        if let Some(column) = self.column(parts) {
            return Ok(column);
        }
        match parts {
            [name] if functions::find(name, 0).is_some() && name.starts_with("current_") => {
                self.call(name, Vec::new())
            }
            [name] if matches!(name.as_str(), "user" | "session_user") => {
                self.call(name, Vec::new())
            }
            _ => Err(format!("column \"{}\" does not exist", parts.join("."))),
        }
    }

    /// The operands of a chain of ANDs or ORs, which may be long.
    fn chain(&mut self, expr: &ast::Expr, operator: &BinaryOperator) -> Result<Vec<Expr>, String> {
        let (mut operands, mut rest) = (Vec::new(), expr);
        while let ast::Expr::BinaryOp { left, op, right } = rest
            && op == operator
        {
            operands.push(self.condition(right)?);
            rest = left;
        }
        operands.push(self.condition(rest)?);
        operands.reverse();
        Ok(operands)
    }

    fn is_null(&mut self, expr: &ast::Expr, negated: bool) -> Result<Typed, String> {
        let typed = self.bind(expr)?;
        let oid = if typed.1 == UNKNOWN { types::TEXT } else { typed.1 };
        let expr = self.coerce(typed, oid)?;
        Ok((not(Expr::IsNull(boxed(expr)), negated), BOOL))
    }

    fn distinct(&mut self, a: &ast::Expr, b: &ast::Expr, turn: bool) -> Result<Typed, String> {
        let (a, b) = (self.bind(a)?, self.bind(b)?);
        let (a, b, _) = self.alike(a, b)?;
        Ok((not(Expr::Distinct(boxed(a), boxed(b)), turn), BOOL))
    }

    /// The right side of ANY and ALL.
    fn array(&mut self, expr: &ast::Expr) -> Result<Typed, String> {
        match expr {
            ast::Expr::Subquery(query) => self.subquery(Use::Array, query),
            other => self.bind(other),
        }
    }

    pub(crate) fn subquery(&mut self, used: Use, query: &ast::Query) -> Result<Typed, String> {
        let query = self.deeper(|binder| binder.query(query))?;
        let first = query.columns.first().map_or(types::TEXT, |(_, oid)| *oid);
        let oid = match used {
            Use::Exists => BOOL,
            Use::Scalar => first,
            Use::Array => types::array_of(first).ok_or("an array of what has none")?,
        };
        Ok((Expr::Subquery(used, Box::new(query)), oid))
    }

    fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> Result<Typed, String> {
        let (mut whens, mut thens) = (Vec::new(), Vec::new());
        for case in conditions {
            whens.push(match operand {
                None => self.condition(&case.condition)?,
                Some(operand) => {
                    let (a, b) = (self.bind(operand)?, self.bind(&case.condition)?);
                    self.binary(&BinaryOperator::Eq, a, b)?.0
                }
            });
            thens.push(self.bind(&case.result)?);
        }
        thens.push(match otherwise {
            Some(otherwise) => self.bind(otherwise)?,
            None => (Expr::Const(Value::Null), UNKNOWN),
        });
        let (mut thens, oid) = self.all_alike(thens)?;
        let otherwise = boxed(thens.pop().unwrap_or(Expr::Const(Value::Null)));
        Ok((Expr::Case(whens.into_iter().zip(thens).collect(), otherwise), oid))
    }

    /// `a.b[1]`, `(f(x)).n`.
    fn access(&mut self, root: &ast::Expr, chain: &[AccessExpr]) -> Result<Typed, String> {
        let mut chain = chain.iter().peekable();
        let mut typed = if let ast::Expr::Identifier(first) = root {
            // A qualified column is parsed as a chain if a subscript follows it.
            let mut names = vec![ident(first)];
            while let Some(AccessExpr::Dot(ast::Expr::Identifier(next))) = chain.peek() {
                names.push(ident(next));
                chain.next();
            }
            self.name(&names)?
        } else {
            self.bind(root)?
        };
        for access in chain {
            typed = match access {
                AccessExpr::Dot(ast::Expr::Identifier(field)) if typed.1 == types::RECORD => {
                    let at = usize::from(ident(field) == "n");
                    (Expr::Field(boxed(typed.0), at), types::INT4)
                }
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    let element = types::element_of(typed.1).ok_or("a subscript of no array")?;
                    let vector = matches!(typed.1, types::INT2VECTOR | types::OIDVECTOR);
                    let index = self.bind(index)?;
                    let at = boxed(self.coerce(index, types::INT4)?);
                    let base = i64::from(!vector);
                    (Expr::Element { array: boxed(typed.0), at, base }, element)
                }
                _ => return Err("the catalog does not know that access".to_owned()),
            };
        }
        Ok(typed)
    }

    /// Calls a scalar function.
    pub(crate) fn call(&mut self, name: &str, args: Vec<Typed>) -> Result<Typed, String> {
        let missing = || format!("the catalog has no function {name} of {} arguments", args.len());
        let function = functions::find(name, args.len()).ok_or_else(missing)?;
        let mut bound = Vec::with_capacity(args.len());
        for (at, arg) in args.into_iter().enumerate() {
            let wanted = function.args.get(at).or(function.args.last()).copied().unwrap_or(ANY);
            let to = match (wanted, arg.1) {
                (ANY, UNKNOWN) => types::TEXT,
                (ANY, known) => known,
                (wanted, _) => wanted,
            };
            bound.push(self.coerce(arg, to)?);
        }
        Ok((Expr::Call(function, bound), function.returns))
    }

    fn function(&mut self, function: &ast::Function) -> Result<Typed, String> {
        let name = function_name(&function.name)?;
        let list = match &function.args {
            FunctionArguments::None => None,
            FunctionArguments::Subquery(query) if name == "array" => {
                return self.subquery(Use::Array, query);
            }
            FunctionArguments::Subquery(_) => return Err("a function of a subquery".to_owned()),
            FunctionArguments::List(list) => Some(list),
        };
        let given = list.map_or(&[][..], |list| list.args.as_slice());
        let star = matches!(given, [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]);
        let args = if star { Vec::new() } else { self.arguments(given)? };
        if let Some(over) = &function.over {
            return self.window(&name, over);
        }
        if let Some(kind) = aggregate(&name) {
            let clauses = list.map_or(&[][..], |list| list.clauses.as_slice());
            let distinct = list.and_then(|list| list.duplicate_treatment);
            let order = match clauses {
                [FunctionArgumentClause::OrderBy(order), ..] => self.sorts(order)?,
                _ => Vec::new(),
            };
            let filter = function.filter.as_ref().map(|f| self.condition(f)).transpose()?;
            let distinct = distinct == Some(DuplicateTreatment::Distinct);
            return self.aggregate(kind, args, order, filter, distinct);
        }
        if let Some(series) = series(&name) {
            let (args, oid) = self.series_args(series, args)?;
            return Ok((self.slot(Slot::Series(series, args))?, oid));
        }
        match name.as_str() {
            "coalesce" => {
                let (all, oid) = self.all_alike(args)?;
                Ok((Expr::Coalesce(all), oid))
            }
            "nullif" => {
                let [a, b] = <[Typed; 2]>::try_from(args).map_err(|_| "nullif takes two")?;
                let returned = if a.1 == UNKNOWN { types::TEXT } else { a.1 };
                let (a, b, _) = self.alike(a, b)?;
                let equal = Expr::Binary(Operator::Equal, boxed(a.clone()), boxed(b));
                Ok((Expr::Case(vec![(equal, Expr::Const(Value::Null))], boxed(a)), returned))
            }
            name => self.call(name, args),
        }
    }

    pub(crate) fn arguments(&mut self, args: &[FunctionArg]) -> Result<Vec<Typed>, String> {
        let argument = |arg: &FunctionArg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.bind(expr),
            other => Err(format!("the catalog does not know the argument {other}")),
        };
        args.iter().map(argument).collect()
    }

    fn aggregate(
        &mut self,
        kind: AggregateKind,
        args: Vec<Typed>,
        order: Vec<Sort>,
        filter: Option<Expr>,
        distinct: bool,
    ) -> Result<Typed, String> {
        let first = args.first().map_or(types::INT8, |(_, oid)| *oid);
        let first = if first == UNKNOWN { types::TEXT } else { first };
        let returned = match kind {
            AggregateKind::Count => types::INT8,
            AggregateKind::Array => types::array_of(first).ok_or("an array of what has none")?,
            AggregateKind::String => types::TEXT,
            AggregateKind::And | AggregateKind::Or => BOOL,
            AggregateKind::Sum if types::is_int(first) => types::INT8,
            AggregateKind::Sum | AggregateKind::Min | AggregateKind::Max => first,
        };
        let text = kind == AggregateKind::String;
        let settle = |typed: Typed| {
            let to = if text || typed.1 == UNKNOWN { types::TEXT } else { typed.1 };
            self.coerce(typed, to)
        };
        let args = args.into_iter().map(settle).collect::<Result<_, _>>()?;
        let aggregate = Aggregate { kind, args, order, filter, distinct };
        Ok((self.slot(Slot::Aggregate(Box::new(aggregate)))?, returned))
    }

    fn window(&mut self, name: &str, over: &WindowType) -> Result<Typed, String> {
        match (name, over) {
            ("row_number", WindowType::WindowSpec(window)) => {
                let order = self.sorts(&window.order_by)?;
                let partition = window.partition_by.iter().map(|expr| self.bind(expr));
                let partition = partition.collect::<Result<Vec<_>, _>>()?;
                let partition = partition.into_iter().map(|(expr, _)| expr).collect();
                Ok((self.slot(Slot::RowNumber { partition, order })?, types::INT8))
            }
            _ => Err(format!("the catalog has no window function {name}")),
        }
    }

    /// The ORDER BY of an aggregate or a window: expressions only.
    fn sorts(&mut self, order: &[ast::OrderByExpr]) -> Result<Vec<Sort>, String> {
        let sort = |sort: &ast::OrderByExpr| {
            let by = SortBy::Input(self.bind(&sort.expr)?.0);
            let descending = sort.options.asc == Some(false);
            let nulls_first = sort.options.nulls_first.unwrap_or(descending);
            Ok(Sort { by, descending, nulls_first })
        };
        order.iter().map(sort).collect()
    }
}

/// The name of a function of the catalog.
pub(crate) fn function_name(name: &ast::ObjectName) -> Result<String, String> {
    let parts = parts(name);
    match parts.as_slice() {
        [name] => Ok(name.clone()),
        [schema, name] if matches!(schema.as_str(), "pg_catalog" | "information_schema") => {
            Ok(name.clone())
        }
        _ => Err(format!("function {name} does not exist")),
    }
}

pub(crate) fn aggregate(name: &str) -> Option<AggregateKind> {
    Some(match name {
        "count" => AggregateKind::Count,
        "array_agg" => AggregateKind::Array,
        "string_agg" => AggregateKind::String,
        "min" => AggregateKind::Min,
        "max" => AggregateKind::Max,
        "bool_and" | "every" => AggregateKind::And,
        "bool_or" => AggregateKind::Or,
        "sum" => AggregateKind::Sum,
        _ => return None,
    })
}

/// A set-returning function.
pub(crate) fn series(name: &str) -> Option<Series> {
    Some(match name {
        "unnest" => Series::Unnest,
        "generate_series" => Series::Generate,
        "generate_subscripts" => Series::Subscripts,
        "_pg_expandarray" => Series::Expand,
        "pg_get_keywords" => Series::Keywords,
        _ => return None,
    })
}
