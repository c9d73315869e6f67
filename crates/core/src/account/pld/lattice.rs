//! δ(ε) by a fast Fourier transform on a common grid, from above and below.
//!
//! For laws with atoms, whose transforms do not die out along a contour. All laws
//! go on one grid ([`super::grid`]), tilted by `e^(s₀L)` and scaled to mass at most 1;
//! the transform of the total is the product of powers. Upper and lower masses
//! ride in the real and imaginary parts of one transform.
//!
//! # Proof (of the error bounds)
//! *Tilt.* `δ(ε) = Σ p_j(1 − e^(ε−ℓ_j))₊ = e^(κ−s₀ε)·Σ w_j·g_j` with tilted masses `w_j = p_j·e^(s₀ℓ_j−κ)` and
//! `g_j = e^(−s₀v)(1 − e^−v)₊ ≤ 1/(1+s₀)`, `v = ℓ_j − ε`. *Rounding.* With E the transform's relative error in the
//! 2-norm and z the packed input of law i, `‖Ŷ_i − Y_i‖₂ ≤ E√N‖z‖₂ =: √N·e_i`. As `|Y_i| ≤ 1`, products and powers give
//! `‖Ĝ − G‖₂ ≤ √N·β·Σ k_i(e_i + 4u)`, where `β = Π(1 + √N·e_i)^k_i` bounds how far a computed modulus exceeds 1; the
//! inverse adds `E‖G‖₂` and divides by √N. `G_upper + i·G_lower` carries the errors of both, so all this counts twice.
//! So the composed masses are off by at most Γ in the 2-norm, and δ by at most `e^(κ−s₀ε)·Γ·‖g‖₂` (Cauchy–Schwarz).
//! *Wrapping.* Indices are taken modulo N: masses outside the window `[bottom, top)` appear inside it. They are
//! positive, so the upper bound stands once `P[L ≥ top] ≤ e^(K(s₁)−s₁·top)` is added; from the lower one
//! `e^(−s₀ε)/(1+s₀)` times both tails of the tilted mass is taken off. ∎

use super::grid::Gridded;
use super::law::{Batch, Law};
use super::moment::log_ratio;
use super::solve::{FLOOR, Profile};
use super::steer::Tilt;
use crate::num::ball::{EXP_ERROR, U, exp, exp_down, exp_up};
use crate::num::fast;
use crate::num::fft::Fft;

/// The composed masses, and all that bounds their errors.
pub(super) struct Lattice {
    h: f64,
    s0: f64,
    kappa: f64,
    /// The loss at index 0 of the window.
    bottom: f64,
    upper: Vec<f64>,
    lower: Vec<f64>,
    /// Γ.
    rounding: f64,
    /// Relative error of the tilting, over all mechanisms.
    relative: f64,
    /// ln of the wrapped tilted mass (lower), and ln of the mass beyond the top (upper).
    wrapped: f64,
    beyond: f64,
    infinite: (f64, f64),
    slack: f64,
    /// The lower masses' losses less those of the upper ones at the same index.
    shift: f64,
}

/// A law on the grid, tilted.
struct Part {
    gridded: Gridded,
    times: f64,
}

impl Part {
    /// ln of an upper bound on `Σ upper·e^(s·h·i)`, i the index.
    fn log_sum(&self, s: f64, h: f64, masses: &[f64]) -> f64 {
        let first = self.gridded.first as f64;
        let top = masses.len().saturating_sub(1) as f64 + first;
        // Relative to the end that the tilt favours.
        let pivot = if s >= 0.0 { top } else { first };
        let sum: f64 = masses
            .iter()
            .enumerate()
            .filter(|(_, m)| **m > 0.0)
            .map(|(j, m)| m * exp(s * h * (first + j as f64 - pivot)))
            .sum();
        // What underflows is far below the sum, or else nothing is claimed.
        if sum < 1e-250 && masses.iter().any(|m| *m > 0.0) {
            return f64::INFINITY;
        }
        let log = if sum > 0.0 { fast::ln(sum) } else { f64::NEG_INFINITY };
        s * h * pivot + log + 1e-11 * (1.0 + (s * h * pivot).abs())
    }
}

