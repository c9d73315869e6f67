//! `AND`, `OR` and `CASE` that compute all their operands for all rows of a batch.
//!
//! The engine's own operators skip the second operand of `AND` if the first is false for the whole batch, and compute
//! it only for the remaining rows if they are few. So `id = X AND slow(text)` takes the time of thousands of rows only
//! if X is among them. Expressions over protected rows are total (`total`), so computing more of them than needed
//! cannot fail. An expression that is not total, as in the bounding by windows, where a `CASE` keeps NaN from a
//! conversion, is left to the engine when it fails.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_null_array};
use datafusion::arrow::compute::kernels::zip::zip;
use datafusion::arrow::compute::{and_kleene, or_kleene, prep_null_mask_filter};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

type Expression = Arc<dyn PhysicalExpr>;

/// Makes an operator compute its expressions for every row.
pub(super) fn expressions(node: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        let predicate = eager(Arc::clone(filter.predicate()))?;
        let builder = FilterExecBuilder::from(filter).with_predicate(predicate);
        return Ok(Arc::new(builder.build()?));
    }
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        let mut shown = Vec::new();
        for ProjectionExpr { expr, alias } in projection.expr() {
            shown.push(ProjectionExpr::new(eager(Arc::clone(expr))?, alias.clone()));
        }
        return Ok(Arc::new(ProjectionExec::try_new(shown, Arc::clone(projection.input()))?));
    }
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        let Some(filter) = join.filter() else { return Ok(node) };
        return join.builder().with_filter(Some(join_filter(filter)?)).build_exec();
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        let Some(filter) = join.filter() else { return Ok(node) };
        let builder = NestedLoopJoinExecBuilder::from(join).with_filter(Some(join_filter(filter)?));
        return Ok(Arc::new(builder.build()?));
    }
    Ok(node)
}

fn join_filter(filter: &JoinFilter) -> Result<JoinFilter> {
    let expression = eager(Arc::clone(filter.expression()))?;
    let (columns, schema) = (filter.column_indices().to_vec(), Arc::clone(filter.schema()));
    Ok(JoinFilter::new(expression, columns, schema))
}

/// Makes an expression compute all its operands for every row.
fn eager(expression: Expression) -> Result<Expression> {
    let replaced = expression.transform_up(|part| {
        if let Some(binary) = part.downcast_ref::<BinaryExpr>() {
            let both = match binary.op() {
                Operator::And => true,
                Operator::Or => false,
                _ => return Ok(Transformed::no(part)),
            };
            let (left, right) = (Arc::clone(binary.left()), Arc::clone(binary.right()));
            return Ok(Transformed::yes(Arc::new(Logic { both, left, right }) as Expression));
        }
        match part.downcast_ref::<CaseExpr>() {
            Some(case) if !is_a_lookup(case) => {
                let eager = Case::of(case, &part);
                Ok(Transformed::yes(Arc::new(eager) as Expression))
            }
            _ => Ok(Transformed::no(part)),
        }
    })?;
    Ok(replaced.data)
}

/// `CASE x WHEN literal THEN literal …`, for which the engine looks every row up in a table.
fn is_a_lookup(case: &CaseExpr) -> bool {
    let literal = |expression: &Expression| expression.is::<Literal>();
    case.expr().is_some()
        && case.when_then_expr().iter().all(|(when, then)| literal(when) && literal(then))
        && case.else_expr().is_none_or(literal)
}

/// `left AND right`, or `left OR right`, in three-valued logic.
#[derive(Debug, Eq)]
struct Logic {
    both: bool,
    left: Expression,
    right: Expression,
}

impl PartialEq for Logic {
    fn eq(&self, other: &Self) -> bool {
        self.both == other.both && self.left.eq(&other.left) && self.right.eq(&other.right)
    }
}

impl Hash for Logic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.both, &self.left, &self.right).hash(state);
    }
}

impl fmt::Display for Logic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.both { "AND" } else { "OR" };
        write!(f, "({} {word} {})", self.left, self.right)
    }
}

