use super::*;

#[test]
fn every_pair_has_a_cell_and_names_are_escaped() {
    let cell = |pair, value| HeatCell { pair, value, words: "a < b".to_owned() };
    let map = HeatMap {
        title: "errors".to_owned(),
        names: ["x", "y<", "z"].map(str::to_owned).to_vec(),
        cells: vec![cell((0, 1), 0.1), cell((0, 2), -0.2), cell((1, 2), 0.4)],
    };
    let svg = map.svg();
    assert_eq!(svg.matches("<rect class=\"c2").count(), 3);
    assert!(svg.contains("y&lt;") && svg.contains("a &lt; b") && !svg.contains("y<<"));
    assert!(svg.contains("opacity=\"0.940\"") && svg.contains("opacity=\"0.040\""));
    assert!(svg.contains("darkest: 0.4"));
}

#[test]
fn a_map_without_pairs_is_still_one() {
    for names in [vec![], vec!["x".to_owned()]] {
        let svg = HeatMap { title: "none".to_owned(), names, cells: vec![] }.svg();
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{svg}");
    }
}
