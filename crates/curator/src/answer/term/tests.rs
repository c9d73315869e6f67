use super::*;

fn boxed(leaf: usize) -> Box<Term> {
    Box::new(Term::Leaf(leaf))
}

/// Whatever the truths are within their intervals, the term at the truths is within its own.
#[test]
fn intervals_hold_every_value_that_truths_can_give() {
    let two = |a: f64, b: f64| vec![Term::Leaf(0), Term::Leaf(1), Term::Number(a), Term::Number(b)];
    type Value = fn(f64, f64) -> f64;
    let terms: Vec<(Term, Value)> = vec![
        (Term::Add(boxed(0), boxed(1)), |x, y| x + y),
        (Term::Subtract(boxed(0), boxed(1)), |x, y| x - y),
        (Term::Multiply(boxed(0), boxed(1)), |x, y| x * y),
        (Term::Divide(boxed(0), boxed(1)), |x, y| x / y),
        (Term::Absolute(boxed(0)), |x, _| x.abs()),
        (Term::Rising(Rising::Round(1), boxed(0)), |x, _| (x * 10.0).round() / 10.0),
        (Term::Rising(Rising::Exp, boxed(1)), |_, y| y.exp()),
        (Term::Whole(boxed(0)), |x, _| x.trunc()),
        (Term::Whole(boxed(0)), |x, _| x.round()),
        (Term::Near(boxed(1), 0.5), |_, y| y + 0.4),
        (Term::Least(two(-1.0, 2.0)), |x, y| x.min(y).min(-1.0)),
        (Term::Greatest(two(-1.0, 2.0)), |x, y| x.max(y).max(2.0)),
        (Term::Any(vec![Term::Leaf(0), Term::Leaf(1)]), |x, y| if x > y { x } else { y }),
        (
            Term::Divide(
                Box::new(Term::Subtract(boxed(0), boxed(1))),
                Box::new(Term::Add(boxed(0), boxed(1))),
            ),
            |x, y| (x - y) / (x + y),
        ),
    ];
    let ends = [-3.0, -1.25, -0.5, 0.0, 0.75, 2.0, 4.5];
    let mut checked = 0;
    for (i, &a) in ends.iter().enumerate() {
        for &b in &ends[i..] {
            for (j, &c) in ends.iter().enumerate() {
                for &d in &ends[j..] {
                    let leaf = |leaf: usize| Some(if leaf == 0 { (a, b) } else { (c, d) });
                    for (term, value) in &terms {
                        let Some((low, high)) = term.interval(&leaf) else { continue };
                        for step in 0..=4 {
                            for other in 0..=4 {
                                let x = a + (b - a) * f64::from(step) / 4.0;
                                let y = c + (d - c) * f64::from(other) / 4.0;
                                let z = value(x, y);
                                let slack = 1e-12 * (1.0 + z.abs());
                                assert!(
                                    low <= z + slack && z <= high + slack,
                                    "{term:?}: {z} is not in {low} to {high}"
                                );
                                checked += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(checked > 100_000);
}

/// No interval where the divisor may be 0, where an interval is not known, or where numbers overflow.
#[test]
fn there_is_no_interval_where_none_follows() {
    let quotient = Term::Divide(boxed(0), boxed(1));
    assert_eq!(quotient.interval(&|leaf| Some([(1.0, 2.0), (-1.0, 1.0)][leaf])), None);
    assert_eq!(quotient.interval(&|leaf| Some([(1.0, 2.0), (0.0, 1.0)][leaf])), None);
    assert_eq!(quotient.interval(&|leaf| (leaf == 1).then_some((1.0, 2.0))), None);
    let product = Term::Multiply(boxed(0), boxed(1));
    assert_eq!(product.interval(&|_| Some((-1e200, 1e200))), None);
    assert_eq!(product.interval(&|_| Some((0.0, f64::INFINITY))), None);
    assert_eq!(Term::Rising(Rising::Exp, boxed(0)).interval(&|_| Some((0.0, 1e6))), None);
}
