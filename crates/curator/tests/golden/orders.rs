//! A table with dates, times and decimals: what PostgreSQL makes of them is in `meaning.slt`.

use super::Data;
use std::fs;
use std::path::Path;

pub(crate) const TABLE: &str = r#"
[tables.orders]
source = "orders.csv"
unit = "customer"
max_groups = 20
max_rows_per_group = 10
[tables.orders.columns]
id = { type = "integer" }
customer = { type = "integer" }
ordered = { type = "date" }
shipped = { type = "date" }
placed = { type = "time" }
done = { type = "time" }
discount = { bounds = [0, 1] }
quantity = { type = "integer", bounds = [0, 6] }
price = { bounds = [0, 1000] }
"#;

/// 300 orders of 100 customers in the first hundred days of 2024. Each is shipped up to 44 days later, and done up to
/// 20 days after it was placed.
pub(crate) fn write(folder: &Path, data: Data) {
    let header = "id,customer,ordered,shipped,placed,done,discount,quantity,price";
    let mut rows: Vec<String> = (0..300i64)
        .map(|i| {
            let (ordered, second) = (i % 100, i * 37 * 60 % 86_400);
            let shipped = if i % 50 == 49 { String::new() } else { date(ordered + i % 45) };
            let took = (i % 20) * 86_400 + (i % 24) * 3_600 + (i % 60) * 60;
            let placed = ordered * 86_400 + second;
            format!(
                "{i},{},{},{shipped},{},{},0.{:02},{},{}.5",
                i % 100,
                date(ordered),
                time(placed),
                time(placed + took),
                i % 11,
                i % 7,
                i % 50,
            )
        })
        .collect();
    if data != Data::Harmless {
        for strange in [
            "8675309,8675309,9999-12-31,0001-01-01,9999-12-31 23:59:59,0001-01-01 00:00:00,8675309.125,77777777,8675309.125",
            "901,1,,,,,,,",
            "902,,2024-01-01,2024-01-31,2024-01-01 00:00:00,2024-01-31 00:00:00,0.07,1,1",
            "903,2,2024-13-45,x,2024-01-01 25:00:00,x,nan,x,inf",
            "904,3,262142-12-31,-0001-01-01,262142-12-31 00:00:00,0001-01-01 00:00:00,-inf,-1,-0.0",
        ] {
            rows.push(strange.to_owned());
        }
    }
    if data == Data::Reversed {
        rows.reverse();
    }
    fs::write(folder.join("orders.csv"), format!("{header}\n{}\n", rows.join("\n")))
        .expect("a table");
}

/// A day of 2024, from 0.
fn date(day: i64) -> String {
    const MONTHS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut month, mut rest) = (0, day);
    while rest >= MONTHS[month] {
        rest -= MONTHS[month];
        month += 1;
    }
    format!("2024-{:02}-{:02}", month + 1, rest + 1)
}

/// A second of 2024, from 0.
fn time(second: i64) -> String {
    let (day, rest) = (second / 86_400, second % 86_400);
    format!("{} {:02}:{:02}:{:02}", date(day), rest / 3_600, rest / 60 % 60, rest % 60)
}
