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
mod tests;
