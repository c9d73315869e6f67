//! Contribution bounds that are learnt: a unit that has much counts with a smaller weight, and nothing is cut.

use super::histogram::{Budget, Contributions, Histogram};
use super::norm::Norms;
use super::{Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::down;
use crate::random::Randomness;
use crate::unit::{Beta, Neighbours};
use crate::utility::Accuracy;
use std::f64::consts::SQRT_2;
use std::fmt;

/// The probability that noise alone makes a size look as if some unit had it.
const BETA: f64 = 1e-6;
/// The flattest power law of large units: flatter ones would have no end.
const FLATTEST: f64 = 1.1;

/// Scales each unit's contributions to a public bound, exactly in integers.
///
/// A unit contributes a vector v of numbers that are not negative: its rows in each group. Its *size* n is a norm
/// of v, rounded up. With a bound R it counts with the weight `min(1, R/n)`. The bounds that can be chosen are the
/// *rungs* 1, 2, 3, 4, 6, 8, 12, … up to 2^P.
///
/// ```
/// use demure_core::mechanism::{Contribution, Ladder};
///
/// let ladder = Ladder::new(10, 30)?;
/// // Ana has 40 rows in one group and 10 in another; Bob has 3 in one.
/// let (mut first, mut second) = (Contribution::default(), Contribution::default());
/// let (ana, bob) = (ladder.unit(50), ladder.unit(3));
/// ana.add(&mut first, 40);
/// ana.add(&mut second, 10);
/// bob.add(&mut first, 3);
/// // At R = 12 Bob counts in full, and Ana with a weight of 12/50.
/// let scaled = ladder.bounded(ladder.rung(12));
/// let rows = |of: &Contribution| scaled.total(of) as f64 / scaled.per_row() as f64;
/// assert!((rows(&first) - (40.0 * 12.0 / 50.0 + 3.0)).abs() < 0.01);
/// assert!((rows(&second) - 10.0 * 12.0 / 50.0).abs() < 0.01);
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// For every rung R, the totals `S·Σ min(1, R/n)·v`, with S = [`Bounded::per_row`], are sums of one integer vector
/// for each unit, which depends on that unit alone and whose norm is at most `S·R`. So they have the sensitivity
/// of [`Contributions`] with one group and `S·R` rows.
/// # Proof
/// Rung R is `c·2^a` with c = 1 or 3. A unit of size n is on the least rung that is at least n; let `2^p ≥ n` be the
/// least power of two that this rung is not above (2^P, where n is above all rungs). Kept is v itself, and
/// `q = w·v` with the whole number `w = ⌊2^(t+p)/n⌋` and t = `fine` − P. As `|v| ≤ n`, `|q| ≤ w·n ≤ 2^(t+p)`. With
/// `S = 2^(t+P−a)`, a unit on a rung up to R adds `S·v`, of norm at most `S·n ≤ S·R`; one above adds `c·2^(P−p)·q`, of norm at
/// most `c·2^(P−p)·2^(t+p) = c·2^(t+P) = S·R`. Both are whole. ∎
///
/// q is linear in v, so totals need no sorting by group, and totals of one unit that fit together (rows, sum and squares of
/// its values) still do when scaled. Rounding w down takes away at most one part in 2^t of what units on rungs
/// above the bound count; [`Learnt::lost`] includes it. Of a unit of n > 2^P rows, which is above all rungs, it takes at most
/// n parts in 2^(t+P), and so all from `n > 2^(t+P)` on: where such units can be seen, [`Learnt::share_lost`] is 1.
/// # Special values
/// A unit of size 0 contributes nothing. Sizes beyond 2⁶³ count as 2⁶³; totals saturate far beyond any number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ladder {
    /// P.
    pub(super) top: u32,
    /// t + P.
    pub(super) fine: u32,
}

impl Ladder {
    /// Rungs up to `2^top`, and weights in steps of `2^-(fine − top)` or finer: 1 ≤ top ≤ fine ≤ 44.
    pub fn new(top: u32, fine: u32) -> Result<Self> {
        if top < 1 || fine < top || fine > 44 {
            let allowed = "1 ≤ top ≤ fine ≤ 44";
            return Err(Error::OutOfRange { parameter: "ladder", allowed });
        }
        Ok(Self { top, fine })
    }