impl Lattice {
    /// Composes on a grid of spacing h; `None` if more than 2^`most` points are needed.
    pub(super) fn new(batch: &Batch, tilt: &Tilt, h: f64, most: u32) -> Option<Self> {
        let mut parts = Vec::new();
        let (mut slack, mut lost, mut origin, mut shift) = (batch.slack, 0.0, 0.0, 0.0);
        for (law, k) in &batch.laws {
            let gridded = Gridded::new(law, h, 1 << most)?;
            let times = *k as f64;
            slack += times * gridded.slack;
            lost += times * gridded.lost;
            origin += times * gridded.origin;
            shift += times * gridded.shift;
            parts.push(Part { gridded, times });
        }
        // Sums of origins are rounded.
        slack = slack * 1.001
            + 8.0 * U * parts.iter().map(|p| p.times * (p.gridded.origin.abs() + h)).sum::<f64>();
        let s0 = tilt.s;
        let window = Window::new(&parts, tilt, s0, h, origin, most)?;
        let fft = Fft::new(window.log);
        let length = 1usize << window.log;
        let root = (length as f64).sqrt();
        let (mut product_re, mut product_im) = (vec![1.0; length], vec![0.0; length]);
        let (mut kappa, mut gamma, mut beta, mut relative) = (0.0, 0.0, 0.0, 0.0);
        let (mut low_re, mut low_im) = (vec![1.0; length], vec![0.0; length]);
        for part in &parts {
            let grid = &part.gridded;
            // Neither transform exceeds 1 then; the lower masses may sit a fraction of h higher.
            let (up, low) = (part.log_sum(s0, h, &grid.upper), part.log_sum(s0, h, &grid.lower));
            let each = up.max(low) + 1e-9 / part.times.max(1.0);
            let (mut re, mut im) = (vec![0.0; length], vec![0.0; length]);
            for (j, (up, low)) in grid.upper.iter().zip(&grid.lower).enumerate() {
                let index = grid.first + j as i64;
                let weight = exp(s0 * h * index as f64 - each);
                let place = index.rem_euclid(length as i64) as usize;
                re[place] += up * weight;
                im[place] += low * weight;
            }
            let reach = (grid.first.unsigned_abs() as f64)
                .max((grid.first + grid.upper.len() as i64).unsigned_abs() as f64);
            let doubt = 4.0 * U * (s0 * h * reach + each.abs()) + EXP_ERROR + 16.0 * U;
            relative += part.times * doubt;
            kappa += part.times * each;
            let norm = re.iter().chain(&im).map(|x| x * x).sum::<f64>().sqrt() * 1.001;
            let mass: f64 = im.iter().sum::<f64>();
            if !(norm.is_finite() && mass <= 1.0 + 1e-9) {
                return None;
            }
            let e = fft.error() * norm * 1.001;
            beta += part.times * (root * e + doubt);
            fft.forward(&mut re, &mut im);
            gamma += part.times * (e + 4.0 * U);
            for place in 0..length {
                let mirror = Fft::mirror(place);
                // Y = (Z + Z̄′)/2 for the real part, (Z − Z̄′)/2i for the imaginary.
                let (zr, zi, wr, wi) = (re[place], im[place], re[mirror], im[mirror]);
                let up = power(0.5 * (zr + wr), 0.5 * (zi - wi), part.times as u64);
                let low = power(0.5 * (zi + wi), 0.5 * (wr - zr), part.times as u64);
                let (a, b) = (product_re[place], product_im[place]);
                (product_re[place], product_im[place]) = (a * up.0 - b * up.1, a * up.1 + b * up.0);
                let (a, b) = (low_re[place], low_im[place]);
                (low_re[place], low_im[place]) = (a * low.0 - b * low.1, a * low.1 + b * low.0);
            }
        }
        // Pack G_upper + i·G_lower.
        for place in 0..length {
            product_re[place] -= low_im[place];
            product_im[place] += low_re[place];
        }
        fft.inverse(&mut product_re, &mut product_im);
        let rounding = 2.02 * exp(beta) * (gamma + fft.error() + 8.0 * U) * 1.01;
        // Rotate so that the window starts at its bottom.
        let start = window.bottom.rem_euclid(length as i64) as usize;
        product_re.rotate_left(start);
        product_im.rotate_left(start);
        let scale = 1.0 / length as f64;
        for mass in product_re.iter_mut().chain(product_im.iter_mut()) {
            *mass *= scale;
        }
        let bottom = origin + window.bottom as f64 * h;
        // Indices are tilted, not losses: e^(s₀·h·i) = e^(s₀(ℓ − origin)).
        let kappa = kappa + s0 * origin;
        let slack = slack + 8.0 * U * (bottom.abs() + length as f64 * h);
        let infinite = (batch.infinite.0, batch.infinite.1 + lost);
        let relative = relative * 1.01 + 8.0 * U * (kappa.abs() + (s0 * origin).abs() + 4.0);
        let (wrapped, beyond) = (window.wrapped, window.beyond);
        let (upper, lower) = (product_re, product_im);
        Some(Self {
            h,
            s0,
            kappa,
            bottom,
            upper,
            lower,
            rounding,
            relative,
            wrapped,
            beyond,
            infinite,
            slack,
            shift,
        })
    }

