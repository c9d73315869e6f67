//! What is typed is read, or refused without repeating it.

use super::*;

#[test]
fn what_is_typed_is_read_or_explained_but_never_repeated() {
    let pairs = "a=1,b c=-2.5, d=e=0".parse::<Pairs<f64>>().unwrap().0;
    assert_eq!(pairs, [("a".into(), 1.0), ("b c".into(), -2.5), ("d=e".into(), 0.0)]);
    for (text, says) in [
        ("", "at least one"),
        ("a", "item 1"),
        ("a=1,b=31337x", "item 2"),
        ("a=1,=31337", "item 2"),
        ("a=1,a=31337", "item 2 comes a second time"),
    ] {
        let error = text.parse::<Pairs<f64>>().err().unwrap();
        assert!(error.contains(says) && !error.contains("31337"), "{error}");
    }
    assert!("a=-1".parse::<Pairs<u64>>().is_err() && "a=1.5".parse::<Pairs<u64>>().is_err());
    let bounds: Bounds = "-5,100".parse().unwrap();
    assert_eq!((bounds.low, bounds.high), (-5.0, 100.0));
    for bad in ["", "0", "0,0", "1,0", "0,inf", "nan,1", "0,1,2", "a,b"] {
        assert!(bad.parse::<Bounds>().is_err(), "{bad}");
    }
    assert_eq!((number("-1e-3"), whole("10_000")), (Ok(-0.001), Ok(10_000)));
    assert!(number("1x").is_err() && whole("-1").is_err() && positive("0").is_err());
    assert_eq!("a, b".parse::<Words>().unwrap().0, ["a", "b"]);
    assert!("a,a".parse::<Words>().is_err() && "a,,b".parse::<Words>().is_err());
}

#[test]
fn confidence_is_a_share_or_a_percentage() {
    for text in ["0.95", "95%", "95 %"] {
        assert_eq!(text.parse::<Confidence>().map(Confidence::get), Ok(0.95), "{text}");
    }
    for bad in ["0", "1", "95", "100%", "nan", "x", "0.99999999999999999"] {
        assert!(bad.parse::<Confidence>().is_err(), "{bad}");
    }
    assert_eq!("0.95".parse::<Confidence>().unwrap().percent(), "95 %");
}
