use super::super::testing::{below, class, lecture};
use super::*;

fn fraction(text: &str) -> Fraction {
    Fraction::parse(text).unwrap()
}

/// The least ε any subset of at least n rows has, by trying all.
fn brute(classes: &[Class], table: &Class, n: u64) -> Fraction {
    let distance = |class: &Class, x: &[u64]| {
        let (c, s) = (&class.sensitive[0].counts, x.iter().sum::<u64>());
        let short =
            c.iter().zip(x).map(|(c, x)| (c * s).saturating_sub(x * class.size)).sum::<u64>();
        Fraction::new(short.into(), (class.size * s).into()).unwrap()
    };
    let stock = &table.sensitive[0].counts;
    let large = below(stock).into_iter().filter(|x| x.iter().sum::<u64>() >= n);
    large.map(|x| classes.iter().map(|class| distance(class, &x)).max().unwrap()).min().unwrap()
}

fn check(model: &SharedSubset, classes: &[Class], table: &Class, n: u64, possible: bool) {
    match model.decide(classes, table) {
        Answer::Serves(subset) => {
            assert!(possible);
            assert!(subset.counts.iter().sum::<u64>() >= n);
            assert!(subset.counts.iter().zip(&table.sensitive[0].counts).all(|(x, q)| x <= q));
            let parts: Vec<Part<'_>> = classes
                .iter()
                .enumerate()
                .map(|(position, class)| Part {
                    position,
                    c: &class.sensitive[0].counts,
                    m: class.size,
                })
                .collect();
            assert_eq!(farthest(&parts, &subset.counts, model.epsilon), (true, subset.distance));
        }
        Answer::Impossible(proof) => {
            assert!(!possible, "{proof:?}");
            if let Proof::Weights { weights, bound } = proof {
                assert_eq!(model.bound(classes, table, &weights), Some(bound));
                assert!(bound > model.epsilon);
            }
        }
        Answer::Undecided { .. } => panic!("small enough to decide"),
    }
}

#[test]
fn the_lecture_agrees_with_trying_every_subset() {
    let (table, classes) = lecture();
    for n in 1..=9 {
        let best = brute(&classes, &table, n);
        let exact = SharedSubset::new(n, best, 0).unwrap();
        check(&exact, &classes, &table, n, true);
        let (a, b) = (best.numerator() * 1000 - 1, best.denominator() * 1000);
        let below = SharedSubset::new(n, Fraction::new(a, b).unwrap(), 0).unwrap();
        check(&below, &classes, &table, n, false);
        assert!(exact.holds_all(&classes, &table) && !below.holds_all(&classes, &table));
    }
    // Class 1 and class 2 share no value: nothing is nearer than ½ to both.
    assert_eq!(brute(&classes, &table, 1).to_string(), "1/2");
}

#[test]
fn random_small_partitions_agree_with_trying_every_subset() {
    // A fixed sequence, so that a failure repeats.
    let mut state = 1_u64;
    let mut next = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    for _ in 0..120 {
        let classes: Vec<Class> =
            (0..2 + next(2)).map(|_| class(&[next(3) + 1, next(3), next(3)])).collect();
        let mut stock = vec![0; 3];
        for one in &classes {
            one.sensitive[0].counts.iter().zip(&mut stock).for_each(|(c, q)| *q += c);
        }
        let table = class(&stock);
        let n = 1 + next(table.size);
        let best = brute(&classes, &table, n);
        for text in ["0", "1/12", "1/6", "1/4", "1/3", "1/2"] {
            let epsilon = fraction(text);
            let model = SharedSubset::new(n, epsilon, 0).unwrap();
            check(&model, &classes, &table, n, best <= epsilon);
        }
        check(&SharedSubset::new(n, best, 0).unwrap(), &classes, &table, n, true);
    }
}

#[test]
fn each_proof_occurs() {
    let table = class(&[10, 10, 10]);
    let decide = |n, text: &str, classes: &[Class]| {
        SharedSubset::new(n, fraction(text), 0).unwrap().decide(classes, &table)
    };
    let apart = [class(&[3, 0, 0]), class(&[0, 3, 0])];
    assert_eq!(decide(31, "1", &apart), Answer::Impossible(Proof::TooFewRows));
    assert!(matches!(decide(30, "0.1", &apart), Answer::Impossible(Proof::Alone { class: 0, .. })));
    assert!(matches!(
        decide(5, "0.4", &apart),
        Answer::Impossible(Proof::Apart { first: 0, second: 1, .. })
    ));
    // Three corners: pairs allow ½, all three need ⅔.
    let corners = [class(&[3, 0, 0]), class(&[0, 3, 0]), class(&[0, 0, 3])];
    let Answer::Impossible(Proof::Weights { weights, bound }) = decide(6, "0.6", &corners) else {
        panic!("weights prove it")
    };
    assert_eq!(weights.len(), 3);
    assert!(bound > fraction("0.66") && bound <= fraction("2/3"));
    let Answer::Serves(subset) = decide(6, "2/3", &corners) else { panic!("equal thirds serve") };
    assert_eq!(subset.distance, fraction("2/3"));
    assert!(matches!(
        decide(5, "1", &[class(&[11, 0, 0])]),
        Answer::Impossible(Proof::NotInTable { class: 0 })
    ));
    // Only whole rows stand in the way: ⅓ : ⅔ needs a size divisible by 3.
    let small = class(&[2, 3]);
    let thirds = SharedSubset::new(4, Fraction::ZERO, 0).unwrap();
    let answer = thirds.decide(&[class(&[1, 2])], &small);
    assert!(
        matches!(answer, Answer::Impossible(Proof::Alone { .. } | Proof::Exhausted)),
        "{answer:?}"
    );
}

#[test]
fn large_tables_are_answered_from_the_bound_or_the_proposal() {
    let big = 1_u64 << 40;
    let table = class(&[big * 4, big * 4, big * 4]);
    let classes =
        [class(&[big * 2, big, big]), class(&[big, big * 2, big]), class(&[big, big, big * 2])];
    // The centre is 1/6 from each.
    let decide = |text: &str| {
        SharedSubset::new(big * 6, fraction(text), 0).unwrap().decide(&classes, &table)
    };
    assert!(matches!(decide("1/6"), Answer::Serves(_)));
    assert!(matches!(decide("0.16"), Answer::Impossible(_)));
}

#[test]
fn a_limit_of_steps_is_a_refusal() {
    // Within the relaxed bound, but no whole rows do it: needs the search.
    let table = class(&[7, 7, 7, 7]);
    let classes = [class(&[1, 2, 3, 1]), class(&[3, 1, 1, 2]), class(&[1, 1, 2, 3])];
    let best = brute(&classes, &table, 9);
    let exact = SharedSubset::new(9, best, 0).unwrap();
    assert!(exact.holds_all(&classes, &table));
    let hasty = SharedSubset::new(9, best, 0).unwrap().with_steps(0);
    assert!(!matches!(hasty.decide(&classes, &table), Answer::Impossible(_)));
    assert!(exact.warning().is_some() && !exact.per_class() && !exact.monotone());
}
