use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn throttle() -> (Arc<AtomicU64>, Throttle) {
    let seconds = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&seconds);
    let clock: SteadyClock = Arc::new(move || Duration::from_secs(told.load(Ordering::SeqCst)));
    (seconds, Throttle::new(clock))
}

#[test]
fn an_address_fails_so_often_and_others_are_not_concerned() {
    let (seconds, throttle) = throttle();
    let here: IpAddr = "192.0.2.1".parse().unwrap();
    let tries = |name: &str, from: IpAddr| {
        let one = || {
            let allowed = throttle.allows(name, Some(from));
            allowed.then(|| throttle.failed(name, Some(from)))
        };
        (0..1000).filter_map(|_| one()).count()
    };
    assert_eq!(tries("ana", here), 20, "one name");
    assert_eq!(tries("bob", here), 20);
    assert_eq!(tries("eve", here) + tries("sam", here), 20, "60 of the address");
    assert_eq!(tries("ana", "192.0.2.2".parse().unwrap()), 20, "another address");
    seconds.fetch_add(30, Ordering::SeqCst);
    assert_eq!(tries("ana", here), 1, "one of the name in 30 s");
    seconds.fetch_add(100_000, Ordering::SeqCst);
    // One network of IPv6 is one address.
    assert_eq!(tries("ana", "2001:db8::1".parse().unwrap()), 20);
    assert_eq!(tries("ana", "2001:db8::2".parse().unwrap()), 0);
}

#[test]
fn it_remembers_no_more_than_it_should() {
    let (_, throttle) = throttle();
    for i in 0..KEPT as u32 + 500 {
        throttle.failed("ana", Some(IpAddr::from(i.to_be_bytes())));
    }
    let inside = throttle.inside.lock().unwrap();
    assert!(inside.addresses.kept.len() <= KEPT && inside.pairs.kept.len() <= KEPT);
}
