use super::{OneWay, Profile};
use crate::schema::Column;

fn nested(profile: &Profile) {
    for two in profile.levels.windows(2) {
        assert!(two[0].bins < two[1].bins);
        let map = two[1].down_to(&two[0]);
        for (mine, theirs) in two[1].bin_of.iter().zip(two[0].bin_of.iter()) {
            assert_eq!(map[usize::from(*mine)], *theirs);
        }
    }
    assert_eq!(profile.levels.last().map(|level| level.bins), Some(profile.shares.len()));
}

#[test]
fn levels_are_nested_and_ordered_ones_are_intervals() {
    for codes in [1, 2, 3, 4, 9, 70, 503] {
        let counts: Vec<f64> = (0..codes).map(|i| f64::from((i * 7919 % 101) as u32)).collect();
        let noised = OneWay { counts, variance: 1.0 };
        let allowed = vec![true; codes];
        for ordered in [false, true] {
            let column = match ordered {
                true => Column::ordered("x", codes).unwrap().nullable(),
                false => Column::categorical("x", codes).unwrap(),
            };
            let profile = Profile::of(&column, &noised, 1000.0, &allowed);
            nested(&profile);
            assert!((profile.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(profile.shares.iter().all(|share| *share > 0.0));
            if ordered {
                for level in &profile.levels {
                    assert!(
                        level.bin_of.windows(2).all(|two| two[1] == two[0] || two[1] == two[0] + 1)
                    );
                    // NULL stands apart.
                    assert!(level.bin_of[1..].iter().all(|bin| *bin != 0));
                }
            }
        }
    }
}

#[test]
fn the_lightest_bins_are_merged() {
    let column = Column::categorical("x", 5).unwrap();
    let shares = [0.4, 0.01, 0.3, 0.02, 0.27];
    let profile = Profile::from_shares(&column, &shares, &[true; 5]);
    // Five codes to three bins: 1 and 3 first, then those with 4.
    assert_eq!(profile.levels[0].bin_of[..], [0, 1, 2, 1, 1]);
}

#[test]
fn codes_that_cannot_occur_have_no_share() {
    let column = Column::ordered("x", 4).unwrap();
    let noised = OneWay { counts: vec![10.0, 900.0, 20.0, -3.0], variance: 4.0 };
    let profile = Profile::of(&column, &noised, 30.0, &[true, false, true, true]);
    assert_eq!(profile.shares[1], 0.0);
    assert!((profile.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let within = profile.within(profile.finest(), 0);
    assert!(within.iter().all(|share| share.is_finite()));
}

#[test]
fn the_largest_domain_takes_seconds() {
    let codes = 1 << 16;
    let noised =
        OneWay { counts: (0..codes).map(|i| f64::from(i % 977)).collect(), variance: 100.0 };
    for column in
        [Column::ordered("x", 1 << 16).unwrap(), Column::categorical("x", 1 << 16).unwrap()]
    {
        nested(&Profile::of(&column, &noised, 1e6, &vec![true; 1 << 16]));
    }
}
