//! Every promise, on every graph of at most 6 vertices and every neighbour of it, by whole output distributions.
//!
//! A release depends on a graph through its count and its profile alone, so graphs that agree in both are one.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use demure_core::mechanism::Guarantee;
use demure_core::sensitivity::{
    Ladder, NoiseFamily, PrivateBound, ProposeTestRelease, SmoothNoise, Smoothness, Statistic,
};
use demure_core::unit::{Delta, Epsilon, Rho};
use demure_graph::{Graph, Stars, Triangles};
use demure_testkit::distribution::Distribution;
use demure_testkit::neighbours::{check, check_zcdp};
use std::collections::{BTreeMap, BTreeSet};

/// Outputs are folded at ±REACH.
const REACH: i128 = 150;
const FAR: u64 = 16;

/// A count and its profile: `[count, A_0, …, A_16]`.
type Key = Vec<u64>;

struct Known<'a> {
    key: &'a Key,
    most: u64,
    growth: u64,
}

impl Statistic for Known<'_> {
    fn value(&self) -> i128 {
        i128::from(self.key[0])
    }
    fn at_distance(&self, k: u64) -> u64 {
        self.key[1 + k.min(FAR) as usize]
    }
    fn most(&self) -> Option<u64> {
        Some(self.most)
    }
    fn growth(&self) -> Option<u64> {
        Some(self.growth)
    }
}

/// All keys of graphs on n vertices, and which are neighbours.
struct Universe {
    near: BTreeMap<Key, BTreeSet<Key>>,
    most: u64,
    growth: u64,
}

fn universe<S: Statistic>(n: u32, make: impl Fn(&Graph) -> S) -> Universe {
    let pairs: Vec<(u32, u32)> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect();
    let (mut most, mut growth) = (0, 0);
    let keys: Vec<Key> = (0..1u32 << pairs.len())
        .map(|number| {
            let chosen = pairs.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
            let graph = Graph::new(n, chosen.map(|(_, &edge)| edge)).unwrap();
            let statistic = make(&graph);
            most = statistic.most().unwrap();
            growth = statistic.growth().unwrap();
            let profile = (0..=FAR).map(|k| statistic.at_distance(k));
            std::iter::once(statistic.value() as u64).chain(profile).collect()
        })
        .collect();
    let mut near: BTreeMap<Key, BTreeSet<Key>> = BTreeMap::new();
    for number in 0..keys.len() {
        for i in 0..pairs.len() {
            let other = &keys[number ^ 1 << i];
            near.entry(keys[number].clone()).or_default().insert(other.clone());
        }
    }
    Universe { near, most, growth }
}

