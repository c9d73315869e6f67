//! Known answers to 20 digits, brute force, and comparisons between methods.

mod sampled;

use super::*;
use crate::random::{Randomness, SeededForTests};
use crate::unit::Epsilon;

type Row = (Vec<(Component, u64)>, f64, f64);

fn gaussian(sigma: f64) -> Component {
    Component::gaussian(sigma).unwrap()
}

fn laplace(scale: f64) -> Component {
    Component::laplace(scale).unwrap()
}

fn response(epsilon: f64, choices: u32) -> Component {
    Component::response(Epsilon::new(epsilon).unwrap(), choices).unwrap()
}

fn sampled(q: f64, sigma: f64) -> Component {
    Component::poisson_gaussian(q, sigma).unwrap()
}

fn at(components: &[(Component, u64)], delta: f64) -> Interval {
    epsilon(components, Delta::new(delta).unwrap()).unwrap()
}

/// Every row's interval holds the 20-digit value and is narrow, and δ(ε) agrees.
fn check(rows: &[Row], width: f64) {
    for (components, delta, truth) in rows {
        let found = at(components, *delta);
        // The value itself is rounded to a float.
        let near = 4e-16 * truth;
        assert!(
            found.lower <= truth + near && truth - near <= found.upper,
            "{components:?} at {delta}: {found} misses {truth}"
        );
        assert!(found.relative_width() <= width, "{components:?} at {delta}: {found}");
        let back = super::delta(components, found.upper).unwrap();
        assert!(back.lower <= *delta, "{components:?}: {back} above {delta}");
        let back = super::delta(components, found.lower).unwrap();
        assert!(back.upper >= *delta, "{components:?}: {back} below {delta}");
    }
}

#[test]
fn gaussian_rows_hold_and_are_narrow() {
    let row = |sigma, k, delta, truth| (vec![(gaussian(sigma), k)], delta, truth);
    check(
        &[
            row(10.0, 10, 1e-5, 1.199_369_573_753_168_3),
            row(1.0, 10, 1e-5, 17.856_586_830_107_614),
            row(10.0, 1, 1e-9, 0.535_148_231_553_172_6),
            row(2.0, 1, 1e-9, 2.909_732_380_763_617),
            row(10.0, 10, 1e-9, 1.788_024_826_940_984_5),
            row(1.0, 10, 1e-9, 23.407_542_535_945_502),
            row(2.0, 10, 1e-9, 10.321_313_596_343_42),
            row(10.0, 1000, 1e-9, 23.407_542_535_945_502),
            row(1.0, 1000, 1e-9, 688.751_845_737_340_3),
            // Down to 10⁻¹⁶.
            row(10.0, 1000, 1e-5, 17.856_586_830_107_614),
            row(2.0, 1000, 1e-5, 191.549_201_432_711_23),
            row(10.0, 1000, 1e-11, 25.670_898_667_659_774),
            row(2.0, 1000, 1e-11, 230.198_433_070_945_57),
            row(10.0, 1000, 1e-13, 27.723_085_904_301_417),
            row(2.0, 1000, 1e-13, 240.373_883_668_986_18),
            row(10.0, 1000, 1e-14, 28.686_163_473_068_262),
            row(2.0, 1000, 1e-14, 245.151_890_408_040_25),
            row(10.0, 1000, 1e-15, 29.613_454_177_668_446),
            row(10.0, 1000, 1e-16, 30.508_628_963_273_01),
            row(2.0, 1000, 1e-16, 254.197_754_147_141_73),
        ],
        1e-11,
    );
    // Splitting a batch changes nothing.
    let split = [(gaussian(10.0), 400), (gaussian(10.0), 600)];
    assert!(at(&split, 1e-9).contains(23.407_542_535_945_502));
}

