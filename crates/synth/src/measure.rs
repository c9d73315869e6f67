//! The only file that sees exact counts. What leaves it has been through a mechanism of the core.
//!
//! [`Counts`] gives an [`Exact`] histogram, which nothing outside this file can read. A [`Meter`] turns it into a
//! [`Noised`] histogram or into noised distances, which nothing outside this file can make. So everything else in this
//! crate takes released numbers only, by type.
//!
//! # Guarantee
//! A release that consumes a [`Slice`] worth ρ is Gaussian noise with `Δ²/2σ² ≤ ρ` on a query that moves by at most Δ
//! in ℓ₂ when one unit changes. [`crate::budget`] proves what all releases cost together.
//!
//! # Proof
//! *Histograms.* Counts are integers, which floats hold exactly up to 2⁵³; larger ones are clamped there, which moves
//! no two of them further apart. [`Price::histogram_sensitivity`] proves Δ.
//!
//! *Distances.* The public table is rounded to multiples of 2⁻¹⁶ rows *before* the distance is taken. The distance is
//! then a sum of integers, exact, and moves by at most `‖u − v‖₁` rows ([`Price::distance_sensitivity`]). A sum of
//! floats would move by rounding errors too, which nothing pays for. Merging cells on both sides is linear and makes
//! no ℓ₁ norm larger. ∎

use crate::budget::{Price, Purse, Slice};
use crate::error::{Error, Result};
use crate::observe::{Observer, Question};
use crate::threads;
use crate::view::{View, coarsen};
use demure_core::mechanism::{Gaussian, Release};
use demure_core::random::Randomness;
use demure_core::unit::Grid;

/// A histogram that has not been noised. Whoever counts makes it; nobody but the measuring file can look into it.
///
/// ```compile_fail
/// let exact = demure_synth::Exact::new(vec![17, 4]);
/// println!("{:?}", exact);
/// ```
pub struct Exact(Vec<i64>);

impl Exact {
    /// The number of rows in each cell, in the order of [`View::cell_of`].
    #[must_use]
    pub fn new(counts: Vec<i64>) -> Self {
        Self(counts)
    }
}

/// The protected table could not be counted. The reason stays with whoever counts: it may depend on rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable;

/// The seam to protected data: whatever can count the rows of a table.
///
/// An implementation must count the same rows every time, of which at most [`Price::rows`] belong to one unit.
pub trait Counts: Sync {
    /// How many rows are in each cell of `view`.
    fn histogram(&self, view: &View) -> std::result::Result<Exact, Unavailable>;
}

/// A histogram with noise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Noised {
    counts: Vec<f64>,
    variance: f64,
}

impl Noised {
    pub(crate) fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// The variance of each count.
    pub(crate) fn variance(&self) -> f64 {
        self.variance
    }
}

/// A public table that is compared with the protected one, at several resolutions.
pub(crate) struct Comparison {
    /// The columns at the finest resolution: two axes.
    pub(crate) view: View,
    /// How many rows are expected in each cell.
    pub(crate) expected: Vec<f64>,
    /// Coarser bins: of both axes, the bin of each of the view's bins, and how many there are.
    pub(crate) resolutions: Vec<[(Vec<u16>, usize); 2]>,
}

/// A step of the grid on which public tables are compared: 2⁻¹⁶ rows.
const STEPS: f64 = 65_536.0;
/// The largest integer up to which every integer is a float.
const LARGEST: i64 = 1 << 53;

/// Counts and public numbers of rows are clamped to this where they are compared, so that no sum can overflow: 2³².
const MOST_ROWS: i64 = 1 << 32;

