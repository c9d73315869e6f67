use super::*;

#[test]
fn a_curve_is_well_formed() {
    let points = [(1.0, Interval::new(0.9, 1.0)), (10.0, Interval::new(4.9, 5.0))];
    let drawn = chart(&points, "a<b", "note", "δ").svg();
    assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
    assert!(drawn.contains("a&lt;b") && !drawn.contains("NaN") && !drawn.contains("inf"));
}

#[test]
fn files_are_read_or_explained() {
    let good = Contents::parse("delta = 1e-6\nevents = ['laplace(b=1)', 'pure(eps=1)']").unwrap();
    assert_eq!((good.events.len(), good.delta), (2, Some(1e-6)));
    for (text, why) in [
        ("", "no events"),
        ("events = 3", "right kind"),
        ("events = [1]", "list of texts"),
        ("epsilon = 1", "not known"),
        ("neighbours = 'x'\nevents = ['a']", "add-remove"),
        ("events = [", "TOML"),
    ] {
        let error = Contents::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn exactly_one_event_is_unknown() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let find = |events: &[&str]| {
        let events: Vec<String> = events.iter().map(|text| (*text).to_owned()).collect();
        find_unknown(&events, epsilon, delta, Neighbours::AddRemove)
    };
    assert!(matches!(find(&["laplace(b=1)"]), Err(Error::NotOneUnknown)));
    assert!(find(&["laplace(eps=?)*2"]).unwrap().value > 0.4);
    let wrong = find(&["laplace(eps=?)", "nothing"]).unwrap_err().to_string();
    assert!(wrong.starts_with("in `nothing`, "), "{wrong}");
}
