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
