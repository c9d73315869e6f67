use super::*;

#[test]
fn one_unknown_is_filled_and_knows_its_direction() {
    let sigma = Template::parse("poisson(q=0.01, gaussian(sigma=?))*1000").unwrap();
    assert_eq!((sigma.direction(), sigma.is_whole()), (Direction::Falls, false));
    let filled = sigma.fill(1.1).unwrap().to_string();
    assert_eq!(filled, "poisson(q=0.01, gaussian(sigma=1.1))*1000");
    let count = Template::parse("pure(eps=0.1) * ?").unwrap();
    assert_eq!((count.direction(), count.is_whole()), (Direction::Rises, true));
    assert_eq!(count.fill(7.9).unwrap().to_string(), "pure(eps=0.1)*7");
    let epsilon = Template::parse("pure(eps = ?)*7").unwrap();
    assert_eq!((epsilon.direction(), epsilon.is_whole()), (Direction::Rises, false));
    assert!(Template::parse("fixed(n=?, m=10, laplace(b=1))").unwrap().is_whole());
}

#[test]
fn no_unknown_or_two_are_refused() {
    for (text, words) in [
        ("laplace(b=1)", "one unknown"),
        ("laplace(b=?)*?", "only one"),
        ("parallel(by=?, laplace(b=1))", "may stand for"),
        ("laplace(b=?", "`,` or `)`"),
    ] {
        let error = Template::parse(text).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
