//! What two sets of times tell apart, out of sample.
//!
//! The times are cut into two halves. On each half two attackers learn: one the best threshold and its
//! side, one the share of each set in sixteen bins, which sees differences of shape too. Each then guesses the
//! other half. An attacker's advantage is his true positives less his false positives over both
//! halves; the better attacker's counts, which errs towards more.

/// Bins of the second attacker.
const BINS: usize = 16;

/// An advantage and its standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advantage {
    pub(crate) value: f64,
    pub(crate) error: f64,
    /// Times of each set.
    pub(crate) samples: usize,
}

impl Advantage {
    pub(crate) fn shown(&self) -> String {
        format!("{:.2} ± {:.2}", self.value.max(0.0), self.error)
    }
}

/// Learns from times on the left and on the right.
type Learn = fn(&[f64], &[f64]) -> Guess;

/// The advantage of telling `left` from `right`, each in the order in which it was measured.
pub(crate) fn advantage(left: &[f64], right: &[f64]) -> Advantage {
    // Halves that alternate, so that a machine that slows down falls on both alike.
    let halves = |times: &[f64]| -> [Vec<f64>; 2] {
        [0, 1].map(|half| times.iter().skip(half).step_by(2).copied().collect())
    };
    let (left, right) = (halves(left), halves(right));
    let learners: [Learn; 2] = [threshold, bins];
    let found = learners.map(|learn| {
        let guesses = [learn(&left[0], &right[0]), learn(&left[1], &right[1])];
        // The times that are called left, of each set.
        let called = |halves: &[Vec<f64>; 2]| -> (usize, usize) {
            let count = |half: usize| {
                halves[half].iter().filter(|time| guesses[1 - half].is_left(**time)).count()
            };
            (count(0) + count(1), halves[0].len() + halves[1].len())
        };
        let ((hits, of_left), (alarms, of_right)) = (called(&left), called(&right));
        let (p, q) = (hits as f64 / of_left as f64, alarms as f64 / of_right as f64);
        let variance = |p: f64, n: usize| {
            // No share is surely 0 or 1: as if one more had been on each side.
            let p = (p * n as f64 + 1.0) / (n as f64 + 2.0);
            p * (1.0 - p) / n as f64
        };
        let error = (variance(p, of_left) + variance(q, of_right)).sqrt();
        Advantage { value: p - q, error, samples: of_left.min(of_right) }
    });
    let [first, second] = found;
    if first.value >= second.value { first } else { second }
}

/// The middle one.
pub(crate) fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// What an attacker has learnt: the cells between `edges`, and whether a time in each is called left.
struct Guess {
    edges: Vec<f64>,
    left: Vec<bool>,
}

impl Guess {
    fn is_left(&self, time: f64) -> bool {
        let cell = self.edges.partition_point(|edge| *edge < time);
        self.left.get(cell).copied().unwrap_or(false)
    }
}

/// The threshold, and the side of it, that tell the two apart best.
fn threshold(left: &[f64], right: &[f64]) -> Guess {
    let mut all: Vec<(f64, f64)> = Vec::with_capacity(left.len() + right.len());
    all.extend(left.iter().map(|time| (*time, 1.0 / left.len() as f64)));
    all.extend(right.iter().map(|time| (*time, -1.0 / right.len() as f64)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut best, mut at) = (0.0f64, 0.0f64, f64::INFINITY);
    for (i, (time, weight)) in all.iter().enumerate() {
        sum += weight;
        if sum.abs() > best.abs() {
            // In the middle of the gap: times of the other half fall on either side of this one.
            let next = all.get(i + 1).map_or(*time, |(next, _)| *next);
            (best, at) = (sum, time.midpoint(next));
        }
    }
    // More of `left` below: what is below is called left.
    Guess { edges: vec![at], left: vec![best > 0.0, best <= 0.0] }
}

/// Cells with as many times each, called after whom there are more of.
fn bins(left: &[f64], right: &[f64]) -> Guess {
    let mut all: Vec<f64> = left.iter().chain(right).copied().collect();
    all.sort_by(f64::total_cmp);
    let edges: Vec<f64> =
        (1..BINS).filter_map(|i| all.get(all.len() * i / BINS).copied()).collect();
    let count = |times: &[f64]| {
        let mut cells = vec![0.0f64; edges.len() + 1];
        for time in times {
            cells[edges.partition_point(|edge| edge < time)] += 1.0 / times.len() as f64;
        }
        cells
    };
    let called = count(left).into_iter().zip(count(right)).map(|(l, r)| l > r).collect();
    Guess { edges, left: called }
}

#[cfg(test)]
mod tests;
