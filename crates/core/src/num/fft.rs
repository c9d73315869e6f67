//! The fast Fourier transform, with its rounding error bounded.

use super::ball::{TRIG_ERROR, U, sin_cos};

/// A transform of length `N = 2^m`: `y_n = Σ_j x_j·e^(−2πi·jn/N)`.
///
/// Forward takes natural order to bit-reversed order, inverse the other way
/// round and without the factor 1/N; nothing is ever reordered.
pub(crate) struct Fft {
    length: usize,
    /// cos and −sin of `2π·j/(2L)` for j < L, for L = N/2, N/4, …, 1 in turn.
    cosines: Vec<f64>,
    sines: Vec<f64>,
}

/// Bound on the modulus of the error of a twiddle: two sines and cosines of an
/// angle rounded by 8u each, multiplied.
const TWIDDLE_ERROR: f64 = 2.0 * (1.5 * TRIG_ERROR + 8.0 * U) + 4.0 * U;

impl Fft {
    /// Tabulates a transform of length 2^`log`, 1 ≤ `log` ≤ 24.
    pub(crate) fn new(log: u32) -> Self {
        let length = 1usize << log;
        let half = length / 2;
        let unit = std::f64::consts::TAU / length as f64;
        let turn = |j: usize| {
            let (sine, cosine) = sin_cos(unit * j as f64);
            (cosine, -sine)
        };
        // j = high·2^b + low: two short tables and a product.
        let bits = log / 2;
        let low: Vec<(f64, f64)> = (0..1usize << bits).map(turn).collect();
        let (mut cosines, mut sines) = (Vec::with_capacity(length), Vec::with_capacity(length));
        let mut start = 0;
        while cosines.len() < half {
            let (c, s) = turn(start);
            let take = low.len().min(half - cosines.len());
            cosines.extend(low[..take].iter().map(|&(x, y)| x * c - y * s));
            sines.extend(low[..take].iter().map(|&(x, y)| x * s + y * c));
            start += low.len();
        }
        let (mut from, mut size) = (0, half);
        while size > 1 {
            for j in 0..size / 2 {
                cosines.push(cosines[from + 2 * j]);
                sines.push(sines[from + 2 * j]);
            }
            from += size;
            size /= 2;
        }
        Self { length, cosines, sines }
    }

    /// `‖ŷ − y‖₂ ≤ error·‖y‖₂` for either direction.
    ///
    /// # Proof
    /// Each of the m stages multiplies by a matrix with two unit entries and
    /// two twiddles per row pair, √2 times a unitary one. With twiddles within
    /// μ and rounding u a stage errs by at most `η = μ + γ₄(√2 + μ)` relative to its
    /// output's 2-norm, `γ₄ = 4u/(1−4u)`, so m stages by `mη/(1−mη)`: Higham 2002
    /// (Accuracy and Stability, 2nd ed.), Theorem 24.2. The inverse uses the conjugate
    /// twiddles and the transposed stages, to which the same argument applies. ∎
    pub(crate) fn error(&self) -> f64 {
        let eta = TWIDDLE_ERROR + 4.1 * U * 1.415;
        let total = f64::from(self.length.trailing_zeros()) * eta;
        total / (1.0 - total)
    }

    /// Decimation in frequency: natural order in, bit-reversed order out.
    pub(crate) fn forward(&self, re: &mut [f64], im: &mut [f64]) {
        let (mut from, mut size) = (0, self.length / 2);
        while size > 0 {
            let (cosines, sines) =
                (&self.cosines[from..from + size], &self.sines[from..from + size]);
            for (re, im) in re.chunks_exact_mut(2 * size).zip(im.chunks_exact_mut(2 * size)) {
                let ((ra, rb), (ia, ib)) = (re.split_at_mut(size), im.split_at_mut(size));
                let (ia, ib) = (&mut ia[..size], &mut ib[..size]);
                let (ra, rb) = (&mut ra[..size], &mut rb[..size]);
                for j in 0..size {
                    let (x, y) = (ra[j] - rb[j], ia[j] - ib[j]);
                    (ra[j], ia[j]) = (ra[j] + rb[j], ia[j] + ib[j]);
                    rb[j] = x * cosines[j] - y * sines[j];
                    ib[j] = x * sines[j] + y * cosines[j];
                }
            }
            from += size;
            size /= 2;
        }
    }

    /// Decimation in time with conjugate twiddles: bit-reversed order in,
    /// natural order out, N times the inverse.
    pub(crate) fn inverse(&self, re: &mut [f64], im: &mut [f64]) {
        let (mut size, mut end) = (1, self.cosines.len());
        while size < self.length {
            let (cosines, sines) = (&self.cosines[end - size..end], &self.sines[end - size..end]);
            for (re, im) in re.chunks_exact_mut(2 * size).zip(im.chunks_exact_mut(2 * size)) {
                let ((ra, rb), (ia, ib)) = (re.split_at_mut(size), im.split_at_mut(size));
                let (ia, ib) = (&mut ia[..size], &mut ib[..size]);
                let (ra, rb) = (&mut ra[..size], &mut rb[..size]);
                for j in 0..size {
                    let x = rb[j] * cosines[j] + ib[j] * sines[j];
                    let y = ib[j] * cosines[j] - rb[j] * sines[j];
                    (rb[j], ib[j]) = (ra[j] - x, ia[j] - y);
                    (ra[j], ia[j]) = (ra[j] + x, ia[j] + y);
                }
            }
            end -= size;
            size *= 2;
        }
    }

    /// The position, in bit-reversed order, of the frequency −n when that of n
    /// is `place`.
    #[inline]
    pub(crate) fn mirror(place: usize) -> usize {
        if place == 0 {
            return 0;
        }
        // Within [2^b, 2^(b+1)) negation reverses the order.
        let b = usize::BITS - 1 - place.leading_zeros();
        (3usize << b) - 1 - place
    }
}

#[cfg(test)]
mod tests;
