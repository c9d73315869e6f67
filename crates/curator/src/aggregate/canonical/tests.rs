use crate::curator::Curator;
use crate::pipeline::Planned;
use crate::policy::Policy;
use crate::statement::parse::{Statement, parse};
use std::path::Path;
use std::sync::Arc;

async fn curator(folder: &Path) -> Arc<Curator> {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("people.csv", "id,age,sex,born\n1,30,f,1990-01-01\n2,40,m,1980-01-01\n");
    write("visits.csv", "id,person,cost,age,day\n1,1,5,3,2024-01-01\n2,2,6,4,2024-01-02\n");
    write("wards.csv", "code,name\n1,A\n2,B\n");
    let policy = r#"
[budget]
epsilon = 100.0
delta = 1e-6
[tables.people]
source = "people.csv"
unit = "id"
[tables.people.columns]
id = { type = "integer" }
age = { type = "integer", bounds = [0, 120] }
sex = { values = ["f", "m"] }
born = { type = "date" }
[tables.visits]
source = "visits.csv"
unit = "person"
max_groups = 3
max_rows_per_group = 4
[tables.visits.columns]
id = { type = "integer" }
person = { type = "integer" }
cost = { bounds = [0, 500] }
age = { type = "integer", bounds = [0, 120] }
day = { type = "date" }
[tables.wards]
source = "wards.csv"
public = true
"#;
    let policy = Policy::parse(policy, folder).unwrap();
    Curator::in_memory(policy).await.unwrap()
}

/// The fingerprints of a question's aggregates.
async fn prints(curator: &Arc<Curator>, sql: &str) -> Vec<[u8; 32]> {
    let query = match parse(sql, &curator.catalog.state(), curator.catalog.names()) {
        Ok(Statement::Query(query)) => query,
        _ => panic!("{sql}"),
    };
    let session = curator.session("ann");
    let planned = Planned::new(session.asker(), *query, &[]).await;
    let planned = planned.unwrap_or_else(|error| panic!("{sql}: {error}"));
    planned.aggregates().map(|aggregate| aggregate.fingerprint()).collect()
}

/// Each line asks one question in several ways.
const SAME: &[&[&str]] = &[
    &[
        "SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits v",
        "SELECT COUNT(1) FROM visits AS other",
        "SELECT COUNT(*) AS n FROM (SELECT * FROM visits) x",
        "SELECT COUNT(*) FROM (SELECT id, cost FROM visits) x",
        "SELECT COUNT(*) FROM (SELECT cost, id AS key FROM visits v) x",
        "WITH w AS (SELECT * FROM visits) SELECT COUNT(*) FROM w",
        "SELECT 2 * COUNT(*) FROM public.visits",
    ],
    &[
        "SELECT SUM(cost) FROM visits WHERE cost > 5 AND age < 40",
        "SELECT SUM(v.cost) FROM visits v WHERE v.age < 40 AND v.cost > 5",
        "SELECT SUM(cost) FROM visits WHERE 40 > age AND ((5 < cost))",
        "SELECT SUM(c) FROM (SELECT cost AS c, age FROM visits WHERE cost > 5) q WHERE age < 40",
        "SELECT SUM(c) FROM (SELECT cost AS c FROM (SELECT * FROM visits WHERE age < 40) WHERE cost > 5)",
        "SELECT SUM(cost) FROM visits WHERE age < 40 AND cost > 5 AND age < 40",
    ],
    &[
        "SELECT COUNT(*) FROM visits WHERE cost BETWEEN 5 AND 10",
        "SELECT COUNT(*) FROM visits WHERE cost >= 5 AND cost <= 10",
        "SELECT COUNT(*) FROM visits WHERE 10 >= cost AND 5 <= cost",
    ],
    &[
        "SELECT COUNT(*) FROM visits WHERE age = 3 OR age = 4",
        "SELECT COUNT(*) FROM visits WHERE 4 = age OR 3 = age",
    ],
    &[
        "SELECT COUNT(*) FROM visits WHERE age IN (3, 4)",
        "SELECT COUNT(*) FROM visits WHERE age IN (4, 3)",
    ],
    &[
        "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person WHERE v.cost > 5",
        "SELECT COUNT(*) FROM people JOIN visits ON people.id = visits.person WHERE visits.cost > 5",
        "SELECT COUNT(*) FROM people p JOIN visits v ON v.person = p.id AND v.cost > 5",
        "SELECT COUNT(*) FROM people p, visits v WHERE v.cost > 5 AND p.id = v.person",
    ],
    &[
        "SELECT w.name, COUNT(*) FROM visits v JOIN wards w ON v.age = w.code GROUP BY w.name",
        "SELECT wards.name, COUNT(*) FROM visits JOIN wards ON age = code GROUP BY name",
        "SELECT x.name, COUNT(*) FROM visits v JOIN wards x ON x.code = v.age GROUP BY x.name",
    ],
    &[
        "SELECT AVG(CLAMP(n, 0, 5)) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
        "SELECT AVG(CLAMP(q.m, 0, 5)) FROM (SELECT v.person, COUNT(*) AS m, MAX(v.cost) FROM visits v GROUP BY v.person) q",
    ],
    // A name decides nothing.
    &["SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people visits"],
    &[
        "SELECT COUNT(*) FROM visits WHERE cost <= 0.06 + 0.01",
        "SELECT COUNT(*) FROM visits WHERE cost <= 0.07",
    ],
    &[
        "SELECT COUNT(*) FROM people WHERE born >= '1985-01-01'",
        "SELECT COUNT(*) FROM people WHERE DATE '1985-01-01' <= born",
    ],
];

