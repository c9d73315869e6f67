//! A random policy, small tables for it, and a neighbouring database.
//!
//! | table | whose rows | |
//! |---|---|---|
//! | `people` | `id` | |
//! | `visits` | `pid` | |
//! | `items` | those of the visit `vid` | by a foreign key |
//! | `lone` | each row a different person's | |
//! | `codes`, `pairs` | public | with a key, and without one |
//!
//! The four protected tables have the same columns: `a` a bounded integer, `b` a bounded real, `c` a text from a list,
//! `d` any text, `e` any integer, `f` a boolean, `g` an integer from a list, `h` a bounded date, `t` a bounded time. Each may hold values that the policy
//! excludes: NULL, NaN, ±∞, values out of bounds or not in the list.

use super::draw::Draw;
use std::collections::HashMap;
use std::fmt::Write;

/// The protected tables.
pub(super) const PROTECTED: [&str; 4] = ["people", "visits", "items", "lone"];

/// Rows as in CSV: each field as text, NULL as an empty one.
pub(super) type Rows = Vec<Vec<String>>;

/// A policy and one database for it.
#[derive(Clone)]
pub(super) struct World {
    pub(super) policy: String,
    pub(super) replace: bool,
    /// Rows of `people`, `visits`, `items` and `lone`.
    pub(super) tables: [Rows; 4],
}

/// The columns of each protected table.
pub(super) fn header(table: usize) -> &'static str {
    match table {
        0 => "id,a,b,c,d,e,f,g,h,t",
        1 => "pid,a,b,c,d,e,f,g,h,t,vid",
        2 => "vid,a,b,c,d,e,f,g,h,t",
        _ => "a,b,c,d,e,f,g,h,t",
    }
}

pub(super) const CODES: &str = "code,label,weight\n0,north,1.5\n1,south,-2\n2,north,7\n3,east,0\n";
pub(super) const PAIRS: &str = "code,label\n0,p\n0,q\n1,p\n1,p\n2,r\n";

const A: [(i32, i32); 5] = [(0, 10), (-7, 5), (-9, -3), (0, 1), (2, 40)];
const B: [(f64, f64); 5] = [(0.0, 1.0), (-2.5, 7.25), (-4.0, -1.0), (0.0, 100.0), (-1e3, 1e3)];

const H: [(&str, &str); 4] = [
    ("2024-01-01", "2024-03-31"),
    ("1969-12-25", "1970-02-05"),
    ("2024-02-28", "2024-02-29"),
    ("0000-01-01", "9999-12-31"),
];
const T: [(&str, &str); 4] = [
    ("2024-01-01", "2024-01-31"),
    ("2024-01-31T12:00:00", "2024-02-02T12:00:00.5"),
    ("1969-12-31T23:59:00", "1970-01-01T00:01:00"),
    ("0000-01-01", "9999-12-31"),
];

impl World {
    pub(super) fn new(draw: &mut Draw) -> Self {
        let replace = draw.percent(50);
        let zcdp = draw.percent(40);
        let mut policy = String::from("[budget]\nepsilon = 1e6\ndelta = 1e-3\nper_query = 1.0\n");
        let neighbours = if replace { "replace" } else { "add-remove" };
        let accounting = if zcdp { "zcdp" } else { "pure" };
        writeln!(policy, "neighbours = \"{neighbours}\"\naccounting = \"{accounting}\"").unwrap();
        let declared = draw.percent(50);
        // Half of the worlds learn how many rows of a person count.
        let limited = draw.percent(50);
        for (i, name) in PROTECTED.iter().enumerate() {
            let unit = match i {
                0 => "\"id\"",
                1 => "\"pid\"",
                2 => "{ column = \"vid\", references = \"visits.vid\" }",
                _ => "\"row\"",
            };
            writeln!(policy, "[tables.{name}]\nsource = \"{name}.csv\"\nunit = {unit}").unwrap();
            if i < 3 && limited {
                writeln!(policy, "max_groups = {}", 1 + draw.below(3)).unwrap();
                writeln!(policy, "max_rows_per_group = {}", 1 + draw.below(3)).unwrap();
            }
            writeln!(policy, "[tables.{name}.columns]").unwrap();
            if declared && i < 2 {
                writeln!(policy, "{} = {{ type = \"integer\" }}", ["id", "pid"][i]).unwrap();
            }
            let (low, high) = *draw.pick(&A);
            let null = |draw: &mut Draw| ["", ", nullable = false"][draw.below(2)];
            writeln!(
                policy,
                "a = {{ type = \"integer\", bounds = [{low}, {high}]{} }}",
                null(draw)
            )
            .unwrap();
            let (low, high) = *draw.pick(&B);
            let grid = if draw.percent(25) { ", grid = 0.25" } else { "" };
            writeln!(
                policy,
                "b = {{ type = \"real\", bounds = [{low:?}, {high:?}]{grid}{} }}",
                null(draw)
            )
            .unwrap();
            writeln!(policy, "c = {{ values = [\"x\", \"y\", \"z\"]{} }}", null(draw)).unwrap();
            writeln!(policy, "d = {{ type = \"text\" }}\ne = {{ type = \"integer\" }}").unwrap();
            writeln!(policy, "f = {{ type = \"boolean\" }}").unwrap();
            writeln!(policy, "g = {{ values = [1, 2, 5]{} }}", null(draw)).unwrap();
            for (name, kind, (low, high)) in
                [("h", "date", draw.pick(&H)), ("t", "time", draw.pick(&T))]
            {
                writeln!(
                    policy,
                    "{name} = {{ type = \"{kind}\", bounds = [{low}, {high}]{} }}",
                    null(draw)
                )
                .unwrap();
            }
        }
        policy.push_str("[tables.codes]\nsource = \"codes.csv\"\npublic = true\nkey = \"code\"\n");
        policy.push_str("[tables.pairs]\nsource = \"pairs.csv\"\npublic = true\n");
        let mut world = Self { policy, replace, tables: Default::default() };
        for person in 0..1 + draw.below(6) {
            let rows = draw.below(5);
            world.add_person(&id(person), rows, draw);
        }
        if draw.percent(60) {
            world.add_person("", 3, draw); // without an id
        }
        for _ in 0..draw.below(8) {
            let row = values(draw);
            world.tables[3].push(row);
        }
        for table in &mut world.tables {
            draw.shuffle(table);
        }
        world
    }

