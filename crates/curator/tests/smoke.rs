//! A first try of everything.
use demure_curator::policy::Policy;
use demure_curator::{Curator, Outcome};
use std::fmt::Write as _;

#[test]
fn smoke() {
    let dir = tempfile::tempdir().unwrap();
    let mut patients = String::from("id,age,sex,region\n");
    let mut visits = String::from("visit_id,patient_id,cost,disease,day\n");
    let mut v = 0;
    for i in 0..2000 {
        writeln!(patients, "{i},{},{},{}", i % 90, ["f", "m"][i % 2], i % 5).unwrap();
        for k in 0..(i % 4) {
            v += 1;
            let disease = ["flu", "flu", "asthma", "diabetes"][(i + k) % 4];
            writeln!(visits, "{v},{i},{},{disease},2024-0{}-11", (i * 7 + k) % 500, 1 + k % 9)
                .unwrap();
        }
    }
    std::fs::write(dir.path().join("patients.csv"), patients).unwrap();
    std::fs::write(dir.path().join("visits.csv"), visits).unwrap();
    std::fs::write(
        dir.path().join("regions.csv"),
        "code,name\n0,north\n1,south\n2,east\n3,west\n4,mid\n",
    )
    .unwrap();
    let policy = r#"
[budget]
epsilon = 1000.0
delta = 1e-6
per_query = 5.0
[tables.patients]
source = "patients.csv"
unit = "id"
[tables.patients.columns]
age = { type = "integer", bounds = [0, 120], nullable = false }
sex = { values = ["f", "m"], nullable = false }
region = { type = "integer" }
[tables.visits]
source = "visits.csv"
unit = "patient_id"
max_groups = 3
max_rows_per_group = 3
[tables.visits.columns]
cost = { bounds = [0, 500] }
disease = { values = ["flu", "asthma", "diabetes"], nullable = false }
day = { type = "date" }
[tables.regions]
source = "regions.csv"
public = true
key = "code"
"#;
    let policy = Policy::parse(policy, dir.path()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let curator = Curator::in_memory(policy).await.unwrap();
        let mut session = curator.session("test");
        for sql in std::fs::read_to_string(std::env::var("SMOKE").unwrap_or("/dev/null".into()))
            .unwrap()
            .split(';')
        {
            if sql.trim().is_empty() {
                continue;
            }
            println!("== {}", sql.trim());
            match session.run(sql).await {
                Ok(Outcome::Answer(answer)) => {
                    println!(
                        "{}",
                        datafusion::arrow::util::pretty::pretty_format_batches(&answer.batches)
                            .unwrap()
                    );
                    println!("price {:?} repeated {}", answer.price, answer.repeated);
                }
                Ok(Outcome::Explanation(e)) => {
                    for (a, b) in e.lines() {
                        println!("{a:16} {b}");
                    }
                }
                Ok(other) => println!("{other:?}"),
                Err(e) => println!("ERROR {e}"),
            }
        }
    });
}
