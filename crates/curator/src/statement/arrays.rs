//! Refuses an array of quantiles, which no answer can hold, with the columns to write instead.

use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, visit_expressions,
};
use std::ops::ControlFlow;

/// Refuses `percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY x)`.
pub(crate) fn refuse_arrays_of_quantiles(statement: &Statement) -> Result<()> {
    let Statement::Statement(statement) = statement else { return Ok(()) };
    let found = visit_expressions(statement.as_ref(), |expr| match expr {
        Expr::Function(call) => match instead(call) {
            Some(instead) => ControlFlow::Break((call.name.to_string(), instead)),
            None => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break((name, instead)) => Err(Refusal::new(
            Rule::Aggregate,
            format!("{name} of an array of ranks: an answer holds no arrays"),
            format!("write one column for each: {instead}"),
        )
        .into()),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The calls to write instead of a quantile of an array.
fn instead(call: &Function) -> Option<String> {
    let name = call.name.to_string();
    if !name.to_ascii_lowercase().starts_with("percentile_") {
        return None;
    }
    let FunctionArguments::List(list) = &call.args else { return None };
    let array = list.args.iter().find_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Array(array))) => Some(array),
        _ => None,
    })?;
    let order = call.within_group.first()?;
    let one = |rank: &Expr| format!("{name}({rank}) WITHIN GROUP (ORDER BY {order})");
    Some(array.elem.iter().take(8).map(one).collect::<Vec<_>>().join(", "))
}