/// Questions that look alike, all different.
const DIFFERENT: &[&str] = &[
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(cost) FROM visits",
    "SELECT COUNT(DISTINCT cost) FROM visits",
    "SELECT SUM(cost) FROM visits",
    "SELECT SUM(age) FROM visits",
    "SELECT SUM(CLAMP(cost, 0, 10)) FROM visits",
    "SELECT SUM(CLAMP(cost, 0, 20)) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE cost > 5",
    "SELECT COUNT(*) FROM visits WHERE cost > 6",
    "SELECT COUNT(*) FROM visits WHERE cost >= 5",
    "SELECT COUNT(*) FROM visits WHERE cost < 5",
    "SELECT COUNT(*) FROM visits WHERE age > 5",
    "SELECT COUNT(*) FROM visits WHERE NOT cost > 5",
    "SELECT COUNT(*) FROM visits WHERE cost > 5 AND age > 5",
    "SELECT COUNT(*) FROM visits WHERE cost > 5 OR age > 5",
    "SELECT COUNT(*) FROM visits WHERE cost NOT BETWEEN 5 AND 10",
    "SELECT COUNT(*) FROM visits WHERE cost BETWEEN 5 AND 10",
    "SELECT COUNT(*) FROM visits WHERE cost BETWEEN 10 AND 5",
    "SELECT COUNT(*) FROM visits WHERE age IN (3, 4)",
    "SELECT COUNT(*) FROM visits WHERE age NOT IN (3, 4)",
    "SELECT COUNT(*) FROM visits WHERE age IN (3, 5)",
    "SELECT COUNT(*) FROM visits WHERE age / 2 = 1",
    "SELECT COUNT(*) FROM visits WHERE age / 2.0 = 1",
    "SELECT COUNT(*) FROM visits WHERE 2 / age = 1",
    "SELECT COUNT(*) FROM visits WHERE age - 2 = 1",
    "SELECT COUNT(*) FROM visits WHERE 2 - age = 1",
    "SELECT COUNT(*) FROM visits WHERE CAST(cost AS INT) = 1",
    "SELECT COUNT(*) FROM visits WHERE CAST(cost AS BIGINT) = 1",
    "SELECT COUNT(*) FROM visits WHERE CAST(age AS TEXT) = '1'",
    "SELECT COUNT(*) FROM visits WHERE date_trunc('month', day) = '2024-01-01'",
    "SELECT COUNT(*) FROM visits WHERE date_trunc('year', day) = '2024-01-01'",
    "SELECT COUNT(*) FROM visits WHERE to_char(day, 'YYYY') = '1'",
    "SELECT COUNT(*) FROM visits WHERE to_char(day, 'MM') = '1'",
    "SELECT COUNT(*) FROM visits WHERE extract(day FROM day) = 1",
    "SELECT COUNT(*) FROM visits WHERE extract(month FROM day) = 1",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex",
    "SELECT sex, COUNT(*) FROM people WHERE sex = 'f' GROUP BY sex",
    "SELECT age, COUNT(*) FROM people GROUP BY age",
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.person",
    "SELECT COUNT(*) FROM people p RIGHT JOIN visits v ON p.id = v.person",
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person WHERE v.cost > 5",
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person WHERE p.age > 5",
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.person WHERE v.age > 5",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.person AND v.cost > 5",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.person WHERE v.cost > 5",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.person AND p.age > 5",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.person WHERE p.age > 5",
    // Computed below the join, it is NULL where there is no visit.
    "SELECT COUNT(x) FROM people p LEFT JOIN (SELECT person, COALESCE(cost, 0) AS x FROM visits) v ON p.id = v.person",
    "SELECT COUNT(COALESCE(v.cost, 0)) FROM people p LEFT JOIN visits v ON p.id = v.person",
    // Two uses of one table are two tables.
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person WHERE a.cost > 5",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person WHERE b.cost > 5",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person WHERE a.id < b.id",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person WHERE a.id < a.age",
    "SELECT COUNT(*) FROM visits v JOIN wards w ON v.age = w.code",
    "SELECT COUNT(*) FROM visits v JOIN wards w ON v.id = w.code",
    "SELECT COUNT(*) FROM visits v JOIN (SELECT * FROM wards WHERE name = 'A') w ON v.age = w.code",
    "SELECT COUNT(*) FROM people WHERE id IN (SELECT person FROM visits)",
    "SELECT COUNT(*) FROM people WHERE id IN (SELECT person FROM visits WHERE cost > 5)",
    "SELECT COUNT(*) FROM (SELECT person FROM visits UNION ALL SELECT id FROM people)",
    "SELECT COUNT(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM visits)",
    "SELECT AVG(CLAMP(n, 0, 5)) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
    "SELECT AVG(CLAMP(n, 0, 5)) FROM (SELECT person, COUNT(cost) AS n FROM visits GROUP BY person)",
    "SELECT AVG(CLAMP(n, 0, 5)) FROM (SELECT person, COUNT(*) AS n FROM visits WHERE cost > 5 GROUP BY person)",
    "SELECT AVG(CLAMP(n, 0, 5)) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) WHERE n > 5",
    "SELECT AVG(CLAMP(n, 0, 5)) FROM (SELECT person, age, COUNT(*) AS n FROM visits GROUP BY person, age)",
];

