//! Histograms whose keys are not public: which keys are released is protected too.

use super::histogram::{Budget, Contributions, Noise};
use super::{Calibration, DiscreteGaussian, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Delta, Epsilon, Neighbours, Rho};
use crate::utility::Accuracy;
use std::collections::BTreeMap;

/// The rule that releases a key if its noised count is at least T, and the probability of that.
///
/// Both are computed from one function, the margin, so that the rule and the δ that pays for
/// it cannot disagree.
#[derive(Clone, Debug)]
pub struct Threshold {
    noise: Noise,
    at: i128,
}

impl Threshold {
    /// How much `count` lacks to pass: it passes if this is 0 or less.
    fn margin(&self, count: i128) -> i128 {
        self.at.saturating_sub(count)
    }

    /// The threshold T.
    #[must_use]
    pub fn value(&self) -> i128 {
        self.at
    }

    /// Whether a key with this noised count is released.
    #[must_use]
    pub fn passes(&self, noised: i128) -> bool {
        self.margin(noised) <= 0
    }

    /// An upper bound on the probability that a key of this count is released,
    /// `P[margin(count + Z) ≤ 0] = P[Z ≥ margin(count)]`.
    pub fn chance(&self, count: u64) -> Result<f64> {
        self.noise.at_least(self.margin(i128::from(count)))
    }
}

/// Releases a histogram over keys that are not public: the keys whose noised count is at least
/// a threshold T, with that count.
///
/// Every key that occurs gets `count + Z`; keys that do not occur are never released. A unit has
/// at most m rows in each of at most g keys ([`Contributions`]).
///
/// ```
/// use demure_core::mechanism::{Contributions, ThresholdHistogram};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
/// use std::collections::BTreeMap;
///
/// // Search terms, one per person. A rare one may identify a person, and stays hidden.
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let neighbours = Neighbours::AddRemove;
/// let histogram =
///     ThresholdHistogram::laplace(epsilon, delta, neighbours, Contributions::ONE)?;
/// let counts = BTreeMap::from([("weather", 5_210), ("news", 2_904), ("my secret", 1)]);
/// println!("{:?}", histogram.release(&counts, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// (ε, δ)-DP with δ at least `g·q + δ_Z`, where `q = P[m + Z ≥ T]` is the chance of
/// a key that only one unit has, and (ε, δ_Z)-DP is the noise's own guarantee:
/// - **Laplace**: Z is two-sided geometric of scale Δ₁/ε, with Δ₁ = gm under
///   add/remove and 2gm under replace; δ_Z = 0.
/// - **Gaussian**: Z is a discrete Gaussian; half of δ is for Z.
///
/// Under replace T is also such that `q ≤ 1 − e^(−r)`, with r the loss that
/// one key's m rows account for: ε/2g (Laplace), ρ/2g (Gaussian).
/// # Proof
/// Let U be the keys that only x has, V those that only x′ has, C those of both;
/// |U|, |V| ≤ g, each of their counts is at most m (one unit's rows), and M_C, the
/// mechanism on C, is (ε, δ_Z)-DP by the noise alone. Let E_U be the event that
/// no key of U comes back. The keys are independent, and V never comes back from x:
/// `P[M(x)∈S] ≤ P[¬E_U] + P[E_U]·P[M_C(x)∈S] ≤ gq + P[M_C(x)∈S]`.
///
/// *Add/remove.* If V is empty, M(x′) = M_C(x′), and
/// `P[M_C(x)∈S] ≤ e^ε P[M(x′)∈S] + δ_Z`. If U is empty, the first line reads
/// `P[M(x)∈S] = P[M_C(x)∈S](P[E_V] + P[¬E_V]) ≤ e^ε P[M_C(x′)∈S]P[E_V] + δ_Z + gq`, and
/// the product is at most P[M(x′)∈S].
///
/// *Replace.* The keys of U and V use up loss that C then lacks: with u = |U|,
/// v = |V|, M_C has ε′ = ε − (u+v)r for the same δ_Z. (Laplace: Δ₁ is less by
/// (u+v)m. Gaussian: ρ is less by (u+v)r, and in the conversion to (ε, δ) at
/// a fixed α the same δ_Z is had at an ε less by α(u+v)r.) So
/// `P[M_C(x)∈S] ≤ e^ε′ P[M_C(x′)∈S] + δ_Z`, and `P[M_C(x′)∈S] ≤ P[M(x′)∈S]/P[E_V] ≤
/// (1−q)^−v·P[M(x′)∈S] ≤ e^(vr) P[M(x′)∈S]`; ε′ + vr ≤ ε. ∎
///
/// With continuous noise T would be `1 + ln(1/2δ)/ε` (7.4378 at ε = .5, δ = .02,
/// g = m = 1); on the integers `a^(T−1)/(1+a) ≤ δ` gives T = 8.
/// # Special values
/// A count of 0 is a key that does not occur. Keys come back in their own
/// order, which says nothing about rows.
/// # References
/// Korolova, Kenthapadi, Mishra, Ntoulas 2009 (releasing search queries), for the
/// threshold; Canonne, Kamath, Steinke 2020 (arXiv:2004.00010v5), for the Gaussian.
#[derive(Clone, Debug)]
pub struct ThresholdHistogram {
    threshold: Threshold,
    epsilon: Epsilon,
    delta: Delta,
}

