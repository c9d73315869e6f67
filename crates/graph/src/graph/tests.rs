use super::*;

/// The pairs of vertices, in the order of the bits of a graph's number.
pub(crate) fn pairs(n: u32) -> Vec<(u32, u32)> {
    (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect()
}

pub(crate) fn numbered(n: u32, number: u32) -> Graph {
    let edges = pairs(n).into_iter().enumerate();
    let chosen = edges.filter(|(i, _)| number >> i & 1 == 1).map(|(_, edge)| edge);
    Graph::new(n, chosen).unwrap()
}

/// The numbers of all graphs on n vertices.
pub(crate) fn all(n: u32) -> std::ops::Range<u32> {
    0..1 << (n * n.saturating_sub(1) / 2)
}

/// The graphs that differ in one edge.
pub(crate) fn flipped(n: u32) -> impl Fn(&u32) -> Vec<u32> {
    move |&number| (0..n * n.saturating_sub(1) / 2).map(|i| number ^ 1 << i).collect()
}

#[test]
fn rows_are_sorted_by_falling_degree_and_simple() {
    let graph = Graph::new(6, [(0, 1), (1, 0), (2, 2), (3, 1), (1, 4), (4, 3), (0, 1)]).unwrap();
    assert_eq!(graph.edges(), 4);
    let degrees: Vec<u32> = (0..6).map(|v| graph.degree(v)).collect();
    assert_eq!(degrees, [3, 2, 2, 1, 0, 0]);
    for v in 0..6 {
        assert!(graph.row(v).is_sorted());
        assert!(graph.ahead(v).iter().all(|&u| u < v));
    }
    assert!(graph.adjacent(0, 3) && !graph.adjacent(1, 3));
    assert!(Graph::new(3, [(0, 3)]).is_err());
    assert_eq!(format!("{graph:?}"), "Graph { vertices: 6, .. }");
}
