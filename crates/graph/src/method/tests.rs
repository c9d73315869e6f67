use super::*;
use crate::graph::Graph;
use crate::stars::Stars;
use crate::triangles::Triangles;
use demure_core::random::SeededForTests;
use demure_core::unit::Rho;

fn pure(x: f64) -> Guarantee {
    Guarantee::Pure(Epsilon::new(x).unwrap())
}

#[test]
fn names_are_read_back() {
    for name in ["auto", "naive", "ladder", "classic-ladder", "smooth", "private-bound", "propose"]
    {
        assert_eq!(Method::parse(name).unwrap().to_string(), name);
    }
    assert!(Method::parse("best").is_err());
}

#[test]
fn auto_looks_at_public_facts_only() {
    let chosen = |n: u32, edges: &[(u32, u32)], budget| {
        let graph = Graph::new(n, edges.iter().copied()).unwrap();
        Method::Auto.chosen(&Triangles::of(&graph).unwrap(), budget).unwrap()
    };
    let star: Vec<(u32, u32)> = (1..500).map(|v| (0, v)).collect();
    for e in [0.1, 1.0, 10.0] {
        // The same whatever the edges.
        assert_eq!(chosen(5_000, &[], pure(e)), chosen(5_000, &star, pure(e)));
    }
    assert_eq!(chosen(5_000, &[], pure(1.0)), Method::Ladder);
    let rho = Guarantee::Concentrated(Rho::new(0.5).unwrap());
    assert_eq!(chosen(5_000, &[], rho), Method::Ladder);
    // Five vertices: the global sensitivity is 3.
    assert_eq!(chosen(5, &[], pure(1.0)), Method::Naive);
    let claws = Stars::of(&Graph::new(5_000, []).unwrap(), 3).unwrap();
    assert_eq!(Method::Auto.chosen(&claws, pure(1.0)).unwrap(), Method::Ladder);
    let ladder = Ladder::for_statistic(Epsilon::new(1.0).unwrap(), &claws).unwrap();
    assert_eq!(ladder.floor(), None);
}

#[test]
fn every_method_releases_within_its_budget_or_says_what_it_needs() {
    let n = 400;
    let near = |v: u32| (1..6).map(move |d| (v, (v + d) % n));
    let graph = Graph::new(n, (0..n).flat_map(near)).unwrap();
    let triangles = Triangles::of(&graph).unwrap();
    let mut rng = SeededForTests::insecure(8);
    let both = Guarantee::Approximate(Epsilon::new(4.0).unwrap(), Delta::new(1e-4).unwrap());
    let rho = Guarantee::Concentrated(Rho::new(8.0).unwrap());
    let truth = triangles.count() as f64;
    for name in ["auto", "naive", "ladder", "classic-ladder", "smooth", "private-bound", "propose"]
    {
        let method = Method::parse(name).unwrap();
        let needs_delta = ["private-bound", "propose"].contains(&name);
        for budget in [pure(4.0), both, rho] {
            let released = method.release(&triangles, budget, &mut rng);
            if needs_delta && budget != both {
                assert!(released.unwrap_err().to_string().contains("delta"));
                continue;
            }
            let released = released.unwrap();
            let spent = match released.guarantee() {
                Guarantee::Pure(e) | Guarantee::Approximate(e, _) => e.get() <= 4.0,
                other => other == budget,
            };
            assert!(spent, "{name} {budget} {}", released.guarantee());
            if name != "naive" {
                let error = (released.into_value().unwrap() - truth).abs();
                assert!(error < 1_000.0, "{name} {budget} {error}");
            }
        }
    }
    let one = Method::Propose { bound: Some(40) }.release(&triangles, both, &mut rng);
    assert!(one.unwrap().into_value().is_some());
}
