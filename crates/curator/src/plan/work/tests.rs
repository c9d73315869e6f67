use super::*;

#[test]
fn unions_add_and_joins_multiply() {
    let c = Count::shared();
    let two = c.times(&c);
    assert_eq!(two.at(256), Some(65_536));
    let union = (0..9).fold(two.clone(), |sum, _| sum.plus(&two));
    assert_eq!(union.at(80), Some(64_000));
    assert_eq!(union.times(&Count::number(3)).times(&c).at(10), Some(30_000));
    assert_eq!(c.clone().plus(&Count::number(5)).at(7), Some(12));
    assert_eq!(Count::All.plus(&c), Count::All);
    assert_eq!(two.times(&two).at(1 << 20), Some(u64::MAX));
}
