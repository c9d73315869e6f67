use super::super::testing::{below, class, lecture};
use super::*;

fn variational(c: &[u64], x: &[u64]) -> Fraction {
    let (m, s): (u64, u64) = (c.iter().sum(), x.iter().sum());
    let short = c.iter().zip(x).map(|(c, x)| (c * s).saturating_sub(x * m)).sum::<u64>();
    Fraction::new(short.into(), (m * s).into()).unwrap()
}

#[test]
fn the_lectures_table() {
    let (table, classes) = lecture();
    let expected = [
        ["2/15", "2/15", "1/6", "2/7", "3/8", "4/9"],
        ["1/12", "1/5", "1/3", "3/7", "1/2", "5/9"],
        ["0", "0", "0", "2/21", "1/6", "2/9"],
    ];
    for (class, row) in classes.iter().zip(expected) {
        for (n, text) in (4..=9).zip(row) {
            let model = ArbitrarySubset::new(n, Fraction::parse(text).unwrap(), 0).unwrap();
            assert_eq!(model.measure(class, &table).unwrap().to_string(), text, "n = {n}");
            assert!(model.holds(class, &table));
            let witness = model.witness(class, &mut std::iter::empty(), &table).unwrap();
            assert!(witness.rows() >= n);
            let distance = variational(&class.sensitive[0].counts, &witness.counts);
            assert_eq!(witness.measure, Measure::Exact(distance));
            let verified = model.verify(class, &witness.counts, &table);
            assert_eq!(verified, Some((true, witness.measure)));
        }
    }
}

#[test]
fn agrees_with_trying_every_subset() {
    for q in [[3, 3, 3], [1, 4, 2], [5, 1, 1], [2, 2, 5], [6, 0, 3]] {
        let table = class(&q);
        let subsets = below(&q);
        for c in below(&q).into_iter().filter(|c| c.iter().any(|&x| x > 0)) {
            for n in 1..=table.size + 1 {
                let one = class(&c);
                let large = subsets.iter().filter(|x| x.iter().sum::<u64>() >= n);
                let best = large.map(|x| variational(&c, x)).min();
                let model = |epsilon| ArbitrarySubset::new(n, epsilon, 0).unwrap();
                let nearest = model(Fraction::ZERO).nearest(&one, &table);
                assert_eq!(nearest.as_ref().map(|m| m.distance), best, "{c:?} {q:?} {n}");
                if n >= one.size {
                    // Asking for M ⊇ C changes nothing.
                    let above = subsets.iter().filter(|x| x.iter().zip(&c).all(|(x, c)| x >= c));
                    let above = above.filter(|x| x.iter().sum::<u64>() >= n);
                    assert_eq!(above.map(|x| variational(&c, x)).min(), best, "{c:?} {q:?} {n}");
                }
                if let Some(subset) = nearest {
                    assert!(subset.counts.iter().zip(&q).all(|(x, q)| x <= q));
                    assert_eq!(variational(&c, &subset.counts), subset.distance);
                }
                for text in ["0", "1/20", "1/7", "1/4", "1/2", "1"] {
                    let epsilon = Fraction::parse(text).unwrap();
                    assert_eq!(
                        model(epsilon).holds(&one, &table),
                        best.is_some_and(|best| best <= epsilon)
                    );
                    let model = model(epsilon);
                    assert_eq!(
                        model.witness(&one, &mut std::iter::empty(), &table).is_some(),
                        model.holds(&one, &table)
                    );
                    for x in subsets.iter().filter(|x| x.iter().any(|&x| x > 0)) {
                        let (serves, measure) = model.verify(&one, x, &table).unwrap();
                        let distance = variational(&c, x);
                        assert_eq!(measure, Measure::Exact(distance));
                        assert_eq!(serves, x.iter().sum::<u64>() >= n && distance <= epsilon);
                    }
                }
            }
        }
    }
}

#[test]
fn a_union_may_fail_where_its_parts_pass() {
    let table = class(&[11, 11]);
    let model = ArbitrarySubset::new(11, Fraction::ZERO, 0).unwrap();
    assert!(!model.monotone());
    assert!(model.holds(&class(&[1, 0]), &table) && model.holds(&class(&[0, 9]), &table));
    assert!(!model.holds(&class(&[1, 9]), &table));
}

#[test]
fn it_promises_little() {
    // One value only, and the table has n such rows: passes at ε = 0.
    let table = class(&[1000, 9000]);
    let model = ArbitrarySubset::new(1000, Fraction::ZERO, 0).unwrap();
    assert!(model.holds(&class(&[5, 0]), &table));
    assert!(model.warning().is_some());
    assert!(
        !ArbitrarySubset::new(10_001, Fraction::ONE, 0).unwrap().holds(&class(&[5, 0]), &table),
        "n > N"
    );
}

#[test]
fn large_counts_do_not_overflow() {
    let big = 1_u64 << 40;
    let (one, table) = (class(&[big, big / 2]), class(&[big, big]));
    let model = ArbitrarySubset::new(2 * big, Fraction::parse("1/6").unwrap(), 0).unwrap();
    assert!(model.holds(&one, &table));
    assert_eq!(model.measure(&one, &table).unwrap().to_string(), "1/6");
}
