//! Options are read or refused.

use super::options::{seconds, seconds_or_none, suppression, time_for_alternatives};
use demure_anonymize::search::Suppression;
use std::time::Duration;

#[test]
fn suppression_is_a_share_or_a_number() {
    assert_eq!(suppression("4%"), Ok(Suppression::Share(0.04)));
    assert_eq!(suppression("0.04"), Ok(Suppression::Share(0.04)));
    assert_eq!(suppression("100 %"), Ok(Suppression::Share(1.0)));
    assert_eq!(suppression("25"), Ok(Suppression::Count(25)));
    for bad in ["", "-1", "101%", "1.5", "nan", "x", "%"] {
        assert!(suppression(bad).is_err(), "{bad}");
    }
    assert!(seconds("0").is_err() && seconds("1e10").is_err() && seconds("0.5").is_ok());
}

#[test]
fn alternatives_take_no_longer_than_is_said() {
    let secs = Duration::from_secs;
    for (asked, limit, took, time) in [
        (None, None, secs(0), secs(3)),
        (None, None, secs(5), secs(15)),
        (None, None, secs(500), secs(30)),
        (None, Some(secs(1)), secs(1), secs(1)),
        (Some(secs(60)), Some(secs(1)), secs(1), secs(60)),
        (Some(secs(0)), None, secs(9), secs(0)),
    ] {
        assert_eq!(time_for_alternatives(asked, limit, took), time);
    }
    assert_eq!(seconds_or_none("0"), Ok(Duration::ZERO));
    assert!(seconds_or_none("-1").is_err() && seconds_or_none("soon").is_err());
}