impl ThresholdHistogram {
    /// Calibrates geometric noise and the least threshold for (ε, δ).
    pub fn laplace(
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
        contributions: Contributions,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let (l1, l2_squared) = contributions.sensitivity(neighbours);
        let noise = Noise::new(Budget::Pure(epsilon), l1, l2_squared)?;
        let share = share(neighbours, contributions, epsilon.get());
        let threshold = least(noise, delta.get(), share, contributions)?;
        Ok(Self { threshold, epsilon, delta })
    }

    /// Calibrates discrete Gaussian noise and the least threshold for (ε, δ), half of δ for each.
    ///
    /// One key under add/remove is one integer, whose exact δ is known; several
    /// go through zCDP.
    pub fn gaussian(
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
        contributions: Contributions,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let half = Delta::positive(delta.get() * 0.5)?;
        let (l1, l2_squared) = contributions.sensitivity(neighbours);
        let (noise, share) = if contributions.groups() == 1 && neighbours == Neighbours::AddRemove {
            let gaussian = DiscreteGaussian::new(epsilon, half, contributions.per_group())?;
            (Noise::Gaussian(gaussian), None)
        } else {
            let rho = rho_for(epsilon, half)?;
            let noise = Noise::new(Budget::Concentrated(rho), l1, l2_squared)?;
            (noise, share(neighbours, contributions, rho.get()))
        };
        let threshold = least(noise, half.get(), share, contributions)?;
        Ok(Self { threshold, epsilon, delta })
    }

