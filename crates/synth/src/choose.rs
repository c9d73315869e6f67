//! Which pairs to measure next, at which resolution, with how much of a round's budget.
//!
//! Measuring candidate i with precision B (1/σ² for a histogram) is expected to lower the weighted error by
//! `wᵢ(distanceᵢ − c·cellsᵢ/√B)`, where c·σ is what noise leaves of error in each cell. At a price λ for precision
//! the best is `B = (w·c·cells/2λ)^⅔`, and the gain after its price is `w·distance − 3λB`. λ is bisected until the
//! chosen ones use up the round's budget. Scores are released numbers, so all of this is post-processing: there is no
//! exponential mechanism.

use crate::candidates::Candidate;
use crate::junction::cliques;
use crate::profile::Profile;

/// c for a pair in the tree, whose noise the fit averages with that of other measurements.
const NOISE: f64 = 0.3;
/// c for a pair outside the tree.
const NOISE_OUTSIDE: f64 = 0.6;

/// What a round may choose.
pub(crate) struct Limits {
    /// No cycles: the first round looks for a spanning forest.
    pub(crate) forest: bool,
    /// The most pairs.
    pub(crate) most: usize,
    /// The most cells of the junction tree.
    pub(crate) cells: f64,
    /// Whether pairs that do not fit in the tree are measured all the same.
    pub(crate) outside: bool,
}

/// A candidate that is to be measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Its number among the candidates.
    pub(crate) candidate: usize,
    /// Its share of the round's budget.
    pub(crate) precision: f64,
    /// Whether it breaks the tree's limit, and is kept outside.
    pub(crate) outside: bool,
}

/// Chooses for a round that has `budget` of precision. `resolution` and `pairs` are those of the tree so far.
pub(crate) fn choose(
    candidates: &[Candidate],
    profiles: &[Profile],
    resolution: &[usize],
    pairs: &[(usize, usize)],
    budget: f64,
    limits: &Limits,
) -> Vec<Choice> {
    // The precision at price 1, of which the precision at price λ is λ^(−⅔) times: a hundred prices are tried.
    let units: Vec<f64> =
        candidates.iter().map(|candidate| precision(NOISE, candidate, 1.0)).collect();
    let picked = |price: f64| pick(candidates, &units, profiles.len(), price, limits);
    let spent = |price: f64| -> f64 {
        picked(price).iter().map(|&i| units[i]).sum::<f64>() * price.powf(-2.0 / 3.0)
    };
    // A low price spends much.
    let (mut low, mut high) = (1e-12f64, 1e18f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if spent(middle) > budget { low = middle } else { high = middle }
    }
    let mut choices = place(candidates, profiles, resolution, pairs, &picked(high), high, limits);
    let sum: f64 = choices.iter().map(|choice| choice.precision).sum();
    choices.iter_mut().for_each(|choice| choice.precision *= budget / sum);
    choices
}

/// `(w·c·cells/2λ)^⅔`.
fn precision(noise: f64, candidate: &Candidate, price: f64) -> f64 {
    (noise * candidate.weight * candidate.cells / (2.0 * price)).powf(2.0 / 3.0)
}

/// `w·distance − 3λB`.
fn gain(noise: f64, candidate: &Candidate, price: f64) -> f64 {
    candidate.weight * candidate.distance - 3.0 * price * precision(noise, candidate, price)
}

/// The best resolution of each pair that is worth the price, best pairs first.
fn pick(
    candidates: &[Candidate],
    units: &[f64],
    columns: usize,
    price: f64,
    limits: &Limits,
) -> Vec<usize> {
    let mut best: Vec<(f64, usize)> = Vec::new();
    let mut first = 0;
    for pair in candidates.chunk_by(|x, y| x.columns == y.columns) {
        let of_pair = pair
            .iter()
            .enumerate()
            .map(|(i, candidate)| {
                let cost = 3.0 * price.cbrt() * units[first + i];
                (candidate.weight * candidate.distance - cost, first + i)
            })
            .max_by(|x, y| x.0.total_cmp(&y.0));
        best.extend(of_pair.filter(|(gain, _)| *gain > 0.0));
        first += pair.len();
    }
    best.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    let mut forest = Forest::new(columns);
    let mut picked = Vec::new();
    for (_, i) in best {
        if picked.len() >= limits.most {
            break;
        }
        let [a, b] = candidates[i].columns;
        if !limits.forest || forest.join(a, b) {
            picked.push(i);
        }
    }
    picked
}

/// Inside the tree while it fits; else outside, if that is still worth the price.
fn place(
    candidates: &[Candidate],
    profiles: &[Profile],
    resolution: &[usize],
    pairs: &[(usize, usize)],
    picked: &[usize],
    price: f64,
    limits: &Limits,
) -> Vec<Choice> {
    let (mut resolution, mut pairs) = (resolution.to_vec(), pairs.to_vec());
    let mut choices = Vec::new();
    for &i in picked {
        let candidate = &candidates[i];
        let [a, b] = candidate.columns;
        let mut raised = resolution.clone();
        raised[a] = raised[a].max(candidate.levels[0]);
        raised[b] = raised[b].max(candidate.levels[1]);
        let sizes: Vec<usize> =
            profiles.iter().zip(&raised).map(|(p, &level)| p.levels[level].bins).collect();
        pairs.push((a, b));
        if cliques(&sizes, &pairs, limits.cells).is_some() {
            resolution = raised;
            let precision = precision(NOISE, candidate, price);
            choices.push(Choice { candidate: i, precision, outside: false });
            continue;
        }
        pairs.pop();
        if limits.outside && gain(NOISE_OUTSIDE, candidate, price) > 0.0 {
            let precision = precision(NOISE_OUTSIDE, candidate, price);
            choices.push(Choice { candidate: i, precision, outside: true });
        }
    }
    choices
}

/// Which columns are connected.
struct Forest {
    part: Vec<usize>,
}

impl Forest {
    fn new(columns: usize) -> Self {
        Self { part: (0..columns).collect() }
    }

    /// Connects two columns; `false` if they were connected.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (from, to) = (self.part[a], self.part[b]);
        self.part.iter_mut().filter(|part| **part == from).for_each(|part| *part = to);
        from != to
    }
}

#[cfg(test)]
mod tests;
