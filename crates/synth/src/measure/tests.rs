use super::{Comparison, Counts, Exact, Meter, Unavailable};
use crate::budget::{Price, quanta};
use crate::error::Error;
use crate::view::{Axis, Level, View};
use demure_core::mechanism::Guarantee;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_testkit::fit::Fit;

/// Always the same counts.
struct Fixed(Vec<i64>);

impl Counts for Fixed {
    fn histogram(&self, _: &View) -> Result<Exact, Unavailable> {
        Ok(Exact::new(self.0.clone()))
    }
}

/// Cannot be read.
struct Broken;

impl Counts for Broken {
    fn histogram(&self, _: &View) -> Result<Exact, Unavailable> {
        Err(Unavailable)
    }
}

fn price(epsilon: f64) -> Price {
    let guarantee =
        Guarantee::Approximate(Epsilon::new(epsilon).unwrap(), Delta::new(1e-9).unwrap());
    Price::new(guarantee, Neighbours::AddRemove).unwrap()
}

fn view(cells: usize) -> View {
    View::new(vec![Axis::new(0, &Level::full(cells))])
}

/// Φ, by the complementary error function's continued fraction and series.
fn phi(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut k = 1.0;
    while term.abs() > 1e-17 * sum.abs() && k < 2000.0 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    let tail = 0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    tail.clamp(0.0, 1.0)
}

#[test]
fn a_histogram_has_the_noise_that_its_share_buys() {
    let (price, cells) = (price(1.0), 50_000);
    let counts = Fixed(vec![1000; cells]);
    let (mut rng, mut nobody) = (SeededForTests::insecure(1), ());
    let mut meter = Meter::new(&counts, &price, &mut rng, &mut nobody, 1);
    let noised = meter.histogram(&view(cells), quanta(0.25)).unwrap();
    // A quarter of the budget: σ = 1/(μ√¼).
    let sigma = 2.0 / price.mu();
    assert!((noised.variance() - sigma * sigma - 1.0 / 12.0).abs() < 1e-9 * sigma * sigma);
    let samples: Vec<i128> = noised.counts().iter().map(|count| *count as i128 - 1000).collect();
    assert!(noised.counts().iter().all(|count| count.fract() == 0.0), "whole rows");
    let fit = |sigma: f64| {
        Fit::by_cdf(samples.iter().copied(), move |k| phi((k as f64 + 0.5) / sigma), 60)
    };
    assert!(fit(sigma).accepts(), "{}", fit(sigma));
    // The power twin.
    assert!(fit(1.05 * sigma).rejects());
}

#[test]
fn a_distance_has_the_noise_that_its_share_buys() {
    let price = price(1.0);
    let counts = Fixed(vec![7, 0, 0, 5]);
    let (mut rng, mut nobody) = (SeededForTests::insecure(2), ());
    let mut meter = Meter::new(&counts, &price, &mut rng, &mut nobody, 1);
    let full = |bins: u16| ((0..bins).collect::<Vec<_>>(), usize::from(bins));
    let one = ((vec![0, 0], 1), (vec![0, 0], 1));
    let comparison = || Comparison {
        view: View::new(vec![Axis::new(0, &Level::full(2)), Axis::new(1, &Level::full(2))]),
        expected: vec![3.25, 1.0, 0.0, 8.5],
        resolutions: vec![[full(2), full(2)], [one.0.clone(), one.1.clone()]],
    };
    let (mut samples, mut sigma) = (Vec::new(), 0.0);
    for _ in 0..10_000 {
        let (found, noise) = meter.distances(&[comparison(), comparison()], quanta(1e-5)).unwrap();
        sigma = noise;
        for pair in found {
            // |7 − 3.25| + 1 + 0 + |5 − 8.5| and, all in one cell, |12 − 12.75|; in units of a 16th of σ.
            samples.push(((pair[0] - 8.25) / sigma * 16.0).round() as i128);
            samples.push(((pair[1] - 0.75) / sigma * 16.0).round() as i128);
        }
    }
    // Each of the four distances has a share of 10⁻⁵.
    assert!((sigma * price.mu() * 1e-5f64.sqrt() - 1.0).abs() < 1e-6, "{sigma}");
    let fit = |scale: f64| {
        Fit::by_cdf(samples.iter().copied(), move |k| phi((k as f64 + 0.5) / scale), 60)
    };
    assert!(fit(16.0).accepts(), "{}", fit(16.0));
    assert!(fit(16.0 * 1.05).rejects());
}

#[test]
fn a_distance_is_exact_on_the_grid_whatever_the_public_table() {
    // Fractions that no float sum adds up exactly, and numbers that are none at all.
    let expected = [0.1, f64::NAN, -3.0, f64::INFINITY, 1e300, 2.0 / 3.0];
    let found: Vec<i64> = expected.iter().map(|&rows| super::steps(rows)).collect();
    assert_eq!(found[..3], [6554, 0, 0]);
    assert_eq!(found[3], super::MOST_ROWS << 16);
    assert_eq!(found[3], found[4]);
    assert_eq!(found[5], 43691);
}

#[test]
fn what_cannot_be_read_costs_all_the_same() {
    let price = price(1.0);
    let (mut rng, mut nobody) = (SeededForTests::insecure(3), ());
    let mut meter = Meter::new(&Broken, &price, &mut rng, &mut nobody, 2);
    let before = meter.left();
    assert!(matches!(meter.histogram(&view(3), 10), Err(Error::Unavailable)));
    assert_eq!(meter.left(), before - 10);
}

#[test]
fn a_wrong_number_of_cells_still_gets_noise_in_each() {
    let price = price(1.0);
    let (mut rng, mut nobody) = (SeededForTests::insecure(4), ());
    for counts in [vec![], vec![5; 100]] {
        let counts = Fixed(counts);
        let mut meter = Meter::new(&counts, &price, &mut rng, &mut nobody, 1);
        assert_eq!(meter.histogram(&view(3), quanta(0.1)).unwrap().counts().len(), 3);
    }
}
