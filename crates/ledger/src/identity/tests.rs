use super::*;

#[test]
fn ids_and_anchors_read_back_as_they_were_written() {
    let id = LedgerId::random().unwrap();
    assert_eq!(LedgerId::parse(&id.to_string()), Some(id.clone()));
    assert_ne!(LedgerId::random().unwrap(), id);
    for bad in ["", "12", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
        assert_eq!(LedgerId::parse(bad), None, "{bad}");
    }
    let anchor = Anchor { seq: Some(17), hash: [0xab; 32] };
    assert_eq!(Anchor::parse(&anchor.to_string()), Some(anchor.clone()));
    assert_eq!(Anchor::parse(&"ab".repeat(32)), Some(Anchor { seq: None, ..anchor }));
    for bad in ["", "17:", "x:00", &"zz".repeat(32), "17:00", &"é".repeat(32)] {
        assert_eq!(Anchor::parse(bad), None, "{bad}");
    }
}

#[test]
fn a_key_depends_on_the_secret_and_on_the_message() {
    let (one, two) = (Secret::random().unwrap(), Secret::random().unwrap());
    assert_eq!(one.seal(&[1; 32]), one.seal(&[1; 32]));
    assert_ne!(one.seal(&[1; 32]), one.seal(&[2; 32]));
    assert_ne!(one.seal(&[1; 32]), two.seal(&[1; 32]));
    assert_eq!(format!("{one:?}"), "Secret(…)");
    // RFC 4231 specifies HMAC-SHA-256; this value was computed independently of this code.
    let zero = Secret([0; 32]);
    let expected = "0524f2944c8c1e8f2dc1213aa2792503d991230a21395b0f374282963e8b57bf";
    assert_eq!(zero.seal(&[0; 32]), expected);
}
