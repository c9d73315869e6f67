use super::*;
use crate::draw::laplace_pmf;

fn bit(p: f64) -> Distribution<u8> {
    Distribution::new([(0, 1.0 - p), (1, p)])
}

#[track_caller]
fn near(found: f64, truth: f64) {
    assert!((found - truth).abs() < 1e-12, "found {found:e}, the truth is {truth:e}");
}

#[test]
fn hockey_stick_of_randomized_response_is_known() {
    // P = (3/4, 1/4), Q = (1/4, 3/4): δ(ε) = max(0, 3/4 − e^ε/4).
    let (p, q) = (bit(0.25), bit(0.75));
    near(p.hockey_stick(&q, 0.0), 0.5); // total variation
    near(p.hockey_stick(&q, 2f64.ln()), 0.25);
    near(p.hockey_stick(&q, 3f64.ln()), 0.0);
    near(worst_epsilon(&p, &q), 3f64.ln());
}

#[test]
fn the_two_directions_differ_and_the_worst_is_taken() {
    let (p, q) = (bit(0.0), bit(0.1));
    near(p.hockey_stick(&q, 0.5), 1.0 - 0.9 * 0.5f64.exp().min(1.0 / 0.9));
    near(q.hockey_stick(&p, 0.5), 0.1);
    near(worst_delta(&p, &q, 0.5), 0.1);
    near(p.max_divergence(&q), -(0.9f64.ln()));
    assert_eq!(q.max_divergence(&p), f64::INFINITY);
    assert_eq!(worst_epsilon(&p, &q), f64::INFINITY);
    near(q.hockey_stick(&p, f64::INFINITY), 0.1);
}

#[test]
fn hockey_stick_is_the_best_event() {
    // Against the definition, on all 2⁴ events.
    let p = Distribution::new([(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)]);
    let q = Distribution::new([(0, 0.3), (1, 0.05), (2, 0.25), (3, 0.4)]);
    for epsilon in [0.0f64, 0.1, 0.5, 1.0, 2.0] {
        let best = (0u32..16)
            .map(|event| {
                (0..4)
                    .filter(|o| event >> o & 1 == 1)
                    .map(|o| p.probability(&o) - epsilon.exp() * q.probability(&o))
                    .sum::<f64>()
            })
            .fold(0.0, f64::max);
        near(p.hockey_stick(&q, epsilon), best);
    }
}

#[test]
fn renyi_of_bits_is_known_and_grows_to_the_max_divergence() {
    let (p, q) = (bit(0.25), bit(0.75));
    // Σ p²/q = (9/16)/(1/4) + (1/16)/(3/4) = 7/3 at α = 2.
    near(p.renyi(&q, 2.0), (7f64 / 3.0).ln());
    let orders = [1.0001, 1.5, 2.0, 10.0, 1e3, 1e5].map(|alpha| p.renyi(&q, alpha));
    assert!(orders.is_sorted());
    assert!(3f64.ln() - orders[5] < 1e-5);
    // Towards α = 1, the Kullback–Leibler divergence ½ ln 3.
    assert!((orders[0] - 0.5 * 3f64.ln()).abs() < 1e-4);
    assert_eq!(q.renyi(&bit(0.0), 2.0), f64::INFINITY);
    assert_eq!(bit(0.0).renyi(&bit(0.0), 2.0), 0.0);
}

#[test]
fn renyi_of_a_gaussian_is_alpha_over_two_sigma_squared() {
    // The discrete Gaussian at integer shifts has D_α ≤ α/(2σ²), and equality up to
    // 1e-12 at σ = 3 and integer α (the normaliser's ripple is e^(−2π²σ²)).
    let sigma = 3.0;
    let weight = |k: i128| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
    let norm: f64 = (-120..=120).map(weight).sum();
    let at = |c| shifted(c, |k| weight(k) / norm, -100..=100, 1e-15);
    for alpha in [1.5, 2.0, 4.0, 8.0] {
        let divergence = at(0).renyi(&at(1), alpha);
        assert!((divergence - alpha / (2.0 * sigma * sigma)).abs() < 1e-11);
    }
}

#[test]
fn a_tail_counts_in_full() {
    let noise = |c| shifted(c, |k| laplace_pmf(1.0, k), -10..=10, 1e-4);
    let (p, q) = (noise(0), noise(1));
    near(worst_epsilon(&p, &q), 1.0);
    assert!((p.hockey_stick(&q, 1.0) - 1e-4).abs() < 1e-15);
}

#[test]
fn map_and_and_keep_the_mass() {
    let coins = bit(0.3).and(&bit(0.6));
    near(coins.probability(&(1, 1)), 0.18);
    let heads = coins.map(|(a, b)| a + b);
    near(heads.probability(&1), 0.3 * 0.4 + 0.7 * 0.6);
    near(heads.iter().map(|(_, p)| p).sum(), 1.0);
    // Independent copies add their losses.
    let pair = |p: f64| bit(p).and(&bit(p));
    near(worst_epsilon(&pair(0.25), &pair(0.75)), 2.0 * 3f64.ln());
    let tails = shifted(0, |k| laplace_pmf(1.0, k), -9..=9, 1e-4);
    near(tails.and(&tails).tail(), 2e-4);
}

#[test]
#[should_panic(expected = "sum to")]
fn missing_mass_is_refused() {
    Distribution::new([(0, 0.5), (1, 0.4)]);
}

#[test]
#[should_panic(expected = "no probability")]
fn nan_is_refused() {
    Distribution::new([(0, f64::NAN)]);
}