/// Measures a protected table as long as the budget lasts.
pub(crate) struct Meter<'a> {
    counts: &'a dyn Counts,
    price: &'a Price,
    purse: Purse,
    rng: &'a mut dyn Randomness,
    observer: &'a mut dyn Observer,
    threads: usize,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        counts: &'a dyn Counts,
        price: &'a Price,
        rng: &'a mut dyn Randomness,
        observer: &'a mut dyn Observer,
        threads: usize,
    ) -> Self {
        Self { counts, price, purse: Purse::new(price), rng, observer, threads }
    }

    /// The quanta that are left.
    pub(crate) fn left(&self) -> u64 {
        self.purse.left()
    }

    /// For draws that are not noise, and to say how far the run is.
    pub(crate) fn rng(&mut self) -> &mut dyn Randomness {
        self.rng
    }

    pub(crate) fn observer(&mut self) -> &mut dyn Observer {
        self.observer
    }

    /// Releases a histogram for `quanta` of the budget.
    pub(crate) fn histogram(&mut self, view: &View, quanta: u64) -> Result<Noised> {
        let slice = self.purse.take(quanta)?;
        let exact = exactly(self.counts, view)?;
        let gaussian = Gaussian::concentrated(slice.rho(), self.price.histogram_sensitivity()?)?
            .on(Grid::ONE)?;
        self.observer.asked(Question::Histogram(view), gaussian.sigma());
        let values: Vec<f64> =
            exact.iter().map(|&count| count.clamp(-LARGEST, LARGEST) as f64).collect();
        let released: Release<Vec<f64>> = gaussian.release_vector(&values, self.rng)?;
        // Rounding to whole rows adds a twelfth where the noise is wide enough for it to matter.
        let variance = gaussian.sigma() * gaussian.sigma() + 1.0 / 12.0;
        Ok(Noised { counts: released.into_value(), variance })
    }

    /// Releases the ℓ₁ distance of each comparison at each of its resolutions, in rows, for `quanta` each; and the
    /// noise's standard deviation.
    pub(crate) fn distances(
        &mut self,
        comparisons: &[Comparison],
        quanta: u64,
    ) -> Result<(Vec<Vec<f64>>, f64)> {
        let all: usize = comparisons.iter().map(|asked| asked.resolutions.len()).sum();
        if all == 0 {
            return Ok((vec![Vec::new(); comparisons.len()], 0.0));
        }
        let slice: Slice = self.purse.take(quanta.saturating_mul(all as u64))?;
        let gaussian = Gaussian::concentrated(slice.rho(), self.price.distance_sensitivity(all)?)?;
        let exact = distances(self.counts, comparisons, self.threads)?;
        let mut released = Vec::with_capacity(comparisons.len());
        for (asked, (expected, distances)) in comparisons.iter().zip(&exact) {
            let question = Question::Distances {
                view: &asked.view,
                expected,
                resolutions: &asked.resolutions,
            };
            self.observer.asked(question, gaussian.sigma());
            // Steps are a power of two, so the distance in rows is exact.
            let rows: Vec<f64> =
                distances.iter().map(|&steps| steps.min(LARGEST as u64) as f64 / STEPS).collect();
            released.push(gaussian.release_vector(&rows, self.rng)?.into_value());
        }
        Ok((released, gaussian.sigma()))
    }
}

/// The exact counts, one for each cell of the view.
fn exactly(counts: &dyn Counts, view: &View) -> Result<Vec<i64>> {
    let Exact(mut exact) = counts.histogram(view).map_err(|Unavailable| Error::Unavailable)?;
    // An implementation that returns another number of cells must not make the noise incomplete.
    exact.resize(view.cells(), 0);
    Ok(exact)
}

/// The public table in steps, and the exact distances in steps, of each comparison; on several threads.
fn distances(
    counts: &dyn Counts,
    comparisons: &[Comparison],
    threads: usize,
) -> Result<Vec<(Vec<i64>, Vec<u64>)>> {
    let one = |asked: &Comparison| -> Result<(Vec<i64>, Vec<u64>)> {
        let exact = exactly(counts, &asked.view)?;
        let expected: Vec<i64> = asked.expected.iter().map(|&rows| steps(rows)).collect();
        let apart: Vec<i64> = exact
            .iter()
            .zip(&expected)
            .map(|(&count, &steps)| count.clamp(0, MOST_ROWS) * STEPS as i64 - steps)
            .collect();
        let distance = |[rows, columns]: &[(Vec<u16>, usize); 2]| {
            coarsen(&apart, (&rows.0, rows.1), (&columns.0, columns.1))
                .iter()
                .fold(0u64, |sum, cell| sum.saturating_add(cell.unsigned_abs()))
        };
        let found = asked.resolutions.iter().map(distance).collect();
        Ok((expected, found))
    };
    threads::map(threads, comparisons, one).into_iter().collect()
}

/// A number of rows in steps of 2⁻¹⁶, to the nearest.
fn steps(rows: f64) -> i64 {
    (rows.clamp(0.0, MOST_ROWS as f64) * STEPS).round() as i64
}

#[cfg(test)]
mod tests;
