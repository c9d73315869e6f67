//! Fits a distribution to noised histograms: the maximum a-posteriori estimate.
//!
//! The estimate minimises `τN·KL(p‖p₀) + Σ ‖N·Mp − y‖²/(2σ²)`: p₀ is the product of the one-way estimates, N the
//! estimated number of rows, y a noised histogram, M the sums that it measures. τ is small: it decides where the
//! measurements say nothing.
//!
//! Its solution is `p ∝ p₀·exp(Σ θ)` with one θ for each measured cell, where θ minimises the smooth convex
//! `D(θ) = N·log Z(θ) + Σ θ(τσ²θ/2 − y)`. Its gradient is `N·Mp − y + τσ²θ`, so what a step needs are the marginals
//! of a product of small factors: a [`Tree`] gives them.
//!
//! τσ² is at least [`FLOOR`]. Where the noise is far below one row, θ of empty cells would otherwise run off to −∞
//! until the tree's messages underflow and a column silently loses its marginal. The floor also lowers the error.

use crate::error::{Error, Result};
use crate::estimate::{Bend, Estimate, Factor};
use crate::junction::{Part, Tree, cliques};
use crate::lbfgs::{Objective, minimise};
use crate::profile::{OneWay, Profile};

/// The most cells of a junction tree.
pub(crate) const MOST_CELLS: f64 = 200_000.0;
/// The most cells if public marginals or a single large column need more than [`MOST_CELLS`].
const HARD_LIMIT: f64 = 4_000_000.0;
/// The least τσ².
const FLOOR: f64 = 1.0;
/// Steps of a fit.
const STEPS: usize = 150;
/// A fit is good enough when its log-posterior is about this far from the best, in nats.
const NATS: f64 = 0.5;
/// How much closer a fit is if it is to meet public marginals.
const PUBLIC: f64 = 1e-3;
/// An empty bin keeps the share of a quarter of a row.
const LEAST_ROWS: f64 = 0.25;
/// By how much a measurement outside the tree may change a cell at most.
const MOST_BEND: f64 = 50.0;

/// A noised or public histogram at some resolution, and its potentials.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) columns: Vec<usize>,
    pub(crate) levels: Vec<usize>,
    pub(crate) counts: Vec<f64>,
    pub(crate) variance: Vec<f64>,
    theta: Vec<f64>,
}

impl Observation {
    pub(crate) fn new(
        columns: Vec<usize>,
        levels: Vec<usize>,
        counts: Vec<f64>,
        variance: f64,
    ) -> Self {
        let cells = counts.len();
        Self { columns, levels, counts, variance: vec![variance; cells], theta: vec![0.0; cells] }
    }
}

/// What has been measured so far.
pub(crate) struct Fit {
    total: f64,
    strength: f64,
    profiles: Vec<Profile>,
    one_ways: Vec<OneWay>,
    /// The level of each column in the tree.
    resolution: Vec<usize>,
    /// The first ones are the one-way histograms at that level.
    observations: Vec<Observation>,
    outside: Vec<Observation>,
    /// Whether some observations are public.
    public: bool,
}

impl Fit {
    /// From the one-way histograms. `mu` is how well one row can be told from the noise, in standard deviations.
    pub(crate) fn new(profiles: Vec<Profile>, one_ways: Vec<OneWay>, total: f64, mu: f64) -> Self {
        let strength = 0.01 * (total * mu / 9000.0).sqrt().min(1.0);
        let mut fit = Self {
            total,
            strength,
            resolution: vec![0; profiles.len()],
            profiles,
            one_ways,
            observations: Vec::new(),
            outside: Vec::new(),
            public: false,
        };
        fit.observations = (0..fit.profiles.len()).map(|column| fit.one_way(column)).collect();
        fit
    }

    /// A column's histogram at its level in the tree.
    fn one_way(&self, column: usize) -> Observation {
        let (level, noised) = (self.resolution[column], &self.one_ways[column]);
        let bins = &self.profiles[column].levels[level];
        let codes = bins.sum(&vec![1.0; bins.codes()]);
        let counts = bins.sum(&noised.counts);
        Observation {
            variance: codes.iter().map(|codes| codes * noised.variance).collect(),
            ..Observation::new(vec![column], vec![level], counts, 0.0)
        }
    }

    /// Some observations are public: the fit is to meet them closely.
    pub(crate) fn closely(&mut self) {
        self.public = true;
    }