    /// How many rungs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        2 * self.top as usize
    }

    /// Never: there are two rungs at least.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// `(c, a)` of the rung `c·2^a`.
    pub(super) fn parts(rung: usize) -> (u64, u32) {
        match rung {
            0 => (1, 0),
            odd if odd % 2 == 1 => (1, odd as u32 / 2 + 1),
            even => (3, even as u32 / 2 - 1),
        }
    }

    /// The bound of a rung.
    #[must_use]
    pub fn bound(&self, rung: usize) -> u64 {
        let (c, a) = Self::parts(rung.min(self.len() - 1));
        c << a
    }

    /// The least rung whose bound is at least `size`; [`Ladder::len`] if it is above all.
    #[must_use]
    pub fn rung(&self, size: u64) -> usize {
        Self::rung_of(size.into()).min(self.len())
    }

    /// The same where rungs go on.
    pub(super) fn rung_of(size: u128) -> usize {
        // 2^a < size ≤ 2^(a+1) from the second rung on. No ladder has so many rungs.
        let size = size.min(1 << 126);
        let above = match size {
            0 | 1 => return 0,
            size => (size - 1).ilog2(),
        };
        let odd = 2 * above as usize + 1;
        // 3·2^(a−1) is between them.
        let even = odd - 1;
        if above > 0 && size <= 3 << (above - 1) { even } else { odd }
    }

    /// p: the least power of two that a rung is not above.
    fn power(&self, rung: usize) -> u32 {
        match Self::parts(rung) {
            _ if rung >= self.len() => self.top,
            (1, a) => a,
            (_, a) => a + 2,
        }
    }

    /// A unit of this size.
    #[must_use]
    pub fn unit(&self, size: u64) -> Unit {
        let size = size.clamp(1, 1 << 63);
        let rung = self.rung(size);
        let times = self.fine - self.top + self.power(rung);
        Unit { rung, size, times, weight: (1 << times) / size }
    }

    /// Totals at the bound of a rung.
    #[must_use]
    pub fn bounded(&self, rung: usize) -> Bounded {
        let rung = rung.min(self.len() - 1);
        let (c, a) = Self::parts(rung);
        Bounded { ladder: *self, rung, times: u128::from(c), per_row: 1 << (self.fine - a) }
    }
}

/// One unit, by its size.
#[derive(Clone, Copy)]
pub struct Unit {
    rung: usize,
    size: u64,
    /// t + p.
    times: u32,
    weight: u64,
}

impl Unit {
    /// The unit's rung; [`Ladder::len`] if it is above all.
    #[must_use]
    pub fn rung(&self) -> usize {
        self.rung
    }

    /// w = `⌊2^(t+p)/n⌋`: less than 2⁴⁵.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// `w·amount`, saturating.
    #[must_use]
    pub fn part(&self, amount: u128) -> u128 {
        amount.saturating_mul(u128::from(self.weight))
    }

    /// `⌊amount·2^(t+p)/n⌋`: the same as [`Unit::part`], rounded once for each amount, and so finer where amounts are large. As
    /// its components are at most `v·2^(t+p)/n`, the proof of [`Ladder`] holds for it as well.
    #[must_use]
    pub fn fine_part(&self, amount: u64) -> u128 {
        // Below 2⁶⁴·2⁴⁴.
        (u128::from(amount) << self.times) / u128::from(self.size)
    }

    /// Adds an amount of the unit to a total.
    pub fn add(&self, total: &mut Contribution, amount: u64) {
        total.add(self.rung, u128::from(amount), self.part(u128::from(amount)));
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unit(protected)")
    }
}

/// A total over units, kept so that any bound can be applied to it later. Totals of parts of the data are added with
/// [`Contribution::merge`]. Protected: `Debug` shows nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Contribution {
    /// By rung: its number, Σv and Σq. In the order of the rungs, none twice.
    by_rung: Vec<(u16, u128, u128)>,
}

impl Contribution {
    /// Adds what a unit on a rung contributes: v, and q as [`Unit::part`] makes it.
    pub fn add(&mut self, rung: usize, amount: u128, part: u128) {
        let rung = rung as u16;
        match self.by_rung.binary_search_by_key(&rung, |(known, _, _)| *known) {
            Ok(at) => {
                let (_, amounts, parts) = &mut self.by_rung[at];
                *amounts = amounts.saturating_add(amount);
                *parts = parts.saturating_add(part);
            }
            Err(at) => self.by_rung.insert(at, (rung, amount, part)),
        }
    }

    /// What was added, by rung: its number, Σv and Σq. Protected.
    pub fn by_rung(&self) -> impl Iterator<Item = (usize, u128, u128)> + '_ {
        self.by_rung.iter().map(|&(rung, amount, part)| (usize::from(rung), amount, part))
    }

    /// Adds the units of another part of the data.
    pub fn merge(&mut self, other: &Self) {
        for &(rung, amount, part) in &other.by_rung {
            self.add(usize::from(rung), amount, part);
        }
    }
}

