//! Statements that look as if everyone had one row, where somebody may have several: the change of the exact aggregates is
//! within the claim all the same.

use super::change::Claim;
use super::database::Database;
use crate::bound::Key;
use crate::statement::settings::Settings;
use demure_core::random::SeededForTests;

const POLICY: &str = r#"
[budget]
epsilon = 1e6
delta = 1e-3
per_query = 1.0
[tables.t]
source = "t.csv"
unit = "id"
max_groups = 1
max_rows_per_group = 1
[tables.t.columns]
id = { type = "integer" }
x = { type = "real", bounds = [0, 10] }
[tables.s]
source = "s.csv"
unit = "id"
max_groups = 1
max_rows_per_group = 1
[tables.s.columns]
id = { type = "integer" }
y = { type = "real", bounds = [0, 10] }
[tables.codes]
source = "codes.csv"
public = true
"#;

/// Rows of `t` (id, x) and of `s` (id, y).
type Tables = (&'static str, &'static str);

async fn database((t, s): Tables) -> Database {
    let file = |name: &str, head: &str, rows: &str| {
        (format!("{name}.csv"), format!("{head}\n{}\n", rows.replace(' ', "\n")))
    };
    let files =
        [file("t", "id,x", t), file("s", "id,y", s), file("codes", "code,label", "0,a 1,b 2,b")];
    Database::open(POLICY, &files).await
}

fn check(sql: &str, left: Tables, right: Tables) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let found: Vec<String> = runtime.block_on(async {
        let (left, right) = (database(left).await, database(right).await);
        let settings = Settings::default();
        let priced = match left.priced(sql, &settings).await {
            Ok(priced) => priced,
            Err(error) => {
                println!("refused: {error}");
                return Vec::new();
            }
        };
        let again = right.priced(sql, &settings).await.unwrap();
        let mut all = Vec::new();
        for ((before, paid), (aggregate, quote)) in priced.iter().zip(&again) {
            let key = || Key::draw(&mut SeededForTests::insecure(1)).unwrap();
            let here = left.exact(before, &paid.spec(before), key()).await;
            let there = right.exact(aggregate, &quote.spec(aggregate), key()).await;
            match (here, there) {
                (Ok(here), Ok(there)) => {
                    let neighbours = left.policy.budget.neighbours;
                    let claim = Claim { aggregate, quote, neighbours };
                    all.extend(claim.check(&here, &there).broken);
                }
                (Err(error), _) | (_, Err(error)) => all.push(format!("failed: {error}")),
            }
        }
        all
    });
    assert!(found.is_empty(), "{sql}\n{}", found.join("\n"));
}

/// Person 9 has one row in `t` and five in `s`.
const WITH: Tables = ("1,1 9,1", "1,1 9,1 9,2 9,3 9,4 9,5");
const WITHOUT: Tables = ("1,1", "1,1");

// `ROW_NUMBER() … = 1` leaves one row of everyone, so nothing is bounded. The subquery that stands for a value has a row for
// each group of `y`; the aggregate without GROUP BY is on the other side of its join.
#[test]
fn a_value_of_several_rows_does_not_multiply_rows_that_are_taken_for_one_each() {
    check(
        "SELECT COUNT(*) FROM (SELECT id, x, ROW_NUMBER() OVER (PARTITION BY id ORDER BY x) AS n FROM t) AS q \
         WHERE n = 1 AND (SELECT MAX(s.y) FROM (SELECT * FROM s WHERE s.id = q.id AND s.y * 0 = q.x * 0), \
         (SELECT COUNT(*) AS c FROM codes) AS k GROUP BY s.y) >= 0",
        WITH,
        WITHOUT,
    );
}

/// Person 9 has five rows in `s`.
fn check_place(condition: &str) {
    check(
        &format!(
            "SELECT COUNT(*) FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY y) AS n FROM s) WHERE {condition}"
        ),
        WITH,
        WITHOUT,
    );
}

// Some conversions make different places equal: as a decimal of negative scale all of them are 0.
#[test]
fn a_place_that_is_rounded_is_no_place() {
    check_place("CAST(n AS DECIMAL(38,-37)) <= 1");
    check_place("CAST(n AS DECIMAL(4,-1)) < 1");
}

// 1.9 as a DECIMAL(2,0) is 2, and two rows of each person stay.
#[test]
fn a_limit_of_places_is_the_number_that_is_compared() {
    check_place("n <= CAST(1.9 AS DECIMAL(2,0))");
    check_place("n <= TRY_CAST(1.9 AS DECIMAL(2,0))");
}

// The float nearest to this decimal is 2, and the decimal is more.
#[test]
fn a_limit_of_places_is_read_exactly() {
    check_place("CAST(n AS DECIMAL(20,18)) < CAST('2.0000000000000001' AS DECIMAL(20,18))");
}