impl Universe {
    fn check(
        &self,
        law: impl Fn(&Known<'_>) -> Distribution<Vec<i128>>,
        epsilon: f64,
        delta: f64,
    ) -> Result<f64, String> {
        let mechanism = |key: &Key| law(&Known { key, most: self.most, growth: self.growth });
        let neighbours = |key: &Key| self.near[key].iter().filter(|k| *k != key).cloned().collect();
        let fine = 1.0 + 1e-9;
        check(mechanism, self.near.keys().cloned(), neighbours, epsilon * fine, delta * fine)
            .map(|worst| worst.epsilon)
            .map_err(|violation| violation.to_string())
    }
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

/// Integers around `value`, given the tails `P[noise ≥ k]`, k ≥ 1, times p, folded at the ends.
fn around(value: i128, p: f64, tail: impl Fn(i128) -> f64) -> Vec<(i128, f64)> {
    let mass = |o: i128| {
        let k = (o - value).abs();
        match (o.abs() == REACH, k) {
            (true, k) if (o > value) == (o > 0) => tail(k),
            (_, 0) => 1.0 - 2.0 * tail(1),
            _ => tail(k) - tail(k + 1),
        }
    };
    (-REACH..=REACH).map(|o| (o, p * mass(o))).collect()
}

fn geometric_tail(s: f64) -> impl Fn(i128) -> f64 {
    let a = (-1.0 / s).exp();
    move |k| (-(k as f64) / s).exp() / (1.0 + a)
}

fn ladder_law(ladder: &Ladder, s: &Known<'_>) -> Distribution<Vec<i128>> {
    let rate = ladder.rate(s.growth).unwrap();
    let floor = ladder.floor().unwrap_or(0);
    let mut weights = vec![1.0];
    let (mut far, mut norm) = (0u64, 1.0);
    for k in 0.. {
        if k as f64 * rate > 60.0 && weights.len() as i128 > 2 * REACH {
            break;
        }
        let (width, weight) = (s.at_distance(k).max(floor), (-rate * (k + 1) as f64).exp());
        norm += 2.0 * width as f64 * weight;
        far += width;
        weights.resize(far as usize + 1, weight);
    }
    let at = |o: i128| {
        let k = (o - s.value()).unsigned_abs() as usize;
        weights.get(k).copied().unwrap_or(0.0) / norm
    };
    let listed: f64 = (-REACH..=REACH).map(at).sum();
    let tail = (1.0 - listed + 1e-9).clamp(0.0, 1.0);
    Distribution::with_tail((-REACH..=REACH).map(|o| (vec![o], at(o))), tail)
}

fn opening(threshold: u64, epsilon: f64, distance: u64) -> f64 {
    let tail = geometric_tail(1.0 / epsilon);
    let margin = threshold as i128 + 1 - i128::from(distance.min(1 << 40));
    if margin >= 1 { tail(margin) } else { 1.0 - tail(1 - margin) }
}

#[test]
fn ladders_are_pure_on_all_graphs_of_6_vertices() {
    for n in 3..=6 {
        let all = universe(n, |g| Triangles::of(g).unwrap());
        for e in [0.3, 1.0, 3.0] {
            for ladder in [
                Ladder::classic(epsilon(e)),
                Ladder::with_floor(epsilon(e), 1).unwrap(),
                Ladder::with_floor(epsilon(e), 4).unwrap(),
                Ladder::with_floor(epsilon(e), (10.0 / e).ceil() as u64).unwrap(),
            ] {
                if ladder.rate(1).is_err() {
                    continue; // so low a floor takes all of ε
                }
                let worst = all.check(|s| ladder_law(&ladder, s), e, 0.0).unwrap();
                // With so few vertices a floor is above every step, and ε is not used up.
                assert!(worst > 0.5 * e || ladder.floor().is_some(), "{n} {e} {worst}");
            }
        }
        // The published mistake: every rung starts at the centre, without the offset of those before.
        let flat = |s: &Known<'_>| {
            let rate = 0.5;
            let weight = |o: i128| {
                let k = (o - s.value()).unsigned_abs() as u64;
                (1..200u64)
                    .filter(|&u| k <= s.at_distance(u - 1))
                    .map(|u| (-rate * u as f64).exp())
                    .sum::<f64>()
            };
            let norm: f64 = (-REACH..=REACH).map(weight).sum();
            Distribution::new((-REACH..=REACH).map(|o| (vec![o], weight(o) / norm)))
        };
        assert!(all.check(flat, 1.0, 0.0).is_err());
    }
    let wedges = universe(5, |g| Stars::of(g, 2).unwrap());
    let ladder = Ladder::with_floor(epsilon(1.0), 5).unwrap();
    wedges.check(|s| ladder_law(&ladder, s), 1.0, 0.0).unwrap();
    let claws = universe(5, |g| Stars::of(g, 3).unwrap());
    claws.check(|s| ladder_law(&Ladder::classic(epsilon(1.0)), s), 1.0, 0.0).unwrap();
    for floor in [2, 4, 20] {
        let ladder = Ladder::with_floor(epsilon(1.5), floor).unwrap();
        claws.check(|s| ladder_law(&ladder, s), 1.5, 0.0).unwrap();
    }
}

#[test]
fn smooth_noise_is_private_on_all_graphs_of_6_vertices() {
    let t = |x| Smoothness::new(x).unwrap();
    for n in 3..=6 {
        let all = universe(n, |g| Triangles::of(g).unwrap());
        for e in [1.0, 3.0] {
            for noise in [
                SmoothNoise::student(epsilon(e), 1, t(0.1 * e)).unwrap(),
                SmoothNoise::student(epsilon(e), 4, t(0.1 * e)).unwrap(),
                SmoothNoise::pure(epsilon(e), t(0.1 * e)).unwrap(),
                SmoothNoise::new(Guarantee::Approximate(epsilon(e), delta(1e-3)), None).unwrap(),
            ] {
                let d = if noise.family() == NoiseFamily::Laplace { 1e-3 } else { 0.0 };
                let seen = all.check(|s| smooth_law(&noise, s), e, d);
                seen.unwrap_or_else(|v| panic!("{n} {}: {v}", noise.family()));
            }
        }
        let rho = 0.5;
        let noise = SmoothNoise::laplace_log_normal(Rho::new(rho).unwrap(), t(0.1)).unwrap();
        let mechanism =
            |key: &Key| smooth_law(&noise, &Known { key, most: all.most, growth: all.growth });
        let neighbours = |key: &Key| all.near[key].iter().filter(|k| *k != key).cloned().collect();
        let orders = [1.05, 1.5, 2.0, 4.0, 16.0];
        check_zcdp(mechanism, all.near.keys().cloned(), neighbours, rho * (1.0 + 1e-9), &orders)
            .unwrap_or_else(|v| panic!("{n}: {v}"));
    }
}

fn smooth_law(noise: &SmoothNoise, s: &Known<'_>) -> Distribution<Vec<i128>> {
    let scale = s.smooth(noise.t()).unwrap() / noise.s();
    let upper = |z: f64| match noise.family() {
        NoiseFamily::Laplace => 0.5 * (-z).exp(),
        NoiseFamily::Student { degrees: 1 } => 1f64.atan2(z) / std::f64::consts::PI,
        NoiseFamily::Student { degrees: 4 } => {
            let root = (4.0 + z * z).sqrt();
            let u = 4.0 / (root * (root + z));
            (u * u - u * u * u / 3.0) / (4.0 / 3.0)
        }
        NoiseFamily::LaplacePareto { gamma } => {
            let (g, x) = (f64::from(gamma), f64::from(gamma) + 1.0);
            let edge = (-x).exp();
            let tail = if z <= x { (-z).exp() + edge / g } else { x / g * edge * (x / z).powf(g) };
            0.5 * tail / (1.0 + edge / g)
        }
        NoiseFamily::LaplaceLogNormal { sigma } => {
            let h = 1.0 / 32.0;
            let at = |i: i32| {
                let y = f64::from(i) * h;
                (-0.5 * y * y - z * (-sigma * y).exp()).exp()
            };
            0.5 * (-320..=320).map(at).sum::<f64>() * h / std::f64::consts::TAU.sqrt()
        }
        other => unreachable!("{other} is not used here"),
    };
    let tails: Vec<f64> = (1..=2 * REACH + 2).map(|k| upper((k as f64 - 0.5) / scale)).collect();
    let table = around(s.value(), 1.0, |k| tails[k as usize - 1]);
    Distribution::new(table.into_iter().map(|(o, p)| (vec![o], p)))
}

#[test]
fn proposals_and_private_bounds_are_private_on_all_graphs_of_6_vertices() {
    for n in 3..=6 {
        let all = universe(n, |g| Triangles::of(g).unwrap());
        for (e1, e2, d) in [(0.5, 0.5, 1e-2), (1.0, 2.0, 1e-4)] {
            for bound in 1..u64::from(n) - 2 {
                let m = ProposeTestRelease::with_split(epsilon(e1), epsilon(e2), delta(d), bound)
                    .unwrap();
                let law = |s: &Known<'_>| {
                    let far = s.distance_above(bound).unwrap_or(u64::MAX);
                    let p = opening(m.threshold(), e1, far);
                    let table = around(s.value(), p, geometric_tail(bound as f64 / e2));
                    let table = table.into_iter().map(|(o, p)| (vec![o], p));
                    Distribution::new(table.chain([(vec![], 1.0 - p)]))
                };
                all.check(law, e1 + e2, d).unwrap_or_else(|v| panic!("{n} {bound}: {v}"));
            }
            let m = PrivateBound::with_split(epsilon(e1), epsilon(e2), delta(d)).unwrap();
            let margin = i128::from(m.margin(1).unwrap());
            let law = |s: &Known<'_>| {
                let (start, tail) =
                    (i128::from(s.at_distance(0)) + margin, geometric_tail(1.0 / e1));
                // P[Z ≥ k] for any k.
                let reach = |k: i128| if k >= 1 { tail(k) } else { 1.0 - tail(1 - k) };
                let mut table = vec![];
                for bound in 1..=s.most {
                    let k = i128::from(bound) - start;
                    let low = if bound == 1 { 1.0 } else { reach(k) };
                    let high = if bound == s.most { 0.0 } else { reach(k + 1) };
                    let rows = around(s.value(), low - high, geometric_tail(bound as f64 / e2));
                    table.extend(rows.into_iter().map(|(o, p)| (vec![i128::from(bound), o], p)));
                }
                Distribution::new(table)
            };
            all.check(law, e1 + e2, d).unwrap_or_else(|v| panic!("{n}: {v}"));
        }
    }
}
