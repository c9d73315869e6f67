//! The clustering coefficient, from released counts.

use demure_core::mechanism::Release;

/// `3·triangles / wedges`, the global clustering coefficient (transitivity), from two releases: of
/// [`Triangles`](crate::Triangles) and of 2-stars ([`Stars`](crate::Stars)). Within [0, 1]; 0 where there are no wedges.
///
/// # Guarantee
/// A function of what was released: it costs nothing beyond the two, which compose.
#[must_use]
pub fn clustering(triangles: &Release<f64>, wedges: &Release<f64>) -> f64 {
    let (triangles, wedges) = (*triangles.value(), *wedges.value());
    if wedges <= 0.0 { 0.0 } else { (3.0 * triangles / wedges).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::numbered;
    use crate::{Method, Stars, Triangles};
    use demure_core::mechanism::Guarantee;
    use demure_core::random::SeededForTests;
    use demure_core::unit::Epsilon;

    #[test]
    fn it_is_a_share_whatever_the_noise() {
        let graph = numbered(5, 0b11_0110_1111);
        let (triangles, stars) = (Triangles::of(&graph).unwrap(), Stars::of(&graph, 2).unwrap());
        let mut rng = SeededForTests::insecure(1);
        for epsilon in [0.05, 1.0, 50.0] {
            let budget = Guarantee::Pure(Epsilon::new(epsilon).unwrap());
            let mut release = |s: &dyn demure_core::sensitivity::Statistic| {
                Method::Naive.release(s, budget, &mut rng).unwrap().map(|x| x.unwrap_or(0.0))
            };
            let (t, w) = (release(&triangles), release(&stars));
            let share = clustering(&t, &w);
            assert!((0.0..=1.0).contains(&share));
            if epsilon == 50.0 {
                let truth = 3.0 * triangles.count() as f64 / stars.count() as f64;
                assert!((share - truth).abs() < 0.05);
            }
        }
    }
}
