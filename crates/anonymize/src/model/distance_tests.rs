use super::super::testing::{below, class, lecture};
use super::*;
use crate::hierarchy::Level;

fn pair<'a>(class: &'a Class, table: &'a Class) -> Pair<'a> {
    match counts(class, table, 0) {
        Counts::Both(pair) => pair,
        _ => panic!("no counts"),
    }
}

fn tree(levels: &[&[u32]]) -> Hierarchy {
    let level =
        |group: &&[u32]| Level { labels: Vec::new(), group: group.to_vec(), leaves: Vec::new() };
    Hierarchy { levels: levels.iter().map(level).collect() }
}

fn fraction(a: u64, b: u64) -> Fraction {
    Fraction::new(a.into(), b.into()).unwrap()
}

#[test]
fn the_lectures_nine_rows() {
    let (table, classes) = lecture();
    let ordered = Distance::ordered(&[0, 1, 2, 3, 4]).unwrap();
    let exact = |distance: &Distance| {
        classes.each_ref().map(|c| distance.value(pair(c, &table)).unwrap().to_string())
    };
    assert_eq!(exact(&Distance::Variational), ["4/9", "5/9", "2/9"]);
    assert_eq!(exact(&Distance::L2), ["√(16/81)", "√(22/81)", "√(4/81)"]);
    assert_eq!(exact(&ordered), ["5/18", "11/36", "1/12"]);
    assert_eq!(exact(&Distance::KullbackLeibler), ["0.918296", "1.194988", "0.389975"]);
}

#[test]
fn the_threshold_is_met_exactly_and_not_below() {
    let (table, classes) = lecture();
    let ordered = Distance::ordered(&[0, 1, 2, 3, 4]).unwrap();
    for (distance, values) in
        [(Distance::Variational, [(4, 9), (5, 9), (2, 9)]), (ordered, [(5, 18), (11, 36), (1, 12)])]
    {
        for (class, (a, b)) in classes.iter().zip(values) {
            let close = |t| distance.at_most(pair(class, &table), t);
            assert!(close(fraction(a, b)));
            assert!(!close(fraction(a * 1_000_000_000 - 1, b * 1_000_000_000)));
        }
    }
    // Class 2 is √22/9 = 0.52115730… in L2 and 1.19498750… bits in KL.
    let second = pair(&classes[1], &table);
    assert!(Distance::L2.at_most(second, Fraction::parse("0.521157307").unwrap()));
    assert!(!Distance::L2.at_most(second, Fraction::parse("0.521157306").unwrap()));
    assert!(Distance::KullbackLeibler.at_most(second, Fraction::parse("1.194988").unwrap()));
    assert!(!Distance::KullbackLeibler.at_most(second, Fraction::parse("1.194987").unwrap()));
}

#[test]
fn kl_ties_are_ties() {
    // One of two equal values: exactly 1 bit.
    let (one, table) = (class(&[1 << 40, 0]), class(&[1 << 40, 1 << 40]));
    assert!(Distance::KullbackLeibler.at_most(pair(&one, &table), Fraction::ONE));
    let below_one = fraction((1 << 40) - 1, 1 << 40);
    assert!(!Distance::KullbackLeibler.at_most(pair(&one, &table), below_one));
    assert!(Distance::KullbackLeibler.at_most(pair(&table, &table), Fraction::ZERO));
}

/// The cheapest way to move `give` to `take` by trying all ways, unit by unit.
fn cheapest(give: &[u64], take: &[u64], cost: &dyn Fn(usize, usize) -> u64) -> u64 {
    let Some(from) = give.iter().position(|&g| g > 0) else { return 0 };
    let mut rest = give.to_vec();
    rest[from] -= 1;
    (0..take.len())
        .filter(|&to| take[to] > 0)
        .map(|to| {
            let mut left = take.to_vec();
            left[to] -= 1;
            cost(from, to) + cheapest(&rest, &left, cost)
        })
        .min()
        .unwrap_or(u64::MAX)
}

#[test]
fn earth_movers_agree_with_moving_earth() {
    // Leaves 0,1 | 2 under level 1; all under level 2.
    let hierarchical =
        Distance::hierarchical(&tree(&[&[0, 1, 2], &[0, 0, 1], &[0, 0, 0]])).unwrap();
    let ordered = Distance::ordered(&[2, 0, 1]).unwrap();
    let rank = [1_u64, 2, 0];
    let steps = |i: usize, j: usize| rank[i].abs_diff(rank[j]);
    let height = |i: usize, j: usize| {
        if i == j {
            0
        } else if i.max(j) == 1 {
            1
        } else {
            2
        }
    };
    for q in below(&[2, 2, 2]) {
        for c in below(&q).into_iter().filter(|c| c.iter().any(|&x| x > 0)) {
            let (one, table) = (class(&c), class(&q));
            let pair = pair(&one, &table);
            // Only differences need to move; both metrics obey the triangle inequality.
            let give: Vec<u64> =
                c.iter().zip(&q).map(|(c, q)| (c * pair.n).saturating_sub(q * pair.m)).collect();
            let take: Vec<u64> =
                c.iter().zip(&q).map(|(c, q)| (q * pair.m).saturating_sub(c * pair.n)).collect();
            if give.iter().sum::<u64>() > 6 {
                continue;
            }
            let area = pair.m * pair.n * 2;
            let expected = |cost: &dyn Fn(usize, usize) -> u64| {
                Measure::Exact(fraction(cheapest(&give, &take, cost), area))
            };
            assert_eq!(ordered.value(pair).unwrap(), expected(&steps), "{c:?} {q:?}");
            assert_eq!(hierarchical.value(pair).unwrap(), expected(&height), "{c:?} {q:?}");
        }
    }
}