    /// The rule that decides whether a key is released.
    #[must_use]
    pub fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// The noise on each count.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.threshold.noise.calibration()
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// Releases the keys whose noised count reaches the threshold, with that count.
    pub fn release<K: Ord + Clone>(
        &self,
        counts: &BTreeMap<K, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Release<BTreeMap<K, i128>>> {
        let mut table = BTreeMap::new();
        for (key, &count) in counts.iter().filter(|&(_, &count)| count > 0) {
            let noised = self.threshold.noise.add_one(i128::from(count), rng)?;
            if self.threshold.passes(noised) {
                table.insert(key.clone(), noised);
            }
        }
        Ok(Release::new(table, self.guarantee()))
    }
}

impl Accuracy for ThresholdHistogram {
    /// t with `P[a key comes back and its count is off by more than t] ≤ β`.
    ///
    /// *Given* that it came back a small count is off by more: it came back
    /// because its noise was large.
    fn error(&self, beta: Beta) -> Result<f64> {
        self.threshold.noise.error(beta)
    }
}

/// The r of the proof, rounded down; none is needed under add/remove.
fn share(neighbours: Neighbours, contributions: Contributions, loss: f64) -> Option<f64> {
    let keys = 2.0 * f64::from(contributions.groups());
    (neighbours == Neighbours::Replace).then(|| down(loss / keys))
}

/// The least T whose g·q is at most `delta` (and q small enough for `share`).
fn least(noise: Noise, delta: f64, share: Option<f64>, of: Contributions) -> Result<Threshold> {
    let lone = u64::from(of.per_group());
    let most = match share {
        Some(r) => down(1.0 - directed::exp_neg(r)?.1),
        None => 1.0,
    };
    let mut threshold = Threshold { noise, at: 0 };
    let mut affords = |margin: i128| {
        threshold.at = i128::from(lone) + margin;
        let q = threshold.chance(lone)?;
        Ok(q <= most && up(q * f64::from(of.groups())) <= delta)
    };
    // The chance falls as T rises: double, then halve.
    let (mut low, mut high) = (0i128, 1i128);
    while !affords(high)? {
        (low, high) = (high, 2 * high);
        if high > 1 << 100 {
            let what = "no threshold makes a lone key this unlikely";
            let remedy = "use a larger delta, a larger epsilon or fewer groups";
            return Err(Error::Infeasible { what, remedy });
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if affords(middle)? { high = middle } else { low = middle }
    }
    affords(high)?;
    Ok(threshold)
}

/// A ρ, rounded down, such that ρ-zCDP implies (ε, δ)-DP.
///
/// # Proof
/// ρ-zCDP has `δ ≤ e^((α−1)(αρ−ε))/(α−1)·(1−1/α)^α` for every α > 1 (Canonne,
/// Kamath, Steinke 2020, arXiv:2004.00010v5). Solved for ρ at one α: with x = α − 1,
/// `ρ = (ε + (ln δ + ln x + α·ln(α/x))/x)/α`. The α is found by search and need
/// not be the best. ∎
fn rho_for(epsilon: Epsilon, delta: Delta) -> Result<Rho> {
    let (e, d) = (epsilon.get(), delta.get());
    let value = |x: f64| (e + (d.ln() + x.ln() + (1.0 + x) * (1.0 / x).ln_1p()) / x) / (1.0 + x);
    // ρ(x) rises to its only maximum and falls: golden section in ln x.
    let (mut low, mut high) = (-20.0f64, 50.0f64);
    for _ in 0..80 {
        let (a, b) = (high - 0.618 * (high - low), low + 0.618 * (high - low));
        if value(a.exp()) < value(b.exp()) { low = a } else { high = b }
    }
    let x = low.exp();
    let alpha = up(1.0 + x); // 1 + x ≤ alpha: the divisor, and 1 + 1/x ≥ its float below
    let (log_delta, log_x) = (directed::ln(d)?.0, directed::ln(x)?.0);
    let last = down(down(1.0 + x) * directed::ln(down(1.0 + down(1.0 / x)))?.0);
    let sum = down(down(log_delta + log_x) + last);
    let rho = down(down(e + down(sum / x)) / alpha);
    Rho::new(rho).map_err(|_| Error::Infeasible {
        what: "no Gaussian noise gives so small an epsilon and delta",
        remedy: "use a larger epsilon or delta",
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Family;
    use super::*;
    use crate::random::SeededForTests;
    use Neighbours::{AddRemove, Replace};
    use demure_testkit::datasets::{
        add_or_remove_one, histogram_add_or_remove_one, histogram_replace_one, histograms,
        replace_one, rows,
    };
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::neighbours::check;

    fn epsilon(x: f64) -> Epsilon {
        Epsilon::new(x).unwrap()
    }

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    const KEYS: usize = 4;

    /// All people with at most g of four keys: a person is a set of keys.
    pub(crate) fn people(groups: u32) -> Vec<u8> {
        (0..1 << KEYS).filter(|set: &u8| set.count_ones() <= groups).collect()
    }

    pub(crate) fn neighbours_of(relation: Neighbours, x: &[u8], domain: &[u8]) -> Vec<Vec<u8>> {
        match relation {
            AddRemove => add_or_remove_one(x, domain),
            Replace => replace_one(x, domain),
        }
    }

    /// The joint law of what happens to each key, from the law of one key.
    pub(crate) fn joint(
        x: &[u8],
        m: u64,
        key: impl Fn(u64) -> Distribution<i128>,
    ) -> Distribution<Vec<i128>> {
        let mut all = Distribution::new([(Vec::new(), 1.0)]);
        for k in 0..KEYS {
            let count = m * x.iter().filter(|&&set| set >> k & 1 == 1).count() as u64;
            let push = |(mut outputs, output): (Vec<i128>, i128)| {
                outputs.push(output);
                outputs
            };
            all = all.and(&key(count)).map(push);
        }
        all
    }

    /// The law of a key: −1 if it is not released, the noised count if it is,
    /// from T + `fold` on folded into one (which is post-processing).
    fn key_law(histogram: &ThresholdHistogram, fold: i128) -> impl Fn(u64) -> Distribution<i128> {
        let (noise, threshold) = (histogram.calibration(), histogram.threshold().clone());
        let weight = move |k: i128| {
            let x = k as f64 / noise.scale;
            if noise.family == Family::Gaussian { (-0.5 * x * x).exp() } else { (-x.abs()).exp() }
        };
        let norm: f64 = (-600..=600).map(weight).sum();
        move |count| {
            if count == 0 {
                return Distribution::new([(-1, 1.0)]);
            }
            let most = threshold.value() + fold;
            Distribution::new((-600..=600).map(|k| {
                let noised = i128::from(count) + k;
                let output = if threshold.passes(noised) { noised.min(most) } else { -1 };
                (output, weight(k) / norm)
            }))
        }
    }

    #[test]
    fn laplace_thresholds_are_private_by_brute_force_in_both_relations() {
        for (g, m, e, d) in [(1, 1, 1.0, 0.02), (1, 2, 1.0, 0.02), (2, 1, 1.5, 0.01)] {
            let domain = people(g);
            for relation in [AddRemove, Replace] {
                let contributions = Contributions::new(g, m).unwrap();
                let run = |histogram: ThresholdHistogram, d: f64| {
                    let law = key_law(&histogram, 2);
                    let mechanism = |x: &Vec<u8>| joint(x, u64::from(m), &law);
                    let near = |x: &Vec<u8>| neighbours_of(relation, x, &domain);
                    check(mechanism, rows(&domain, 0..=2), near, e, d)
                };
                let histogram =
                    ThresholdHistogram::laplace(epsilon(e), delta(d), relation, contributions)
                        .unwrap();
                let lone = histogram.threshold().chance(u64::from(m)).unwrap();
                // The δ actually spent is the chance of any of g keys with one person: less would not be enough.
                let spent = 1.0 - (1.0 - lone).powi(g as i32);
                assert!(spent <= d && run(histogram.clone(), d).is_ok());
                assert!(run(histogram.clone(), spent * (1.0 + 1e-9)).is_ok());
                assert!(run(histogram.clone(), spent * (1.0 - 1e-9)).is_err());
                // T is the least: one less costs too much.
                let mut lower = histogram.clone();
                lower.threshold.at -= 1;
                assert!(run(lower, d).is_err());
                // The twin: an error found in a peer, with δ computed for `>` but the predicate `≥`.
                let above = histogram.threshold().chance(u64::from(m) - 1).unwrap();
                assert!(above < lone && run(histogram, f64::from(g) * above).is_err());
            }
        }
    }

    #[test]
    fn the_noise_of_add_or_remove_does_not_serve_for_replace() {
        // Larger counts, two keys: (n, n′) against (n−1, n′+1).
        let make = |relation| {
            let one = Contributions::ONE;
            ThresholdHistogram::laplace(epsilon(1.0), delta(0.01), relation, one).unwrap()
        };
        let run = |histogram: ThresholdHistogram, relation| {
            let law = key_law(&histogram, 20);
            let mechanism = |h: &Vec<u64>| law(h[0]).and(&law(h[1]));
            let near = |h: &Vec<u64>| match relation {
                AddRemove => histogram_add_or_remove_one(h),
                Replace => histogram_replace_one(h),
            };
            check(mechanism, histograms(2, 12), near, 1.0, 0.01)
        };
        assert!(run(make(AddRemove), AddRemove).is_ok() && run(make(Replace), Replace).is_ok());
        assert!(run(make(AddRemove), Replace).is_err());
    }

    #[test]
    fn gaussian_thresholds_are_private_by_brute_force_in_both_relations() {
        for relation in [AddRemove, Replace] {
            let (e, d) = (epsilon(1.5), delta(0.05));
            let make = ThresholdHistogram::gaussian(e, d, relation, Contributions::ONE).unwrap();
            let run = |histogram: &ThresholdHistogram| {
                let law = key_law(histogram, 20);
                // Two keys are enough for a move, and two people.
                let mechanism = |x: &Vec<u8>| {
                    let count = |k: u8| x.iter().filter(|&&row| row == k).count() as u64;
                    law(count(1)).and(&law(count(2)))
                };
                let near = |x: &Vec<u8>| neighbours_of(relation, x, &[0, 1, 2]);
                check(mechanism, rows(&[0, 1, 2], 0..=3), near, 1.5, 0.05)
            };
            assert!(run(&make).is_ok(), "{relation}");
            let mut lower = make.clone();
            lower.threshold.at -= 2;
            assert!(run(&lower).is_err());
        }
    }

    #[test]
    fn thresholds_have_their_known_values() {
        let one = Contributions::ONE;
        let laplace =
            |e, d| ThresholdHistogram::laplace(epsilon(e), delta(d), AddRemove, one).unwrap();
        // Continuous: 7.43775164974; a⁷/(1+a) = 0.0188 and a⁶/(1+a) = 0.031.
        assert_eq!(laplace(0.5, 0.02).threshold().value(), 8);
        for (e, d) in [(0.1, 1e-6f64), (1.0, 1e-9), (3.0, 1e-12)] {
            let continuous = 1.0 + (0.5 / d).ln() / e;
            let discrete = laplace(e, d).threshold().value() as f64;
            assert!((discrete - continuous).abs() <= 1.0 + 0.5, "{discrete} {continuous}");
        }
        // ρ that gives (ε, δ): ρ = .5 has ε = 5.221534444530169 at δ = 1e-6.
        let rho = rho_for(epsilon(5.221534444530169), delta(1e-6)).unwrap().get();
        assert!(rho <= 0.5 && rho > 0.5 - 1e-9, "{rho}");
        assert!(rho_for(epsilon(1e-9), delta(1e-9)).unwrap().get() > 0.0);
        let refused = ThresholdHistogram::laplace(epsilon(1.0), Delta::ZERO, Replace, one);
        assert!(refused.is_err());
    }

    #[test]
    fn calibrations_are_the_documented_formulas_in_both_relations() {
        let (e, d) = (epsilon(0.3), delta(1e-6));
        let half = delta(5e-7);
        let of = Contributions::new(3, 2).unwrap();
        for (relation, l1, l2) in [(AddRemove, 6.0, 12f64.sqrt()), (Replace, 12.0, 24f64.sqrt())] {
            let laplace = ThresholdHistogram::laplace(e, d, relation, of).unwrap().calibration();
            assert_eq!((laplace.family, laplace.sensitivity), (Family::Laplace, l1));
            assert!((laplace.scale * 0.3 / l1 - 1.0).abs() < 1e-15);
            let gaussian = ThresholdHistogram::gaussian(e, d, relation, of).unwrap().calibration();
            assert_eq!(gaussian.family, Family::Gaussian);
            assert!((1.0..1.0 + 1e-15).contains(&(gaussian.sensitivity / l2)));
            let sigma = l2 / (2.0 * rho_for(e, half).unwrap().get()).sqrt();
            assert!((1.0..1.0 + 1e-14).contains(&(gaussian.scale / sigma)));
        }
        let one = Contributions::new(1, 2).unwrap();
        let single = ThresholdHistogram::gaussian(e, d, AddRemove, one).unwrap().calibration();
        let sigma = DiscreteGaussian::new(e, half, 2).unwrap().sigma();
        assert_eq!((single.sensitivity, single.scale), (2.0, sigma));
    }

    #[test] // draws have the law that was checked; a threshold one lower is noticed
    fn releases_fit_their_law() {
        let one = Contributions::ONE;
        let histogram =
            ThresholdHistogram::laplace(epsilon(0.5), delta(0.02), AddRemove, one).unwrap();
        let counts: BTreeMap<u32, u64> = (0..100_000).map(|key| (key, 6)).collect();
        let mut rng = SeededForTests::insecure(8);
        let release = histogram.release(&counts, &mut rng).unwrap();
        let drawn = counts.keys().map(|key| release.value().get(key).copied().unwrap_or(-1));
        let law = key_law(&histogram, 2)(6);
        let folded: Vec<i128> = drawn.map(|y| y.min(histogram.threshold().value() + 2)).collect();
        let fit = |law: &Distribution<i128>| {
            Fit::of(folded.iter().copied(), |k| law.probability(&k), -1..=10)
        };
        assert!(fit(&law).accepts());
        let mut lower = histogram.clone();
        lower.threshold.at -= 1;
        assert!(fit(&key_law(&lower, 3)(6)).rejects());
        assert!(release.value().keys().is_sorted());
        let nothing = BTreeMap::from([("a", 0)]);
        assert!(histogram.release(&nothing, &mut rng).unwrap().value().is_empty());
    }

    #[test]
    fn a_huge_epsilon_is_answered_or_refused_at_once() {
        let one = Contributions::ONE;
        for e in [1e3, 1e5, 1e12] {
            for relation in [AddRemove, Replace] {
                let made = ThresholdHistogram::gaussian(epsilon(e), delta(1e-6), relation, one);
                assert!(made.is_ok() || e > 1e3);
            }
        }
    }
}
