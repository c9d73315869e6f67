use super::*;
use datafusion::arrow::array::{BooleanArray, Int64Array};
use datafusion::arrow::datatypes::Field;
use datafusion::physical_expr::expressions::{Column, case, lit};

fn batch() -> RecordBatch {
    let all = [Some(true), Some(false), None];
    let pairs = || all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b)));
    let (a, b): (BooleanArray, BooleanArray) =
        (pairs().map(|p| p.0).collect(), pairs().map(|p| p.1).collect());
    let x: Int64Array = (0..9).map(|i| (i % 4 != 3).then_some(i)).collect();
    let fields = [("a", DataType::Boolean), ("b", DataType::Boolean), ("x", DataType::Int64)];
    let fields: Vec<Field> = fields.map(|(name, t)| Field::new(name, t, true)).to_vec();
    let columns: Vec<ArrayRef> = vec![Arc::new(a), Arc::new(b), Arc::new(x)];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn column(name: &str) -> Expression {
    Arc::new(Column::new_with_schema(name, batch().schema_ref()).unwrap())
}

#[test]
fn the_values_are_those_of_the_engine() {
    let binary =
        |a: Expression, op, b: Expression| -> Expression { Arc::new(BinaryExpr::new(a, op, b)) };
    let (a, b, x) = (column("a"), column("b"), column("x"));
    let mut expressions = vec![
        binary(Arc::clone(&a), Operator::And, Arc::clone(&b)),
        binary(Arc::clone(&a), Operator::Or, Arc::clone(&b)),
        binary(lit(false), Operator::And, Arc::clone(&b)),
        binary(lit(true), Operator::Or, Arc::clone(&b)),
    ];
    let plus = |n: i64| binary(Arc::clone(&x), Operator::Plus, lit(n));
    for otherwise in [None, Some(plus(100))] {
        let branches = vec![(Arc::clone(&a), plus(10)), (Arc::clone(&b), plus(20))];
        expressions.push(case(None, branches, otherwise.clone()).unwrap());
        let branches = vec![(lit(2i64), plus(10)), (plus(0), plus(20)), (lit(5i64), plus(30))];
        expressions.push(case(Some(Arc::clone(&x)), branches, otherwise).unwrap());
    }
    for lazy in expressions {
        let all = eager(Arc::clone(&lazy)).unwrap();
        assert!(all.is::<Logic>() || all.is::<Case>(), "{lazy}");
        for rows in [batch(), batch().slice(0, 1), batch().slice(3, 2), batch().slice(0, 0)] {
            assert_eq!(&array(&all, &rows).unwrap(), &array(&lazy, &rows).unwrap(), "{lazy}");
        }
    }
}

#[test]
fn what_can_fail_fails_no_more_than_in_the_engine() {
    let (a, x) = (column("a"), column("x"));
    // x − x is 0 or NULL, and dividing by it fails on some row whatever a is.
    let zero: Expression =
        Arc::new(BinaryExpr::new(Arc::clone(&x), Operator::Minus, Arc::clone(&x)));
    let fails: Expression = Arc::new(BinaryExpr::new(x, Operator::Divide, zero));
    let never: Expression = Arc::new(BinaryExpr::new(lit(false), Operator::And, a));
    let guarded = case(None, vec![(never, fails)], Some(lit(1i64))).unwrap();
    let all = eager(Arc::clone(&guarded)).unwrap();
    assert!(all.is::<Case>());
    assert_eq!(&array(&all, &batch()).unwrap(), &array(&guarded, &batch()).unwrap());
}