    /// Where to stop summing: what lies beyond adds at most e^−80 to δ, or to δ's scale.
    fn limit(&self, epsilon: f64) -> f64 {
        80.0 + (self.kappa - self.s0 * epsilon).max(0.0)
    }

    /// `(Σ w_j g_j, ‖g‖₂, Σ |w_j|e^(−s₀v_j))` over the masses above ε.
    fn sum(&self, masses: &[f64], epsilon: f64) -> (f64, f64, f64) {
        let above = ((epsilon - self.bottom) / self.h).floor() + 1.0;
        let first = above.clamp(0.0, masses.len() as f64) as usize;
        let (mut sum, mut squares, mut size) = (0.0, 0.0, 0.0);
        let limit = self.limit(epsilon);
        let step = (exp(-self.s0 * self.h), exp(-self.h));
        let (mut tilt, mut fall) = (1.0, 1.0);
        for (n, j) in (first..masses.len()).enumerate() {
            if n % 32 == 0 {
                let v = (self.bottom + j as f64 * self.h - epsilon).max(0.0);
                (tilt, fall) = (exp(-self.s0 * v), exp(-v));
                if self.s0 * v > limit {
                    break;
                }
            }
            let g = tilt * (1.0 - fall);
            sum += masses[j] * g;
            squares += g * g;
            size += masses[j].abs() * tilt;
            tilt *= step.0;
            fall *= step.1;
        }
        (sum, squares.sqrt(), size)
    }
}

#[cfg(test)]
impl Lattice {
    /// A deliberate mistake, to test that it is noticed.
    pub(super) fn with_lower_as_upper(mut self) -> Self {
        self.lower.clone_from(&self.upper);
        self
    }
}

impl Profile for Lattice {
    fn about(&self, epsilon: f64) -> f64 {
        // Below the window δ is at least what it is there.
        let epsilon = epsilon.max(self.bottom);
        let scale = exp(self.kappa - self.s0 * epsilon);
        self.sum(&self.upper, epsilon).0 * scale + self.infinite.0
    }

