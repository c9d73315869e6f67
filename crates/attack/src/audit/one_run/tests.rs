use super::*;
use demure_core::random::SeededForTests;

fn of(m: u64, r: u64, v: u64) -> Guesses {
    Guesses { canaries: m, made: r, right: v }
}

/// The bound as Steinke, Nasr and Jagielski state it.
fn published(guesses: Guesses, epsilon: f64, delta: f64) -> f64 {
    let law = Binomial::new(guesses.made, epsilon);
    let (mut sum, mut alpha) = (0.0, 0.0f64);
    for i in 1..=guesses.right {
        sum += law.at(guesses.right - i);
        alpha = alpha.max(sum / i as f64);
    }
    law.tail(guesses.right) + alpha * delta * 2.0 * guesses.canaries as f64
}

#[test]
fn p_values_are_known_and_where_they_matter_never_above_the_published_ones() {
    // P[Bin(10, ½) ≥ 8] = 56/1024; at ε = ln 3, P[Bin(4, ¾) ≥ 4] = 81/256.
    assert!((of(10, 10, 8).p_value(0.0, 0.0) - 56.0 / 1024.0).abs() < 1e-9);
    assert!((of(4, 4, 4).p_value(3f64.ln(), 0.0) - 81.0 / 256.0).abs() < 1e-9);
    assert_eq!(of(10, 10, 0).p_value(1.0, 0.0), 1.0);
    for (m, r) in [(10, 10), (100, 60), (1000, 1000), (1000, 100), (5000, 3000)] {
        for epsilon in [0.0, 0.5, 1.0, 4.0] {
            for right in [1, r / 2, r * 3 / 4, r * 9 / 10, r] {
                for delta in [0.0, 1e-9, 1e-5, 1e-3] {
                    let guesses = of(m, r, right);
                    if guesses.p_value(epsilon, 0.0) > 0.5 {
                        continue;
                    }
                    let ours = guesses.p_value(epsilon, delta);
                    let theirs = published(guesses, epsilon, delta).min(1.0);
                    assert!(ours <= theirs * (1.0 + 1e-8), "{guesses:?} {epsilon} {delta}");
                }
            }
        }
    }
}

/// A channel from all inputs of m bits to `outputs`: rows of probabilities.
type Channel = Vec<Vec<f64>>;

/// δ at ε by brute force over all pairs of neighbours.
fn delta(channel: &Channel, m: usize, epsilon: f64) -> f64 {
    let excess = |s: usize, t: usize| -> f64 {
        channel[s].iter().zip(&channel[t]).map(|(a, b)| (a - epsilon.exp() * b).max(0.0)).sum()
    };
    let pairs = (0..1usize << m).flat_map(|s| (0..m).map(move |i| (s, s ^ (1 << i))));
    pairs.map(|(s, t)| excess(s, t)).fold(0.0, f64::max)
}

/// P[at least v right], for the guess of each output that makes it largest among all
/// guesses of r coordinates.
fn power(channel: &Channel, m: usize, r: usize, v: u32) -> f64 {
    let inputs = 1usize << m;
    let one = |y: usize| {
        let masks = (0..inputs).filter(|mask| mask.count_ones() as usize == r);
        let guesses = masks.flat_map(|mask| (0..inputs).map(move |guess| (mask, guess)));
        let shown = |(mask, guess): (usize, usize)| -> f64 {
            let right = |s: &usize| (!(s ^ guess) & mask).count_ones() >= v;
            (0..inputs).filter(right).map(|s| channel[s][y]).sum::<f64>() / inputs as f64
        };
        guesses.map(shown).fold(0.0, f64::max)
    };
    (0..channel[0].len()).map(one).sum()
}

#[test]
fn randomized_response_attains_the_bound() {
    let (m, epsilon) = (5usize, 1.2f64);
    let q = 1.0 / (1.0 + (-epsilon).exp());
    let row = |s: usize| -> Vec<f64> {
        let lies = |y: usize| (s ^ y).count_ones() as i32;
        (0..32usize).map(|y| q.powi(5 - lies(y)) * (1.0 - q).powi(lies(y))).collect()
    };
    let channel: Channel = (0..32).map(row).collect();
    assert!(delta(&channel, m, epsilon) < 1e-12);
    for (r, v) in [(5, 3), (5, 5), (3, 3), (4, 2)] {
        let bound = of(5, r as u64, v.into()).p_value(epsilon, 0.0);
        let shown = power(&channel, m, r, v);
        assert!((shown - bound).abs() < 1e-7, "{r} {v}: {shown} {bound}");
    }
}

