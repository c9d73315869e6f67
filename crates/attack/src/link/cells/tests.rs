use super::*;

fn covers(label: &str, value: &str) -> bool {
    Label::read(label).covers(value, value.parse().ok())
}

#[test]
fn labels_stand_for_what_they_say() {
    for (label, value) in [
        ("*", ""),
        ("3270", "3270"),
        ("32**", "3270"),
        ("3200-3499", "3400"),
        ("3200–3499", "3200"),
        ("[20, 30)", "20"),
        ("[20, 30]", "30"),
        ("[-5, 0)", "-5"),
        ("-5-3", "-1"),
        ("2024-05", "2024-05-17"),
        ("2024", "2024-05-17"),
        ("a-b", "a-b"),
    ] {
        assert!(covers(label, value), "{label} {value}");
    }
    for (label, value) in [
        ("3270", "3271"),
        ("32**", "3370"),
        ("32**", "32700"),
        ("3200-3499", "3500"),
        ("[20, 30)", "30"),
        ("[20, 30]", "30.5"),
        ("2024-05", "2024-06-17"),
        ("20", "2024"),
        ("a-b", "a"),
        ("[20, 30)", "x"),
    ] {
        assert!(!covers(label, value), "{label} {value}");
    }
}

#[test]
fn a_hierarchy_says_more_than_a_label_does() {
    let column = |values: &[&str]| Column {
        name: "state".to_owned(),
        values: values.iter().map(|v| (*v).to_owned()).collect(),
        codes: (0..values.len() as u32).collect(),
    };
    let original = column(&["Norway", "Italy"]);
    let published = column(&["North", "*", "East"]);
    let paths = [vec!["Norway", "North", "*"], vec!["Italy", "South", "*"]];
    let tree = Hierarchy::from_paths(&original, &paths).unwrap();
    let covers = Covers::new(&original, &published, Some(&tree));
    assert!(covers.get(0, 0) && !covers.get(1, 0) && covers.get(1, 1));
    assert_eq!(covers.idle(), 1);
    assert_eq!(Covers::new(&original, &published, None).idle(), 2);
}