    /// Below the window, nothing is known.
    fn delta(&self, epsilon: f64) -> (f64, f64) {
        // The lower losses are `shift` above the grid, so ε is as far below; and δ(ε) is at least what
        // it is at the bottom of the window.
        let (high, low) = (epsilon - self.slack, epsilon + self.slack - self.shift);
        let low = low.max(self.bottom);
        if high.is_nan() || high < self.bottom {
            return (0.0, 1.0);
        }
        // Both factors of g go through at most 33 products, each within
        // 2·EXP_ERROR: an absolute error of 5·10⁻¹³ of the tilt. Beyond the
        // limit there is at most e^−limit of a mass of at most 1 (and its rounding).
        let doubt = |x: f64, norm: f64, size: f64| {
            self.rounding * norm * 1.01 + size * 1e-12 + 1.1 * exp_up(-self.limit(x))
        };
        let (upper, upper_norm, upper_size) = self.sum(&self.upper, high);
        let (lower, lower_norm, lower_size) = self.sum(&self.lower, low);
        let log = |x: f64| self.kappa - self.s0 * x;
        let relative = self.relative + 8.0 * U * (1.0 + (self.s0 * epsilon).abs());
        let never = |log: f64| if log == f64::NEG_INFINITY { 0.0 } else { exp_up(log) };
        let wrapped = never(self.wrapped - self.s0 * low) / (1.0 + self.s0);
        let upper =
            (upper + doubt(high, upper_norm, upper_size)) * exp_up(log(high)) * (1.0 + relative);
        let lower = (lower - doubt(low, lower_norm, lower_size)).max(0.0)
            * exp_down(log(low))
            * (1.0 - relative);
        let lower = (lower - wrapped * (1.0 + 1e-9) - FLOOR).max(0.0) + self.infinite.0;
        let upper = upper + never(self.beyond) + self.infinite.1 + FLOOR;
        (lower * (1.0 - 4.0 * U), upper * (1.0 + 4.0 * U))
    }
}

/// `(x + iy)^k` by repeated squaring; k − 1 roundings of √5u each, counted with multiplicity.
fn power(x: f64, y: f64, mut k: u64) -> (f64, f64) {
    let (mut result, mut square) = ((1.0, 0.0), (x, y));
    loop {
        if k & 1 == 1 {
            result = (
                result.0 * square.0 - result.1 * square.1,
                result.0 * square.1 + result.1 * square.0,
            );
        }
        k >>= 1;
        if k == 0 {
            return result;
        }
        square = (square.0 * square.0 - square.1 * square.1, 2.0 * square.0 * square.1);
    }
}

/// Which indices the transform keeps.
struct Window {
    log: u32,
    bottom: i64,
    /// ln of a bound on the lower law's mass outside the window, tilted by `e^(s₀ℓ)` and not scaled.
    wrapped: f64,
    /// ln of a bound on the upper law's P[L ≥ top].
    beyond: f64,
}

impl Window {
    fn new(parts: &[Part], tilt: &Tilt, s0: f64, h: f64, origin: f64, most: u32) -> Option<Self> {
        let least: f64 = parts.iter().map(|p| p.times * p.gridded.first as f64).sum();
        let greatest: f64 = parts
            .iter()
            .map(|p| p.times * (p.gridded.first as f64 + p.gridded.upper.len() as f64 - 1.0))
            .sum();
        let total = |s: f64| -> f64 {
            parts.iter().map(|p| p.times * p.log_sum(s, h, &p.gridded.upper)).sum()
        };
        let below = |s: f64| -> f64 {
            parts.iter().map(|p| p.times * p.log_sum(s, h, &p.gridded.lower)).sum()
        };
        let whole = greatest - least + 1.0;
        if whole <= 1024.0 || (whole <= f64::from(1u32 << most) && tilt.spread <= 0.0) {
            let log = (whole as usize).next_power_of_two().trailing_zeros().max(1);
            let never = f64::NEG_INFINITY;
            return Some(Self { log, bottom: least as i64, wrapped: never, beyond: never });
        }
        // Relative to the tilted mass: 30 for the precision, the rest for g at ε.
        let goal = -30.0 - (1.0 + s0 * (1.0 + s0) * (tilt.spread + 1.0 / s0)).ln();
        let base = total(s0);
        // Where the tilt is not the saddle point's, δ is far below the tilted mass.
        let excess = base + s0 * (origin - tilt.epsilon) - tilt.log_delta;
        let goal = goal - if excess.is_finite() { excess.clamp(0.0, 60.0) } else { 0.0 };
        let spread = tilt.spread.max(h);
        let mut top = (greatest + 1.0, f64::NAN);
        let mut bottom = (least, f64::NAN);
        for c in [3.0, 6.0, 10.0] {
            let s = s0 + c / spread;
            let need = (total(s) - base - goal) / ((s - s0) * h);
            if need.ceil() < top.0 {
                top = (need.ceil(), s);
            }
            let s = (s0 - c / spread).max(-1.0);
            let need = (base + goal - total(s)) / ((s0 - s) * h);
            if need.floor() > bottom.0 {
                bottom = (need.floor(), s);
            }
        }
        let span = top.0 - bottom.0;
        if !(span >= 1.0 && span <= f64::from(1u32 << most)) {
            return None;
        }
        let log = (span as usize).next_power_of_two().trailing_zeros().max(1);
        // The rest of the power of two goes to the top.
        top.0 = bottom.0 + f64::from(1u32 << log);
        let mut wrapped = 0.0;
        let mut beyond = f64::NEG_INFINITY;
        if top.0 <= greatest {
            let s = if top.1.is_nan() { s0 + 6.0 / spread } else { top.1 };
            beyond = total(s) - s * h * top.0 + 1e-9;
            wrapped += exp(below(s) - base - (s - s0) * h * top.0);
        }
        if bottom.0 > least {
            let s = bottom.1;
            wrapped += exp(below(s) - base + (s0 - s) * h * bottom.0);
        }
        // e^(s₀ℓ) with ℓ = origin + h·i.
        let wrapped = if wrapped > 0.0 {
            fast::ln(wrapped.max(1e-300)) + base + s0 * origin + 1e-9 * (1.0 + base.abs() * 1e-3)
        } else {
            f64::NEG_INFINITY
        };
        Some(Self { log, bottom: bottom.0 as i64, wrapped, beyond })
    }
}

