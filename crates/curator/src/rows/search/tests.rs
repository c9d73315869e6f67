use super::*;
use datafusion::arrow::array::StringArray;
use datafusion::logical_expr::lit;

const TEXTS: [Option<&str>; 5] = [Some("abcABC"), Some("äbc bc"), Some(""), None, Some("xyz")];

fn search(name: &str, arguments: &[Expr]) -> ArrayRef {
    let mut all = vec![lit("text")];
    all.extend_from_slice(arguments);
    let texts: ArrayRef = Arc::new(StringArray::from(TEXTS.to_vec()));
    Search::of(name, &all).unwrap().find(&texts).unwrap()
}

#[test]
fn a_match_is_found_or_not() {
    let like = |arguments: &[Expr]| search("regexp_like", arguments).as_boolean().clone();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(like(&[lit("bc")]), BooleanArray::from(vec![yes, yes, no, None, no]));
    assert_eq!(like(&[lit("^BC|z")]), BooleanArray::from(vec![no, no, no, None, yes]));
    let insensitive = like(&[lit("^ABCA"), lit("i")]);
    assert_eq!(insensitive, BooleanArray::from(vec![yes, no, no, None, no]));
    assert_eq!(like(&[lit("")]), BooleanArray::from(vec![yes, yes, yes, None, yes]));
    let nothing = BooleanArray::new_null(5);
    for impossible in [[lit("a"), lit("g")], [lit("a"), lit("?")], [lit("("), lit("")]] {
        assert_eq!(like(&impossible), nothing);
    }
    assert_eq!(like(&[lit(ScalarValue::Utf8(None))]), nothing);
}

#[test]
fn matches_are_counted_from_a_character_on() {
    let count = |arguments: &[Expr]| {
        search("regexp_count", arguments)
            .as_primitive::<datafusion::arrow::datatypes::Int64Type>()
            .iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(count(&[lit("bc")]), [Some(1), Some(2), Some(0), None, Some(0)]);
    let insensitive = count(&[lit("bc"), lit(1i64), lit("i")]);
    assert_eq!(insensitive, [Some(2), Some(2), Some(0), None, Some(0)]);
    assert_eq!(count(&[lit("bc"), lit(3i64)]), [Some(0), Some(1), Some(0), None, Some(0)]);
    assert_eq!(count(&[lit("bc"), lit(0i64)]), [None; 5]);
    assert_eq!(count(&[lit("bc"), lit(ScalarValue::Int64(None))]), [None; 5]);
}

#[test]
fn a_text_that_is_too_long_is_null() {
    let long = "a".repeat(LONGEST + 1);
    let texts: ArrayRef = Arc::new(StringArray::from(vec![&long[..], &long[1..]]));
    let found = Search::of("regexp_like", &[lit(""), lit("a")]).unwrap().find(&texts).unwrap();
    assert_eq!(found.as_boolean(), &BooleanArray::from(vec![None, Some(true)]));
}
