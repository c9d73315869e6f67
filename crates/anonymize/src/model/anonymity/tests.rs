use super::super::testing::{class, two_columns};
use super::*;

#[test]
fn sizes_decide() {
    let model = KAnonymity::new(3).unwrap();
    for size in 0..6 {
        let one = class(&[size]);
        assert_eq!(model.holds(&one, &one), size == 0 || size >= 3);
    }
    assert!(KAnonymity::new(0).is_err() && KMap::new(0, 0).is_err());
    assert_eq!((model.name().as_str(), model.least_size()), ("3-anonymity", 3));
}

#[test]
fn the_population_decides_a_map() {
    let model = KMap::new(5, 1).unwrap();
    let table = two_columns(&[9, 9], &[30]);
    assert!(model.holds(&two_columns(&[1, 0], &[5]), &table), "one row, five persons like it");
    assert!(!model.holds(&two_columns(&[6, 0], &[4]), &table), "six rows, four persons");
    assert!(model.holds(&two_columns(&[0, 0], &[1]), &table), "nothing released");
    assert!(!model.holds(&class(&[6]), &table), "no population given");
    assert_eq!(model.measure(&two_columns(&[1, 0], &[5]), &table).unwrap().to_string(), "5");
}