    /// Adds a histogram of a pair to the tree.
    pub(crate) fn add(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    /// Adds a histogram of a pair that does not fit in the tree: expected tables are bent to it.
    pub(crate) fn add_outside(&mut self, observation: Observation) {
        self.outside.push(observation);
    }

    /// The pairs in the tree.
    pub(crate) fn pairs(&self) -> Vec<(usize, usize)> {
        self.observations
            .iter()
            .filter_map(|seen| match seen.columns[..] {
                [a, b] => Some((a, b)),
                _ => None,
            })
            .collect()
    }

    /// The level of each column in the tree.
    pub(crate) fn resolution(&self) -> &[usize] {
        &self.resolution
    }

    pub(crate) fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Raises the resolution of the tree to what the pairs need; the potentials stay what they are.
    fn refine(&mut self) {
        let mut needed = self.resolution.clone();
        for seen in &self.observations {
            for (&column, &level) in seen.columns.iter().zip(&seen.levels) {
                needed[column] = needed[column].max(level);
            }
        }
        for (column, &level) in needed.iter().enumerate() {
            let levels = &self.profiles[column].levels;
            if level > self.resolution[column] {
                let down = levels[level].down_to(&levels[self.resolution[column]]);
                let old = std::mem::take(&mut self.observations[column].theta);
                self.resolution[column] = level;
                let theta = down.iter().map(|&bin| old[usize::from(bin)]).collect();
                self.observations[column] = Observation { theta, ..self.one_way(column) };
            }
        }
    }

    /// Fits the potentials, from where they are.
    pub(crate) fn estimate(&mut self) -> Result<Estimate> {
        self.refine();
        let sizes: Vec<usize> = self
            .profiles
            .iter()
            .zip(&self.resolution)
            .map(|(profile, &level)| profile.levels[level].bins)
            .collect();
        let tree = tree(&sizes, &self.pairs(), &self.parts())?;
        let mut dual = Dual::new(self, tree);
        let mut theta: Vec<f64> =
            self.observations.iter().flat_map(|seen| seen.theta.iter().copied()).collect();
        let enough = 2.0 * NATS / self.strength * if self.public { PUBLIC } else { 1.0 };
        if !minimise(&mut dual, &mut theta, STEPS, enough) {
            // Potentials that were good for a coarser tree may overflow in a finer one: begin again without any.
            theta.fill(0.0);
            if !minimise(&mut dual, &mut theta, STEPS, enough) {
                return Err(Error::Core(demure_core::Error::Precision { what: "the model" }));
            }
        }
        let Dual { tree, base, .. } = dual;
        let mut rest = &theta[..];
        for seen in &mut self.observations {
            let (own, others) = rest.split_at(seen.theta.len());
            seen.theta.copy_from_slice(own);
            rest = others;
        }
        let factors = self
            .observations
            .iter()
            .map(|seen| Factor {
                columns: seen.columns.clone(),
                levels: seen.levels.clone(),
                log: match seen.columns[..] {
                    [column] => {
                        seen.theta.iter().zip(&base[column]).map(|(t, p)| t + p.ln()).collect()
                    }
                    _ => seen.theta.clone(),
                },
            })
            .collect();
        let mut estimate = Estimate {
            total: self.total,
            profiles: self.profiles.clone(),
            resolution: self.resolution.clone(),
            sizes,
            factors,
            bends: Vec::new(),
            tree,
        };
        self.bend(&mut estimate);
        Ok(estimate)
    }

    fn parts(&self) -> Vec<Part> {
        let of = |seen: &Observation| {
            Estimate::part(&self.profiles, &self.resolution, &seen.columns, &seen.levels)
        };
        self.observations.iter().map(of).collect()
    }

    /// How far expected tables are bent to the measurements outside the tree: to the mean of the expected count h and
    /// the measured one, with variances h/τ and σ².
    fn bend(&self, estimate: &mut Estimate) {
        let mut outside: Vec<&Observation> = self.outside.iter().collect();
        // By columns, as an estimate keeps them; those of one pair stay in order.
        outside.sort_by(|x, y| x.columns.cmp(&y.columns));
        for group in outside.chunk_by(|x, y| x.columns[0] == y.columns[0]) {
            let tables = estimate.passages().from(group[0].columns[0]);
            for seen in group {
                self.bend_one(estimate, seen, &tables);
            }
        }
    }

    fn bend_one(&self, estimate: &mut Estimate, seen: &Observation, tables: &[(usize, Vec<f64>)]) {
        let (&[a, b], &[x, y]) = (&seen.columns[..], &seen.levels[..]) else { return };
        let Some((_, table)) = tables.iter().find(|(column, _)| *column == b) else { return };
        let expected = estimate.table([a, b], [x, y], table, self.total);
        let ratio = expected
            .iter()
            .zip(seen.counts.iter().zip(&seen.variance))
            .map(|(&expected, (&measured, &variance))| {
                let expected = expected.max(1e-9);
                let prior = expected / self.strength;
                let bent = expected + (measured - expected) * prior / (prior + variance);
                (bent / expected).clamp(MOST_BEND.recip(), MOST_BEND)
            })
            .collect();
        estimate.bends.push(Bend { columns: [a, b], levels: [x, y], ratio });
    }
}

/// The tree for these pairs.
pub(crate) fn tree(sizes: &[usize], pairs: &[(usize, usize)], parts: &[Part]) -> Result<Tree> {
    let sets = cliques(sizes, pairs, HARD_LIMIT).ok_or(Error::TooLarge {
        what: "the model",
        cells: HARD_LIMIT,
        most: HARD_LIMIT,
        remedy: "give fewer public marginals, or coarser ones",
    })?;
    Ok(Tree::new(sizes, sets, parts))
}

/// The dual problem.
struct Dual<'a> {
    total: f64,
    observations: &'a [Observation],
    ridge: Vec<f64>,
    targets: Vec<f64>,
    /// Shares of the tree's bins under p₀.
    base: Vec<Vec<f64>>,
    tree: Tree,
    potentials: Vec<Vec<f64>>,
    marginals: Vec<Vec<f64>>,
}

