//! Plans that random queries seldom produce, each with the neighbours on which it would fail.
//!
//! The rows are given in the order of the file. The neighbour also has other people's rows in another order, since a
//! table has none.

use super::change::Claim;
use super::database::Database;
use crate::bound::{BoundSpec, Key};
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
max_groups = 2
max_rows_per_group = 1
[tables.t.columns]
id = { type = "integer" }
x = { type = "real", bounds = [0, 10] }
k = { values = ["u", "v"] }
d = { type = "text" }
[tables.s]
source = "s.csv"
unit = "id"
max_groups = 2
max_rows_per_group = 1
[tables.s.columns]
id = { type = "integer" }
y = { type = "real", bounds = [0, 10] }
[tables.lone]
source = "lone.csv"
unit = "row"
[tables.lone.columns]
x = { type = "real", bounds = [0, 10] }
k = { values = ["u", "v"] }
"#;

/// Rows of `t` (id, x, k, d), of `s` (id, y) and of `lone` (x, k).
type Tables = (&'static str, &'static str, &'static str);

async fn database((t, s, lone): Tables) -> Database {
    let file = |name: &str, head: &str, rows: &str| {
        (format!("{name}.csv"), format!("{head}\n{}\n", rows.replace(' ', "\n")))
    };
    let files = [file("t", "id,x,k,d", t), file("s", "id,y", s), file("lone", "x,k", lone)];
    Database::open(POLICY, &files).await
}

/// The claims that do not hold, and failures; empty if the query is refused.
fn broken(sql: &str, left: Tables, right: Tables) -> Vec<String> {
    broken_if(sql, left, right, &|_| {}, false)
}

/// The same with the bounding changed, or with a separate key for each database.
fn broken_if(
    sql: &str,
    left: Tables,
    right: Tables,
    change: &dyn Fn(&mut BoundSpec),
    two_keys: bool,
) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (left, right) = (database(left).await, database(right).await);
        let settings = Settings::default();
        let (Ok(priced), Ok(again)) =
            (left.priced(sql, &settings).await, right.priced(sql, &settings).await)
        else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for ((before, paid), (aggregate, quote)) in priced.iter().zip(&again) {
            for seed in 0..4 {
                let key = |seed| Key::draw(&mut SeededForTests::insecure(seed)).unwrap();
                let other = if two_keys { seed + 100 } else { seed };
                let (mut spec, mut same) = (paid.spec(before), quote.spec(aggregate));
                change(&mut spec);
                change(&mut same);
                let here = left.exact(before, &spec, key(seed)).await;
                let there = right.exact(aggregate, &same, key(other)).await;
                match (here, there) {
                    (Ok(here), Ok(there)) => {
                        let neighbours = left.policy.budget.neighbours;
                        let claim = Claim { aggregate, quote, neighbours };
                        all.extend(claim.check(&here, &there).broken);
                    }
                    (Err(error), _) | (_, Err(error)) => all.push(format!("failed: {error}")),
                }
            }
        }
        all
    })
}

#[track_caller]
fn holds(sql: &str, left: Tables, right: Tables) {
    let broken = broken(sql, left, right);
    assert!(broken.is_empty(), "{sql}\n{}", broken.join("\n"));
}

const LONE: &str = "1,u 2,v 3,u";

#[test] // the power twin of this and of `sensitivity`
fn a_bound_that_is_off_by_one_is_noticed() {
    // Of this person's many rows, one in each of two groups may stay.
    let many = "2,1,u,p 9,1,u,p 9,2,u,p 9,3,v,p 9,4,v,p 9,5,,p 9,6,,p 9,7,u,p";
    let (with, without) = ((many, "2,1", LONE), ("2,1,u,p", "2,1", LONE));
    let by_key = "SELECT k, COUNT(*), MODE(k), MEDIAN(x), AVG(x), MAX(x) FROM t GROUP BY k";
    let private = "SELECT d, x, COUNT(*) FROM t GROUP BY d, x";
    type Change<'a> = &'a dyn Fn(&mut BoundSpec);
    let row: Change = &|spec| spec.max_rows += 1;
    let group: Change = &|spec| spec.max_groups += 1;
    let none: Change = &|spec| (spec.max_groups, spec.max_rows) = (1 << 20, 1 << 20);
    for sql in [by_key, private, "SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t"] {
        assert!(broken(sql, with, without).is_empty(), "{sql}");
        assert!(!broken_if(sql, with, without, none, false).is_empty(), "{sql}");
    }
    assert!(!broken_if("SELECT COUNT(*) FROM t", with, without, row, false).is_empty());
    assert!(!broken_if(by_key, with, without, row, false).is_empty());
    assert!(!broken_if(by_key, with, without, group, false).is_empty());
    assert!(!broken_if(private, with, without, group, false).is_empty());
    // Each of eight people keeps one of two rows, depending on the key.
    let two = "1,0,u,p 1,10,u,p 2,0,u,p 2,10,u,p 3,0,u,p 3,10,u,p 4,0,u,p 4,10,u,p \
               5,0,u,p 5,10,u,p 6,0,u,p 6,10,u,p 7,0,u,p 7,10,u,p 8,0,u,p 8,10,u,p";
    let chosen = (two, "2,1", LONE);
    assert!(broken("SELECT SUM(x) FROM t", chosen, chosen).is_empty());
    assert!(!broken_if("SELECT SUM(x) FROM t", chosen, chosen, &|_| {}, true).is_empty());
}

