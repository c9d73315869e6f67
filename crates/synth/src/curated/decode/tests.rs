use super::*;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{
    Date32Type, Float64Type, Int8Type, TimeUnit, TimestampMicrosecondType,
};
use demure_core::random::SeededForTests;

fn domain(data_type: DataType, codes: Codes, (high, step): (f64, f64)) -> Domain {
    Domain { name: "x".to_owned(), data_type, nullable: true, codes, high, step }
}

fn decoded(domain: Domain, codes: Vec<u16>) -> ArrayRef {
    let rows = CodedTable::from_columns(codes.len(), vec![codes]);
    let batch = batch(&[domain], &rows, &mut SeededForTests::insecure(1)).unwrap();
    Arc::clone(batch.column(0))
}

#[test]
fn values_have_the_types_of_the_source() {
    let small =
        decoded(domain(DataType::Int8, Codes::Numbers(vec![-3.0, 9.0]), (0.0, 1.0)), vec![0, 1, 2]);
    assert_eq!(
        small.as_primitive::<Int8Type>().iter().collect::<Vec<_>>(),
        [None, Some(-3), Some(9)]
    );
    let texts = Codes::Texts(vec!["f".into(), "m".into()]);
    let texts = decoded(domain(DataType::Utf8, texts, (0.0, 0.0)), vec![2, 0]);
    assert_eq!(texts.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("m"), None]);
    let truth = decoded(domain(DataType::Boolean, Codes::Booleans, (0.0, 0.0)), vec![1, 2, 0]);
    assert_eq!(truth.as_boolean().iter().collect::<Vec<_>>(), [Some(false), Some(true), None]);
}

#[test]
fn numbers_are_drawn_from_their_bin_alone() {
    let bins = Codes::Bins(vec![0.0, f64::MIN_POSITIVE, 23.4375, 46.875]);
    let codes: Vec<u16> = (0..4000).map(|i| 1 + i % 4).collect();
    let made = decoded(domain(DataType::Float64, bins, (70.3125, 0.1)), codes);
    let ends = [(0.0, 0.0), (0.1, 23.4), (23.5, 46.8), (46.9, 70.3125)];
    let mut seen = [0; 4];
    for (i, x) in made.as_primitive::<Float64Type>().iter().enumerate() {
        let (x, (low, high)) = (x.unwrap(), ends[i % 4]);
        assert!((low..=high).contains(&x), "{x} is not in {low} to {high}");
        assert!(((x * 10.0).round() / 10.0 - x).abs() < 1e-12, "{x}");
        seen[i % 4] += usize::from(x > (low + high) / 2.0);
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|above| (400..600).contains(above)), "{seen:?}");
    let days = domain(DataType::Date32, Codes::Bins(vec![0.0, 7.0]), (13.0, 1.0));
    let days = decoded(days, (0..999).map(|i| 1 + i % 2).collect());
    for (i, day) in days.as_primitive::<Date32Type>().iter().enumerate() {
        assert_eq!(day.unwrap() / 7, (i % 2) as i32);
    }
    let day = 86_400e6;
    let times = DataType::Timestamp(TimeUnit::Microsecond, None);
    let times =
        decoded(domain(times, Codes::Bins(vec![0.0, day]), (2.0 * day - 1.0, 1e6)), vec![1, 2, 2]);
    let times = times.as_primitive::<TimestampMicrosecondType>();
    assert!(times.values().iter().all(|at| at % 1_000_000 == 0));
    assert!(times.value(0) < day as i64 && times.value(1) >= day as i64);
    assert_eq!(times.null_count(), 0);
}

#[test]
fn an_empty_table_has_its_columns() {
    let made = decoded(domain(DataType::Date32, Codes::Numbers(vec![3.0]), (0.0, 1.0)), vec![]);
    assert_eq!((made.len(), made.data_type()), (0, &DataType::Date32));
}
