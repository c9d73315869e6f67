use super::*;

#[test]
fn sines_and_cosines_stay_within_the_stated_error() {
    // Certified: cos and sin of a + b by the addition formulas would be
    // circular, so the reference is the series in exact rationals.
    use crate::num::{Natural, Ratio};
    let series = |x: &Ratio, odd: u64| -> (Ratio, Ratio) {
        let (mut plus, mut minus) = (Ratio::zero(), Ratio::zero());
        let trim = |r: &Ratio| Ratio::new(r.fixed(220).0, Natural::power_of_two(220));
        let mut term = if odd == 1 { x.clone() } else { Ratio::new(1u64, 1u64) };
        for k in 1..120u64 {
            if k % 2 == 1 {
                plus = plus.add(&term)
            } else {
                minus = minus.add(&term)
            }
            let top = 2 * k + odd;
            let over = Ratio::new(1u64, top * (top - 1));
            term = trim(&term.mul(&trim(&x.mul(x))).mul(&over));
            (plus, minus) = (trim(&plus), trim(&minus));
        }
        (plus, minus)
    };
    let close = |value: f64, (plus, minus): &(Ratio, Ratio)| {
        let exact = plus.saturating_sub(minus).to_f64() - minus.saturating_sub(plus).to_f64();
        // `exact` itself is rounded to a relative 2⁻⁵².
        (value - exact).abs() <= TRIG_ERROR - 4.0 * U
    };
    for i in 0..400u32 {
        let x = f64::from(i) * 0.061_7 + f64::from(i % 7) * 1e-9;
        let ratio = Ratio::from_f64(x).unwrap();
        let (sine, cosine) = sin_cos(x);
        assert!(close(sine, &series(&ratio, 1)) && close(cosine, &series(&ratio, 0)), "{x}");
        assert_eq!(sin_cos(-x).0, -sine);
    }
    // Near multiples of π/2 (the hard reductions) and far out.
    for (x, sine) in [
        (std::f64::consts::PI, 1.224_646_799_147_353_2e-16),
        (1e5, 0.035_748_797_972_016_51),
        (1_000_000.0, -0.349_993_502_171_292_96),
        (710_463.0, -0.947_769_540_109_816_8),
    ] {
        assert!((sin_cos(x).0 - sine).abs() < TRIG_ERROR, "{x} {}", sin_cos(x).0);
    }
    assert!(sin_cos(1e7).0.is_nan() && sin_cos(f64::NAN).1.is_nan());
}

#[test]
fn balls_hold_the_truth_and_stay_small() {
    let z = Ball::exp(-1e-4, 0.3, 0.0);
    let power = z.power(10_000);
    let truth = Ball::exp(-1.0, 3000.0, 1e-12);
    let distance = (power.re - truth.re).hypot(power.im - truth.im);
    assert!(distance <= power.radius + truth.radius);
    assert!(power.radius < 1e-9 && power.radius > distance / 10.0);
    let one = z.mul(z.recip());
    assert!((one.re - 1.0).hypot(one.im) <= one.radius && one.radius < 1e-13);
    assert!(Ball::new(1.0, 0.0, 1.0).recip().radius.is_infinite());
    assert!(!Ball::exp(f64::NAN, 0.0, 0.0).radius.is_finite());
    assert!(!Ball::exp(800.0, 0.0, 0.0).radius.is_finite());
}
