//! Membership: was this person among those whose averages were published?
//!
//! Published are the shares q̂₁ … q̂_d of n people who have each of d attributes. The attacker knows a
//! person's row y and how common the attributes are elsewhere, p, and asks whether q̂ leans towards
//! y more than p does.
//!
//! # How well it works
//! With the normalized inner product `T = Σ (yⱼ−pⱼ)(q̂ⱼ−pⱼ)/(pⱼ(1−pⱼ))`, a member's T exceeds an
//! outsider's by d/n, and both have variance about `Σ (1/n + τⱼ²/(pⱼ(1−pⱼ)))` where τ is the noise on
//! q̂. So the two are `s = (d/n)/√(d/n + Σ τⱼ²/(pⱼ(1−pⱼ)))` standard deviations apart, √(d/n) without
//! noise, and the area under the curve of true against false alarms is `Φ(s/√2)`.
//!
//! # Proof
//! Outsiders: y is independent of q̂, so `E T = 0` and `Var T = Σ E(q̂−p)²/(p(1−p))`, with
//! `E(q̂−p)² = p(1−p)/n + τ²`. Members: q̂ holds y/n besides the others, which adds
//! `Σ (y−p)²/(n·p(1−p))`, of mean d/n and variance of order d/n², less than the rest by 1/n. By the
//! central limit theorem both are about normal, and `P[T_in > T_out] = Φ(s/√2)`. ∎
//!
//! Under a budget ε split over d counts, τ = √2·d/(ε·n), and s falls as 1/√d: asking for
//! more is asking for less.
//!
//! # References
//! Homer et al. 2008 (PLoS Genetics 4:e1000167); Sankararaman et al. 2009 (Nature Genetics 41:965);
//! Dwork et al. 2015 (FOCS, "Robust traceability from trace amounts").

use crate::draws::Draws;
use crate::error::{Error, Result};
use crate::normal::normal;

/// How common each of d attributes is.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    frequencies: Vec<f64>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// `Σ (y−p)(q̂−p)/(p(1−p))`: the best among sums that are linear in q̂, and robust to noise.
    InnerProduct,
    /// `Σ |y−p| − |y−q̂|`, as Homer et al. did.
    Distance,
    /// `Σ y·ln(q̂/p) + (1−y)·ln((1−q̂)/(1−p))`, as Sankararaman et al. did; best without noise.
    LikelihoodRatio,
}

impl Population {
    /// Attributes with these frequencies, each strictly between 0 and 1.
    pub fn new(frequencies: Vec<f64>) -> Result<Self> {
        let inside = |p: &f64| *p > 0.0 && *p < 1.0;
        if frequencies.is_empty() || !frequencies.iter().all(inside) {
            return Err(Error::OutOfRange {
                parameter: "the frequencies",
                allowed: "at least one, each strictly between 0 and 1",
            });
        }
        Ok(Self { frequencies })
    }

    /// d attributes with frequencies between 5 and 95 %, as common genetic variants have.
    pub fn random(attributes: usize, draws: &mut Draws) -> Result<Self> {
        Self::new((0..attributes).map(|_| 0.05 + 0.9 * draws.uniform()).collect())
    }

    /// d.
    #[must_use]
    pub fn attributes(&self) -> usize {
        self.frequencies.len()
    }

    /// A person: each attribute independently.
    pub fn person(&self, draws: &mut Draws) -> Vec<bool> {
        self.frequencies.iter().map(|p| draws.uniform() < *p).collect()
    }

    /// How much the published shares lean towards a person.
    #[must_use]
    pub fn score(&self, test: Test, person: &[bool], published: &[f64]) -> f64 {
        let each = self.frequencies.iter().zip(person).zip(published);
        each.map(|((&p, &y), &q)| {
            let y = f64::from(u8::from(y));
            match test {
                Test::InnerProduct => (y - p) * (q - p) / (p * (1.0 - p)),
                Test::Distance => (y - p).abs() - (y - q).abs(),
                Test::LikelihoodRatio => {
                    // Noise may lead out of (0, 1), and a share of exactly 0 rules people out.
                    let q = q.clamp(1e-4, 1.0 - 1e-4);
                    if y > 0.5 { (q / p).ln() } else { ((1.0 - q) / (1.0 - p)).ln() }
                }
            }
        })
        .sum()
    }

