//! Log-likelihood ratios, learnt number by number.

use super::cell::Cells;
use super::feature::{Feature, MOST_VALUES};

/// `Σ_i ln(P[number i in its cell | left]/P[… | right])`, over cells learnt from runs: the best
/// thing to look at where the numbers have noise of their own, and a fair guess elsewhere. What it is worth is
/// found out on other runs.
#[derive(Clone, Debug)]
pub struct Scores(Vec<(Feature, Cells, Vec<f64>)>);

impl Scores {
    /// Learns from both sides' runs.
    pub(super) fn learn(left: &[Vec<f64>], right: &[Vec<f64>], width: usize) -> Self {
        let one = |i: usize| {
            let feature = Feature::Value(i);
            let keys = |side: &[Vec<f64>]| side.iter().map(|output| feature.key(output)).collect();
            let (left, right): (Vec<u64>, Vec<u64>) = (keys(left), keys(right));
            let cells = Cells::of(&left, &right);
            let ratios = cells.ratios(&left, &right);
            (feature, cells, ratios)
        };
        Self((0..width.min(MOST_VALUES)).map(one).collect())
    }

    /// The sum for an output.
    #[must_use]
    pub fn of(&self, output: &[f64]) -> f64 {
        let one = |(feature, cells, ratios): &(Feature, Cells, Vec<f64>)| {
            ratios.get(cells.place(feature.key(output))).copied().unwrap_or(0.0)
        };
        self.0.iter().map(one).sum()
    }
}
