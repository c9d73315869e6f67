use super::{Objective, minimise};

/// `Σ aᵢ(xᵢ − cᵢ)²/2 + log Σ e^xᵢ`, of widely different curvatures.
struct Bowl {
    a: Vec<f64>,
    last: Vec<f64>,
}

impl Objective for Bowl {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.last = x.to_vec();
        if x.iter().any(|x| x.abs() > 50.0) {
            return f64::NAN; // a step too far
        }
        let sum: f64 = x.iter().map(|x| x.exp()).sum();
        let mut value = sum.ln();
        for (i, (x, a)) in x.iter().zip(&self.a).enumerate() {
            let off = x - i as f64;
            value += 0.5 * a * off * off;
            gradient[i] = a * off + x.exp() / sum;
        }
        value
    }

    fn curvature(&self) -> Vec<f64> {
        vec![1.0; self.a.len()]
    }
}

#[test]
fn it_finds_the_minimum_and_leaves_the_objective_there() {
    let mut bowl = Bowl { a: vec![1e-2, 1.0, 3.0, 50.0, 800.0], last: Vec::new() };
    let mut x = vec![0.0; 5];
    assert!(minimise(&mut bowl, &mut x, 500, 1e-18));
    let mut gradient = vec![0.0; 5];
    assert_eq!(bowl.last, x);
    bowl.evaluate(&x, &mut gradient);
    assert!(gradient.iter().all(|g| g.abs() < 1e-5), "{gradient:?}");
}

#[test]
fn a_start_without_a_value_moves_nothing() {
    let mut bowl = Bowl { a: vec![1.0; 2], last: Vec::new() };
    let mut x = vec![99.0, 0.0];
    assert!(!minimise(&mut bowl, &mut x, 10, 0.0));
    assert_eq!(x, [99.0, 0.0]);
}
