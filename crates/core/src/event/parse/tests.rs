use super::*;

#[test]
fn what_is_displayed_reads_back_the_same() {
    for text in [
        "laplace(b=1)*100",
        "laplace(b=20, replace=1)",
        "gaussian(sigma=20)*50",
        "poisson(q=0.01, gaussian(sigma=1.1))*10000",
        "pure(eps=0.1, delta=0.000001)*30",
        "pure(eps=0.1)",
        "response(eps=0.5)",
        "response(eps=0.5, categories=10)*3",
        "exponential(eps=0.1)*100",
        "concentrated(rho=0.5)",
        "discrete_laplace(b=10)",
        "discrete_laplace(b=10, sensitivity=2, replace=3)",
        "discrete_gaussian(sigma=1)*30",
        "compose(laplace(b=1), gaussian(sigma=2)*3)*2",
        "parallel(by=key, laplace(b=1), laplace(b=2))",
        "parallel(by=id, laplace(b=1), post(laplace(b=2)))",
        "fixed(n=1000, m=10, laplace(b=1))",
        "shuffle(n=1000, response(eps=1))",
    ] {
        let event = Event::parse(text).unwrap();
        assert_eq!(event.to_string(), text);
        assert_eq!(Event::parse(&event.to_string()).unwrap(), event);
    }
}

#[test]
fn numbers_may_be_fractions_and_logarithms() {
    let same = [
        ("response(eps=ln 3)", Event::response(3f64.ln(), 2)),
        ("response( eps = ln(3) )", Event::response(3f64.ln(), 2)),
        ("pure(eps=1/3)", Event::pure(1.0 / 3.0)),
        ("pure(eps=ln 3/2)", Event::pure(1.5f64.ln())),
        ("laplace(eps=0.05)", Event::laplace(20.0)),
        (" pure ( eps = 1e-1 , delta = 1E-6 ) ", Event::approximate(0.1, 1e-6)),
        ("gaussian(sigma=1e+2)", Event::gaussian(100.0)),
    ];
    for (text, event) in same {
        assert_eq!(Event::parse(text).unwrap(), event.unwrap(), "{text}");
    }
}

#[test]
fn errors_say_where_and_what_was_expected() {
    for (text, position, words) in [
        ("", 1, "name of an event"),
        ("laplace", 8, "`(`"),
        ("laplace(b=1", 12, "`,` or `)`"),
        ("laplace(b=x)", 11, "a number"),
        ("laplace(b=?)", 11, "calibration"),
        ("laplace(b=1)*", 14, "a number"),
        ("laplace(b=1)*2.5", 14, "whole number"),
        ("laplace(b=1) gaussian", 14, "the end"),
        ("laplace()", 1, "`b=` or `eps=`"),
        ("laplace(b=1, eps=1)", 1, "`b=` or `eps=`"),
        ("laplace(b=1, b=1)", 14, "once"),
        ("laplace(b=1, rho=1)", 14, "takes"),
        ("laplce(b=1)", 1, "laplace, gaussian"),
        ("laplace(b=-1)", 1, "finite number"),
        ("laplace(b=1e999)", 11, "a number"),
        ("laplace(b=1/0)", 1, "finite"),
        ("poisson(q=0.1)", 1, "exactly one event"),
        ("poisson(q=2, laplace(b=1))", 1, "at most 1"),
        ("parallel(laplace(b=1))", 1, "disjoint"),
        ("parallel(by=luck, laplace(b=1))", 13, "`key` or `id`"),
        ("pure(eps=ln 0)", 1, "epsilon"),
        ("gaussian(sigma=ε)", 16, "a number"),
        ("fixed(n=5, m=6, laplace(b=1))", 1, "at most n"),
        ("laplace(b=1, gaussian(sigma=1))", 1, "fewer"),
        ("laplace(b=1)*0", 14, "at least 1"),
        ("discrete_laplace(b=1, sensitivity=0)", 1, "at least 1"),
        ("response(eps=ln(3)", 19, "`,` or `)`"),
        ("response(eps=1, categories=1)", 1, "at least 2"),
    ] {
        let error = Event::parse(text).unwrap_err();
        let (at, message) = match &error {
            ParseError::Unexpected { position, .. } | ParseError::Invalid { position, .. } => {
                (*position, error.to_string())
            }
        };
        assert!(message.contains(words), "{text}: {message}");
        assert_eq!(at, position, "{text}: {message}");
    }
    let deep = "post(".repeat(100_000);
    assert!(Event::parse(&deep).unwrap_err().to_string().contains("nesting"));
}

#[test]
fn no_text_makes_the_reader_panic() {
    // Fragments of the grammar in pseudo-random order, and their prefixes.
    let pieces = [
        "laplace", "(", ")", "b", "=", "1", "?", "ln", " ", ",", "*", "/", "e", "-", ".", "ε",
        "poisson", "q", "compose", "gaussian", "sigma", "by", "key", "parallel", "1e308", "9",
    ];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        let _ = Event::parse(&text);
        let _ = super::super::Template::parse(&text);
    }
    let whole = "parallel(by=key, poisson(q=0.01, gaussian(sigma=1.1))*3, laplace(b=ln 3/2))";
    for end in 0..whole.len() {
        assert!(Event::parse(&whole[..end]).is_err());
    }
    assert!(Event::parse(whole).is_ok());
}
