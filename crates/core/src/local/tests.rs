//! The whole output matrix of every randomizer, in rational arithmetic, and tests that draws have that law.

use super::*;
use crate::mechanism::Guarantee;
use crate::num::{Enclosure, Ratio};
use crate::random::{Randomness, SeededForTests};
use crate::unit::Epsilon;
use demure_testkit::fit::{Fit, chi_square};
use std::collections::BTreeMap;

type Law = BTreeMap<Report, Ratio>;

fn eps(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn exact(x: f64) -> Ratio {
    Ratio::from_f64(x).unwrap()
}

fn one() -> Ratio {
    Ratio::new(1u64, 1u64)
}

fn over(x: &Ratio, n: u64) -> Ratio {
    x.div(&Ratio::new(n, 1u64))
}

fn heads(coin: Coin) -> Ratio {
    exact(coin.p())
}

/// `Σ weight·law`.
fn mixture(parts: &[(Ratio, Law)]) -> Law {
    let mut sum = Law::new();
    for (weight, law) in parts.iter().filter(|(w, _)| !w.is_zero()) {
        for (report, p) in law {
            let entry = sum.entry(report.clone()).or_insert_with(Ratio::zero);
            *entry = entry.add(&weight.mul(p));
        }
    }
    sum
}

/// Probability p for each of `inside` together, 1 − p for each of `outside` together.
fn two_levels(p: &Ratio, inside: Vec<Report>, outside: Vec<Report>) -> Law {
    let (near, far) = (inside.len() as u64, outside.len() as u64);
    let lie = one().saturating_sub(p);
    let inside = inside.into_iter().map(|r| (r, over(p, near)));
    inside.chain(outside.into_iter().map(|r| (r, over(&lie, far)))).collect()
}

fn response_law(response: &Response, x: u32, make: impl Fn(u32) -> Report) -> Law {
    let others = (0..response.categories()).filter(|&r| r != x).map(&make).collect();
    two_levels(&exact(response.p()), vec![make(x)], others)
}

/// Independent bits, each set with its probability.
fn bits_law(set: &[Ratio]) -> Law {
    let chance = |pattern: u64| {
        set.iter().enumerate().fold(one(), |product, (i, p)| {
            let bit = pattern >> i & 1 == 1;
            product.mul(&if bit { p.clone() } else { one().saturating_sub(p) })
        })
    };
    (0..1u64 << set.len()).map(|w| (Report::Bits(vec![w]), chance(w))).collect()
}

fn unary_law(unary: &Unary, x: u32) -> Law {
    let (p, q) = unary.coins();
    let coin = |i| heads(if i == x { p } else { q });
    bits_law(&(0..unary.categories()).map(coin).collect::<Vec<_>>())
}

fn subset_law(subset: &Subset, x: u32) -> Law {
    let sets = (0..1u64 << subset.categories()).filter(|w| w.count_ones() == subset.size());
    let (inside, outside): (Vec<_>, Vec<_>) = sets.partition(|w| w >> x & 1 == 1);
    let reports = |sets: Vec<u64>| sets.into_iter().map(|w| Report::Bits(vec![w])).collect();
    two_levels(&exact(subset.support().unwrap().p()), reports(inside), reports(outside))
}

fn hadamard_law(hadamard: &Hadamard, x: u32) -> Law {
    let rows = hadamard.rows();
    let weight = Ratio::new(1u64, u64::from(rows));
    let p = exact(hadamard.support().unwrap().p());
    let row = |j| {
        let truth = Hadamard::entry(j, x);
        let law = two_levels(&p, vec![Report::Row(j, truth)], vec![Report::Row(j, !truth)]);
        (weight.clone(), law)
    };
    mixture(&(0..rows).map(row).collect::<Vec<_>>())
}

/// For a few hash functions, as if only they existed: the loss is given the function.
fn hash_law(hash: &LocalHash, x: u32) -> Law {
    let functions = [
        (0, 0),
        (1, 0),
        (0x9e37_79b9, 77),
        (0xffff_ffff, 1 << 31),
        (0x9e37_79b9_7f4a_7c15, 1 << 63),
    ];
    let weight = Ratio::new(1u64, functions.len() as u64);
    let given = |(multiplier, offset)| {
        let function = HashFunction { multiplier, offset };
        let own = hash.bucket(function, x);
        let p = exact(hash.support().unwrap().p());
        let report = |b| Report::Hashed(function, b);
        let others = (0..hash.buckets()).filter(|&b| b != own).map(report).collect();
        (weight.clone(), two_levels(&p, vec![report(own)], others))
    };
    mixture(&functions.map(given))
}

fn place_law(window: &Window, place: u32) -> Law {
    let near = place..place + window.width();
    let (inside, outside): (Vec<_>, Vec<_>) = (0..window.cells()).partition(|c| near.contains(c));
    let reports = |cells: Vec<u32>| cells.into_iter().map(Report::Cell).collect();
    two_levels(&heads(window.inside()), reports(inside), reports(outside))
}

fn sign_law(sign: &Sign, value: f64) -> Law {
    let p = exact(Response::with_epsilon(2, epsilon_of(sign.guarantee())).unwrap().p());
    let given = |s: bool| two_levels(&p, vec![Report::Sign(s)], vec![Report::Sign(!s)]);
    let up = exact(value);
    mixture(&[(one().saturating_sub(&up), given(false)), (up, given(true))])
}

fn epsilon_of(guarantee: Guarantee) -> Epsilon {
    match guarantee {
        Guarantee::Pure(epsilon) => epsilon,
        other => panic!("{other}"),
    }
}

/// The largest loss over every pair of values and every report, if the ratio is certainly at most e^ε.
fn within(laws: &[Law], epsilon: Epsilon) -> Option<f64> {
    let bits = 256 + (epsilon.get() * 2.0) as u32;
    let bound = Enclosure::exp_neg(&exact(epsilon.get()), bits).upper;
    let mut least = Ratio::new(1u64, 1u64);
    for law in laws {
        let total = law.values().fold(Ratio::zero(), |sum, p| sum.add(p));
        assert_eq!(total, one(), "a law sums to one");
        for other in laws {
            assert_eq!(law.len(), other.len(), "every report is possible for every value");
            for (report, p) in law {
                let ratio = other[report].div(p);
                if ratio.fixed(bits).0 < bound {
                    return None;
                }
                if ratio.saturating_sub(&least).is_zero() {
                    least = ratio;
                }
            }
        }
    }
    Some(-least.to_f64().ln())
}

#[track_caller]
fn worst(laws: &[Law], epsilon: Epsilon) -> f64 {
    within(laws, epsilon).expect("the loss is more than was claimed")
}

#[track_caller]
fn tight(laws: &[Law], epsilon: f64) {
    let found = worst(laws, eps(epsilon));
    assert!(found > epsilon * (1.0 - 1e-6), "{found} against {epsilon}");
    // The power twin: the same laws do not pass for 1 % less.
    assert!(within(laws, eps(0.99 * epsilon)).is_none(), "{epsilon}");
}

const EPSILONS: [f64; 6] = [1e-6, 0.1, 0.5, 1.0, 4.0, 12.0];

#[test]
fn every_randomizer_of_categories_is_private_exactly_and_tightly() {
    for e in EPSILONS {
        for k in [2, 3, 5] {
            let of = |law: &dyn Fn(u32) -> Law| (0..k).map(law).collect::<Vec<_>>();
            let response = Response::with_epsilon(k, eps(e)).unwrap();
            tight(&of(&|x| response_law(&response, x, Report::Category)), e);
            let symmetric = Unary::symmetric(k, eps(e)).unwrap();
            tight(&of(&|x| unary_law(&symmetric, x)), e);
            let optimised = Unary::optimised(k, eps(e)).unwrap();
            tight(&of(&|x| unary_law(&optimised, x)), e);
            let hadamard = Hadamard::new(k, eps(e)).unwrap();
            tight(&of(&|x| hadamard_law(&hadamard, x)), e);
            for size in 1..k {
                let subset = Subset::of_size(k, size, eps(e)).unwrap();
                tight(&of(&|x| subset_law(&subset, x)), e);
            }
            for buckets in [2, 3, 8] {
                // Narrow, and wide as for texts.
                for categories in [k, u32::MAX] {
                    let hash = LocalHash::with_buckets(categories, buckets, eps(e)).unwrap();
                    assert_eq!(hash.is_narrow(), categories == k);
                    tight(&[0, 1, categories - 1].map(|x| hash_law(&hash, x)), e);
                }
            }
        }
    }
}

#[test]
fn the_lecture_in_both_parametrisations_is_private_exactly() {
    for a in [0.01, 0.3, 0.5, 0.9] {
        for response in [Response::alpha(a).unwrap(), Response::gamma(a / 2.0).unwrap()] {
            let laws = [0, 1].map(|x| response_law(&response, x, Report::Category));
            let loss = worst(&laws, epsilon_of(response.guarantee()));
            assert!((loss - ((1.0 + a) / (1.0 - a)).ln()).abs() < 1e-12);
        }
    }
}

#[test]
fn an_epsilon_beyond_the_coins_precision_is_still_kept() {
    for e in [36.0, 45.0, 300.0] {
        for k in [2, 3] {
            let symmetric = Unary::symmetric(k, eps(e)).unwrap();
            worst(&(0..k).map(|x| unary_law(&symmetric, x)).collect::<Vec<_>>(), eps(e));
            let subset = Subset::new(k, eps(e)).unwrap();
            worst(&(0..k).map(|x| subset_law(&subset, x)).collect::<Vec<_>>(), eps(e));
        }
    }
    assert!(Unary::optimised(2, eps(1e-17)).is_err() && Subset::new(3, eps(1e-17)).is_err());
    assert!(Hadamard::new(2, eps(1e-17)).is_err() && LocalHash::new(9, eps(1e-17)).is_err());
}

/// The joint law of `count` reports of one permanent response.
fn rappor_law(rappor: &Rappor, x: u32, count: u32) -> Law {
    let permanent = Unary::symmetric(rappor.categories(), epsilon_of(rappor.forever())).unwrap();
    let keep = heads(rappor.coins().1);
    let flip = one().saturating_sub(&keep);
    let reports = |kept: u64| {
        let bit = |i: u32| if kept >> i & 1 == 1 { keep.clone() } else { flip.clone() };
        let single = bits_law(&(0..rappor.categories()).map(bit).collect::<Vec<_>>());
        (1..count).fold(single.clone(), |joint, _| {
            let pairs = joint.iter().flat_map(|(a, p)| single.iter().map(move |b| (a, p, b)));
            pairs
                .map(|(a, p, (b, q))| {
                    let (Report::Bits(a), Report::Bits(b)) = (a, b) else { panic!() };
                    (Report::Bits([a.as_slice(), b.as_slice()].concat()), p.mul(q))
                })
                .collect()
        })
    };
    let parts = unary_law(&permanent, x).into_iter().map(|(kept, p)| {
        let Report::Bits(words) = kept else { panic!() };
        (p, reports(words[0]))
    });
    mixture(&parts.collect::<Vec<_>>())
}

#[test]
fn remembered_noise_bounds_all_reports_and_the_first_more_so() {
    for (forever, first) in [(2.0, 1.0), (1.0, 0.25), (4.0, 3.9)] {
        let rappor = Rappor::new(3, eps(forever), eps(first)).unwrap();
        let laws = |count| (0..3).map(|x| rappor_law(&rappor, x, count)).collect::<Vec<_>>();
        let single = worst(&laws(1), eps(first));
        assert!(single > first * (1.0 - 1e-9), "{single} {first}");
        let pair = worst(&laws(2), eps(forever));
        assert!(pair > single && pair <= forever, "{single} {pair}");
        // RAPPOR's ε∞ = 2 ln((1−f/2)/(f/2)).
        let f = 2.0 * rappor.coins().0.tails().p();
        assert!((2.0 * ((1.0 - f / 2.0) / (f / 2.0)).ln() - forever).abs() < 1e-9);
    }
    assert!(Rappor::new(3, eps(1.0), eps(1.0)).is_err());
    assert!(Rappor::new(3, eps(1.0), eps(2.0)).is_err());
    assert!(Rappor::new(1, eps(2.0), eps(1.0)).is_err());
}

#[test]
fn many_reports_of_one_value_approach_the_permanent_loss() {
    let rappor = Rappor::new(2, eps(2.0), eps(1.5)).unwrap();
    let mut last = 0.0;
    for count in 1..=4 {
        let laws: Vec<_> = (0..2).map(|x| rappor_law(&rappor, x, count)).collect();
        let loss = worst(&laws, eps(2.0));
        assert!(loss > last);
        last = loss;
    }
    assert!(last > 1.99, "{last}");
}

#[test]
fn every_randomizer_of_numbers_is_private_exactly_and_tightly() {
    for e in EPSILONS {
        for bins in [2, 3, 7] {
            let wave = Window::square_wave(bins, eps(e)).unwrap();
            tight(&(0..bins).map(|s| place_law(&wave, s)).collect::<Vec<_>>(), e);
            // A value between two places is a mixture of theirs.
            let quarter = Ratio::new(1u64, 4u64);
            let between = |s| {
                let rest = one().saturating_sub(&quarter);
                mixture(&[(quarter.clone(), place_law(&wave, s)), (rest, place_law(&wave, s + 1))])
            };
            worst(&(0..bins - 1).map(between).collect::<Vec<_>>(), eps(e));
        }
        // The piecewise window has too many cells for a matrix; its two levels are all there is.
        let window = Window::piecewise(eps(e)).unwrap();
        let [inside, outside] = [window.inside(), window.inside().tails()].map(heads);
        let pair = [
            (Report::Cell(0), over(&inside, u64::from(window.width()))),
            (Report::Cell(1), over(&outside, u64::from(window.steps()))),
        ];
        let ratio = pair[1].1.div(&pair[0].1);
        let bound = Enclosure::exp_neg(&exact(e), 300);
        assert!(ratio.fixed(300).0 >= bound.upper);
        assert!((-ratio.to_f64().ln() / e - 1.0).abs() < 1e-6, "{e}");
        let sign = Sign::new(eps(e)).unwrap();
        tight(&[0.0, 0.3, 0.5, 1.0].map(|u| sign_law(&sign, u)), e);
    }
}

#[test]
fn windows_have_the_parameters_of_the_literature() {
    for e in [0.5, 1.0, 4.0] {
        let window = Window::piecewise(eps(e)).unwrap();
        let z = (e / 2.0).exp();
        // P[inside] = z/(z+1) and w/steps = 1/z in the continuous mechanism.
        assert!((window.inside().p() - z / (z + 1.0)).abs() < 1e-4);
        assert!((f64::from(window.width()) / f64::from(window.steps()) - 1.0 / z).abs() < 1e-4);
        let wave = Window::square_wave(1024, eps(e)).unwrap();
        let b = (e * e.exp() - e.exp() + 1.0) / (2.0 * e.exp() * (e.exp() - 1.0 - e));
        assert!((f64::from(wave.width()) / 1024.0 - 2.0 * b).abs() < 1e-3);
        assert_eq!(wave.bin(0.0).unwrap(), 0);
        assert_eq!(wave.bin(f64::INFINITY).unwrap(), 1023);
        assert!(wave.bin(f64::NAN).is_err());
        let (sign, choice) = Hybrid::new(eps(e)).unwrap().parts();
        assert!((sign.gap() - (e / 2.0).tanh()).abs() < 1e-12);
        assert_eq!(choice.is_some(), e > 0.61);
        if let Some((coin, _)) = choice {
            assert!((coin.p() - (1.0 - 1.0 / z)).abs() < 1e-12);
        }
    }
    assert!(
        (f64::from(Window::square_wave(1 << 16, eps(1e-9)).unwrap().width()) / 65536.0 - 1.0).abs()
            < 1e-4
    );
    assert!(Window::square_wave(1, eps(1.0)).is_err());
}

const DRAWS: usize = 400_000;

/// χ² of draws against a law.
fn fit(law: &Law, mut draw: impl FnMut(&mut Bits) -> Release<Report>, seed: u64) -> Fit {
    let index: BTreeMap<_, _> = law.keys().zip(0..).collect();
    let mut observed = vec![0u64; law.len()];
    let mut rng = SeededForTests::insecure(seed);
    for _ in 0..DRAWS {
        observed[index[&draw(rng.bits().unwrap()).into_value()]] += 1;
    }
    chi_square(&observed, &law.values().map(Ratio::to_f64).collect::<Vec<_>>())
}

#[test] // false alarm 1e-6 on fixed seeds: a failure is a bug, not luck
fn draws_fit_their_laws_and_the_test_has_power() {
    let check = |law: &Law, twin: &Law, seed, draw: &dyn Fn(&mut Bits) -> Release<Report>| {
        assert!(fit(law, draw, seed).accepts(), "{seed} {}", law.len());
        assert!(fit(twin, draw, seed).rejects(), "{seed} {}", law.len());
    };
    for (seed, e) in [(1, 1.0), (2, 2.5)] {
        let (a, b) = (eps(e), eps(1.05 * e));
        let make = |e| Unary::symmetric(5, e).unwrap();
        let unary = make(a);
        check(&unary_law(&unary, 3), &unary_law(&make(b), 3), seed, &|r| {
            unary.randomize(3, r).unwrap()
        });
        let make = |e| Unary::optimised(4, e).unwrap();
        let unary = make(a);
        check(&unary_law(&unary, 0), &unary_law(&make(b), 0), seed, &|r| {
            unary.randomize(0, r).unwrap()
        });
        for size in [1, 2, 4] {
            let make = |e| Subset::of_size(6, size, e).unwrap();
            let subset = make(a);
            let law = |e, x| subset_law(&make(e), x);
            check(&law(a, 2), &law(b, 2), seed, &|r| subset.randomize(2, r).unwrap());
            check(&law(a, 5), &law(b, 5), seed, &|r| subset.randomize(5, r).unwrap());
        }
        let make = |e| Hadamard::new(6, e).unwrap();
        let hadamard = make(a);
        let law = |e| hadamard_law(&make(e), 5);
        check(&law(a), &law(b), seed, &|r| hadamard.randomize(5, r).unwrap());
        let make = |e| Window::square_wave(8, e).unwrap();
        let window = make(a);
        let law = |e| place_law(&make(e), 3);
        if make(a).cells() == make(b).cells() {
            check(&law(a), &law(b), seed, &|r| window.randomize_place(3, r).unwrap());
        } else {
            assert!(fit(&law(a), |r| window.randomize_place(3, r).unwrap(), seed).accepts());
        }
        let sign = Sign::new(a).unwrap();
        let twin = Sign::new(b).unwrap();
        check(&sign_law(&sign, 0.9), &sign_law(&twin, 0.9), seed, &|r| {
            sign.randomize(0.9, r).unwrap()
        });
        let rappor = Rappor::new(3, eps(2.0 * e), a).unwrap();
        let twin = Rappor::new(3, eps(2.0 * e), b).unwrap();
        check(&rappor_law(&rappor, 1, 1), &rappor_law(&twin, 1, 1), seed, &|r| {
            let kept = rappor.permanent(1, r).unwrap().into_value();
            rappor.report(&kept, r).unwrap()
        });
    }
}

#[test]
fn piecewise_and_hybrid_draws_fit_and_the_test_has_power() {
    let (value, e) = (0.3, 2.0);
    // P[cell ≤ y] of a window, with the place rounded at random.
    let cdf = |window: &Window, y: i128| {
        let place = value * f64::from(window.steps());
        let (p, w) = (window.inside().p(), f64::from(window.width()));
        let at = |s: f64| {
            let near = (y as f64 + 1.0 - s).clamp(0.0, w);
            let far = (y as f64 + 1.0).clamp(0.0, f64::from(window.cells())) - near;
            p * near / w + (1.0 - p) * far / f64::from(window.steps())
        };
        let part = place - place.floor();
        (1.0 - part) * at(place.floor()) + part * at(place.floor() + 1.0)
    };
    let window = Window::piecewise(eps(e)).unwrap();
    let twin = Window::piecewise(eps(1.05 * e)).unwrap();
    let mut rng = SeededForTests::insecure(17);
    let bits = rng.bits().unwrap();
    let cell = |report: Report| match report {
        Report::Cell(cell) => i128::from(cell),
        other => panic!("{other:?}"),
    };
    let draws: Vec<i128> =
        (0..DRAWS).map(|_| cell(window.randomize(value, bits).unwrap().into_value())).collect();
    assert!(Fit::by_cdf(draws.iter().copied(), |y| cdf(&window, y), 64).accepts());
    assert!(Fit::by_cdf(draws.iter().copied(), |y| cdf(&twin, y), 64).rejects());
    // The hybrid: cells, signs of either kind.
    let hybrid = Hybrid::new(eps(e)).unwrap();
    let (sign, Some((coin, _))) = hybrid.parts() else { panic!() };
    let (mut cells, mut observed) = (Vec::new(), [0u64; 3]);
    for _ in 0..DRAWS {
        match hybrid.randomize(value, bits).unwrap().into_value() {
            Report::Cell(cell) => {
                observed[0] += 1;
                cells.push(i128::from(cell));
            }
            Report::Sign(sign) => observed[1 + usize::from(sign)] += 1,
            other => panic!("{other:?}"),
        }
    }
    let law = |often: f64| {
        let plus = 0.5 + 0.5 * (2.0 * value - 1.0) * sign.gap();
        [often, (1.0 - often) * (1.0 - plus), (1.0 - often) * plus]
    };
    assert!(chi_square(&observed, &law(coin.p())).accepts());
    assert!(chi_square(&observed, &law(1.05 * coin.p())).rejects());
    assert!(Fit::by_cdf(cells, |y| cdf(&window, y), 64).accepts());
    assert!(hybrid.randomize(f64::NAN, bits).is_err() && window.randomize(f64::NAN, bits).is_err());
    assert!(window.randomize(f64::INFINITY, bits).is_ok() && sign.randomize(-9.0, bits).is_ok());
}

#[test]
fn long_reports_have_no_bit_beyond_their_categories() {
    let mut rng = SeededForTests::insecure(3);
    let bits = rng.bits().unwrap();
    for k in [63u32, 64, 65, 130] {
        let unary = Unary::symmetric(k, eps(0.1)).unwrap();
        let subset = Subset::new(k, eps(0.1)).unwrap();
        let rappor = Rappor::new(k, eps(1.0), eps(0.1)).unwrap();
        for x in [0, k / 2, k - 1] {
            let kept = rappor.permanent(x, bits).unwrap().into_value();
            let reports = [
                unary.randomize(x, bits).unwrap(),
                subset.randomize(x, bits).unwrap(),
                rappor.report(&kept, bits).unwrap(),
            ];
            for (i, report) in reports.into_iter().enumerate() {
                let Report::Bits(words) = report.into_value() else { panic!() };
                assert_eq!(words.len(), k.div_ceil(64) as usize);
                assert!(k % 64 == 0 || words[words.len() - 1] >> (k % 64) == 0);
                let ones: u32 = words.iter().map(|w| w.count_ones()).sum();
                assert!(i != 1 || ones == subset.size());
            }
        }
        assert!(unary.randomize(k, bits).is_err() && subset.randomize(k, bits).is_err());
        assert!(Hadamard::new(k, eps(1.0)).unwrap().randomize(k, bits).is_err());
        assert!(LocalHash::new(k, eps(1.0)).unwrap().randomize(k, bits).is_err());
    }
}

#[test]
fn coins_by_the_word_have_their_probability() {
    for p in [0.5, 0.25, 0.269_4, 1e-3, 0.999] {
        let coin = Coin::at_most(p).unwrap();
        let mut rng = SeededForTests::insecure(8);
        let bits = rng.bits().unwrap();
        let n = 20_000;
        let heads: u64 = (0..n).map(|_| u64::from(coin.flip_64(bits).unwrap().count_ones())).sum();
        let flips = f64::from(n) * 64.0;
        let z = (heads as f64 - flips * p) / (flips * p * (1.0 - p)).sqrt();
        assert!(z.abs() < 4.9, "{p}: {z}");
    }
    for p in [0.0, 1.0, f64::NAN, -1.0, 1e-17] {
        assert!(Coin::at_most(p).is_err());
    }
}

#[test]
fn multiply_and_shift_is_strongly_universal_by_enumeration() {
    // w = 8, ℓ = 5, so categories of 4 bits: every pair of different categories.
    let (w, l) = (8u32, 5u32);
    for v in 0..16u32 {
        for other in 0..v {
            let mut joint = vec![0u32; 1 << (2 * l)];
            for a in 0..1u32 << w {
                for b in 0..1u32 << w {
                    let top = |x: u32| ((a * x + b) & 0xff) >> (w - l);
                    joint[(top(v) << l | top(other)) as usize] += 1;
                }
            }
            let each = 1 << (2 * w - 2 * l);
            assert!(joint.iter().all(|&n| n == each), "{v} {other}");
        }
    }
}

#[test]
fn hashing_supports_its_own_value_and_others_as_often_as_is_claimed() {
    for (seed, k, g, e) in
        [(1, 1024, 4, 1.0), (2, 1000, 3, 0.5), (3, 70_000, 56, 4.0), (4, 16, 5000, 9.0)]
    {
        let hash = LocalHash::with_buckets(k, g, eps(e)).unwrap();
        let support = hash.support().unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let bits = rng.bits().unwrap();
        let (x, v) = (k - 1, k / 3);
        let mut observed = [0u64; 4];
        for _ in 0..DRAWS {
            let Report::Hashed(function, y) = hash.randomize(x, bits).unwrap().into_value() else {
                panic!()
            };
            let (own, other) = (hash.bucket(function, x) == y, hash.bucket(function, v) == y);
            observed[2 * usize::from(own) + usize::from(other)] += 1;
            // The interval of sums says the same.
            let sum = function.multiplier.wrapping_mul(u64::from(v)).wrapping_add(function.offset);
            let (low, width) = hash.sums(y);
            let inside = if hash.is_narrow() {
                u64::from((sum as u32).wrapping_sub(low as u32)) < width
            } else {
                sum.wrapping_sub(low) < width
            };
            assert_eq!(inside, other);
        }
        // Given the truth, another value collides with probability Σw² = s.
        let s = 1.0 - support.gap() / hash_gap(&hash);
        let p = support.p();
        let lie = (1.0 - s) / f64::from(g - 1);
        let cells = [(1.0 - p) * (1.0 - lie), (1.0 - p) * lie, p * (1.0 - s), p * s];
        assert!((cells[1] + cells[3] - support.q()).abs() < 1e-12);
        if g < 5000 {
            let fit = chi_square(&observed, &cells);
            assert!(fit.accepts(), "{fit}");
            let p = p * 1.02;
            let twin = [(1.0 - p) * (1.0 - lie), (1.0 - p) * lie, p * (1.0 - s), p * s];
            assert!(chi_square(&observed, &twin).rejects());
        }
    }
}

fn hash_gap(hash: &LocalHash) -> f64 {
    Response::with_epsilon(hash.buckets(), epsilon_of(hash.guarantee())).unwrap().gap()
}

#[test]
fn supports_have_the_variances_of_the_literature() {
    let near = |found: f64, known: f64, relative: f64| {
        assert!((found - known).abs() <= relative * known, "{found} {known}");
    };
    for e in [0.5, 1.0, 4.0] {
        let x = f64::exp(e);
        for k in [2, 16, 1024] {
            let optimised = Unary::optimised(k, eps(e)).unwrap().support().unwrap();
            near(optimised.noise(0.0), 4.0 * x / (x - 1.0).powi(2), 1e-9);
            let symmetric = Unary::symmetric(k, eps(e)).unwrap().support().unwrap();
            let root = x.sqrt();
            near(symmetric.noise(0.0), root / (root - 1.0).powi(2), 1e-9);
            let hadamard = Hadamard::new(k, eps(e)).unwrap().support().unwrap();
            near(hadamard.noise(0.0), ((x + 1.0) / (x - 1.0)).powi(2), 1e-9);
            let hash = LocalHash::new(k, eps(e)).unwrap();
            let g = f64::from(hash.buckets());
            let known = (x + g - 1.0).powi(2) / ((x - 1.0).powi(2) * (g - 1.0));
            // The shares of 2¹⁷ among g buckets are not quite equal.
            near(hash.support().unwrap().noise(0.0), known, 1e-5);
            near(known, 4.0 * x / (x - 1.0).powi(2), 0.01);
            // Never worse than k-ary response, which is its ω = 1.
            let response = Response::with_epsilon(k, eps(e)).unwrap().support();
            near(response.noise(0.0), (f64::from(k) - 2.0 + x) / (x - 1.0).powi(2), 1e-9);
            let subset = Subset::new(k, eps(e)).unwrap().support().unwrap();
            assert!(subset.noise(0.0) <= response.noise(0.0) * (1.0 + 1e-9));
            if k > 2 {
                assert!(subset.noise(0.0) <= optimised.noise(0.0) * (1.0 + 1e-9), "{k} {e}");
            }
        }
    }
    assert!(Support::new(0.5, 0.5).is_err() && Support::new(0.5, f64::NAN).is_err());
}