impl fmt::Debug for Contribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Contribution(protected)")
    }
}

/// Totals at one bound R: made by [`Ladder::bounded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounded {
    ladder: Ladder,
    rung: usize,
    /// c.
    times: u128,
    per_row: u64,
}

impl Bounded {
    /// R.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.ladder.bound(self.rung)
    }

    /// S: what one row of full weight counts.
    #[must_use]
    pub fn per_row(&self) -> u64 {
        self.per_row
    }

    /// `S·R`: what one unit counts at most.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.per_row * self.bound()
    }

    /// `S·Σ min(1, R/n)·v`, rounded down unit by unit.
    #[must_use]
    pub fn total(&self, of: &Contribution) -> u128 {
        of.by_rung.iter().fold(0u128, |sum, &(rung, amount, part)| {
            let rung = usize::from(rung);
            let scaled = match rung <= self.rung {
                true => amount.saturating_mul(u128::from(self.per_row)),
                false => {
                    let up = 1u128 << (self.ladder.top - self.ladder.power(rung));
                    part.saturating_mul(self.times * up)
                }
            };
            sum.saturating_add(scaled)
        })
    }
}

/// Learns how large units are, and so which bound errs least.
///
/// ```
/// use demure_core::mechanism::{Ladder, Sizes};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// let ladder = Ladder::new(10, 30)?;
/// let sizes = Sizes::new(Epsilon::new(0.1)?, Neighbours::AddRemove, ladder)?;
/// // How many units are on each rung: most have 3 rows, some have 12.
/// let mut units = vec![0; ladder.len() + 1];
/// units[ladder.rung(3)] = 9_000;
/// units[ladder.rung(12)] = 1_000;
/// let learnt = sizes.release(&units, &mut SystemRandom::new()?)?.into_value();
/// // Noise that adds 1.5 to the error of one of 20 groups for each row that a unit may count with.
/// let rung = learnt.best(1.5, 20);
/// println!("at most {} rows of each person count in full", ladder.bound(rung));
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// Each unit is in one bucket, by its rung: a histogram with noise. Buckets that noise alone could have made with a
/// probability above 10⁻⁶ count as empty. Everything after that is post-processing.
///
/// # Guarantee
/// ε-DP or ρ-zCDP, by the budget.
/// # Proof
/// A unit's rung depends on that unit alone, so the counts of rungs have the sensitivity of
/// [`Contributions::ONE`]: the guarantee is that of [`Histogram`]. ∎
/// # Special values
/// No units: the bound is 1.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Of each rung.
    bounds: Vec<f64>,
    histogram: Histogram,
    /// Counts below it are taken for noise.
    pub(super) least: f64,
    /// Whether rungs that cannot be seen alone are looked at together.
    together: bool,
    /// The share of a weight that rounding it down takes away, at most.
    rounded: f64,
}

impl Sizes {
    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a [`Rho`](crate::unit::Rho).
    pub fn new(budget: impl Into<Budget>, neighbours: Neighbours, ladder: Ladder) -> Result<Self> {
        let bounds = (0..ladder.len()).map(|rung| ladder.bound(rung) as f64).collect();
        let rounded = f64::from(ladder.fine - ladder.top).exp2().recip();
        Ok(Self { rounded, ..Self::over(budget.into(), neighbours, bounds)? })
    }

    /// The same for sizes of sums. They are spread over more rungs, so those that cannot be seen alone are looked at
    /// together.
    pub fn of_norms(
        budget: impl Into<Budget>,
        neighbours: Neighbours,
        norms: &Norms,
    ) -> Result<Self> {
        let bounds = (0..norms.len()).map(|rung| norms.bound(rung)).collect();
        Ok(Self { together: true, ..Self::over(budget.into(), neighbours, bounds)? })
    }

    fn over(budget: Budget, neighbours: Neighbours, bounds: Vec<f64>) -> Result<Self> {
        let histogram = Histogram::new(budget, neighbours, Contributions::ONE)?;
        // Of either sign; all but one bucket in a million sets of them.
        let beta = Beta::new(down(BETA / (bounds.len() + 1) as f64))?;
        let least = histogram.error(beta)?;
        Ok(Self { bounds, histogram, least, together: false, rounded: 0.0 })
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.histogram.guarantee()
    }