impl<'a> Dual<'a> {
    fn new(fit: &'a Fit, tree: Tree) -> Self {
        let base: Vec<Vec<f64>> = fit
            .profiles
            .iter()
            .zip(&fit.resolution)
            .map(|(profile, &level)| {
                let least = LEAST_ROWS / fit.total;
                let shares = profile.bins(level);
                shares.iter().map(|&p| if p > 0.0 { p.max(least) } else { 0.0 }).collect()
            })
            .collect();
        let empty: Vec<Vec<f64>> =
            fit.observations.iter().map(|seen| vec![0.0; seen.counts.len()]).collect();
        // Cells that no row can be in measure nothing.
        let targets = fit
            .observations
            .iter()
            .flat_map(|seen| {
                let possible = possible(&fit.profiles, seen);
                seen.counts
                    .iter()
                    .zip(possible)
                    .map(|(&y, ok)| if ok { y } else { 0.0 })
                    .collect::<Vec<_>>()
            })
            .collect();
        Self {
            total: fit.total,
            observations: &fit.observations,
            ridge: fit
                .observations
                .iter()
                .flat_map(|seen| seen.variance.iter().map(|v| (fit.strength * v).max(FLOOR)))
                .collect(),
            targets,
            base,
            tree,
            potentials: empty.clone(),
            marginals: empty,
        }
    }
}

/// Which cells of an observation a row can be in.
fn possible(profiles: &[Profile], seen: &Observation) -> Vec<bool> {
    let bins = |i: usize| profiles[seen.columns[i]].bins(seen.levels[i]);
    let first = bins(0);
    match seen.columns.len() {
        1 => first.iter().map(|&p| p > 0.0).collect(),
        _ => {
            let second = bins(1);
            first.iter().flat_map(|&p| second.iter().map(move |&q| p > 0.0 && q > 0.0)).collect()
        }
    }
}

impl Objective for Dual<'_> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (mut value, mut log_sum, mut at) = (0.0, 0.0, 0);
        for (seen, potential) in self.observations.iter().zip(&mut self.potentials) {
            let theta = &x[at..at + potential.len()];
            let largest = theta.iter().fold(f64::MIN, |most, &t| most.max(t));
            log_sum += largest;
            for (p, t) in potential.iter_mut().zip(theta) {
                *p = (t - largest).exp();
            }
            if let [column] = seen.columns[..] {
                potential.iter_mut().zip(&self.base[column]).for_each(|(p, base)| *p *= base);
            }
            let (ridge, y) = (&self.ridge[at..], &self.targets[at..]);
            for (t, (ridge, y)) in theta.iter().zip(ridge.iter().zip(y)) {
                value += t * (0.5 * ridge * t - y);
            }
            at += potential.len();
        }
        log_sum += self.tree.calibrate(&self.potentials);
        self.tree.marginals(&mut self.marginals);
        for (i, p) in self.marginals.iter().flatten().enumerate() {
            gradient[i] = self.total * p - self.targets[i] + self.ridge[i] * x[i];
        }
        value + self.total * log_sum
    }

    fn curvature(&self) -> Vec<f64> {
        let cells = self.marginals.iter().flatten();
        cells.zip(&self.ridge).map(|(p, ridge)| self.total * p + ridge + 1.0).collect()
    }
}

#[cfg(test)]
mod tests;