#[test]
fn the_term_of_delta_is_attained_too() {
    // Outputs of which at least v bits are right are made likelier by a factor.
    let (m, epsilon, v) = (6usize, 1.0f64, 5u32);
    let q = 1.0 / (1.0 + (-epsilon).exp());
    for eta in [0.001, 0.01, 0.1] {
        let row = |s: usize| -> Vec<f64> {
            let weight = |y: usize| {
                let lies = (s ^ y).count_ones();
                let plain = q.powi(m as i32 - lies as i32) * (1.0 - q).powi(lies as i32);
                if m as u32 - lies >= v { plain * (1.0 + eta) } else { plain }
            };
            let weights: Vec<f64> = (0..1 << m).map(weight).collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|w| w / total).collect()
        };
        let channel: Channel = (0..1 << m).map(row).collect();
        let delta = delta(&channel, m, epsilon);
        let bound = of(m as u64, m as u64, v.into()).p_value(epsilon, delta);
        let plain = of(m as u64, m as u64, v.into()).p_value(epsilon, 0.0);
        let shown = power(&channel, m, m, v);
        assert!(shown <= bound * (1.0 + 1e-9), "{eta}: {shown} {bound}");
        // Of what the term allows, most is really there.
        let there = (shown - plain) / (bound - plain);
        assert!(there > 0.85, "{eta}: {there}");
    }
}

#[test]
fn the_published_term_is_too_small_far_below_the_mean() {
    let m = 6usize;
    let row = |s: usize| -> Vec<f64> {
        let weights: Vec<f64> =
            (0..1 << m).map(|y| if s ^ y == (1 << m) - 1 { 1.0 } else { 1.1 }).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    };
    let channel: Channel = (0..1 << m).map(row).collect();
    let delta = delta(&channel, m, 0.0);
    // The guess is the output itself.
    let shown = 1.0 - channel[0][(1 << m) - 1];
    let guesses = of(m as u64, m as u64, 1);
    assert!(shown > published(guesses, 0.0, delta));
    assert!(shown <= guesses.p_value(0.0, delta));
}

#[test]
fn no_random_channel_beats_the_bound() {
    let mut rng = SeededForTests::insecure(1);
    let mut uniform = || uniform_below(1 << 40, &mut rng).unwrap() as f64 / (1u64 << 40) as f64;
    let m = 3;
    for round in 0..60 {
        let sharp = f64::from(round % 6);
        let channel: Channel = (0..8)
            .map(|_| {
                let weights: Vec<f64> = (0..4).map(|_| uniform().powf(sharp) + 1e-3).collect();
                let total: f64 = weights.iter().sum();
                weights.iter().map(|w| w / total).collect()
            })
            .collect();
        for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let delta = delta(&channel, m, epsilon);
            for (r, v) in [(3, 2), (3, 3), (2, 2), (1, 1)] {
                let bound = of(3, r as u64, v.into()).p_value(epsilon, delta);
                let shown = power(&channel, m, r, v);
                assert!(shown <= bound + 1e-9, "{round} {epsilon} {r} {v}: {shown} {bound}");
            }
        }
    }
}

#[test]
fn ten_thousand_canaries_show_most_of_epsilon() {
    let right = (10_000.0 / (1.0 + (-1f64).exp())) as u64;
    let shown = of(10_000, 10_000, right).epsilon_lower(0.0, 0.05);
    assert!((0.95..1.0).contains(&shown), "{shown}"); // 0.96 is known
    let strict = of(10_000, 10_000, right).epsilon_lower(0.0, 1e-6);
    assert!((0.85..shown).contains(&strict), "{strict}");
    assert!(of(10_000, 10_000, right).epsilon_lower(1e-9, 1e-6) > strict - 0.01);
    assert_eq!(of(10, 10, 5).epsilon_lower(0.0, 0.05), 0.0);
    assert_eq!(of(10, 10, 10).epsilon_lower(0.9, 1e-6), 0.0);
}

#[test]
fn scores_are_guessed_from_both_ends() {
    let included = [true, false, true, false, true];
    let guesses = Guesses::by_scores(&included, &[0.9, 0.1, 0.8, 0.2, 0.5], 4);
    assert_eq!(guesses, of(5, 4, 4));
    assert_eq!(Guesses::by_scores(&included, &[0.1, 0.9, 0.2, 0.8, 0.5], 4), of(5, 4, 0));
}
