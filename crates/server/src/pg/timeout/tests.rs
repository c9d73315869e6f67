use super::*;

#[test]
fn it_is_set_as_clients_set_it() {
    let seconds = |s| Some(Asks::Set(Some(Duration::from_secs(s))));
    for (statement, expected) in [
        ("SET statement_timeout = '5s'", seconds(5)),
        ("set statement_timeout to 5000", seconds(5)),
        ("SET SESSION statement_timeout=5000;", seconds(5)),
        ("SET LOCAL statement_timeout TO '1 min'", seconds(60)),
        ("SET statement_timeout = 0", Some(Asks::Set(None))),
        ("SET statement_timeout = DEFAULT", Some(Asks::Reset)),
        ("RESET statement_timeout", Some(Asks::Reset)),
        ("SHOW statement_timeout;", Some(Asks::Show)),
        ("SET statement_timeout = 'soon'", Some(Asks::Nonsense("soon".into()))),
        ("SET statement_timeout = -1", Some(Asks::Nonsense("-1".into()))),
        ("SET lock_timeout = 1", None),
        ("SELECT statement_timeout", None),
        ("", None),
    ] {
        assert_eq!(asks(statement), expected, "{statement}");
    }
}

#[test]
fn it_begins_as_the_startup_message_says() {
    let start = |key: &str, value: &str| Timeout::of(&[(key.into(), value.into())].into());
    let own = start("options", "-c extra_float_digits=3 -c statement_timeout=2s");
    assert_eq!(own.get(), Some(Duration::from_secs(2)));
    own.set(None);
    assert_eq!(shown(own.get()), "0");
    own.reset();
    assert_eq!(shown(own.get()), "2s");
    assert_eq!(shown(start("statement_timeout", "90000").get()), "90s");
    assert_eq!(shown(start("statement_timeout", "1h").get()), "1h");
    assert_eq!(start("statement_timeout", "x").get(), None);
}
