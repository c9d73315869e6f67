//! Options are read or refused.

use super::options::{seconds, suppression};
use demure_anonymize::search::Suppression;

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
