//! A bound statement: every name resolved to a position, every expression typed.

use super::functions::Function;
use super::types::Oid;
use super::value::{Row, Value};
use std::sync::Arc;

/// An operator whose result is NULL if an operand is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    And,
    Or,
    Concat,
    /// A pattern, with its escape character.
    Like(Option<char>),
    ILike(Option<char>),
    Regex,
    IRegex,
}

/// How a subquery is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Use {
    Scalar,
    Exists,
    Array,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Const(Value),
    /// A parameter whose type is not known yet; binding replaces it.
    Parameter(usize),
    /// A column of this query's row, or of the query `depth` levels further out.
    Column {
        depth: usize,
        at: usize,
    },
    All(Vec<Expr>),
    AnyOf(Vec<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>),
    /// `IS TRUE`, `IS FALSE`.
    Is(Box<Expr>, bool),
    Distinct(Box<Expr>, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `array || array`, where NULL is an empty one.
    Append(Box<Expr>, Box<Expr>),
    /// `left op ANY (array)`, or ALL.
    Quantified {
        operator: Operator,
        left: Box<Expr>,
        array: Box<Expr>,
        all: bool,
    },
    Case(Vec<(Expr, Expr)>, Box<Expr>),
    Coalesce(Vec<Expr>),
    Call(&'static Function, Vec<Expr>),
    Cast {
        expr: Box<Expr>,
        from: Oid,
        to: Oid,
    },
    /// An element; `base` is the index of the array's first element.
    Element {
        array: Box<Expr>,
        at: Box<Expr>,
        base: i64,
    },
    Field(Box<Expr>, usize),
    Array(Vec<Expr>),
    Subquery(Use, Box<Query>),
}

#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) id: usize,
    pub(crate) ctes: Vec<Cte>,
    pub(crate) body: Body,
    pub(crate) order: Vec<Sort>,
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Expr>,
    pub(crate) columns: Vec<(String, Oid)>,
    /// The scopes whose rows it reads, one bit each.
    pub(crate) reads: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Cte {
    pub(crate) id: usize,
    pub(crate) query: Query,
    /// The recursive term, and whether it keeps duplicates.
    pub(crate) step: Option<(Query, bool)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Select(Box<Select>),
    Set { operation: Operation, all: bool, left: Box<Query>, right: Box<Query> },
    Values(Vec<Vec<Expr>>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    Union,
    Except,
    Intersect,
}

#[derive(Clone, Debug)]
pub(crate) struct Sort {
    pub(crate) by: SortBy,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum SortBy {
    /// An output column.
    Output(usize),
    /// An expression over the input row.
    Input(Expr),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Select {
    pub(crate) from: Vec<Step>,
    /// The conjuncts of WHERE.
    pub(crate) filters: Vec<Expr>,
    /// The width of a row of FROM; its slots follow.
    pub(crate) width: usize,
    pub(crate) slots: Vec<Slot>,
    pub(crate) group: Option<Vec<Expr>>,
    pub(crate) having: Option<Expr>,
    pub(crate) projection: Vec<Expr>,
    pub(crate) distinct: bool,
    pub(crate) distinct_on: Vec<Expr>,
}

/// One relation of FROM, and how it joins those to its left.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) source: Source,
    pub(crate) width: usize,
    pub(crate) left_join: bool,
    pub(crate) on: Vec<Expr>,
    /// Whether it reads the row to its left.
    pub(crate) lateral: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Rows(Arc<Vec<Row>>),
    Query(Box<Query>),
    Cte(usize),
    /// A set-returning function, with or without a column of ordinal numbers.
    Series(Series, Vec<Expr>, bool),
    /// A scalar function.
    Once(Expr),
}

/// A set-returning function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Series {
    Unnest,
    /// From, to, step.
    Generate,
    Subscripts,
    /// `_pg_expandarray`: the elements with their numbers.
    Expand,
    Keywords,
}

/// A value that is computed for a row of FROM and appended to it.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Aggregate(Box<Aggregate>),
    RowNumber { partition: Vec<Expr>, order: Vec<Sort> },
    Series(Series, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub(crate) kind: AggregateKind,
    pub(crate) args: Vec<Expr>,
    pub(crate) order: Vec<Sort>,
    pub(crate) filter: Option<Expr>,
    pub(crate) distinct: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AggregateKind {
    Count,
    Array,
    String,
    Min,
    Max,
    And,
    Or,
    Sum,
}

impl Expr {
    /// One past the last column of this query's row that it reads; `None` if it contains a subquery, which may read
    /// any.
    pub(crate) fn reach(&self) -> Option<usize> {
        let mut reach = 0;
        self.each(&mut |expr| match expr {
            Self::Column { depth: 0, at } => {
                reach = reach.max(at + 1);
                true
            }
            expr => !matches!(expr, Self::Subquery(..)),
        })
        .then_some(reach)
    }

    /// The first column of this query's row that it reads.
    pub(crate) fn start(&self) -> Option<usize> {
        let mut start = None;
        self.each(&mut |expr| {
            if let Self::Column { depth: 0, at } = expr {
                start = Some(start.map_or(*at, |start: usize| start.min(*at)));
            }
            true
        });
        start
    }

    /// Whether it reads no row of an enclosing query.
    pub(crate) fn is_local(&self) -> bool {
        self.each(&mut |expr| {
            let outside = matches!(expr, Self::Column { depth, .. } if *depth > 0);
            !outside && !matches!(expr, Self::Subquery(..))
        })
    }

    /// Visits it and its parts, until one visit returns false.
    fn each(&self, visit: &mut dyn FnMut(&Self) -> bool) -> bool {
        if !visit(self) {
            return false;
        }
        match self {
            Self::Const(_) | Self::Parameter(_) | Self::Column { .. } | Self::Subquery(..) => true,
            Self::Not(a) | Self::IsNull(a) | Self::Is(a, _) | Self::Field(a, _) => a.each(visit),
            Self::Cast { expr, .. } => expr.each(visit),
            Self::Distinct(a, b) | Self::Binary(_, a, b) | Self::Append(a, b) => {
                a.each(visit) && b.each(visit)
            }
            Self::Quantified { left: a, array: b, .. } | Self::Element { array: a, at: b, .. } => {
                a.each(visit) && b.each(visit)
            }
            Self::All(all)
            | Self::AnyOf(all)
            | Self::Coalesce(all)
            | Self::Call(_, all)
            | Self::Array(all) => all.iter().all(|part| part.each(visit)),
            Self::Case(whens, otherwise) => {
                whens.iter().all(|(when, then)| when.each(visit) && then.each(visit))
                    && otherwise.each(visit)
            }
        }
    }
}
