use super::*;

fn column(values: &[&str]) -> Column {
    Column {
        name: "c".to_owned(),
        values: values.iter().map(|&v| v.to_owned()).collect(),
        codes: (0..values.len() as u32).collect(),
    }
}

fn labels(hierarchy: &Hierarchy, code: usize) -> Vec<&str> {
    hierarchy.levels.iter().map(|level| level.labels[level.group[code] as usize].as_str()).collect()
}

#[test]
fn intervals_nest_and_are_exact() {
    let h = intervals(&column(&["-1", "0.3", "", "19"]), 0.0, &[0.1, 10.0, 20.0]).unwrap();
    assert_eq!(labels(&h, 0), ["-1", "[-1, -0.9)", "[-10, 0)", "[-20, 0)", "*"]);
    assert_eq!(labels(&h, 1), ["0.3", "[0.3, 0.4)", "[0, 10)", "[0, 20)", "*"]);
    assert_eq!(labels(&h, 2), ["", "", "", "", "*"]);
    assert!(intervals(&column(&["1"]), 0.0, &[2.0, 3.0]).is_err());
    assert!(matches!(
        intervals(&column(&["1", "x"]), 0.0, &[2.0]),
        Err(Error::NotInHierarchy { rows: 1, .. })
    ));
}

#[test]
fn masks_and_prefixes() {
    let h = masking(&column(&["123", "12", "é9"])).unwrap();
    assert_eq!(labels(&h, 0), ["123", "12*", "1**", "*"]);
    assert_eq!(labels(&h, 1), ["12", "12*", "1**", "*"]);
    assert_eq!(labels(&h, 2), ["é9", "é9*", "é**", "*"]);
    let h = prefixes(&column(&["81667", "81243"]), &[2]).unwrap();
    assert_eq!(labels(&h, 0), ["81667", "81***", "*"]);
    assert!(prefixes(&column(&["1"]), &[1, 2]).is_err());
}

#[test]
fn dates_become_months_and_years() {
    let h = dates(&column(&["2024-02-29", "2024-02-01"])).unwrap();
    assert_eq!(labels(&h, 0), ["2024-02-29", "2024-02", "2024", "*"]);
    let h = dates(&column(&["2024-02-29T12:00", "2024-02-01"])).unwrap();
    assert_eq!(labels(&h, 0), ["2024-02-29T12:00", "2024-02-29", "2024-02", "2024", "*"]);
    assert!(dates(&column(&["2024-13-01"])).is_err());
    assert!(dates(&column(&["29.02.2024"])).is_err());
    assert!(dates(&column(&["2024-02-é1"])).is_err());
}

#[test]
fn groups_in_order_and_trees_in_toml() {
    let h = ordered_groups(&column(&["c", "a"]), &["a", "b", "c", "d", "e"], &[2, 4]).unwrap();
    assert_eq!(labels(&h, 0), ["c", "c–d", "a–d", "*"]);
    assert_eq!(h.leaf_count(), 5);
    let text = "Europe = { North = [\"Norway\"], South = [\"Italy\"] }\nAsia = [\"Japan\"]";
    let h = tree(&column(&["Japan", "Norway"]), text).unwrap();
    assert_eq!(labels(&h, 0), ["Japan", "Japan", "Asia", "*"]);
    assert_eq!(labels(&h, 1), ["Norway", "North", "Europe", "*"]);
    assert!(tree(&column(&["a"]), "a = 1").is_err());
    assert!(matches!(tree(&column(&["a"]), "\n="), Err(Error::Malformed { line: 2, .. })));
}
