use super::*;
use crate::audit::feature::ordered;

#[test]
fn events_hold_and_are_read() {
    let event = |set| Event { feature: Feature::Value(0), set };
    let half = event(KeySet::AtLeast(ordered(0.5)));
    assert!(half.holds(&[0.5]) && half.holds(&[7.0]) && !half.holds(&[-1.0]));
    assert_eq!(half.to_string(), "number 1 at least 0.5");
    assert_eq!(event(KeySet::AtMost(ordered(-2.0))).to_string(), "number 1 at most -2");
    let keys: Vec<u64> = [1.0, 2.0, 3.0].map(ordered).to_vec();
    let cells = Cells::of(&keys, &[]);
    let mut taken = vec![false; cells.len()];
    taken[cells.place(ordered(2.0))] = true;
    let two = event(KeySet::Cells(cells, taken));
    assert!(two.holds(&[2.0]) && !two.holds(&[2.5]) && !two.holds(&[1.0]));
    assert_eq!(two.to_string(), "number 1 in 2");
    let missing = Event { feature: Feature::Value(3), set: KeySet::AtLeast(u64::MAX) };
    assert!(missing.holds(&[1.0]));
    assert_eq!(missing.to_string(), "number 4 missing");
}
