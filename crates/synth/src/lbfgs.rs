//! Minimises a smooth convex function: L-BFGS with a diagonal scaling and backtracking.
//!
//! # References
//! Nocedal & Wright 2006, "Numerical Optimization", Algorithms 7.4 (the two loops) and 3.1 (backtracking).

/// How many steps are remembered.
const MEMORY: usize = 12;
/// Trial points along one direction.
const TRIALS: usize = 20;

/// A function to minimise.
pub(crate) trait Objective {
    /// The value at `x`, and its gradient. A value that is not finite is a point to step back from.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// About the second derivatives along the axes, at the point evaluated last; all positive.
    fn curvature(&self) -> Vec<f64>;
}

/// A remembered step: how far, how the gradient changed, and the inverse of their product.
struct Step {
    moved: Vec<f64>,
    turned: Vec<f64>,
    inverse: f64,
}

/// Moves `x` to about the minimum: until the squared gradient, in the scale of the curvature, is below `enough`, or
/// for `most` steps. The objective was last evaluated at the `x` that is left.
///
/// # Special values
/// If the value at the start is not finite, nothing moves and the result is `false`.
pub(crate) fn minimise(
    objective: &mut impl Objective,
    x: &mut [f64],
    most: usize,
    enough: f64,
) -> bool {
    let n = x.len();
    let (mut gradient, mut value) = (vec![0.0; n], 0.0);
    value += objective.evaluate(x, &mut gradient);
    if !value.is_finite() {
        return false;
    }
    let scale: Vec<f64> = objective.curvature().iter().map(|c| c.sqrt().recip()).collect();
    let mut memory: Vec<Step> = Vec::new();
    let (mut trial, mut trial_gradient) = (x.to_vec(), vec![0.0; n]);
    let mut left_at_trial = false;
    for _ in 0..most {
        let scaled: Vec<f64> = gradient.iter().zip(&scale).map(|(g, s)| g * s).collect();
        if dot(&scaled, &scaled) < enough {
            break;
        }
        let direction = descend(&memory, &scaled);
        let slope = -dot(&scaled, &direction);
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..TRIALS {
            for (i, t) in trial.iter_mut().enumerate() {
                *t = x[i] - length * direction[i] * scale[i];
            }
            let at = objective.evaluate(&trial, &mut trial_gradient);
            left_at_trial = true;
            if at.is_finite() && at <= value + 1e-4 * length * slope {
                found = Some(at);
                break;
            }
            length *= 0.4;
        }
        let Some(at) = found else {
            if memory.is_empty() {
                break;
            }
            memory.clear(); // once more, along the gradient itself
            continue;
        };
        let moved: Vec<f64> = (0..n).map(|i| (trial[i] - x[i]) / scale[i]).collect();
        let turned: Vec<f64> =
            (0..n).map(|i| (trial_gradient[i] - gradient[i]) * scale[i]).collect();
        let product = dot(&moved, &turned);
        if product > 1e-12 * dot(&turned, &turned) {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push(Step { moved, turned, inverse: product.recip() });
        }
        x.copy_from_slice(&trial);
        std::mem::swap(&mut gradient, &mut trial_gradient);
        value = at;
        left_at_trial = false;
    }
    if left_at_trial {
        objective.evaluate(x, &mut gradient);
    }
    true
}

/// The scaled gradient times the remembered inverse curvature.
fn descend(memory: &[Step], gradient: &[f64]) -> Vec<f64> {
    let mut q = gradient.to_vec();
    let mut weights = vec![0.0; memory.len()];
    for (weight, step) in weights.iter_mut().zip(memory).rev() {
        *weight = step.inverse * dot(&step.moved, &q);
        q.iter_mut().zip(&step.turned).for_each(|(q, t)| *q -= *weight * t);
    }
    let first = memory
        .last()
        .map_or(0.5, |step| dot(&step.moved, &step.turned) / dot(&step.turned, &step.turned));
    q.iter_mut().for_each(|q| *q *= first);
    for (weight, step) in weights.iter().zip(memory) {
        let back = step.inverse * dot(&step.turned, &q);
        q.iter_mut().zip(&step.moved).for_each(|(q, m)| *q += (weight - back) * m);
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests;
