use super::*;
use datafusion::arrow::array::{
    Date32Array, Decimal128Array, Decimal256Array, Int64Array, IntervalMonthDayNanoArray,
    TimestampMicrosecondArray,
};

const OPERATORS: [Operator; 5] =
    [Operator::Plus, Operator::Minus, Operator::Multiply, Operator::Divide, Operator::Modulo];

fn kernel(op: Operator, left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match op {
        Operator::Plus => numeric::add(left, right),
        Operator::Minus => numeric::sub(left, right),
        Operator::Multiply => numeric::mul(left, right),
        Operator::Divide => numeric::div(left, right),
        _ => numeric::rem(left, right),
    }
}

fn wide(values: &[i128], precision: u8, scale: i8) -> ArrayRef {
    let values = values.iter().map(|v| Some(i256::from_i128(*v)));
    let values: Decimal256Array = values.collect();
    Arc::new(values.with_precision_and_scale(precision, scale).unwrap())
}

fn narrow(values: &[i128], precision: u8, scale: i8) -> ArrayRef {
    let values: Decimal128Array = values.iter().map(|v| Some(*v)).collect();
    Arc::new(values.with_precision_and_scale(precision, scale).unwrap())
}

/// Checks row by row: the kernel's value, or NULL where the kernel fails.
fn agrees(left: &ArrayRef, right: &ArrayRef) {
    for op in OPERATORS {
        let ours = arithmetic(op, left, right).unwrap().unwrap();
        for row in 0..left.len() {
            let (a, b) = (left.slice(row, 1), right.slice(row, 1));
            match kernel(op, &a, &b) {
                Ok(value) => assert_eq!(&value, &ours.slice(row, 1), "{op} of row {row}"),
                Err(_) => assert!(ours.is_null(row), "{op} of row {row}"),
            }
        }
    }
}

#[test]
fn values_are_the_kernels_and_failures_are_null() {
    let most = 10i128.pow(37);
    let a = [0, 1, -1, 7, 12_345, -999, most, -most, most, i128::MAX, i128::MIN, i128::MIN];
    let b = [0, 0, 3, -2, 100, 7, most, most, 1, 1, -1, i128::MIN];
    for (s1, s2) in [(2, 2), (0, 4), (6, 1), (10, 0)] {
        agrees(&narrow(&a, 38, s1), &narrow(&b, 38, s2));
        agrees(&wide(&a, 76, s1), &wide(&b, 76, s2));
    }
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(7), None, Some(7)]));
    let b: ArrayRef = Arc::new(Int64Array::from(vec![Some(-1), Some(0), Some(3), Some(3)]));
    for (op, expected) in [
        (Operator::Divide, [None, None, None, Some(2)]),
        (Operator::Modulo, [None, None, None, Some(1)]),
    ] {
        let found = arithmetic(op, &a, &b).unwrap().unwrap();
        assert_eq!(found.as_primitive::<Int64Type>(), &Int64Array::from(expected.to_vec()));
    }
    assert!(arithmetic(Operator::Plus, &a, &b).is_none(), "that wraps, and does not fail");
}

/// Moves every time by every interval, and compares with the kernel row by row.
#[test]
fn times_are_moved_as_the_kernels_do_and_failures_are_null() {
    let intervals = [
        (0, 0, 0),
        (1, 0, 0),
        (-1, 31, 5),
        (0, -400, 86_400_000_000_000),
        (i32::MAX, i32::MIN, i64::MAX),
    ];
    let intervals = intervals.map(|(m, d, n)| IntervalMonthDayNano::new(m, d, n));
    let days = [0, 19_782, -719_162, i32::MAX, i32::MIN];
    let times = [0i64, 1_709_164_800_000_000, -62_135_596_800_000_000, i64::MAX, i64::MIN];
    let by: IntervalMonthDayNanoArray =
        intervals.iter().flat_map(|by| [Some(*by); 5]).chain([None]).collect();
    let by: ArrayRef = Arc::new(by);
    let dates: Date32Array = (0..5).flat_map(|_| days.map(Some)).chain([Some(0)]).collect();
    let moments: TimestampMicrosecondArray =
        (0..5).flat_map(|_| times.map(Some)).chain([Some(0)]).collect();
    let (dates, moments): (ArrayRef, ArrayRef) = (Arc::new(dates), Arc::new(moments));
    for time in [&dates, &moments] {
        for (op, left, right) in
            [(Operator::Plus, time, &by), (Operator::Minus, time, &by), (Operator::Plus, &by, time)]
        {
            assert!(moves(op, left.data_type(), right.data_type()));
            let ours = arithmetic(op, left, right).unwrap().unwrap();
            for row in 0..ours.len() {
                let (a, b) = (left.slice(row, 1), right.slice(row, 1));
                let theirs =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kernel(op, &a, &b)));
                match theirs {
                    Ok(Ok(value)) => assert_eq!(&value, &ours.slice(row, 1), "{op} of row {row}"),
                    _ => assert!(ours.is_null(row), "{op} of row {row}"),
                }
            }
        }
    }
    assert!(!moves(Operator::Minus, by.data_type(), dates.data_type()));
}