/// The spacing that a grid should divide: the distance between a law's atoms, and how many there are.
fn step(law: &Law, times: u64) -> Option<(f64, f64)> {
    let times = times as f64;
    match law {
        Law::Atoms(atoms) => Some((atoms.step, times * atoms.mass.len() as f64)),
        Law::Laplace { a } => Some((2.0 * a, times)),
        Law::SampledLaplace { q, a, .. } => Some((log_ratio(*q, *a) - log_ratio(*q, -a), times)),
        Law::Gaussian { .. } | Law::SampledGaussian { .. } | Law::Band { .. } => None,
    }
}

/// How far a spacing misses the laws' steps, over all losses.
fn miss(steps: &[(f64, f64)], h: f64) -> f64 {
    steps.iter().map(|(s, k)| k * (s - (s / h).round() * h).abs()).sum()
}

/// The spacing that all laws share exactly, if all are atoms and there is one.
pub(super) fn fit(batch: &Batch) -> Option<f64> {
    let atoms = |law: &Law| matches!(law, Law::Atoms(_));
    if !batch.laws.iter().all(|(law, _)| atoms(law)) {
        return None;
    }
    let steps: Vec<(f64, f64)> = batch.laws.iter().filter_map(|(law, k)| step(law, *k)).collect();
    let least = steps.iter().fold(f64::INFINITY, |m, s| m.min(s.0));
    let enough = 1e-13 * steps.iter().map(|(s, k)| k * s).sum::<f64>();
    (1..=64).map(|m| least / f64::from(m)).find(|h| miss(&steps, *h) <= enough)
}

/// A spacing of about `wanted` or less that fits the laws' steps as closely as possible.
pub(super) fn spacing(batch: &Batch, wanted: f64) -> f64 {
    let steps: Vec<(f64, f64)> = batch.laws.iter().filter_map(|(law, k)| step(law, *k)).collect();
    let Some(base) = steps.iter().map(|s| s.0).reduce(f64::min) else { return wanted };
    let least = (base / wanted).ceil().max(1.0);
    // Among thousands of divisors near the wanted one, one fits much better than most.
    let candidates = (0..4000)
        .map(|i| base / (least + f64::from(i)))
        .take_while(|h| *h > 0.6 * wanted.min(base));
    candidates
        .map(|h| (miss(&steps, h), h))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(wanted, |best| best.1)
}