impl PhysicalExpr for Logic {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        Ok(self.left.nullable(schema)? || self.right.nullable(schema)?)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let (left, Ok(right)) = (array(&self.left, batch)?, array(&self.right, batch)) else {
            let op = if self.both { Operator::And } else { Operator::Or };
            let lazy = BinaryExpr::new(Arc::clone(&self.left), op, Arc::clone(&self.right));
            return lazy.evaluate(batch);
        };
        let (left, right) = (left.as_boolean(), right.as_boolean());
        let value = if self.both { and_kleene(left, right) } else { or_kleene(left, right) };
        Ok(ColumnarValue::Array(Arc::new(value?)))
    }

    fn children(&self) -> Vec<&Expression> {
        vec![&self.left, &self.right]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Expression>) -> Result<Expression> {
        let [left, right] = two(children)?;
        Ok(Arc::new(Self { both: self.both, left, right }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

fn two(children: Vec<Expression>) -> Result<[Expression; 2]> {
    let lost = |_| datafusion::common::internal_datafusion_err!("an operand was lost");
    <[Expression; 2]>::try_from(children).map_err(lost)
}

fn array(expression: &Expression, batch: &RecordBatch) -> Result<ArrayRef> {
    expression.evaluate(batch)?.into_array(batch.num_rows())
}

/// `CASE WHEN … THEN … ELSE … END`.
#[derive(Debug, Eq)]
struct Case {
    /// The original expression.
    original: Expression,
    branches: Vec<(Expression, Expression)>,
    otherwise: Option<Expression>,
}

impl Case {
    fn of(case: &CaseExpr, original: &Expression) -> Self {
        let condition = |when: &Expression| match case.expr() {
            // As `base = when`, which is NULL, and so no match, if either is NULL.
            Some(base) => {
                Arc::new(BinaryExpr::new(Arc::clone(base), Operator::Eq, Arc::clone(when)))
            }
            None => Arc::clone(when),
        };
        let branches = case.when_then_expr().iter();
        Self {
            original: Arc::clone(original),
            branches: branches.map(|(when, then)| (condition(when), Arc::clone(then))).collect(),
            otherwise: case.else_expr().cloned(),
        }
    }

    /// Computes every branch for every row.
    fn all(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let mut value = match &self.otherwise {
            Some(otherwise) => array(otherwise, batch)?,
            None => new_null_array(&self.data_type(batch.schema_ref())?, batch.num_rows()),
        };
        // The first condition that holds decides, so the last is applied first.
        for (condition, then) in self.branches.iter().rev() {
            let (holds, then) = (array(condition, batch)?, array(then, batch)?);
            let holds = match holds.null_count() {
                0 => holds.as_boolean().clone(),
                _ => prep_null_mask_filter(holds.as_boolean()),
            };
            value = zip(&holds, &then, &value)?;
        }
        Ok(value)
    }
}

impl PartialEq for Case {
    fn eq(&self, other: &Self) -> bool {
        self.original.eq(&other.original)
            && self.branches == other.branches
            && self.otherwise == other.otherwise
    }
}

impl Hash for Case {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.original.hash(state);
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.original)
    }
}

impl PhysicalExpr for Case {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.original.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.original.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        match self.all(batch) {
            Ok(value) => Ok(ColumnarValue::Array(value)),
            Err(_) => self.original.evaluate(batch),
        }
    }

    fn children(&self) -> Vec<&Expression> {
        let branches = self.branches.iter().flat_map(|(condition, then)| [condition, then]);
        branches.chain(&self.otherwise).collect()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Expression>) -> Result<Expression> {
        let mut children = children.into_iter();
        let mut branches = Vec::with_capacity(self.branches.len());
        for _ in &self.branches {
            let pair: Vec<Expression> = children.by_ref().take(2).collect();
            let [condition, then] = two(pair)?;
            branches.push((condition, then));
        }
        let (original, otherwise) = (Arc::clone(&self.original), children.next());
        Ok(Arc::new(Self { original, branches, otherwise }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.original.fmt_sql(f)
    }
}

#[cfg(test)]
mod tests;
