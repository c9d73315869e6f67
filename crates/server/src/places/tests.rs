use super::*;
use futures::FutureExt;

fn address(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

#[test]
fn an_address_and_an_account_have_so_many() {
    let places = Places::new(100, 3, 2);
    let mut held: Vec<Place> = (0..3).map(|_| places.take(address(1)).unwrap()).collect();
    assert!(places.take(address(1)).is_none());
    assert!(places.take("::ffff:192.0.2.1".parse().unwrap()).is_none(), "the same machine");
    let other = places.take(address(2)).unwrap();
    assert!(held[0].belongs_to("ana") && held[1].belongs_to("ana"));
    assert!(!other.belongs_to("ana") && other.belongs_to("bob"));
    held.remove(0);
    assert!(held[1].belongs_to("ana"));
    held.push(places.take(address(1)).unwrap());
    drop((held, other));
    let inside = places.lock();
    assert!(inside.held.is_empty() && inside.addresses.is_empty());
    assert!(inside.accounts.is_empty());
}

#[test]
fn who_does_not_sign_in_makes_room() {
    let places = Places::new(2, 10, 10);
    let (member, stranger) = (places.take(address(1)).unwrap(), places.take(address(2)).unwrap());
    assert!(member.belongs_to("ana"));
    let third = places.take(address(3)).unwrap();
    assert!(stranger.needed().now_or_never().is_some());
    assert!(member.needed().now_or_never().is_none());
    assert!(third.belongs_to("bob"));
    drop(stranger);
    assert!(places.take(address(4)).is_none(), "both have signed in");
}
