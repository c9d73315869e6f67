use super::*;

fn column(data_type: DataType, known: KnownValues) -> TableColumn {
    let origin = Some(("t".to_owned(), "x".to_owned()));
    TableColumn { name: "x".to_owned(), data_type, nullable: true, known, origin }
}

fn between(low: f64, high: f64, whole: bool) -> KnownValues {
    KnownValues::Between { low, high, whole, grid: None }
}

#[test]
fn few_whole_numbers_are_one_code_each() {
    let domain = Domain::of(&column(DataType::Int64, between(-2.0, 3.0, true))).unwrap();
    assert_eq!(domain.codes, Codes::Bins(vec![-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]));
    assert_eq!(domain.bin(5), Some(Bin { first: 3.0, end: 3.0, closed: true }));
    assert_eq!(domain.bin(0), Some(Bin { first: -2.0, end: -2.0, closed: true }));
    assert_eq!((domain.count(), domain.column().unwrap().codes()), (7, 7));
    assert_eq!(domain.in_words(), "6 values from -2 to 3, and NULL");
}

/// Bins follow each other without gaps, cover the bounds, and 0 is alone.
#[test]
fn bins_cover_the_bounds_and_zero_is_alone() {
    let cases = [
        (DataType::Int64, 0.0, 99_999.0),
        (DataType::Int64, -5_000.0, 777.0),
        (DataType::Int64, 17.0, 70_000.0),
        (DataType::Int64, -9_000.0, 0.0),
        (DataType::Float64, 0.0, 3_000.0),
        (DataType::Float64, -1.0, 1.0),
        (DataType::Float64, 0.5, 0.75),
        (DataType::Date32, -400.0, 400.0),
    ];
    for (kind, low, high) in cases {
        let whole = kind != DataType::Float64;
        let domain = Domain::of(&column(kind.clone(), between(low, high, whole))).unwrap();
        let Codes::Bins(lower) = &domain.codes else { panic!("{kind} has no bins") };
        assert!(lower.is_sorted_by(|a, b| a < b), "{kind} {low} {high}: {lower:?}");
        assert!((100..=260).contains(&lower.len()), "{}", lower.len());
        assert_eq!(lower[0], low);
        let bins: Vec<Bin> = (0..lower.len()).map(|place| domain.bin(place).unwrap()).collect();
        assert_eq!(bins[bins.len() - 1].end, high);
        for bin in &bins {
            assert!(bin.first <= bin.end, "{bin:?}");
        }
        let zero = bins.iter().find(|bin| bin.first <= 0.0 && 0.0 <= bin.end).copied();
        if kind != DataType::Date32 && low <= 0.0 && 0.0 <= high {
            let zero = bins.iter().rfind(|bin| bin.first == 0.0).copied().or(zero).unwrap();
            assert!(zero.end <= f64::MIN_POSITIVE, "{kind} {low} {high}: {zero:?}");
        }
    }
}

#[test]
fn one_number_is_one_code_and_no_number_none() {
    let one = Domain::of(&column(DataType::Float64, between(2.5, 2.5, false))).unwrap();
    assert_eq!(one.codes, Codes::Numbers(vec![2.5]));
    assert!(Domain::of(&column(DataType::Int64, between(0.2, 0.8, true))).is_none());
    assert!(
        Domain::of(&column(DataType::Utf8, KnownValues::Listed(Codes::Texts(vec![])))).is_none()
    );
}

#[test]
fn what_is_missing_is_named_with_a_remedy() {
    let mut known = column(DataType::Boolean, KnownValues::Listed(Codes::Booleans));
    known.name = "smoker".to_owned();
    let text = column(DataType::Utf8, KnownValues::Nothing);
    let mut computed = column(DataType::Float64, KnownValues::Nothing);
    (computed.name, computed.origin) = ("y".to_owned(), None);
    let error = Domain::of_all(&[known, text, computed]).unwrap_err().to_string();
    for part in [
        "`x`, `y`",
        "[tables.t.columns]: x = { values =",
        "CLAMP(…, low, high) AS y",
        "SELECT smoker FROM",
    ] {
        assert!(error.contains(part), "{error}");
    }
}