    /// Releases the noised number of units on each rung, and above all of them.
    pub fn release(&self, units: &[u64], rng: &mut dyn Randomness) -> Result<Release<Learnt>> {
        if units.len() != self.bounds.len() + 1 {
            let allowed = "one number for each rung, and one for those above";
            return Err(Error::OutOfRange { parameter: "units", allowed });
        }
        let noised = self.histogram.release(units, rng)?.into_value();
        let noised: Vec<f64> = noised.iter().map(|&count| count as f64).collect();
        let scale = self.histogram.calibration().scale;
        let mut learnt = Learnt::new(self.bounds.clone(), &noised, self.least, SQRT_2 * scale);
        learnt.rounded = self.rounded;
        if self.together && !learnt.is_known() {
            learnt.see_together(&noised, scale, self.least);
        }
        Ok(Release::new(learnt, self.guarantee()))
    }
}

/// About how many units are on each rung: released, so public.
///
/// Few units are hidden by the noise, and those with the most rows are few. So the rungs above the last one that can be
/// seen are filled by a power law `size^−a` through it: the steepest of the law through the rungs before it and the laws
/// to the next three. All this is post-processing.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// Of each rung.
    bounds: Vec<f64>,
    /// Units on rungs up to the last one that can be seen.
    units: Vec<f64>,
    /// Units that are taken to be above it.
    tail: Vec<f64>,
    /// The share of a weight that rounding it down takes away, at most.
    rounded: f64,
}

impl Learnt {
    /// From noised counts: those above `least` can be seen, and `sd` is the deviation of the noise.
    fn new(bounds: Vec<f64>, noised: &[f64], least: f64, sd: f64) -> Self {
        let none = vec![0.0; noised.len()];
        let mut learnt = Self { bounds, units: none.clone(), tail: none, rounded: 0.0 };
        let seen = |i: &usize| noised[*i] > least;
        let Some(last) = (0..noised.len()).rev().find(seen) else { return learnt };
        for (units, count) in learnt.units.iter_mut().zip(noised).take(last + 1) {
            *units = count.max(0.0);
        }
        let before = (last.saturating_sub(2)..last).find(seen);
        let before = before.map(|i| learnt.falls((i, noised[i]), (last, noised[last])));
        let next = learnt.falls_after(last, noised[last], noised, (least, sd));
        let a = before.map_or(next, |before| before.max(next));
        learnt.tail = learnt.power_law(last, noised[last], a);
        learnt
    }

    /// How steeply the logarithm of the density falls over that of sizes, between two rungs with so many units.
    fn falls(&self, from: (usize, f64), to: (usize, f64)) -> f64 {
        let density = |(i, count): (usize, f64)| (count / self.width(i)).ln();
        (density(from) - density(to)) / (self.middle(to.0) / self.middle(from.0)).ln()
    }

    /// How steeply it falls after the last rung that can be seen: those after it are not more than this.
    fn falls_after(&self, last: usize, units: f64, noised: &[f64], of: (f64, f64)) -> f64 {
        let (least, sd) = of;
        let next = (last + 1..noised.len()).zip([1.0, 2.0, 2.0]).map(|(i, deviations)| {
            let most = noised[i].clamp(0.0, least) + deviations * sd;
            self.falls((last, units), (i, most))
        });
        next.fold(FLATTEST, f64::max)
    }

    /// Units above the last rung that can be seen, which has so many.
    fn power_law(&self, last: usize, units: f64, a: f64) -> Vec<f64> {
        let at = |i: usize| {
            let falls = (self.middle(i) / self.middle(last)).powf(-a);
            units * falls * self.width(i) / self.width(last)
        };
        let rungs = 0..self.units.len();
        let mut tail: Vec<f64> = rungs.map(|i| if i > last { at(i) } else { 0.0 }).collect();
        // Nobody is so large that not even one unit in twenty such tables would be.
        let mut above = 0.0;
        for units in tail.iter_mut().rev() {
            above += *units;
            if above < 0.05 {
                *units = 0.0;
            }
        }
        tail
    }

    /// Looks at 2, 4, 8 or 16 rungs together, if they have more units than noise of this scale, of which the sum of k exceeds t
    /// with a probability of at most `min e^(−λt)·(1 − λ²)^−k`. They are taken to be spread evenly over these rungs, of
    /// which those are chosen after which it falls most steeply.
    fn see_together(&mut self, noised: &[f64], scale: f64, least: f64) {
        let mut steepest = 0.0;
        for k in [2, 4, 8, 16usize] {
            let (count, all) = (k as f64, noised.len() as f64);
            let lambdas = (1..100).map(|i| 0.01 * f64::from(i));
            let tails = lambdas.map(|x| ((4.0 * all / BETA).ln() - count * (1.0 - x * x).ln()) / x);
            let sum = |from: &usize| noised.iter().skip(*from).take(k).sum::<f64>();
            let places = 0..=noised.len().saturating_sub(k);
            let Some(from) = places.max_by(|a, b| sum(a).total_cmp(&sum(b))) else { return };
            let (units, sd) = (sum(&from), SQRT_2 * scale);
            // The last of them that has more than noise often has.
            let rungs = from..(from + k).min(noised.len());
            let last = rungs.rev().find(|i| noised[*i] > 1.5 * sd).unwrap_or(from);
            let each = (units / (last + 1 - from) as f64).max(1.0);
            let a = self.falls_after(last, each, noised, (least, sd));
            if units > scale * tails.fold(f64::INFINITY, f64::min) && a > steepest {
                steepest = a;
                self.units.fill(0.0);
                self.units[from..=last].fill(each);
                self.tail = self.power_law(last, each, a);
            }
        }
    }

