#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

fn e(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

#[test]
fn the_optimum_has_its_known_values() {
    let delta = Delta::new(1e-6).unwrap();
    for (k, value, digits) in [
        (1, 0.099_382_936_157_491_037_799, 1e-13),
        (10, 0.628_636_838_773_222, 1e-14),
        (30, 1.159_157_422_354_471_887_6, 1e-13),
        (100, 2.246_026_212_456_179, 1e-14),
    ] {
        let found = non_adaptive(e(0.1), k, delta).unwrap();
        assert!(found.lower <= value * (1.0 + digits), "{k} {found}");
        assert!(found.upper >= value * (1.0 - digits), "{k} {found}");
        assert!(found.relative_width() < 1e-10, "{k} {found}");
    }
}

#[test]
fn no_choice_of_t_does_worse() {
    let (epsilon, k) = (0.7, 6u64);
    let found = non_adaptive(e(epsilon), k, Delta::new(0.01).unwrap()).unwrap();
    let delta_at = |t: f64| -> f64 {
        let p = (1.0 - (t - epsilon).exp()) / (1.0 - (-epsilon).exp());
        let q = (-t).exp() * p;
        let mut sum = 0.0;
        let mut binomial = 1.0;
        for i in 0..=k as i32 {
            let a = binomial * p.powi(k as i32 - i) * (1.0 - p).powi(i);
            let b = binomial * q.powi(k as i32 - i) * (1.0 - q).powi(i);
            sum += (a - found.upper.exp() * b).max(0.0);
            binomial *= f64::from(k as i32 - i) / f64::from(i + 1);
        }
        sum
    };
    let worst = (0..=2000).map(|i| delta_at(epsilon * f64::from(i) / 2000.0)).fold(0.0, f64::max);
    assert!(worst <= 0.01 * (1.0 + 1e-9) && worst > 0.01 * (1.0 - 1e-4), "{worst}");
}

#[test]
fn limits_are_the_sum_and_a_refusal() {
    assert!(non_adaptive(e(0.1), 10, Delta::ZERO).unwrap().contains(1.0));
    assert!(non_adaptive(e(0.1), 2001, Delta::new(1e-6).unwrap()).is_err());
}
