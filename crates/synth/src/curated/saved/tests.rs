use super::*;

fn round(domain: &Domain) -> Option<Domain> {
    let text = domain.to_json().to_string();
    Domain::from_json(&serde_json::from_str(&text).unwrap())
}

fn domain(data_type: DataType, codes: Codes, high: f64, step: f64) -> Domain {
    Domain { name: "a \"b\"\n".to_owned(), data_type, nullable: true, codes, high, step }
}

#[test]
fn a_domain_comes_back_bit_by_bit() {
    let bins = vec![-0.1, 0.0, f64::MIN_POSITIVE, 0.1 + 0.2, 1e300];
    let time = DataType::Timestamp(datafusion::arrow::datatypes::TimeUnit::Nanosecond, None);
    for domain in [
        domain(DataType::Boolean, Codes::Booleans, 0.0, 0.0),
        domain(DataType::Utf8, Codes::Texts(vec!["x, \"y\"".into(), String::new()]), 0.0, 0.0),
        domain(DataType::Int16, Codes::Numbers(vec![-3.0, 5.0]), 0.0, 0.0),
        domain(DataType::Float64, Codes::Bins(bins), 1.1e300, 0.01),
        domain(time, Codes::Bins(vec![0.0, 1e18]), 2e18, 1e9),
    ] {
        assert_eq!(round(&domain).as_ref(), Some(&domain));
    }
}

#[test]
fn a_column_that_was_changed_by_hand_is_an_error() {
    let good =
        domain(DataType::Float64, Codes::Bins(vec![0.0, 1.0]), 2.0, 0.1).to_json().to_string();
    for (from, to) in [
        ("\"0 1\"", "\"1 0\""),
        ("\"0 1\"", "\"0 inf\""),
        ("\"0 1\"", "\"\""),
        ("\"2\"", "\"0.5\""),
        ("\"0.1\"", "\"-1\""),
        ("Float64", "Utf8"),
        ("Float64", "Wrong"),
        ("bins", "codes"),
        ("true", "1"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        assert!(Domain::from_json(&serde_json::from_str(&text).unwrap()).is_none(), "{text}");
    }
    for text in [
        "",
        "demure synthetic table 1",
        "demure synthetic table 1\n1\n{}\n",
        "demure synthetic table 2\n",
    ] {
        assert!(matches!(SavedModel::from_text(text), Err(Error::Format { .. })), "{text}");
    }
}