    /// `Φ(s/√2)`: the area to expect from n people with noise of standard deviation `sigma` on each
    /// *count*.
    #[must_use]
    pub fn expected_area(&self, people: usize, sigma: f64) -> f64 {
        let (d, n) = (self.attributes() as f64, people as f64);
        let tau = sigma / n;
        let noise: f64 = self.frequencies.iter().map(|p| tau * tau / (p * (1.0 - p))).sum();
        let apart = (d / n) / (d / n + noise).sqrt();
        normal(apart / std::f64::consts::SQRT_2)
    }
}

/// How many people have each attribute.
#[must_use]
pub fn counts(people: &[Vec<bool>]) -> Vec<u64> {
    let d = people.first().map_or(0, Vec::len);
    let mut counts = vec![0; d];
    for person in people {
        counts.iter_mut().zip(person).for_each(|(count, has)| *count += u64::from(*has));
    }
    counts
}

/// Scores of members and of outsiders, and what can be told from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Of people who are in.
    pub members: Vec<f64>,
    /// Of people who are not.
    pub outsiders: Vec<f64>,
}

impl Scores {
    /// The share of pairs in which the member scores higher; ties count half. It is the area under
    /// the curve of true against false alarms.
    #[must_use]
    pub fn area(&self) -> f64 {
        let mut outsiders = self.outsiders.clone();
        outsiders.sort_by(f64::total_cmp);
        let below = |score: f64| {
            let less = outsiders.partition_point(|o| *o < score);
            let at_most = outsiders.partition_point(|o| *o <= score);
            0.5 * (less + at_most) as f64
        };
        let pairs = self.members.len() as f64 * outsiders.len() as f64;
        self.members.iter().map(|score| below(*score)).sum::<f64>() / pairs
    }

    /// The share of members above the threshold that at most this share of outsiders exceeds.
    #[must_use]
    pub fn true_alarms(&self, false_alarms: f64) -> f64 {
        let mut outsiders = self.outsiders.clone();
        outsiders.sort_by(|a, b| b.total_cmp(a));
        let allowed = (false_alarms * outsiders.len() as f64).floor() as usize;
        let Some(threshold) = outsiders.get(allowed) else { return 1.0 };
        let above = self.members.iter().filter(|score| *score > threshold).count();
        above as f64 / self.members.len() as f64
    }

    /// The curve of true against false alarms, at so many steps.
    #[must_use]
    pub fn curve(&self, steps: usize) -> Vec<(f64, f64)> {
        let at = |i: usize| i as f64 / steps as f64;
        (0..=steps).map(|i| (at(i), self.true_alarms(at(i)))).collect()
    }

