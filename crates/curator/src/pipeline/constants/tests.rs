use super::*;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{case, cast, col, lit, when};
use datafusion::prelude::SessionContext;

fn fails(expr: Expr) -> bool {
    failing(&expr, &SessionContext::new().state()).is_some()
}

#[test]
fn constants_fail_wherever_they_are_needed() {
    let by_zero = || lit(1) / lit(0);
    assert!(fails(by_zero()) && fails(by_zero().alias("c")) && fails(col("a") + by_zero()));
    assert!(fails(col("a").gt(lit(1)).and(by_zero().gt(lit(1)))));
    assert!(fails(when(col("a").gt(lit(1)), by_zero()).otherwise(lit(0)).unwrap()));
    assert!(fails(case(col("a")).when(lit(1), by_zero()).end().unwrap()));
    assert!(fails(cast(lit("x"), datafusion::arrow::datatypes::DataType::Int32)));
}

#[test]
fn constants_that_another_constant_makes_needless_are_passed_over() {
    let by_zero = || lit(1) / lit(0);
    assert!(!fails(lit(1) / lit(2)) && !fails(col("a") / lit(0)));
    assert!(!fails(lit(false).and(by_zero().gt(col("a")))));
    assert!(!fails(when(lit(false), by_zero()).otherwise(col("a")).unwrap()));
    assert!(!fails(when(lit(true), col("a")).otherwise(by_zero()).unwrap()));
    assert!(!fails(row_number()));
}