fn power(base: u64, exponent: u64) -> Natural {
    (0..exponent).fold(Natural::from(1_u64), |product, _| product.mul(&Natural::from(base)))
}

#[test]
fn all_small_histograms_by_definition() {
    for q in below(&[3, 3, 3]) {
        for c in below(&q).into_iter().filter(|c| c.iter().any(|&x| x > 0)) {
            let (one, table) = (class(&c), class(&q));
            let pair = pair(&one, &table);
            let area = (pair.m * pair.n) as i128;
            let gaps: Vec<i128> =
                pair.each().map(|(c, q)| i128::from(c * pair.n) - i128::from(q * pair.m)).collect();
            let absolute: i128 = gaps.iter().map(|g| g.abs()).sum();
            let squares: i128 = gaps.iter().map(|g| g * g).sum();
            for (a, b) in [(0, 1), (1, 10), (1, 5), (1, 3), (1, 2), (2, 3), (1, 1), (3, 2)] {
                let t = fraction(a as u64, b as u64);
                assert_eq!(Distance::Variational.at_most(pair, t), b * absolute <= 2 * a * area);
                assert_eq!(Distance::L2.at_most(pair, t), b * b * squares <= a * a * area * area);
                // Π c^{bc}·N^{bm} ≤ Π q^{bc}·m^{bm}·2^{am}
                let (a, b) = (a as u64, b as u64);
                let class = pair
                    .each()
                    .fold(power(pair.n, b * pair.m), |p, (c, _)| p.mul(&power(c, b * c)));
                let table = pair
                    .each()
                    .fold(power(pair.m, b * pair.m), |p, (c, q)| p.mul(&power(q, b * c)));
                let within = class <= table.mul(&power(2, a * pair.m));
                assert_eq!(Distance::KullbackLeibler.at_most(pair, t), within, "{c:?} {q:?}");
            }
        }
    }
}

#[test]
fn large_counts_do_not_overflow() {
    for big in [1_u64 << 40, 1 << 62] {
        // Shares 3/4, 1/4 in the class against 1/2, 1/2: ¼ in all but L2 (√⅛) and KL.
        let (one, table) = (class(&[big / 4 * 3, big / 4]), class(&[big, big]));
        let pair = pair(&one, &table);
        let quarter = fraction(1, 4);
        let below_quarter = fraction((1 << 50) - 1, 1 << 52);
        let flat = Distance::hierarchical(&tree(&[&[0, 1]])).unwrap();
        for distance in [Distance::Variational, Distance::ordered(&[1, 0]).unwrap(), flat] {
            assert!(
                distance.at_most(pair, quarter) && !distance.at_most(pair, below_quarter),
                "{}",
                distance.name()
            );
            assert!((distance.value(pair).unwrap().to_f64() - 0.25).abs() < 1e-12);
        }
        assert!(Distance::L2.at_most(pair, Fraction::parse("0.35355339059327377").unwrap()));
        assert!(!Distance::L2.at_most(pair, Fraction::parse("0.35355339059327376").unwrap()));
        assert!((Distance::L2.value(pair).unwrap().to_f64() - 0.125_f64.sqrt()).abs() < 1e-12);
        // 1 − H(¼) = 0.18872187554086717…
        assert!(
            Distance::KullbackLeibler.at_most(pair, Fraction::parse("0.188721875540868").unwrap())
        );
        assert!(
            !Distance::KullbackLeibler.at_most(pair, Fraction::parse("0.188721875540867").unwrap())
        );
    }
}

#[test]
fn names_of_groups_do_not_matter_and_a_missing_root_is_added() {
    let (one, table) = (class(&[2, 0, 0, 1]), class(&[2, 2, 2, 2]));
    let value = |levels: &[&[u32]]| {
        Distance::hierarchical(&tree(levels)).unwrap().value(pair(&one, &table)).unwrap()
    };
    let plain = value(&[&[0, 1, 2, 3], &[0, 0, 1, 1], &[0, 0, 0, 0]]);
    // Shares ⅔ 0 0 ⅓ against ¼ each: ¼ moves at height 1 on the left, 1/12 on the right, 1/6 at the root.
    assert_eq!(plain, Measure::Exact(fraction(1, 3)));
    assert_eq!(value(&[&[7, 2, 9, 0], &[5, 5, 1, 1], &[3, 3, 3, 3]]), plain);
    assert_eq!(value(&[&[7, 2, 9, 0], &[5, 5, 1, 1]]), plain, "no root");
}

#[test]
fn malformed_orders_and_trees_are_refused() {
    assert!(Distance::ordered(&[0, 0]).is_err());
    assert!(Distance::ordered(&[0, 2]).is_err());
    assert!(Distance::hierarchical(&tree(&[&[0, 1, 2], &[0, 0, 1], &[0, 1, 1]])).is_err());
    assert!(Distance::hierarchical(&tree(&[&[0, 1, 2], &[0, 0]])).is_err());
    let (table, classes) = lecture();
    let short = Distance::ordered(&[0, 1]).unwrap();
    assert!(
        !short.at_most(pair(&classes[0], &table), Fraction::ONE)
            && short.value(pair(&classes[0], &table)).is_none()
    );
}
