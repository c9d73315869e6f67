//! Quick estimates to guide a calibration. They must never be charged.

use super::component::Component;
use super::law::{Batch, Direction};
use super::steer::Tilt;
use crate::error::Result;
use crate::unit::Delta;

/// An estimate of [`super::epsilon`], by one saddle point per direction. It takes a few microseconds, is off by a few
/// per cent if losses are many and smooth, and has no guarantee at all.
pub fn estimate_epsilon(components: &[(Component, u64)], delta: Delta) -> Result<f64> {
    worse(components, |batch| {
        if batch.laws.is_empty() {
            return 0.0;
        }
        let supremum = batch.supremum();
        let left = delta.get() - batch.infinite.0;
        if left <= 0.0 {
            return if batch.infinite.0 > 0.0 { f64::INFINITY } else { supremum };
        }
        Tilt::for_delta(batch, left).epsilon.clamp(0.0, supremum)
    })
}

/// An estimate of [`super::delta`], in the same way.
pub fn estimate_delta(components: &[(Component, u64)], epsilon: f64) -> Result<f64> {
    worse(components, |batch| {
        if batch.laws.is_empty() || epsilon >= batch.supremum() {
            return batch.infinite.0;
        }
        (Tilt::for_epsilon(batch, epsilon).log_delta.exp() + batch.infinite.0).min(1.0)
    })
}

fn worse(components: &[(Component, u64)], cost: impl Fn(&Batch) -> f64) -> Result<f64> {
    let removed = cost(&Batch::new(components, Direction::Remove)?);
    let added = cost(&Batch::new(components, Direction::Add)?);
    Ok(removed.max(added))
}
