//! Saddle points in plain floats, which guide the search. Nothing here is certified, and no certified result depends
//! on it.

use super::law::Batch;

/// A saddle point: the tilt, the ε it belongs to and the spread of the loss there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    pub(super) s: f64,
    pub(super) epsilon: f64,
    /// The standard deviation of the tilted total loss.
    pub(super) spread: f64,
    /// ln of the saddle point's approximation to δ(ε).
    pub(super) log_delta: f64,
    /// The mean of the tilted total loss.
    pub(super) mean: f64,
}

/// About `K(s) = ln E_P[e^(sL)]` of the whole batch.
pub(super) fn log_moment(batch: &Batch, s: f64) -> f64 {
    batch.laws.iter().map(|(law, k)| *k as f64 * law.cumulants(s).0).sum()
}

impl Tilt {
    /// The saddle point on Re s = `s` of `ψ(z) = K(z) − zε − ln(z(z+1))`: there
    /// `ε = K′ − 1/s − 1/(s+1)`, and `δ(ε) ≈ e^ψ/√(2πψ″)`.
    pub(super) fn at(batch: &Batch, s: f64) -> Self {
        let (mut k0, mut k1, mut k2) = (0.0, 0.0, 0.0);
        for (law, times) in &batch.laws {
            let (a, b, c) = law.cumulants(s);
            let times = *times as f64;
            (k0, k1, k2) = (k0 + times * a, k1 + times * b, k2 + times * c);
        }
        let epsilon = k1 - 1.0 / s - 1.0 / (s + 1.0);
        let curvature = k2.max(0.0) + 1.0 / (s * s) + 1.0 / ((s + 1.0) * (s + 1.0));
        let log_delta = k0
            - s * epsilon
            - (s * (s + 1.0)).ln()
            - 0.5 * (std::f64::consts::TAU * curvature).ln();
        Self { s, epsilon, spread: k2.max(0.0).sqrt(), log_delta, mean: k1 }
    }

    /// The saddle point whose δ is about `delta` (finite losses only).
    pub(super) fn for_delta(batch: &Batch, delta: f64) -> Self {
        let goal = delta.ln();
        Self::search(batch, |tilt| tilt.log_delta - goal)
    }

    /// The saddle point whose ε is `epsilon`.
    pub(super) fn for_epsilon(batch: &Batch, epsilon: f64) -> Self {
        Self { epsilon, ..Self::search(batch, |tilt| epsilon - tilt.epsilon) }
    }

    /// Finds the root of a function that decreases with s.
    fn search(batch: &Batch, height: impl Fn(&Self) -> f64) -> Self {
        // Where the loss is bounded, a tilt that has almost all of it at the top is enough.
        let enough = batch.supremum() * (1.0 - 3e-5);
        let at = |log: f64| {
            let tilt = Self::at(batch, log.exp());
            let height = if tilt.mean > enough { -1.0 } else { height(&tilt) };
            (height, tilt)
        };
        let (floor, roof) = ((1e-7f64).ln(), (1e7f64).ln());
        let (mut low, mut high) = (0.5, 0.5);
        let (mut f_low, mut tilt) = at(low);
        let mut f_high = f_low;
        while (f_low <= 0.0 || f_low.is_nan()) && low > floor {
            (high, f_high) = (low, f_low);
            low -= 1.5;
            (f_low, tilt) = at(low);
        }
        while f_high > 0.0 && high < roof {
            (low, f_low) = (high, f_high);
            high = (high + 1.5).min(roof);
            (f_high, tilt) = at(high);
        }
        if !(f_low > 0.0 && f_high <= 0.0) {
            return tilt;
        }
        // Illinois: a secant that never keeps one end for ever.
        let mut side = 0;
        for _ in 0..24 {
            let mut x = (low * f_high - high * f_low) / (f_high - f_low);
            if !(x > low && x < high) {
                x = 0.5 * (low + high);
            }
            let (y, here) = at(x);
            tilt = here;
            if y.abs() < 0.02 || high - low < 1e-4 {
                break;
            }
            if y > 0.0 {
                (low, f_low) = (x, y);
                if side == 1 {
                    f_high *= 0.5;
                }
                side = 1;
            } else {
                (high, f_high) = (x, y);
                if side == -1 {
                    f_low *= 0.5;
                }
                side = -1;
            }
        }
        tilt
    }
}
