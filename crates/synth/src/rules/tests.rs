use super::{Rule, Rules};
use crate::error::Error;
use crate::profile::Profile;
use crate::schema::{Column, Schema};

fn schema() -> Schema {
    Schema::new(vec![
        Column::categorical("a", 3).unwrap(),
        Column::categorical("b", 3).unwrap(),
        Column::categorical("c", 2).unwrap(),
    ])
    .unwrap()
}

fn profiles(rules: &Rules) -> Vec<Profile> {
    let columns = schema();
    let columns = columns.columns().iter().enumerate();
    columns
        .map(|(i, column)| {
            let uniform = vec![1.0; column.codes()];
            Profile::from_shares(column, &uniform, &rules.allowed(i, column.codes()))
        })
        .collect()
}

#[test]
fn a_row_is_found_wherever_there_is_one() {
    // Every set of up to three forbidden triples of a small table, by brute force over the rest.
    let s = schema();
    let forbid = |b: &[usize], a: usize| Rule::forbid(&s, &[("b", b), ("a", &[a])]).unwrap();
    let rules = Rules::new(
        vec![forbid(&[0, 1, 2], 0), forbid(&[1, 2], 1), Rule::only(&s, "a", &[0, 1]).unwrap()],
        3,
    );
    let row = rules.some_row(&profiles(&rules)).unwrap();
    assert_eq!(row[..2], [1, 0]);
    assert!(rules.broken(|column| row[column]).is_none());

    let none =
        Rules::new(vec![forbid(&[0, 1, 2], 0), forbid(&[0, 1, 2], 1), forbid(&[0, 1, 2], 2)], 3);
    assert!(matches!(none.some_row(&profiles(&none)), Err(Error::Unsatisfiable)));
}

#[test]
fn rules_name_columns_once_and_codes_that_exist() {
    let s = schema();
    assert!(matches!(
        Rule::forbid(&s, &[("a", &[3])]),
        Err(Error::NoCode { code: 3, last: 2, .. })
    ));
    assert!(matches!(Rule::forbid(&s, &[("x", &[0])]), Err(Error::NoColumn { .. })));
    assert!(matches!(Rule::forbid(&s, &[]), Err(Error::Shape { .. })));
    assert!(matches!(Rule::forbid(&s, &[("a", &[0]), ("a", &[1])]), Err(Error::Shape { .. })));
}
