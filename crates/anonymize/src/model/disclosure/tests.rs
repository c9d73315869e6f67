use super::super::testing::{below, broken_union, check_monotone, class, lecture};
use super::*;

fn fraction(text: &str) -> Fraction {
    Fraction::parse(text).unwrap()
}

#[test]
fn all_small_histograms_by_definition() {
    for q in below(&[3, 3, 3]) {
        for c in below(&q).into_iter().filter(|c| c.iter().any(|&x| x > 0)) {
            let (one, table) = (class(&c), class(&q));
            let (m, n) = (one.size as f64, table.size as f64);
            let ratio = |c: &u64, q: &u64| (*c as f64 / m) / (*q as f64 / n);
            let with_mass = || c.iter().zip(&q).filter(|(_, q)| **q > 0);
            // None of these thresholds is a logarithm of a ratio that occurs.
            for text in ["0.3", "0.8", "1.1", "1.9"] {
                let threshold = fraction(text).to_f64();
                for (base, scale) in [(LogBase::Nats, 1.0), (LogBase::Bits, std::f64::consts::LN_2)]
                {
                    let model = DeltaDisclosure::new(fraction(text), base, 0).unwrap();
                    let expected =
                        with_mass().all(|(c, q)| (ratio(c, q).ln() / scale).abs() < threshold);
                    assert_eq!(model.holds(&one, &table), expected, "{text} {c:?} {q:?}");
                    let expected = with_mass()
                        .all(|(c, q)| *c == 0 || (ratio(c, q).ln() / scale).abs() < threshold);
                    assert_eq!(
                        model.occurring_only().holds(&one, &table),
                        expected,
                        "{text} {c:?} {q:?}"
                    );
                }
            }
            for text in ["0.31", "0.49", "0.77", "1.01"] {
                let beta = fraction(text).to_f64();
                let basic = with_mass().all(|(c, q)| ratio(c, q) - 1.0 <= beta);
                let log =
                    with_mass().all(|(c, q)| ratio(c, q) - 1.0 <= (n / *q as f64).ln() + 1e-12);
                let model = |enhanced| BetaLikeness::new(fraction(text), enhanced, 0).unwrap();
                assert_eq!(model(false).holds(&one, &table), basic);
                assert_eq!(model(true).holds(&one, &table), basic && log, "{text} {c:?} {q:?}");
            }
        }
    }
}

#[test]
fn the_inequality_of_delta_is_strict_and_that_of_beta_is_not() {
    // p/q = 2 and ½ exactly.
    let (one, table) = (class(&[4, 1, 1]), class(&[20, 20, 20]));
    let bits = |text: &str| {
        DeltaDisclosure::new(fraction(text), LogBase::Bits, 0).unwrap().holds(&one, &table)
    };
    assert!(!bits("1") && bits("1.000000000000001"));
    let beta = |text: &str| BetaLikeness::new(fraction(text), false, 0).unwrap();
    assert!(beta("1").holds(&one, &table) && !beta("0.999999999999999").holds(&one, &table));
    assert_eq!(beta("1").measure(&one, &table).unwrap().to_string(), "1");
}

#[test]
fn large_counts_do_not_overflow() {
    let big = 1_u64 << 40;
    // ln(3/2) = 0.405465108108164381…
    let (one, table) = (class(&[big * 3, big]), class(&[big * 4, big * 4]));
    let nats = |text: &str| DeltaDisclosure::new(fraction(text), LogBase::Nats, 0).unwrap();
    assert!(
        nats("0.7").holds(&one, &table) && !nats("0.6931471805599").holds(&one, &table),
        "½ decides: ln 2"
    );
    let beta = BetaLikeness::new(fraction("1/2"), false, 0).unwrap();
    assert!(beta.holds(&one, &table));
    let enhanced = BetaLikeness::new(fraction("1/2"), true, 0).unwrap();
    assert!(enhanced.holds(&one, &table), "½ ≤ ln 2");
    // p = 0.85, q = ½: 0.7 > ln 2 = 0.693.
    let (one, table) = (class(&[big * 17, big * 3]), class(&[big * 20, big * 20]));
    assert!(BetaLikeness::new(fraction("0.7"), false, 0).unwrap().holds(&one, &table));
    assert!(!BetaLikeness::new(fraction("0.7"), true, 0).unwrap().holds(&one, &table));
}

#[test]
fn the_lecture_and_missing_values() {
    let (table, classes) = lecture();
    let model = DeltaDisclosure::new(fraction("2"), LogBase::Bits, 0).unwrap();
    assert!(classes.iter().all(|class| !model.holds(class, &table)), "each class lacks a value");
    assert_eq!(model.measure(&classes[0], &table), Some(Measure::Infinite));
    let loose = model.occurring_only();
    assert!(classes.iter().all(|class| loose.holds(class, &table)), "largest ratio is 3");
    assert!((loose.measure(&classes[0], &table).unwrap().to_f64() - 3_f64.log2()).abs() < 1e-12);
}

#[test]
fn unions_keep_ratios_unless_values_are_left_out() {
    for base in [LogBase::Nats, LogBase::Bits] {
        let model = DeltaDisclosure::new(fraction("0.7"), base, 0).unwrap();
        check_monotone(&model, 3, 2);
        assert!(!model.clone().occurring_only().monotone());
    }
    let loose = DeltaDisclosure::new(fraction("0.6"), LogBase::Bits, 0).unwrap().occurring_only();
    assert!(broken_union(&loose, 2, 6).is_some(), "the reason it is not monotone");
    let two = DeltaDisclosure::new(fraction("2"), LogBase::Bits, 0).unwrap().occurring_only();
    let held = |counts: &[u64]| two.holds(&class(counts), &class(&[50, 50]));
    assert!(held(&[3, 0]) && held(&[6, 1]) && !held(&[9, 1]));
    check_monotone(&BetaLikeness::new(fraction("0.5"), false, 0).unwrap(), 3, 2);
    check_monotone(&BetaLikeness::new(fraction("0.9"), true, 0).unwrap(), 3, 2);
}