    /// Gives a person up to this many rows in each table.
    fn add_person(&mut self, id: &str, rows: usize, draw: &mut Draw) {
        for _ in 0..draw.below(rows + 1) {
            let row = with(id, values(draw));
            self.tables[0].push(row);
        }
        for _ in 0..draw.below(rows + 1) {
            let mut row = with(id, values(draw));
            // Visit numbers: mostly the person's own, a few by chance another person's too.
            let visit = if draw.percent(90) {
                format!("{id}{}", draw.below(3))
            } else {
                draw.text(&["10", "21", "", "77"])
            };
            for _ in 0..draw.below(3) {
                let item = with(&visit, values(draw));
                self.tables[2].push(item);
            }
            row.push(visit);
            self.tables[1].push(row);
        }
    }

    /// Whether a visit belongs to several people: no such table can be opened.
    pub(super) fn shares_a_visit(&self) -> bool {
        let mut owners: HashMap<&String, &String> = HashMap::new();
        self.tables[1].iter().any(|row| {
            let (Some(person), Some(visit)) = (row.first(), row.last()) else { return false };
            let theirs = !person.is_empty() && !visit.is_empty();
            theirs && *owners.entry(visit).or_insert(person) != person
        })
    }

    /// A neighbour: one unit's rows removed, added or replaced, in all tables.
    pub(super) fn neighbour(&self, draw: &mut Draw) -> Self {
        let mut other = self.clone();
        let (remove, add) = match (self.replace, draw.percent(50)) {
            (true, _) => (true, true),
            (false, remove) => (remove, !remove),
        };
        if draw.percent(25) {
            let lone = &mut other.tables[3];
            if remove && !lone.is_empty() {
                lone.swap_remove(draw.below(lone.len()));
            } else if remove {
                return other; // no one to replace
            }
            if add {
                lone.push(values(draw));
            }
        } else {
            let person = id(draw.below(7));
            if remove {
                other.remove_person(&person);
            }
            if add {
                // The same person's rows, or those of a person who was not there before.
                let person = if remove && draw.percent(50) { person } else { id(8) };
                let rows = 4 + draw.below(8);
                other.add_person(&person, rows, draw);
            }
        }
        // The rows of a table have no order.
        if draw.percent(50) {
            for table in &mut other.tables {
                draw.shuffle(table);
            }
        }
        other
    }

    fn remove_person(&mut self, person: &str) {
        let of = |row: &Vec<String>| row[0] == person;
        let theirs = |row: &Vec<String>| row.last().cloned().unwrap_or_default();
        let visits = &self.tables[1];
        let hers: Vec<String> = visits.iter().filter(|r| of(r)).map(theirs).collect();
        let others: Vec<String> = visits.iter().filter(|r| !of(r)).map(theirs).collect();
        self.tables[2].retain(|row| !hers.contains(&row[0]) || others.contains(&row[0]));
        self.tables[0].retain(|row| !of(row));
        self.tables[1].retain(|row| !of(row));
    }
}

fn id(person: usize) -> String {
    (person + 1).to_string()
}

fn with(first: &str, rest: Vec<String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rest).collect()
}

/// One row of `a` to `t`.
fn values(draw: &mut Draw) -> Vec<String> {
    const A: &[&str] = &[
        "0",
        "1",
        "1",
        "3",
        "5",
        "-7",
        "-3",
        "9",
        "10",
        "",
        "",
        "200",
        "-200",
        "?",
        "9223372036854775807",
        "-9223372036854775808",
    ];
    const B: &[&str] = &[
        "0", "1", "0.5", "-0.0", "7.25", "-2.5", "-4", "99.9", "", "", "NaN", "inf", "-inf",
        "1e300", "-1e300", "5e-324", "?",
    ];
    const H: &[&str] = &[
        "2024-01-01",
        "2024-01-31",
        "2024-02-29",
        "2024-03-31",
        "1969-12-31",
        "1970-01-01",
        "",
        "?",
        "0001-01-01",
        "9999-12-31",
        "200000-01-01",
        "-200000-12-31",
    ];
    const T: &[&str] = &[
        "2024-01-01T00:00:00",
        "2024-01-31T11:59:59.999999",
        "2024-01-31 12:00:00",
        "2024-02-02T12:00:00.5",
        "1969-12-31T23:59:59.75",
        "1970-01-01T00:00:00",
        "",
        "?",
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59",
        "200000-01-01T00:00:00",
        "-200000-12-31T00:00:00",
    ];
    const E: &[&str] = &["0", "1", "2", "3", "4", "-1", "", "1000000", "9223372036854775807"];
    vec![
        draw.text(A),
        draw.text(B),
        draw.text(&["x", "x", "y", "z", "", "w"]),
        draw.text(&["p", "q", "r", "s", "t", "", "12", "1.5", "é(", "pq"]),
        draw.text(E),
        draw.text(&["true", "false", "", "?"]),
        draw.text(&["1", "1", "2", "5", "", "7", "-3"]),
        draw.text(H),
        draw.text(T),
    ]
}
