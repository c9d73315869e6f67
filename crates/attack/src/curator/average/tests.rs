use super::*;

#[test]
fn points_end_where_they_should() {
    assert_eq!(points(1), [1]);
    assert_eq!(points(10), [1, 2, 5, 10]);
    assert_eq!(points(30), [1, 2, 5, 10, 20, 30]);
}