#[tokio::test]
async fn one_question_has_one_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let curator = curator(folder.path()).await;
    for same in SAME {
        let first = prints(&curator, same[0]).await;
        assert_eq!(first.len(), 1);
        for other in *same {
            assert_eq!(prints(&curator, other).await, first, "{other}\n{}", same[0]);
        }
    }
}

#[tokio::test]
async fn different_questions_have_different_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let curator = curator(folder.path()).await;
    let mut seen: Vec<(String, [u8; 32])> = Vec::new();
    let all = DIFFERENT.iter().chain(SAME.iter().map(|same| &same[0]));
    let mut asked: Vec<&str> = all.copied().collect();
    asked.sort_unstable();
    asked.dedup();
    for sql in asked {
        let print = prints(&curator, sql).await[0];
        if let Some((other, _)) = seen.iter().find(|(_, known)| *known == print) {
            panic!("{sql}\n{other}");
        }
        seen.push((sql.to_owned(), print));
    }
}

/// The rows of these questions are known by meaning: none falls back to structure and text.
#[tokio::test]
async fn every_plan_has_a_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let curator = curator(folder.path()).await;
    for sql in DIFFERENT {
        let Ok(Statement::Query(query)) =
            parse(sql, &curator.catalog.state(), curator.catalog.names())
        else {
            panic!()
        };
        let session = curator.session("ann");
        let planned = Planned::new(session.asker(), *query, &[]).await.unwrap();
        for aggregate in planned.aggregates() {
            assert!(super::meaning(&aggregate.input).is_some(), "{sql}");
        }
    }
}