    /// Whether any unit can be seen. If not, nothing was learnt: there are too few for so much noise.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.units.iter().any(|units| *units > 0.0)
    }

    /// The rung of least expected error of a count in one of `groups` groups: `noise` for each row that a unit may count
    /// with, and what larger units lose, as if it were spread evenly over the groups.
    #[must_use]
    pub fn best(&self, noise: f64, groups: usize) -> usize {
        let error = |rung: usize| noise * self.bound(rung) + self.lost(rung) / groups.max(1) as f64;
        let rungs = 0..self.bounds.len();
        rungs.min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or(0)
    }

    /// About how many rows are lost at the bound of a rung.
    #[must_use]
    pub fn lost(&self, rung: usize) -> f64 {
        let units = self.units.iter().zip(&self.tail).enumerate();
        units.map(|(i, (seen, tail))| (seen + tail) * self.beyond(i, rung)).sum()
    }

    /// The share of all rows that is lost at the bound of a rung, from 0 to 1. It is 1 where nothing was learnt, and where
    /// units above all rungs can be seen, whose sizes are not known. It allows for
    /// a tail of twice as many units, and for two deviations of how many there happen to be.
    #[must_use]
    pub fn share_lost(&self, rung: usize) -> f64 {
        if !self.is_known() || self.units.last().is_some_and(|above| *above > 0.0) {
            return 1.0;
        }
        let tail = || self.tail.iter().enumerate().map(|(i, n)| (n, self.beyond(i, rung)));
        let again: f64 = tail().map(|(n, each)| n * each).sum();
        let deviation = tail().map(|(n, each)| n * each * each).sum::<f64>().sqrt();
        let lost = self.lost(rung) + again + 2.0 * deviation;
        (lost / (lost + self.kept(rung))).clamp(0.0, 1.0)
    }

    /// About how many rows are kept at the bound of a rung.
    #[must_use]
    pub fn kept(&self, rung: usize) -> f64 {
        let units = self.units.iter().zip(&self.tail).enumerate();
        units.map(|(i, (seen, tail))| (seen + tail) * (self.middle(i) - self.beyond(i, rung))).sum()
    }

    /// How many rows a unit on rung `i` loses at the bound of a rung: those above it, and one part in 2^t of it, as weights
    /// are rounded down.
    fn beyond(&self, i: usize, rung: usize) -> f64 {
        if i <= rung {
            return 0.0;
        }
        (self.middle(i) - self.bound(rung) * (1.0 - self.rounded)).max(0.0)
    }

    /// The bound of a rung, and of those above all.
    fn bound(&self, rung: usize) -> f64 {
        self.bounds[rung.min(self.bounds.len() - 1)]
    }

    /// The middle of the sizes on a rung. Those above all rungs are taken to be half as large again.
    fn middle(&self, rung: usize) -> f64 {
        match rung {
            0 => 1.0,
            rung if rung < self.bounds.len() => {
                0.5 * (self.bound(rung - 1) + 1.0 + self.bound(rung))
            }
            _ => 1.5 * self.bound(rung),
        }
    }

    /// The width of a rung, in the logarithm of sizes.
    fn width(&self, rung: usize) -> f64 {
        let bound = |rung: usize| self.bound(rung) + 0.5;
        match rung {
            0 => 3.0f64.ln(),
            rung if rung < self.bounds.len() => (bound(rung) / bound(rung - 1)).ln(),
            _ => 2.0f64.ln(),
        }
    }

    /// About which share of the units is above a rung, from 0 to 1.
    #[must_use]
    pub fn share_above(&self, rung: usize) -> f64 {
        let sum = |from: usize| -> f64 {
            let units = self.units.iter().zip(&self.tail).skip(from);
            units.map(|(seen, tail)| seen + tail).sum()
        };
        let all = sum(0);
        if all > 0.0 { sum(rung + 1) / all } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
