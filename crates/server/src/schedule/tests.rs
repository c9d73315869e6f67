use super::*;
use demure_core::random::SeededForTests;
use demure_testkit::fit::Fit;

const MS: Duration = Duration::from_millis(1);

fn reads(rows: u64) -> Reads {
    Reads { rows }
}

#[test]
fn steps_depend_on_declared_rows_alone() {
    for (rows, expected) in [
        (0, 100),
        (1_000, 100),
        (500_000, 100),
        (1_000_000, 100),
        (1_000_001, 200),
        (3_000_000, 400),
        (4_000_000, 400),
        (64_000_000, 6_400),
        (65_000_000, 6_400),
        (u64::MAX, 6_400),
    ] {
        assert_eq!(step(100 * MS, reads(rows)), expected * MS, "{rows}");
    }
}

#[test]
fn moments_are_points_of_the_grid_and_never_early() {
    let timing = TimingPolicy { schedule: true, step: 100 * MS, new_queries_per_minute: None };
    let schedule = Schedule::new(&timing);
    for worked in (0..400).map(|i| Duration::from_micros(i * 977)) {
        let moment = schedule.moment(reads(1_000_000), worked).unwrap();
        assert_eq!(moment.as_micros() % 100_000, 0);
        assert!(moment >= worked && moment <= worked + 200 * MS, "{worked:?} {moment:?}");
        assert!(moment >= 100 * MS);
    }
    let off = Schedule::new(&TimingPolicy { schedule: false, ..timing });
    assert_eq!(off.moment(reads(1_000_000), MS), None);
}

#[test]
fn points_are_reached_from_below() {
    let point = |worked: u64, delay: u64| {
        let (worked, delay) = (Duration::from_nanos(worked), Duration::from_micros(delay));
        next_point(100 * MS, worked, delay).as_millis()
    };
    assert_eq!(point(0, 0), 100);
    assert_eq!(point(60_000_000, 40_000), 100);
    assert_eq!(point(60_000_001, 40_000), 200, "a nanosecond counts as a microsecond");
    assert_eq!(point(60_001_000, 40_000), 200);
    assert_eq!(point(59_999_999_999, 0), 60_000);
}

/// The cumulative distribution function that the proof speaks of: a discrete Gaussian of parameter
/// `sigma`, cut at ±half, moved by half.
fn cdf(sigma: f64, half: i128) -> impl Fn(i128) -> f64 {
    let weight = move |z: i128| (-(z as f64).powi(2) / (2.0 * sigma * sigma)).exp();
    let mut below = Vec::new();
    let mut sum = 0.0;
    for z in -half..=half {
        sum += weight(z);
        below.push(sum);
    }
    move |k: i128| match usize::try_from(k) {
        Err(_) => 0.0,
        Ok(k) => below.get(k).map_or(1.0, |so_far| so_far / sum),
    }
}

#[test] // false alarm 1e-6 on a fixed seed: a failure is a bug, not luck
fn delays_fit_their_distribution_and_the_test_has_power() {
    let mut random = SeededForTests::insecure(16);
    let delay = Delay::new(50_000).unwrap();
    let drawn: Vec<i128> = (0..200_000)
        .map(|_| i128::try_from(delay.draw(&mut random).unwrap().as_micros()).unwrap())
        .collect();
    let fit = |sigma: f64| Fit::by_cdf(drawn.iter().copied(), cdf(sigma, 25_000), 64);
    let right = fit(6_250.0);
    assert!(right.accepts(), "{right}");
    let wrong = fit(6_250.0 * 1.05);
    assert!(wrong.rejects(), "{wrong}");
}

/// The cumulative distribution function of a standard Gaussian, by a series (Marsaglia, 2004).
fn phi(x: f64) -> f64 {
    let (mut term, mut sum, mut i) = (x, x, 1.0);
    while sum + term != sum {
        i += 2.0;
        term *= x * x / i;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x - 0.918_938_533_204_672_8).exp()
}

#[test]
fn the_stated_influence_is_the_true_one() {
    // The total variation between delays that are apart by Δt, summed up, against the formula.
    let (step, half) = (50_000i128, 25_000i128);
    let sigma = step as f64 / 8.0;
    let distribution = cdf(sigma, half);
    let mass = |k: i128| distribution(k) - distribution(k - 1);
    for apart in [50i128, 500, 2_500, 12_500] {
        let far: f64 =
            (-step..=2 * step).map(|k| (mass(k) - mass(k - apart)).abs()).sum::<f64>() / 2.0;
        let within = 1.0 - 2.0 * phi(-4.0);
        let stated = (2.0 * phi(apart as f64 / (2.0 * sigma)) - 1.0) / within;
        // Between the points of a microsecond the sum and the integral differ by less than this.
        assert!(far <= stated * (1.0 + 1e-3), "{apart}: {far} {stated}");
        assert!(far >= stated * 0.99, "{apart}: {far} {stated}");
        assert!(stated < 3.2 * apart as f64 / step as f64);
        // The mass where the other never leads.
        let alone = distribution(apart - 1);
        let stated = (phi(apart as f64 / sigma - 4.0) - phi(-4.0)) / within;
        assert!((alone / stated - 1.0).abs() < 1e-2, "{apart}: {alone} {stated}");
        assert!(apart > step / 80 || stated < 0.0016 * apart as f64 / step as f64);
    }
}

#[test]
fn time_is_up_half_a_step_after_the_next_point() {
    for (within, over) in [(0, 150), (1, 150), (100, 150), (101, 250), (60_000, 60_050)] {
        assert_eq!(patience(100 * MS, within * MS), over * MS, "{within}");
    }
}
