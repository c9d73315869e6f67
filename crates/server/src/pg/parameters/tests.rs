use super::*;

#[test]
fn values_in_both_forms() {
    let read = |bytes: &[u8], binary, stated: &Type, wanted: &DataType| {
        value(Some(bytes), binary, stated, wanted).unwrap().to_string()
    };
    assert_eq!(read(b"42", false, &Type::INT4, &DataType::Int64), "42");
    assert_eq!(read(&42i32.to_be_bytes(), true, &Type::INT4, &DataType::Int64), "42");
    assert_eq!(read(&2.5f64.to_be_bytes(), true, &Type::FLOAT8, &DataType::Float64), "2.5");
    assert_eq!(read(b"2020-02-29", false, &Type::DATE, &DataType::Date32), "2020-02-29");
    assert_eq!(read(&7364i32.to_be_bytes(), true, &Type::DATE, &DataType::Date32), "2020-02-29");
    assert_eq!(read("é".as_bytes(), true, &Type::TEXT, &DataType::Utf8), "é");
    assert_eq!(read(b"t", false, &Type::BOOL, &DataType::Boolean), "true");
    assert_eq!(read(b"\x01", true, &Type::BOOL, &DataType::Boolean), "true");
    // −12345.678: digits 1, 2345, 6780; weight 1; scale 3.
    let words: [i16; 7] = [3, 1, 0x4000, 3, 1, 2345, 6780];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(read(&bytes, true, &Type::NUMERIC, &DataType::Float64), "-12345.678");
    assert!(value(None, true, &Type::INT8, &DataType::Int64).unwrap().is_null());
}

#[test]
fn values_that_are_none() {
    for (bytes, binary, stated, wanted) in [
        (&b"x"[..], false, Type::INT4, DataType::Int64),
        (b"", true, Type::INT8, DataType::Int64),
        (b"\xff", false, Type::TEXT, DataType::Utf8),
        (b"123", true, Type::NUMERIC, DataType::Float64),
        (&[0, 9, 0, 0, 0, 0, 0, 0], true, Type::NUMERIC, DataType::Float64),
        (&[0, 0, 0, 0, 0xc0, 0, 0, 0], true, Type::NUMERIC, DataType::Float64),
        (b"x", true, Type::JSON, DataType::Utf8),
        (&i32::MAX.to_be_bytes(), true, Type::DATE, DataType::Date32),
    ] {
        assert!(value(Some(bytes), binary, &stated, &wanted).is_err(), "{bytes:?} {stated}");
    }
}
