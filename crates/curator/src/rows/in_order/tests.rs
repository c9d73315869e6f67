use super::{Numbers, Statistic};
use datafusion::arrow::array::{ArrayRef, Float64Array};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Accumulator;
use std::sync::Arc;

const ALL: [Statistic; 8] = [
    Statistic::Sum,
    Statistic::Mean,
    Statistic::Median,
    Statistic::Variance { sample: false },
    Statistic::Variance { sample: true },
    Statistic::Deviation { sample: false },
    Statistic::Deviation { sample: true },
    Statistic::Mode,
];

fn column(numbers: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(numbers.to_vec()))
}

/// The statistic of numbers that come in parts, each on a thread of its own.
fn of(statistic: Statistic, parts: &[&[f64]]) -> Option<f64> {
    let mut whole = Numbers { statistic, numbers: Vec::new() };
    for part in parts {
        let mut own = Numbers { statistic, numbers: Vec::new() };
        own.update_batch(&[column(part)]).unwrap();
        let state = own.state().unwrap().remove(0).to_array().unwrap();
        whole.merge_batch(&[state]).unwrap();
    }
    match whole.evaluate().unwrap() {
        ScalarValue::Float64(value) => value,
        other => panic!("{other}"),
    }
}

#[test]
fn they_are_what_their_names_say() {
    let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    let expected = [40.0, 5.0, 4.5, 4.0, 32.0 / 7.0, 2.0, (32.0f64 / 7.0).sqrt(), 4.0];
    for (statistic, expected) in ALL.into_iter().zip(expected) {
        assert_eq!(of(statistic, &[&values]), Some(expected), "{statistic:?}");
        assert_eq!(of(statistic, &[]), None, "{statistic:?} of nothing");
        assert_eq!(of(statistic, &[&[f64::NAN]]), None, "{statistic:?} of no number");
    }
    assert_eq!(of(Statistic::Variance { sample: true }, &[&[1.0]]), None);
    assert_eq!(of(Statistic::Variance { sample: false }, &[&[1.0]]), Some(0.0));
}

#[test]
fn neither_order_nor_parts_show() {
    let strange = [1e308, 0.1, -1e308, f64::INFINITY, 0.2, -0.0, f64::NAN, 1e-300, -7.0, 0.1];
    let mut backwards = strange;
    backwards.reverse();
    for statistic in ALL {
        let whole = of(statistic, &[&strange]);
        assert!(whole.is_some_and(f64::is_finite), "{statistic:?}: {whole:?}");
        for at in 0..strange.len() {
            let (a, b) = backwards.split_at(at);
            let parts = of(statistic, &[b, a]);
            assert_eq!(whole.map(f64::to_bits), parts.map(f64::to_bits), "{statistic:?}");
        }
    }
}

#[test]
fn no_number_is_too_large() {
    for statistic in ALL {
        for numbers in [
            &[f64::MAX, f64::MAX][..],
            &[f64::MAX, -f64::MAX],
            &[f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
            &[f64::MIN_POSITIVE, 5e-324],
        ] {
            let value = of(statistic, &[numbers]);
            assert!(value.is_some_and(f64::is_finite), "{statistic:?} of {numbers:?}: {value:?}");
        }
    }
}
