//! Smooths the noised histogram of an ordered column: the best piecewise-constant fit.

/// The longest piece, so that a column of 65,536 codes takes a second and not a minute.
const LONGEST: usize = 2048;

/// The fit with the least `Σ(y − fit)²/(2·variance) + penalty · pieces`.
///
/// A spike stays a piece of its own, and noise on a smooth stretch is averaged away.
///
/// Pieces that cannot begin a best fit any more are dropped (Killick, Fearnhead & Eckley 2012, "PELT", equation 4,
/// with K = 0), so a histogram with many pieces takes time linear in its length.
pub(crate) fn segment(y: &[f64], variance: f64, penalty: f64) -> Vec<f64> {
    let n = y.len();
    let (mut sums, mut squares) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for (i, value) in y.iter().enumerate() {
        sums[i + 1] = sums[i] + value;
        squares[i + 1] = squares[i] + value * value;
    }
    let misfit = |from: usize, to: usize| {
        let sum: f64 = sums[to] - sums[from];
        (squares[to] - squares[from] - sum * sum / (to - from) as f64) / (2.0 * variance)
    };
    // best[j]: the least cost of the first j values; start[j]: where its last piece begins.
    let (mut best, mut start) = (vec![0.0; n + 1], vec![0usize; n + 1]);
    let mut open: Vec<usize> = vec![0];
    let mut costs: Vec<f64> = Vec::new();
    for to in 1..=n {
        costs.clear();
        costs.extend(open.iter().map(|&from| best[from] + misfit(from, to)));
        let (mut least, mut at) = (f64::INFINITY, open.first().copied().unwrap_or(0));
        for (&cost, &from) in costs.iter().zip(&open) {
            if cost + penalty < least {
                (least, at) = (cost + penalty, from);
            }
        }
        (best[to], start[to]) = (least, at);
        let mut cost = costs.iter();
        open.retain(|&from| cost.next().is_some_and(|&cost| cost <= least) && to - from < LONGEST);
        open.push(to);
    }
    let mut fit = vec![0.0; n];
    let mut to = n;
    while to > 0 {
        let from = start[to].min(to - 1);
        fit[from..to].fill((sums[to] - sums[from]) / (to - from) as f64);
        to = from;
    }
    fit
}

#[cfg(test)]
mod tests;
