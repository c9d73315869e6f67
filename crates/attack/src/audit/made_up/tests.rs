use super::*;

fn column(values: Values) -> Vec<String> {
    let column = Column { name: "x".to_owned(), values, nullable: false };
    table(&[column], 60).rows.into_iter().flatten().collect()
}

#[test]
fn numbers_reach_their_bounds_and_stay_within() {
    for (values, least, most) in [
        (Values::Whole(-3.5, 7.2), -3.0, 7.0),
        (Values::Real(0.25, 0.75), 0.25, 0.75),
        (Values::Whole(5.0, 5.0), 5.0, 5.0),
    ] {
        let cells = column(values);
        let numbers: Vec<f64> = cells.iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((numbers[0], numbers[1]), (least, most));
        assert!(numbers.iter().all(|x| (least..=most).contains(x)));
    }
}

#[test]
fn every_listed_value_occurs_and_nothing_else() {
    let list = ["u", "v", "w"].map(str::to_owned).to_vec();
    let cells = column(Values::Listed(list.clone()));
    assert!(list.iter().all(|value| cells.contains(value)));
    assert!(cells.iter().all(|cell| list.contains(cell)));
    assert!(["true", "false"].iter().all(|b| column(Values::Boolean).iter().any(|x| x == b)));
}

#[test]
fn people_have_one_to_three_rows_and_references_are_found() {
    let people = column(Values::Person);
    let rows = |id: &str| people.iter().filter(|person| *person == id).count();
    assert_eq!(["1", "2", "3", "4"].map(rows), [1, 2, 3, 1]);
    let found = column(Values::Of(Box::new(Values::Person), 60));
    assert!(found.iter().all(|id| people.contains(id)));
}

#[test]
fn days_are_days() {
    for cell in column(Values::Date) {
        let parts: Vec<usize> = cell.split('-').map(|part| part.parse().unwrap()).collect();
        assert!(parts[0] == 2020 && (1..=12).contains(&parts[1]) && (1..=28).contains(&parts[2]));
    }
    assert!(column(Values::Time).iter().all(|time| time.len() == "2020-01-01T00:00:00".len()));
}
