//! Degrees in order, made consistent after the noise.

use crate::error::Result;
use crate::graph::Graph;
use demure_core::mechanism::{Geometric, Guarantee, Release};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Epsilon, L1, Sensitivity};
use demure_core::utility::Accuracy;

/// The degrees of all vertices, rising, each with two-sided geometric noise of scale 2/ε; then the closest rising
/// sequence between 0 and n−1 (constrained inference).
///
/// # Guarantee
/// ε-DP for adding or removing an edge.
/// # Proof
/// An edge changes two degrees by 1: the vector of degrees moves by 2 in ℓ₁. Sorting moves no two vectors apart in ℓ₁, so the
/// sorted one moves by at most 2 as well: the geometric mechanism with Δ₁ = 2. What comes after is post-processing. ∎
/// # Special values
/// n is public. A graph without vertices has an empty sequence.
/// # References
/// Hay, Li, Miklau, Jensen 2009 (ICDM).
#[derive(Clone, Debug)]
pub struct DegreeSequence {
    noise: Geometric,
}

impl DegreeSequence {
    /// Calibrates the noise.
    pub fn new(epsilon: Epsilon) -> Result<Self> {
        Ok(Self { noise: Geometric::new(epsilon, Sensitivity::<L1>::new(2.0)?)? })
    }

    /// What a release promises.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.noise.guarantee()
    }

    /// The error that no degree in order, of n, exceeds but with probability β.
    ///
    /// # Proof
    /// Going to the closest rising sequence moves no two vectors apart at their worst place, and the truth is rising; so the
    /// largest error is at most that of the noise, which a union over the n degrees bounds. ∎
    pub fn error(&self, n: u32, beta: Beta) -> Result<f64> {
        Ok(self.noise.error(Beta::new(beta.get() / f64::from(n.max(1)))?)?)
    }

    /// The degrees, rising, with fractions.
    pub fn release(&self, graph: &Graph, rng: &mut dyn Randomness) -> Result<Release<Vec<f64>>> {
        let rising: Vec<i128> =
            (0..graph.vertices()).rev().map(|v| i128::from(graph.degree(v))).collect();
        Ok(self.noise.release_vector(&rising, rng)?.map(consistent))
    }

    /// How many vertices have each degree, from 0 on: the released sequence, rounded and counted.
    pub fn release_histogram(
        &self,
        graph: &Graph,
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<u64>>> {
        Ok(self.release(graph, rng)?.map(histogram))
    }
}

/// The closest rising sequence in least squares, by pooling adjacent violators, within `[0, n−1]`.
fn consistent(noised: Vec<i128>) -> Vec<f64> {
    let most = noised.len().saturating_sub(1) as f64;
    // Blocks of (sum, length) with rising means.
    let mut blocks: Vec<(f64, u64)> = Vec::new();
    for value in noised {
        let mut block = (value as f64, 1);
        while let Some(&(sum, length)) = blocks.last() {
            if sum * block.1 as f64 <= block.0 * length as f64 {
                break;
            }
            block = (block.0 + sum, block.1 + length);
            blocks.pop();
        }
        blocks.push(block);
    }
    let spread = |(sum, length): (f64, u64)| {
        std::iter::repeat_n((sum / length as f64).clamp(0.0, most), length as usize)
    };
    blocks.into_iter().flat_map(spread).collect()
}

fn histogram(degrees: Vec<f64>) -> Vec<u64> {
    let mut counts = vec![0; degrees.last().map_or(0, |d| d.round() as usize + 1)];
    for degree in degrees {
        if let Some(count) = counts.get_mut(degree.round() as usize) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests;
