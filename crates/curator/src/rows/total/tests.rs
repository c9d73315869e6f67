use super::*;
use datafusion::arrow::array::Decimal128Array;
use datafusion::arrow::datatypes::TimeUnit;
use datafusion::functions::datetime::date_trunc;
use datafusion::functions::math::{power, round};
use datafusion::functions::regex::{regexp_count, regexp_like};
use datafusion::logical_expr::{col, lit};

fn total(expr: &Expr) -> (&Total, &[Expr]) {
    let Expr::ScalarFunction(call) = expr else { panic!("not a call") };
    (Total::of(call).unwrap(), &call.args)
}

fn schema() -> DFSchema {
    let field = |name: &str, kind: DataType| Field::new(name, kind, true);
    let fields = vec![
        field("f", DataType::Float64),
        field("n", DataType::Int64),
        field("d", DataType::Decimal128(38, 2)),
        field("t", DataType::Timestamp(TimeUnit::Second, None)),
        field("s", DataType::Utf8),
    ];
    DFSchema::from_unqualified_fields(fields.into(), Default::default()).unwrap()
}

/// Patterns are compiled when the expression is created, not when rows are read.
#[test]
fn patterns_are_compiled_once() {
    let schema = schema();
    for function in [regexp_like(), regexp_count()] {
        let call = Total::function(function, vec![col("s"), lit("a+")], &schema).unwrap();
        let (total, arguments) = total(&call);
        assert!(matches!(total.inner, Inner::Search(_)));
        assert!(!total.may_fail(arguments));
    }
}

#[test]
fn what_fails_on_some_row_is_known() {
    let schema = schema();
    let function = |function, arguments| Total::function(function, arguments, &schema).unwrap();
    let arithmetic = |op, a, b| Total::arithmetic(op, a, b, &schema).unwrap();
    let day = lit(ScalarValue::new_interval_mdn(0, 1, 0));
    for (call, fails) in [
        (function(power(), vec![col("f"), lit(2.0)]), false),
        (function(power(), vec![col("f"), lit(-1.0)]), true),
        (function(power(), vec![col("f"), col("f")]), true),
        (function(round(), vec![col("f")]), false),
        (function(date_trunc(), vec![lit("month"), col("t")]), true),
        (arithmetic(Operator::Plus, col("t"), day), false),
        (arithmetic(Operator::Minus, col("t"), col("t")), true),
        (arithmetic(Operator::Multiply, col("d"), col("d")), false),
        (arithmetic(Operator::Divide, col("n"), col("n")), false),
    ] {
        let (total, arguments) = total(&call);
        assert_eq!(total.may_fail(arguments), fails, "{call}");
    }
}

/// One kernel call for a batch in which every row overflows: the batch is not split.
#[test]
fn overflow_does_not_fail_a_batch() {
    let most = Decimal128Array::from(vec![10i128.pow(37); 8192]);
    let most: ArrayRef = Arc::new(most.with_precision_and_scale(38, 2).unwrap());
    let pair = vec![ColumnarValue::Array(Arc::clone(&most)), ColumnarValue::Array(most)];
    let schema = schema();
    let call = Total::arithmetic(Operator::Multiply, col("d"), col("d"), &schema).unwrap();
    let (total, _) = total(&call);
    let fields = (0..2).map(|i| Arc::new(schema.field(i).as_ref().clone())).collect();
    let arguments = ScalarFunctionArgs {
        args: pair,
        arg_fields: fields,
        number_rows: 8192,
        return_field: Arc::new(Field::new("r", total.returns.clone(), true)),
        config_options: Arc::default(),
    };
    let found = total.evaluate(arguments).unwrap().into_array(8192).unwrap();
    assert_eq!(found.null_count(), 8192);
}