    /// Both together.
    pub fn extend(&mut self, other: Self) {
        self.members.extend(other.members);
        self.outsiders.extend(other.outsiders);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound;
    use demure_core::mechanism::Geometric;
    use demure_core::random::SeededForTests;
    use demure_core::unit::{Delta, Epsilon, Sensitivity};

    /// Scores over releases of n people, each compared with as many outsiders.
    fn study(
        n: usize,
        d: usize,
        releases: usize,
        test: Test,
        epsilon: Option<f64>,
    ) -> (Scores, f64) {
        let mut draws = Draws::new((n * 10_000 + d) as u64);
        let mut rng = SeededForTests::insecure(8);
        let population = Population::random(d, &mut draws).unwrap();
        let mut scores = Scores::default();
        for _ in 0..releases {
            let members: Vec<_> = (0..n).map(|_| population.person(&mut draws)).collect();
            let mut published: Vec<f64> = counts(&members).iter().map(|c| *c as f64).collect();
            if let Some(epsilon) = epsilon {
                let each = Epsilon::new(epsilon / d as f64).unwrap();
                let noise = Geometric::new(each, Sensitivity::new(1.0).unwrap()).unwrap();
                for count in &mut published {
                    *count = noise.release(*count as i128, &mut rng).unwrap().into_value() as f64;
                }
            }
            published.iter_mut().for_each(|count| *count /= n as f64);
            let score = |person: &Vec<bool>| population.score(test, person, &published);
            scores.extend(Scores {
                members: members.iter().map(score).collect(),
                outsiders: (0..n).map(|_| score(&population.person(&mut draws))).collect(),
            });
        }
        let sigma = epsilon.map_or(0.0, |e| 2f64.sqrt() * d as f64 / e);
        (scores, population.expected_area(n, sigma))
    }

    #[test]
    fn exact_averages_tell_members_by_attributes_over_people() {
        for (n, d) in [(50, 50), (50, 200), (100, 25)] {
            let (scores, expected) = study(n, d, 40, Test::InnerProduct, None);
            let found = scores.area();
            // 2,000 and more of each: five standard errors of an area are at most 0.046.
            assert!((found - expected).abs() < 0.046, "{n} {d}: {found} {expected}");
        }
        // √(d/n) = 1: Φ(1/√2) = 0.760; = 2: 0.921.
        let (scores, _) = study(50, 50, 40, Test::InnerProduct, None);
        assert!((scores.area() - 0.7602).abs() < 0.046 && (scores.area() - 0.9214).abs() > 0.046);
        // Ten attributes a person: everybody is found, by all three tests.
        for test in [Test::InnerProduct, Test::Distance, Test::LikelihoodRatio] {
            let (scores, _) = study(50, 1000, 4, test, None);
            assert!(scores.area() > 0.99, "{test:?}: {}", scores.area());
            assert!(scores.true_alarms(0.01) > 0.8, "{test:?}");
        }
    }

    #[test]
    fn under_a_budget_the_alarms_stay_within_its_bound() {
        let (n, d, epsilon) = (50, 200, 1.0);
        let (scores, expected) = study(n, d, 40, Test::InnerProduct, Some(epsilon));
        let e = Epsilon::new(epsilon).unwrap();
        assert!((scores.area() - expected).abs() < 0.046);
        assert!(scores.area() < bound::area(e) && expected < bound::area(e));
        for f in [0.01, 0.1, 0.3] {
            let most = bound::true_alarms(e, Delta::ZERO, f);
            // Five standard errors of a share of 2,000.
            assert!(scores.true_alarms(f) < most + 5.0 * (most * (1.0 - most) / 2000.0).sqrt());
        }
        // The power twin: without the noise the bound is broken.
        let (exact, _) = study(n, d, 40, Test::InnerProduct, None);
        assert!(exact.area() > bound::area(e) + 0.1);
        assert!(exact.true_alarms(0.1) > bound::true_alarms(e, Delta::ZERO, 0.1) + 0.2);
    }

    #[test]
    fn areas_and_alarms_are_counted_right() {
        let scores = Scores { members: vec![3.0, 1.0, 2.0], outsiders: vec![0.0, 2.0, 1.5, -1.0] };
        // 3 beats four, 1 beats two, 2 beats three and ties with one: 9.5 of 12.
        assert!((scores.area() - 9.5 / 12.0).abs() < 1e-12);
        assert_eq!(scores.true_alarms(0.0), 1.0 / 3.0);
        assert_eq!(scores.true_alarms(0.25), 2.0 / 3.0);
        assert_eq!(scores.true_alarms(1.0), 1.0);
        assert_eq!(scores.curve(4).len(), 5);
        assert!(Population::new(vec![]).is_err() && Population::new(vec![0.0]).is_err());
    }
}
