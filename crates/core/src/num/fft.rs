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
mod tests {
    use super::*;

    fn noise(count: usize) -> Vec<f64> {
        let mix = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..count).map(|i| ((mix(i) ^ mix(i) >> 29) >> 11) as f64 / 2f64.powi(53) - 0.5).collect()
    }

    #[test]
    fn it_is_the_transform_and_comes_back() {
        for log in [1, 2, 3, 6, 9] {
            let n = 1usize << log;
            let (re, im) = (noise(n), noise(2 * n)[n..].to_vec());
            let fft = Fft::new(log);
            let (mut a, mut b) = (re.clone(), im.clone());
            fft.forward(&mut a, &mut b);
            for place in 0..n {
                let frequency = place.reverse_bits() >> (usize::BITS - log);
                let (mut x, mut y) = (0.0, 0.0);
                for j in 0..n {
                    let angle = -std::f64::consts::TAU * ((j * frequency) % n) as f64 / n as f64;
                    x += re[j] * angle.cos() - im[j] * angle.sin();
                    y += re[j] * angle.sin() + im[j] * angle.cos();
                }
                assert!((a[place] - x).hypot(b[place] - y) < 1e-12 * n as f64);
                let mirrored = Fft::mirror(place).reverse_bits() >> (usize::BITS - log);
                assert_eq!((mirrored + frequency) % n, 0);
            }
            fft.inverse(&mut a, &mut b);
            for j in 0..n {
                assert!((a[j] / n as f64 - re[j]).abs() + (b[j] / n as f64 - im[j]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_round_trip_stays_within_twice_the_stated_error() {
        for log in [4, 10, 15, 18] {
            let n = 1usize << log;
            let (re, im) = (noise(n), vec![0.0; n]);
            let fft = Fft::new(log);
            let (mut a, mut b) = (re.clone(), im);
            fft.forward(&mut a, &mut b);
            fft.inverse(&mut a, &mut b);
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let off: Vec<f64> = a.iter().zip(&re).map(|(x, y)| x / n as f64 - y).collect();
            let relative = norm(&off).hypot(norm(&b) / n as f64) / norm(&re);
            // Within the bound, with room (it is a worst case), and not exactly 0.
            assert!(relative <= 2.1 * fft.error() && relative > 1e-4 * fft.error(), "{relative}");
            assert!(fft.error() < 2e-13);
        }
    }
}
