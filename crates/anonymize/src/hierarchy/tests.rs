use super::*;

fn column(values: &[&str]) -> Column {
    Column {
        name: "c".to_owned(),
        values: values.iter().map(|&v| v.to_owned()).collect(),
        codes: (0..values.len() as u32).collect(),
    }
}

#[test]
fn reads_a_file_and_counts_leaves_that_do_not_occur() {
    let hierarchy =
        Hierarchy::read(&column(&["b", "a"]), &b"a|x|*\nb|y|*\nc|y|*\n"[..], b'|').unwrap();
    assert_eq!(hierarchy.height(), 2);
    assert_eq!(hierarchy.leaf_count(), 3);
    assert_eq!(hierarchy.levels[1].group, [1, 0]);
    assert_eq!(hierarchy.levels[1].leaves, [1, 2]);
    assert_eq!(hierarchy.levels[2].leaves, [3]);
}

#[test]
fn refuses_what_is_not_a_tree_and_counts_what_is_missing() {
    let two_parents = Hierarchy::read(&column(&["a"]), &b"a;x;p\nb;x;q\n"[..], b';');
    assert!(matches!(two_parents, Err(Error::NotATree { level: 2, .. })));
    let twice = Hierarchy::read(&column(&["a"]), &b"a;x\na;y\n"[..], b';');
    assert!(matches!(twice, Err(Error::NotATree { level: 0, .. })));
    let ragged = Hierarchy::read(&column(&["a"]), &b"a;x\nb\n"[..], b';');
    assert!(matches!(ragged, Err(Error::Malformed { line: 2, .. })));
    let missing = Hierarchy::read(&column(&["a", "secret"]), &b"a;*\n"[..], b';').unwrap_err();
    assert!(matches!(missing, Error::NotInHierarchy { rows: 1, values: 1, .. }));
    assert!(!missing.to_string().contains("secret"));
    assert!(Hierarchy::read(&column(&["a"]), &b""[..], b';').is_err());
}
