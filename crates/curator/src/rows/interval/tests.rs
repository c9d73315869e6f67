use super::*;

fn i(low: f64, high: f64) -> Interval {
    Interval::new(low, high)
}

#[test]
fn intervals_hold_every_result() {
    let points = [-3.0, -1.5, -0.0, 0.0, 0.5, 2.0, 7.0];
    for &a in &points {
        for &b in points.iter().filter(|b| **b >= a) {
            for &c in &points {
                for &d in points.iter().filter(|d| **d >= c) {
                    let (x, y) = (i(a, b), i(c, d));
                    for p in [a, b, (a + b) / 2.0] {
                        for q in [c, d, (c + d) / 2.0] {
                            let holds = |z: Interval, v: f64| {
                                assert!(!v.is_finite() || (z.low <= v && v <= z.high));
                            };
                            holds(x.add(y), p + q);
                            holds(x.sub(y), p - q);
                            holds(x.mul(y), p * q);
                            holds(x.div(y), p / q);
                            holds(x.rem(y), p % q);
                            holds(x.least(y), p.min(q));
                            holds(x.greatest(y), p.max(q));
                            holds(x.abs(), p.abs());
                            holds(x.neg(), -p);
                            holds(x.union(y), p);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn unknown_ends_stay_unknown_until_they_are_cut() {
    let count = Interval::NON_NEGATIVE;
    assert_eq!(count.least(Interval::point(20.0)).finite(), Some((0.0, 20.0)));
    assert_eq!(count.add(Interval::point(1.0)), i(1.0, f64::INFINITY));
    assert_eq!(Interval::ANY.sub(Interval::ANY), Interval::ANY);
    assert_eq!(i(1.0, 2.0).div(i(-1.0, 1.0)), Interval::ANY);
    assert_eq!(count.mul(Interval::point(0.0)), Interval::point(0.0));
    assert_eq!(i(2.0, 1.0), Interval::ANY);
    assert_eq!(i(f64::NAN, 1.0), Interval::ANY);
}

#[test]
fn powers() {
    let of = |low, high, exponent| Interval::new(low, high).power(exponent);
    assert_eq!(of(1.4, 2.0, 2.0), Interval::new(1.4f64.powf(2.0), 4.0));
    assert_eq!(of(-3.0, 2.0, 2.0), Interval::new(0.0, 9.0));
    assert_eq!(of(-3.0, -2.0, 2.0), Interval::new(4.0, 9.0));
    assert_eq!(of(-3.0, 2.0, 3.0), Interval::new(-27.0, 8.0));
    assert_eq!(of(4.0, 9.0, 0.5), Interval::new(2.0, 3.0));
    assert_eq!(of(2.0, 4.0, -1.0), Interval::new(0.25, 0.5));
    assert_eq!(of(-4.0, -2.0, -1.0), Interval::new(-0.5, -0.25));
    assert_eq!(of(-1.0, 4.0, 0.5), Interval::ANY);
    assert_eq!(of(-1.0, 4.0, -2.0), Interval::ANY);
    assert_eq!(of(0.0, 4.0, 0.0), Interval::new(1.0, 1.0));
}