#[test]
fn laplace_and_mixture_rows_hold() {
    let mixture = vec![(laplace(20.0), 50), (gaussian(20.0), 50)];
    check(
        &[
            (vec![(laplace(1.0), 1)], 1e-9, 0.999_999_998),
            (vec![(laplace(1.0), 10)], 1e-9, 9.999_998_976_002_097),
            // The next three from the binomial mixture of Irwin–Hall laws, or a contour, 30 digits.
            (vec![(laplace(20.0), 50)], 1e-6, 1.478_830_766_408_614_8),
            (vec![(laplace(2.0), 30)], 1e-8, 14.350_311_622_571_813),
            (vec![(laplace(1.0), 100)], 1e-6, 71.546_003_659_674_9),
            (mixture.clone(), 1e-5, 1.970_665_525_231_022_8),
            (mixture, 1e-6, 2.224_794_011_879_004),
        ],
        1e-6,
    );
}

#[test]
fn lattice_rows_hold() {
    let gauss = |sigma| Component::discrete_gaussian(sigma, 1).unwrap();
    let lap = |a: f64, sens| Component::discrete_laplace(1.0 / a, sens).unwrap();
    let pure = |e: f64, d: f64| {
        Component::approximate(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap()
    };
    let hetero: Vec<(Component, u64)> =
        (1..=20).map(|i| (response(0.01 * f64::from(i), 2), 1)).collect();
    check(
        &[
            (vec![(gauss(10.0), 1)], 1e-6, 0.396_790_092_695_192_5),
            (vec![(gauss(2.0), 1)], 1e-6, 2.275_793_151_438_104),
            (vec![(gauss(1.0), 10)], 1e-6, 19.491_638_525_066_64),
            (vec![(gauss(1.0), 100)], 1e-6, 96.752_301_850_238_64),
            (vec![(gauss(2.0), 100)], 1e-6, 35.567_536_352_558_534),
            (vec![(lap(0.1, 1), 1)], 1e-6, 0.099_998_095_160_767_76),
            (vec![(lap(0.1, 2), 1)], 1e-6, 0.199_998_095_160_767_76),
            (vec![(lap(0.1, 1), 10)], 1e-6, 0.999_370_905_721_758_7),
            (vec![(lap(0.1, 2), 10)], 1e-6, 1.999_370_905_721_758_7),
            (vec![(lap(0.1, 1), 100)], 1e-6, 4.774_567_588_107_986),
            (vec![(lap(0.1, 2), 100)], 1e-6, 10.372_202_741_855_802),
            (vec![(lap(1.0, 1), 1)], 1e-6, 0.999_998_632_119_623_3),
            (vec![(lap(1.0, 2), 1)], 1e-6, 1.999_998_632_119_623_3),
            (vec![(lap(1.0, 2), 10)], 1e-6, 19.999_977_065_820_733),
            (vec![(lap(1.0, 2), 100)], 1e-6, 179.502_119_885_397_2),
            (vec![(response(11f64.ln(), 10), 1)], 1e-6, 2.397_893_454_614_899_5),
            (vec![(response(11f64.ln(), 10), 10)], 1e-6, 23.978_557_853_702_742),
            (vec![(response(3f64.ln(), 2), 1)], 1e-6, 1.098_610_955_333_887_5),
            (vec![(response(3f64.ln(), 2), 10)], 1e-6, 10.986_105_128_796_793),
            (hetero.clone(), 1e-3, 1.380_681_154_810_808_8),
            (hetero, 1e-6, 1.995_945_504_784_294_5),
            (vec![(pure(0.1, 0.0), 10)], 1e-6, 0.999_370_905_721_758_7),
            (vec![(pure(0.1, 0.0), 30)], 1e-6, 2.345_887_693_008_036_6),
            (vec![(pure(0.1, 0.0), 100)], 1e-6, 4.774_567_588_107_986),
            (vec![(pure(0.1, 1e-9), 100)], 1e-6, 4.787_723_760_811_632),
            (vec![(pure(0.1, 1e-9), 10)], 1e-6, 0.999_377_198_617_695_6),
            (vec![(pure(0.1, 1e-6), 10)], 1e-3, 0.754_239_923_869_589_6),
            (vec![(pure(0.1, 1e-6), 10)], 2e-4, 0.872_744_249_366_899_3),
            (vec![(pure(0.1, 1e-6), 30)], 2e-4, 1.752_664_127_767_099),
        ],
        1e-10,
    );
    for k in [30, 100] {
        assert_eq!(at(&[(pure(0.1, 1e-6), k)], 1e-6), Interval::INFINITE);
    }
}

#[test]
fn sampled_rows_hold_in_both_directions() {
    let steps = |k| vec![(sampled(0.01, 1.1), k)];
    check(
        &[
            // From a contour with other tilts, steps and quadrature, 30 digits.
            (steps(10_000), 1e-5, 5.192_583_445_883_157),
            (steps(100), 1e-5, 0.549_763_625_660_401_7),
            (steps(1000), 1e-5, 1.515_361_916_664_484),
            // Rare samples, 40-digit contours: rare large losses are set aside.
            (vec![(sampled(1e-4, 1.0), 1_000_000)], 1e-5, 0.459_210_006_234_117),
        ],
        1e-6,
    );
    let rare = at(&[(sampled(1e-4, 1.0), 1_000_000)], 1e-9);
    assert!(rare.contains(0.713_700_152_897_838) && rare.relative_width() < 1e-6, "{rare}");
    let one_way =
        |direction, k| epsilon_one_way(&Batch::new(&steps(k), direction).unwrap(), 1e-5).unwrap();
    let added = one_way(Direction::Add, 10_000);
    assert!(added.contains(4.806_500_065_667_172) && added.relative_width() < 1e-7, "{added}");
    let added = one_way(Direction::Add, 1000);
    assert!(added.contains(1.237_727_985_222_51), "{added}");
    // Sampled Laplace, from a lattice extrapolated to h = 0, to about 3·10⁻⁹.
    let found = at(&[(Component::poisson_laplace(0.1, 1.0).unwrap(), 10)], 1e-5);
    assert!(found.contains(1.174_207_303) && found.relative_width() < 1e-6, "{found}");
}

#[test]
fn many_steps_of_sampled_laplace_noise_are_narrow() {
    // The inversion integral in 34 digits, with tilts and steps of its own; moments by Gauss' rule of
    // order 50.
    for (q, scale, k, delta, truth) in [
        (0.1255, 0.3811, 785_008, 1.69e-12, 39_352.563_679_502_99),
        (0.1255, 0.3811, 10_000, 1.69e-12, 718.581_260_522_254),
        (0.001, 1.0, 1_000_000, 1e-8, 5.307_595_349_605_763),
        (0.01, 0.5, 100_000, 1e-8, 54.053_512_092_409_22),
    ] {
        let found = at(&[(Component::poisson_laplace(q, scale).unwrap(), k)], delta);
        assert!(found.contains(truth), "{q} {scale} {k}: {found} misses {truth}");
        assert!(found.relative_width() < 1e-9, "{q} {scale} {k}: {found}");
    }
}

#[test]
fn mixes_of_samples_and_laplace_noise_hold_the_truth() {
    // The same integral in 34 digits, up to where its terms are below 10⁻³⁴; the atoms of
    // Laplace noise make it long.
    for (sampled_part, laplace_part, delta, truth) in [
        ((1.038e-5, 10.28, 129_066), (28.33, 97), 4.085e-5, 1.186_898_126_303_474),
        ((0.03632, 9.771, 8), (44.08, 627), 5.158e-5, 2.054_284_739_910_419),
    ] {
        let ((q, sigma, k), (scale, m)) = (sampled_part, laplace_part);
        let found = at(&[(sampled(q, sigma), k), (laplace(scale), m)], delta);
        assert!(found.contains(truth), "{found} misses {truth}");
        assert!(found.relative_width() < 1e-9, "{found}");
    }
}

#[test]
fn one_sample_agrees_with_the_general_methods() {
    for component in [sampled(0.05, 1.0), Component::poisson_laplace(0.05, 0.5).unwrap()] {
        let found = at(&[(component, 1)], 1e-6);
        assert!(found.relative_width() < 1e-6, "{found}");
        for direction in [Direction::Remove, Direction::Add] {
            let batch = Batch::new(&[(component, 1)], direction).unwrap();
            let general = epsilon_one_way(&batch, 1e-6).unwrap();
            assert!(general.lower <= found.upper, "{general} {found}");
            if direction == Direction::Remove {
                assert!(general.upper >= found.lower, "{general} {found}");
            }
        }
    }
}

/// The two-sided interval of one method alone.
fn by(profile: &dyn Profile, delta: f64, tilt: &Tilt) -> Interval {
    cross(profile, delta, tilt.epsilon, tilt.spread)
}

#[test]
fn methods_agree_where_several_apply() {
    for (components, delta) in [
        (vec![(laplace(1.0), 120)], 1e-7),
        (vec![(laplace(3.0), 200), (gaussian(5.0), 3)], 1e-10),
        (vec![(response(0.3, 4), 40), (gaussian(4.0), 2)], 1e-6),
        (vec![(Component::discrete_gaussian(3.0, 2).unwrap(), 20), (gaussian(2.0), 1)], 1e-8),
        (vec![(sampled(0.2, 2.0), 60)], 1e-6),
        (vec![(sampled(0.02, 0.8), 300), (laplace(10.0), 5)], 1e-5),
    ] {
        for direction in [Direction::Remove, Direction::Add] {
            let batch = Batch::new(&components, direction).unwrap();
            let tilt = Tilt::for_delta(&batch, delta);
            let contour = by(&Contour::new(&batch, &tilt, 0.0).unwrap(), delta, &tilt);
            let h = lattice::spacing(&batch, 1e-3);
            let lattice = by(&Lattice::new(&batch, &tilt, h, 19).unwrap(), delta, &tilt);
            assert!(contour.relative_width() < 1e-7, "{components:?} {contour}");
            assert!(lattice.relative_width() < 2e-2, "{components:?} {lattice} {contour}");
            assert!(
                lattice.lower <= contour.upper && contour.lower <= lattice.upper,
                "{components:?}: {lattice} against {contour}"
            );
        }
    }
}

/// δ(ε) of responses, over all 2^k outcomes, by subsets.
fn brute_force(epsilons: &[f64], epsilon: f64) -> f64 {
    let mut outcomes = vec![(0.0f64, 1.0f64)];
    for e in epsilons {
        let truth = 1.0 / (1.0 + (-e).exp());
        outcomes = outcomes
            .iter()
            .flat_map(|&(l, p)| [(l + e, p * truth), (l - e, p * (1.0 - truth))])
            .collect();
    }
    outcomes.iter().filter(|o| o.0 > epsilon).map(|(l, p)| -p * (epsilon - l).exp_m1()).sum()
}

#[test]
fn random_heterogeneous_responses_agree_with_brute_force() {
    let mut rng = SeededForTests::insecure(11);
    let mut uniform = || (rng.bits().unwrap().word().unwrap() >> 11) as f64 / 2f64.powi(53);
    for round in 0..4 {
        let count = 14 + 2 * round; // 2¹⁴ … 2²⁰ outcomes
        let epsilons: Vec<f64> = (0..count).map(|_| 0.02 + 0.5 * uniform()).collect();
        let components: Vec<(Component, u64)> =
            epsilons.iter().map(|&e| (response(e, 2), 1)).collect();
        let delta = 10f64.powf(-2.0 - 6.0 * uniform());
        let found = at(&components, delta);
        assert!(found.relative_width() < 1e-9, "{found}");
        assert!(brute_force(&epsilons, found.upper) <= delta * (1.0 + 1e-10));
        assert!(brute_force(&epsilons, found.lower) >= delta * (1.0 - 1e-10));
        // The grid does not fit these, and still holds the truth.
        let batch = Batch::new(&components, Direction::Remove).unwrap();
        let tilt = Tilt::for_delta(&batch, delta);
        let h = lattice::spacing(&batch, 1e-5);
        let lattice = by(&Lattice::new(&batch, &tilt, h, 20).unwrap(), delta, &tilt);
        assert!(lattice.lower <= found.upper && found.lower <= lattice.upper, "{lattice} {found}");
        assert!(lattice.relative_width() < 1e-2, "{lattice} {found}");
    }
}

#[test]
fn a_broken_bound_is_caught() {
    // Chords used as the lower curve: the dots are connected and nothing lowered.
    let components = [(laplace(1.0), 10)];
    let (delta, truth) = (1e-3, at(&[(laplace(1.0), 10)], 1e-3));
    let batch = Batch::new(&components, Direction::Remove).unwrap();
    let tilt = Tilt::for_delta(&batch, delta);
    let h = lattice::spacing(&batch, 0.02);
    let honest = by(&Lattice::new(&batch, &tilt, h, 20).unwrap(), delta, &tilt);
    assert!(honest.lower <= truth.lower && truth.upper <= honest.upper);
    let broken = Lattice::new(&batch, &tilt, h, 20).unwrap().with_lower_as_upper();
    let broken = by(&broken, delta, &tilt);
    assert!(broken.lower > truth.upper, "{broken} {truth}");
    // A contour cut too early, its rest forgotten.
    let components = [(gaussian(1.0), 10)];
    let batch = Batch::new(&components, Direction::Remove).unwrap();
    let tilt = Tilt::for_delta(&batch, 1e-9);
    let cut = Contour::new(&batch, &tilt, 0.0).unwrap().cut_short(5);
    let broken = by(&cut, 1e-9, &tilt);
    assert!(!broken.contains(23.407_542_535_945_502), "{broken}");
}

#[test]
fn special_values() {
    assert_eq!(at(&[], 1e-6), Interval::new(0.0, 0.0));
    assert_eq!(at(&[(gaussian(1.0), 0)], 1e-6), Interval::new(0.0, 0.0));
    assert_eq!(at(&[(gaussian(1.0), 1)], 0.0), Interval::INFINITE);
    let pure = at(&[(laplace(2.0), 7), (response(0.25, 3), 2)], 0.0);
    assert!(pure.contains(4.0) && pure.relative_width() < 1e-11);
    // A loss far below what a logarithm is off by: 5·ln(1 + q(e^(1/b) − 1)), 40 digits.
    let faint = at(&[(Component::poisson_laplace(1e-9, 1000.0).unwrap(), 5)], 0.0);
    assert!(faint.contains(5.002_500_833_539_206e-12), "{faint}");
    // δ so large that ε = 0 is enough, and δ near it.
    assert_eq!(at(&[(gaussian(10.0), 1)], 0.5), Interval::new(0.0, 0.0));
    let tiny = at(&[(gaussian(10.0), 1)], 0.039);
    assert!(tiny.lower > 0.0 && tiny.upper < 0.01 && tiny.relative_width() < 1e-9, "{tiny}");
    // Far below the usual range of floats.
    let deep = at(&[(gaussian(5.0), 30), (laplace(4.0), 300)], 1e-30);
    assert!(deep.relative_width() < 1e-9, "{deep}");
    // Almost at the largest loss, with one law a thousand times finer than the other.
    let fine = Component::poisson_laplace(0.0137, 27.2).unwrap();
    let near = at(&[(response(1.335, 2), 3), (fine, 36)], 6e-10);
    assert!(near.relative_width() < 1e-6 && near.upper < 4.024, "{near}");
    assert!(delta(&[], f64::NAN).is_err() && delta(&[], -1.0).is_err());
    assert_eq!(delta(&[(laplace(1.0), 3)], 3.5).unwrap(), Interval::new(0.0, 0.0));
    assert!(epsilon(&[(gaussian(1.0), u64::MAX)], Delta::new(1e-6).unwrap()).is_err());
}

#[test]
fn no_delta_below_the_floats_is_certified() {
    // δ(ε) by mixing the binomial of the responses with the Gaussian's own curve, 60 digits:
    // the ε of each δ. Once e^(κ−s₀ε) underflowed and every ε passed.
    let batch = vec![(gaussian(1.0), 1), (response(0.3, 2), 5)];
    let deep = [
        (1e-280, 37.605_003_690_911_06),
        (1e-299, 38.811_456_269_932_78),
        (1e-303, 39.060_456_552_267_46),
        (1e-308, 39.369_380_374_502_61),
        (1e-320, 40.100_607_565_064_91),
    ];
    for (delta, truth) in deep {
        match epsilon(&batch, Delta::new(delta).unwrap()) {
            Ok(found) => assert!(found.contains(truth) && found.relative_width() < 1e-9, "{found}"),
            Err(refused) => assert!(refused == LOST && delta < REFUSED, "{delta}: {refused}"),
        }
    }
    // The profiles themselves claim nothing there either.
    let batch = Batch::new(&batch, Direction::Remove).unwrap();
    let tilt = Tilt::for_delta(&batch, 1e-308);
    let contour = Contour::new(&batch, &tilt, 0.0).unwrap();
    let lattice = Lattice::new(&batch, &tilt, lattice::spacing(&batch, 1e-3), 20).unwrap();
    for profile in [&contour as &dyn Profile, &lattice] {
        for epsilon in [39.3425, 45.0, 60.0] {
            assert!(profile.delta(epsilon).1 >= 2.7e-308 && profile.delta(epsilon).0 <= 2.8e-308);
        }
    }
}

#[test]
fn a_tilt_too_large_for_its_logarithms_promises_no_decay() {
    let law = |sigma: f64| law::Law::SampledGaussian {
        q: 0.01,
        sigma,
        direction: Direction::Remove,
        cut: f64::INFINITY,
    };
    assert!(matches!(law(1.0).decay(20.0), decay::Decay::Density { .. }));
    // Here (z₀+1)·ln r alone is off by more than the 10⁻⁶ that the bound allows for.
    assert!(matches!(law(1e6).decay(1e9), decay::Decay::None));
    assert!(matches!(law(1e4).decay(3e8), decay::Decay::None));
}

#[test]
fn epsilon_grows_with_the_batch_and_falls_with_delta() {
    let mut last = 0.0;
    for k in [1, 2, 5, 20, 100, 1000] {
        let found = at(&[(laplace(5.0), k)], 1e-6);
        assert!(found.relative_width() < 1e-6 && found.lower >= last, "{k} {found}");
        last = found.lower;
    }
    let mut last = f64::INFINITY;
    for delta in [1e-14, 1e-10, 1e-6, 1e-3, 1e-1] {
        let found = at(&[(laplace(5.0), 40)], delta);
        assert!(found.relative_width() < 1e-6 && found.upper <= last, "{delta} {found}");
        last = found.upper;
    }
}

#[test]
fn estimates_are_near() {
    for (components, delta) in [
        (vec![(gaussian(1.0), 1000)], 1e-9),
        (vec![(laplace(1.0), 100)], 1e-6),
        (vec![(sampled(0.01, 1.1), 10_000)], 1e-5),
    ] {
        let truth = at(&components, delta).upper;
        let estimate = estimate_epsilon(&components, Delta::new(delta).unwrap()).unwrap();
        assert!((estimate / truth - 1.0).abs() < 0.01, "{estimate} {truth}");
        let back = estimate_delta(&components, truth).unwrap();
        assert!((back / delta).ln().abs() < 0.2, "{back} {delta}");
    }
}