#[test]
fn an_id_that_is_sometimes_null_is_no_id() {
    // Person 1 has (NULL, 1) and (1, 1) after grouping: two rows.
    for id in ["CASE WHEN x > 5 THEN id END", "CASE WHEN x > 5 THEN id ELSE NULL END"] {
        let sql = format!(
            "SELECT COUNT(*) FROM (SELECT i, COUNT(*) AS n FROM (SELECT {id} AS i, x FROM t) GROUP BY i)"
        );
        holds(&sql, ("2,1,u,p 1,1,u,p 1,9,u,p", "2,1", LONE), ("2,1,u,p", "2,1", LONE));
    }
}

#[test]
fn a_person_minimum_does_not_depend_on_the_order_of_rows() {
    for function in ["MIN", "MAX"] {
        let sql = format!("SELECT SUM(m) FROM (SELECT id, {function}(x) AS m FROM t GROUP BY id)");
        holds(
            &sql,
            ("1,NaN,u,p 1,1,u,p 2,NaN,u,p 2,1,u,p 3,NaN,u,p 3,1,u,p", "1,1", LONE),
            ("1,1,u,p 1,NaN,u,p 2,1,u,p 2,NaN,u,p 3,1,u,p 3,NaN,u,p", "1,1", LONE),
        );
        let sql = format!(
            "SELECT SUM(CLAMP(1 / m, 0, 5)) FROM (SELECT id, {function}(x) AS m FROM t GROUP BY id)"
        );
        holds(
            &sql,
            ("1,-0.0,u,p 1,0.0,u,p 2,-0.0,u,p 2,0.0,u,p 3,-0.0,u,p 3,0.0,u,p", "1,1", LONE),
            ("1,0.0,u,p 1,-0.0,u,p 2,0.0,u,p 2,-0.0,u,p 3,0.0,u,p 3,-0.0,u,p", "1,1", LONE),
        );
    }
}

#[test]
fn ids_that_are_written_in_two_ways_are_one_person() {
    // `1`, `01` and `001` are the integer 1: a single person both to the join and to the bounds.
    let few = ("2,1,u,p", "2,1", LONE);
    let same = ("2,1,u,p 1,1,u,p 01,1,u,p 001,1,u,p", "2,1 1,1 01,1 001,1", LONE);
    holds("SELECT COUNT(*) FROM t", same, few);
    holds("SELECT COUNT(*) FROM t JOIN s ON t.id = s.id", same, few);
    // Or they are three people, and then removing `1` leaves the others' rows as they are.
    let others = ("2,1,u,p 01,1,u,p 001,1,u,p", "2,1 01,1 001,1", LONE);
    let joined = "SELECT COUNT(*) FROM (SELECT t.id FROM t JOIN s ON t.id = s.id)";
    holds(joined, same, others);
}

#[test]
fn a_pattern_that_is_wrong_fails_for_everybody_or_for_nobody() {
    for wrong in ["d ~ '('", "d ~* '('", "d !~ '('", "d ~ 'a{5000}{5000}'", "d LIKE 'a\\'"] {
        // Only the left database has a person with x > 5, for whom the pattern is evaluated.
        for sql in [
            format!("SELECT COUNT(*) FROM t WHERE x > 5 AND {wrong}"),
            format!("SELECT COUNT(*) FROM t WHERE CASE WHEN x > 5 THEN {wrong} ELSE false END"),
        ] {
            let left = ("1,9,u,p 2,1,u,p", "1,1", LONE);
            let right = ("2,1,u,p", "1,1", LONE);
            let found = broken(&sql, left, right);
            let everybody = !broken(&sql, right, right).is_empty();
            assert!(found.is_empty() || everybody, "{sql}\n{}", found.join("\n"));
        }
    }
}

#[test]
fn a_row_that_is_there_twice_counts_twice() {
    let twice = "(SELECT x, k FROM lone UNION ALL SELECT x, k FROM lone)";
    for what in
        ["COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)", "MODE(k)", "MAX(x)", "COUNT(DISTINCT x)"]
    {
        for sql in [
            format!("SELECT {what} FROM {twice} AS q"),
            format!("SELECT k, {what} FROM {twice} AS q GROUP BY k"),
            format!("SELECT x, {what} FROM {twice} AS q GROUP BY x"),
        ] {
            let t = ("1,1,u,p", "1,1", "1,u 2,v 3,u 10,v");
            holds(&sql, t, (t.0, t.1, "1,u 2,v 3,u"));
        }
    }
}

#[test]
fn nobody_at_all_is_no_error() {
    for sql in [
        "SELECT MODE(NULL) FROM t",
        "SELECT AVG(x), MODE(k), MAX(x), MEDIAN(x) FROM t",
        "SELECT COUNT(*) FROM t WHERE false",
        "SELECT d, COUNT(*) FROM t WHERE x > 11 GROUP BY d",
    ] {
        let nobody = ("", "", "");
        holds(sql, nobody, ("1,1,u,p", "1,1", LONE));
    }
}
