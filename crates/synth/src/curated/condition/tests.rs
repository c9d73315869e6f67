use super::*;

fn domains() -> Vec<Domain> {
    let domain = |name: &str, data_type, nullable, codes, high, step| Domain {
        name: name.to_owned(),
        data_type,
        nullable,
        codes,
        high,
        step,
    };
    let ages = Codes::Bins((0..10).map(f64::from).collect());
    let costs = Codes::Bins(vec![0.0, f64::MIN_POSITIVE, 10.0, 20.0]);
    vec![
        domain("sex", DataType::Utf8, true, Codes::Texts(vec!["f".into(), "m".into()]), 0.0, 0.0),
        domain("age", DataType::Int64, false, ages, 9.0, 1.0),
        domain("cost", DataType::Float64, true, costs, 30.0, 0.1),
        domain("smoker", DataType::Boolean, false, Codes::Booleans, 0.0, 0.0),
        domain("day", DataType::Date32, false, Codes::Bins(vec![0.0, 31.0]), 58.0, 1.0),
    ]
}

/// The codes of the one column that a condition is about.
fn codes(text: &str) -> std::result::Result<Vec<usize>, String> {
    let domains = domains();
    let expr = Parser::new(&PostgreSqlDialect {}).try_with_sql(text).unwrap().parse_expr().unwrap();
    let part = read(&expr, &domains).map_err(|error| error.to_string())?;
    Ok((0..part.meets.len()).filter(|&code| part.meets[code] == Some(true)).collect())
}

#[test]
fn conditions_become_codes() {
    let cases: &[(&str, &[usize])] = &[
        ("sex = 'f'", &[1]),
        ("sex <> 'f'", &[2]),
        ("NOT sex = 'f'", &[2]),
        ("sex IN ('f', 'x')", &[1]),
        ("sex IS NULL", &[0]),
        ("sex IS NOT NULL", &[1, 2]),
        ("sex = 'f' OR sex IS NULL", &[0, 1]),
        ("age >= 7", &[7, 8, 9]),
        ("7 < age", &[8, 9]),
        ("age BETWEEN 2 AND 4", &[2, 3, 4]),
        ("age NOT BETWEEN 1 AND 8", &[0, 9]),
        ("age = -1", &[]),
        ("age = 9", &[9]),
        ("age = 2.5", &[]),
        ("age < 2.5", &[0, 1, 2]),
        ("smoker", &[1]),
        ("NOT smoker", &[0]),
        ("smoker = false", &[0]),
        ("cost = 0", &[1]),
        ("cost <= 0", &[1]),
        ("cost > 0", &[2, 3, 4]),
        ("cost < 10", &[1, 2]),
        ("cost >= 20", &[4]),
        ("cost < 0", &[]),
        ("cost <= 30", &[1, 2, 3, 4]),
        ("day < '1970-02-01'", &[0]),
        ("day >= DATE '1970-02-01'", &[1]),
        ("day <= '1970-01-31'", &[0]),
    ];
    for (text, expected) in cases {
        assert_eq!(codes(text).as_deref(), Ok(*expected), "{text}");
    }
}

#[test]
fn what_cannot_be_met_exactly_is_refused_with_a_remedy() {
    let cases = [
        ("cost < 13", "10 or 20"),
        ("cost > 10", "in bins"),
        ("cost = 10", "in bins"),
        ("day < '1970-01-15'", "1970-01-01 or 1970-02-01"),
        ("sex < 'f'", "no order"),
        ("sex = 3", "a text in single quotes"),
        ("age = 'x'", "a number"),
        ("day = 'x'", "a date or time"),
        ("weight = 3", "there is no column `weight`"),
        ("age = 1 OR sex = 'f'", "one column only"),
        ("age + 1 = 2", "not available"),
        ("age LIKE 'x'", "not available"),
    ];
    for (text, expected) in cases {
        let error = codes(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn parts_joined_by_and_are_about_any_columns() {
    let domains = domains();
    let columns = domains.iter().map(|domain| domain.column().unwrap()).collect();
    let schema = Schema::new(columns).unwrap();
    let expected = Condition::of(&schema).is("sex", &[1]).unwrap().is("age", &[8, 9]).unwrap();
    assert_eq!(parse("(sex = 'f' AND age > 7)", &schema, &domains).unwrap(), expected);
    for text in ["", "sex = 'f';", "sex = 'f' GROUP BY x", "sex = 'f", &"(".repeat(9_000)] {
        assert!(
            matches!(parse(text, &schema, &domains), Err(Error::Condition { .. })),
            "{text:.20}"
        );
    }
}
