use super::*;
use crate::graph::Graph;
use crate::triangles::Triangles;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};

const METHODS: [&str; 7] =
    ["auto", "naive", "ladder", "classic-ladder", "smooth", "private-bound", "propose"];

fn requests() -> impl Iterator<Item = CountRequest> {
    let budget = Guarantee::Approximate(Epsilon::new(4.0).unwrap(), Delta::new(1e-4).unwrap());
    METHODS.into_iter().flat_map(move |name| {
        [Neighbours::AddRemove, Neighbours::Replace].map(|relation| CountRequest {
            method: Method::parse(name).unwrap(),
            budget,
            relation,
        })
    })
}

#[test]
fn a_forecast_is_the_same_for_all_graphs_and_promises_what_is_released() {
    let n = 200;
    let near = |v: u32| (1..4).map(move |d| (v, (v + d) % n));
    let graph = Graph::new(n, (0..n).flat_map(near)).unwrap();
    let (full, empty) = (Triangles::of(&graph).unwrap(), Triangles::without_edges(n));
    let mut rng = SeededForTests::insecure(2);
    for request in requests() {
        let forecast = request.forecast(&empty).unwrap();
        let same = request.forecast(&full).unwrap();
        assert_eq!(format!("{forecast:?}"), format!("{same:?}"));
        assert!(forecast.expected > 0.0 && forecast.global == 198, "{forecast:?}");
        let released = request.release(&full, &mut rng).unwrap();
        assert_eq!(released.method, forecast.method);
        let promised = request.promised(released.value.guarantee()).unwrap();
        assert_eq!(promised, forecast.promised, "{request:?}");
        // An error is shown with a bound, or where the noise does not follow the graph.
        let known = released.bound.is_some() || released.method == Method::Naive;
        assert_eq!(released.error.is_some(), known, "{released:?}");
    }
}
