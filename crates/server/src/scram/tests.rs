use super::*;

/// RFC 7677, section 3.
const SALT: &str = "W22ZaJ0SNY7soEsUEjb6gQ==";
const FIRST: &[u8] = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const FINAL: &[u8] = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

fn verifier(password: &str) -> Verifier {
    Verifier::new(password, base64::decode(SALT).unwrap().try_into().unwrap(), 4096)
}

#[test]
fn the_example_of_the_standard() {
    let (exchange, first) =
        Exchange::begin(FIRST, verifier("pencil"), Channel::Plain, NONCE).unwrap();
    assert_eq!(
        first,
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    );
    let last = exchange.finish(FINAL).unwrap();
    assert_eq!(last, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    assert!(verifier("pencil").fits("pencil") && !verifier("pencil").fits("pencil "));
}

#[test]
fn what_is_not_exactly_right_is_refused() {
    let attempt = |verifier: Verifier, first: &[u8], last: &[u8], channel: Channel<'_>| {
        let (exchange, _) = Exchange::begin(first, verifier, channel, NONCE)?;
        exchange.finish(last)
    };
    let good = verifier("pencil");
    let wrong = attempt(verifier("pencils"), FIRST, FINAL, Channel::Plain);
    assert_eq!(wrong, Err(Refused::Proof));
    let decoy = Verifier::decoy("user", &[7; 32]);
    assert_eq!(attempt(decoy, FIRST, FINAL, Channel::Plain), Err(Refused::Proof));
    // Someone in between took the offer of a binding away.
    let first = b"y,,n=user,r=rOprNGfwEbeRWgbNEkqO";
    assert_eq!(attempt(good.clone(), first, FINAL, Channel::Bound(b"x")), Err(Refused::Channel));
    assert_eq!(attempt(good.clone(), first, FINAL, Channel::Unbound), Err(Refused::Channel));
    for (first, last) in [
        (&b"n,,n=user"[..], FINAL),
        (b"", FINAL),
        (b"n,a=root,n=user,r=x", FINAL),
        (b"n,,n=user,r=", FINAL),
        (b"\xff", FINAL),
        (FIRST, b"c=biws,r=rOprNGfwEbeRWgbNEkqO,p=AAAA"),
        (FIRST, b"c=biws"),
        (FIRST, b""),
    ] {
        let refused = attempt(good.clone(), first, last, Channel::Plain);
        assert_eq!(refused, Err(Refused::Malformed), "{first:?} {last:?}");
    }
    // A proof for other nonces.
    let (exchange, _) = Exchange::begin(FIRST, good, Channel::Plain, "other").unwrap();
    assert_eq!(exchange.finish(FINAL), Err(Refused::Proof));
}

#[test]
fn base_64_there_and_back() {
    for n in 0..40u8 {
        let bytes: Vec<u8> = (0..n).map(|i| i.wrapping_mul(37) ^ n).collect();
        assert_eq!(base64::decode(&base64::encode(&bytes)), Some(bytes));
    }
    for bad in ["A", "AA=A", "====", "AB==", "A===", "AA==AA==", "é=="] {
        assert_eq!(base64::decode(bad), None, "{bad}");
    }
}
