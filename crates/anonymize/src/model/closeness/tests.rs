use super::super::testing::{check_monotone, class, lecture, two_columns};
use super::*;
use crate::hierarchy::{Hierarchy, Level};

fn fraction(text: &str) -> Fraction {
    Fraction::parse(text).unwrap()
}

#[test]
fn two_hundred_thousand_rows_are_refused_where_32_bits_accept() {
    let table = class(&[100_000, 100_000]);
    let (one, two) = (class(&[90_000, 10_000]), class(&[10_000, 90_000]));
    for (t, close) in [("0.2", false), ("0.39", false), ("0.4", true)] {
        let model = TCloseness::new(fraction(t), Distance::Variational, 0).unwrap();
        assert_eq!((model.holds(&one, &table), model.holds(&two, &table)), (close, close), "{t}");
    }
}

#[test]
fn the_lecture_at_its_thresholds() {
    let (table, classes) = lecture();
    let held = |t: &str| {
        let model = TCloseness::new(fraction(t), Distance::Variational, 0).unwrap();
        classes.each_ref().map(|class| model.holds(class, &table))
    };
    assert_eq!(held("0.6"), [true, true, true]);
    assert_eq!(held("5/9"), [true, true, true]);
    assert_eq!(held("0.5"), [true, false, true]);
    assert_eq!(held("2/9"), [false, false, true]);
    assert_eq!(held("0.2"), [false, false, false]);
}

#[test]
fn unions_stay_close() {
    let level =
        |group: &[u32]| Level { labels: Vec::new(), group: group.to_vec(), leaves: Vec::new() };
    let hierarchy =
        Hierarchy { levels: vec![level(&[0, 1, 2]), level(&[0, 0, 1]), level(&[0, 0, 0])] };
    let all = [
        Distance::Variational,
        Distance::L2,
        Distance::KullbackLeibler,
        Distance::ordered(&[0, 1, 2]).unwrap(),
        Distance::hierarchical(&hierarchy).unwrap(),
    ];
    for distance in all {
        check_monotone(&TCloseness::new(fraction("0.3"), distance, 0).unwrap(), 3, 2);
    }
}

#[test]
fn each_sensitive_column_is_its_own() {
    let table = two_columns(&[5, 5], &[5, 5]);
    let one = two_columns(&[2, 2], &[4, 0]);
    let model = |column| TCloseness::new(fraction("0.1"), Distance::Variational, column).unwrap();
    assert!(model(0).holds(&one, &table));
    assert!(!model(1).holds(&one, &table));
    assert!(!model(2).holds(&one, &table), "no such column: refused");
    assert_eq!(model(1).measure(&one, &table).unwrap().to_string(), "1/2");
}

#[test]
fn natural_supersets_are_not_monotone() {
    let table = class(&[10, 10]);
    let model = NaturalCloseness::new(10, fraction("1/4"), Distance::Variational, 0).unwrap();
    assert!(!model.monotone() && model.needs_ancestors());
    let (b0, b1) = (class(&[10, 0]), class(&[0, 10]));
    for (fine, ancestor) in [([4, 0], &b0), ([6, 0], &b0), ([0, 1], &b1), ([0, 9], &b1)] {
        let fine = class(&fine);
        assert!(!model.holds(&fine, &table), "the whole table is ½ away");
        assert!(model.holds_among(&fine, &mut [ancestor].into_iter(), &table));
        let witness = model.witness(&fine, &mut [ancestor].into_iter(), &table).unwrap();
        assert_eq!(
            (witness.set, witness.rows(), witness.measure.to_string()),
            (ReferenceSet::Ancestor(0), 10, "0".to_owned())
        );
        let (serves, measure) = model.verify(&fine, &witness.counts, &table).unwrap();
        assert!(serves && measure == witness.measure);
    }
    // b generalized: the only ancestor left is the whole table.
    let a0 = class(&[4, 1]);
    assert!(!model.holds_among(&a0, &mut [&table].into_iter(), &table));
    assert_eq!(model.measure(&a0, &table).unwrap().to_string(), "3/10");
}

#[test]
fn small_or_foreign_supersets_do_not_serve() {
    let table = class(&[10, 10]);
    let model = NaturalCloseness::new(10, fraction("0.25"), Distance::KullbackLeibler, 0).unwrap();
    let fine = class(&[4, 0]);
    let foreign = [class(&[9, 0]), class(&[1, 10])];
    assert!(model.witness(&fine, &mut foreign.iter(), &table).is_none());
    for (counts, serves) in
        [([9, 0], false), ([1, 10], false), ([10, 0], true), ([11, 0], false), ([10, 1], true)]
    {
        assert_eq!(model.verify(&fine, &counts, &table).unwrap().0, serves, "{counts:?}");
    }
    let large = NaturalCloseness::new(21, Fraction::ONE, Distance::Variational, 0).unwrap();
    assert!(!large.holds(&fine, &table), "n above the table's rows");
    assert_eq!(large.measure(&fine, &table), Some(Measure::Infinite));
    assert!(NaturalCloseness::new(0, Fraction::ONE, Distance::L2, 0).is_err());
}
