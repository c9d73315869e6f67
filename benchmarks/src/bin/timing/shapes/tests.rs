use super::*;

#[test]
fn shapes_have_names_of_their_own_and_differ_in_the_table_alone() {
    for (i, shape) in SHAPES.iter().enumerate() {
        assert!(shape.sql.contains("{t}"), "{}", shape.name);
        assert!(SHAPES[..i].iter().all(|other| other.name != shape.name), "{}", shape.name);
        assert!(shape.name.len() < 26, "{}", shape.name);
    }
}
