use super::*;

#[test]
fn an_address_is_written_without_its_password_and_leads_to_the_same_place() {
    for (given, written) in [
        ("postgres://ana:s3cret@db.example/clinic", "postgres://ana@db.example:5432/clinic"),
        ("postgresql://ana@db:6000/clinic", "postgres://ana@db:6000/clinic"),
        (
            "postgres://postgres@/postgres?host=/tmp/a b",
            "postgres://postgres@/postgres?host=/tmp/a%20b&port=5432",
        ),
        ("postgres://a:s3cret@x,y:7/d", "postgres://a@x:5432,y:7/d"),
        ("postgres://a@%2Frun,y/d", "postgres://a@%2Frun:5432,y:5432/d"),
        ("postgres://a@[::1]:7/d", "postgres://a@[::1]:7/d"),
        (
            "postgres://a@x,y/d?hostaddr=10.0.0.1,::1",
            "postgres://a@x:5432,y:5432/d?hostaddr=10.0.0.1,%3A%3A1",
        ),
    ] {
        let address = Address::parse(given).unwrap();
        let without = address.without_password().unwrap();
        assert_eq!(without, written);
        assert!(!format!("{address:?}").contains("s3cret"));
        let read = Address::parse(&without).unwrap();
        assert!(address.same_database(&read).unwrap() && !read.has_password(), "{given}");
        assert_eq!(read.without_password().unwrap(), written);
    }
    let same = |a: &str, b: &str| {
        Address::parse(a).unwrap().same_database(&Address::parse(b).unwrap()).unwrap()
    };
    assert!(same("postgres://a:b@h/d", "postgres://c@H:5432/d"));
    assert!(!same("postgres://a@h/d", "postgres://a@h/e"));
    assert!(!same("postgres://a@h/d", "postgres://a@h:5433/d"));
    assert!(!same("postgres://a@h/d", "postgres://a@g/d"));
    // A name may resolve to any address.
    assert!(!same("postgres://a@h/d", "postgres://a@h/d?hostaddr=10.0.0.1"));
    assert!(!same("postgres://a@h/d?hostaddr=10.0.0.2", "postgres://a@h/d?hostaddr=10.0.0.1"));
    assert!(same("postgres://a@h/d?hostaddr=::1", "postgres://b@h/d?hostaddr=0::1"));
    for bad in ["", "mysql://h/d", "postgres://h:port/d"] {
        assert_eq!(Address::parse(bad).unwrap_err(), Error::BadAddress, "{bad}");
    }
}
