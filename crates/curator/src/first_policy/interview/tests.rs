use super::*;
use std::path::PathBuf;

fn sales(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("Sales 2024.csv");
    std::fs::write(&path, "CUSTOMER_ID;ORDER DATE;CATEGORY;PRICE;QUANTITY\n").unwrap();
    path
}

/// What comes of these answers, and the questions that were asked.
fn answered(
    choices: &Choices,
    answers: &[&str],
) -> (Result<Choices, ProposeError>, Vec<(String, String)>) {
    let folder = tempfile::tempdir().unwrap();
    let data = sales(&folder);
    let options = ProposeOptions {
        data: &data,
        output: None,
        table: None,
        choices,
        dictionary: None,
        ready: true,
        spend: None,
    };
    assert_eq!(options.table_name(), "sales_2024");
    let mut asked = Vec::new();
    let mut answers = answers.iter();
    let found = interview(&options, &mut |question, default| {
        asked.push((question.to_owned(), default.to_owned()));
        Ok(answers.next().map(|answer| format!("{answer}\n")))
    });
    (found, asked)
}

#[test]
fn empty_lines_take_what_names_suggest() {
    let (found, asked) = answered(&Choices::default(), &["", "", "", "2", "", ",", ""]);
    let found = found.unwrap();
    assert_eq!(found.unit.as_deref(), Some("CUSTOMER_ID"));
    assert_eq!(found.epsilon.map(Epsilon::get), Some(1.0));
    assert_eq!(found.dates, ["ORDER DATE"]);
    assert_eq!(found.date_format.map(|f| f.text().to_owned()).as_deref(), Some("%d.%m.%Y"));
    assert_eq!(found.numeric, ["PRICE", "QUANTITY"]);
    assert_eq!((found.decimal_comma, found.categories.len()), (Some(true), 0));
    assert!(asked[0].0.contains("5 columns") && asked[0].0.contains("2 ORDER DATE"));
    assert!(asked[0].0.contains("row of") || asked[0].0.contains("Whose row"));
    assert_eq!(asked[0].1, "CUSTOMER_ID");
}

#[test]
fn what_cannot_be_read_is_asked_again() {
    let answers = [
        "nobody",
        "9",
        "1",
        "much",
        "-1",
        "0.5",
        "order_date",
        "%d",
        "%d %b %Y",
        "4, quantity",
        "x",
        ".",
        "category",
        "a, b, a",
        "toys, books",
    ];
    let (found, asked) = answered(&Choices::default(), &answers);
    let found = found.unwrap();
    assert_eq!(found.unit.as_deref(), Some("CUSTOMER_ID"));
    assert_eq!(found.epsilon.map(Epsilon::get), Some(0.5));
    assert_eq!(found.numeric, ["PRICE", "QUANTITY"]);
    assert_eq!(found.decimal_comma, Some(false));
    let values = vec!["toys".to_owned(), "books".to_owned()];
    assert_eq!(found.categories, [("CATEGORY".to_owned(), values)]);
    assert!(asked[1].0.contains("`nobody` is not a column"));
    assert_eq!(asked.len(), answers.len());
}

#[test]
fn what_options_say_is_not_asked_and_the_end_of_input_ends_it() {
    let choices = Choices {
        unit: Some("customer_id".to_owned()),
        epsilon: Epsilon::new(2.0).ok(),
        dates: vec!["order_date".to_owned()],
        date_format: TimeFormat::parse("%F").ok(),
        numeric: vec!["price".to_owned()],
        decimal_comma: Some(true),
        categories: vec![("CATEGORY".to_owned(), Vec::new())],
        delimiter: None,
    };
    let (found, asked) = answered(&choices, &[]);
    assert_eq!(found.unwrap().unit.as_deref(), Some("CUSTOMER_ID"));
    assert!(asked.is_empty(), "{asked:?}");
    let (found, _) = answered(&Choices::default(), &[""]);
    assert!(found.unwrap_err().to_string().contains("hint: --yes asks nothing"));
}
