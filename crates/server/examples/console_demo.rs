//! Serves the console for a made-up clinic: `cargo run --example console_demo -- [PORT]`.
//!
//! The clinic, its budget and its accounts end with the process. Two may sign in: `ana`, an
//! analyst, and `sam`, a steward; the password of both is `correct horse`.

use demure_curator::Curator;
use demure_curator::policy::Policy;
use demure_server::http::{HttpSettings, serve};
use demure_server::{Limits, QueryService, Role, Users};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

const DISEASES: [(&str, u64); 8] = [
    ("back pain", 22),
    ("hypertension", 19),
    ("flu", 17),
    ("asthma", 12),
    ("diabetes", 11),
    ("migraine", 9),
    ("fracture", 7),
    ("appendicitis", 3),
];
const REGIONS: [(&str, &str); 4] =
    [("N", "Northmoor"), ("E", "Eastvale"), ("S", "Southport"), ("W", "Westhill")];

const POLICY: &str = r#"# What may be asked of this clinic, and how much all answers may tell about anyone.
[budget]
epsilon = 3.0
delta = 1e-6
accounting = "pure"
neighbours = "add-remove"
per_query = 0.5

[tables.visits]
source = "visits.csv"
unit = "patient_id"              # a patient's visits are protected together
contributions = "auto"
[tables.visits.columns]
patient_id = { type = "integer", nullable = false }
disease = { values = ["back pain", "hypertension", "flu", "asthma", "diabetes", "migraine", "fracture", "appendicitis"], nullable = false }
cost = { bounds = [0, 3000], grid = 0.01 }
nights = { type = "integer", bounds = [0, 30], nullable = false }
visit_id = { hidden = true }

[tables.patients]
source = "patients.csv"
unit = "id"
max_rows_per_group = 1           # one row a patient
[tables.patients.columns]
id = { type = "integer", nullable = false }
age = { type = "integer", bounds = [0, 110], nullable = false }
sex = { values = ["f", "m"], nullable = false }
region = { values = ["N", "E", "S", "W"], nullable = false }
smoker = { type = "boolean", nullable = false }

[tables.regions]
source = "regions.csv"
public = true                    # nobody's data: no noise, no cost
key = "code"
"#;

/// Numbers for a demonstration, the same every time (splitmix64).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

fn make(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut draws = Draws(7);
    let (mut patients, mut visits) = (
        String::from("id,age,sex,region,smoker\n"),
        String::from("visit_id,patient_id,disease,cost,nights\n"),
    );
    let mut visit = 0;
    for id in 1..=3000 {
        let (age, sex) =
            (20 + draws.below(40) + draws.below(30), ["f", "m"][draws.below(2) as usize]);
        let region = REGIONS[draws.below(16).isqrt() as usize].0;
        writeln!(patients, "{id},{age},{sex},{region},{}", draws.below(5) == 0)?;
        for _ in 0..draws.below(4) {
            let mut at = draws.below(DISEASES.iter().map(|(_, share)| share).sum());
            let found = DISEASES.iter().find(|(_, share)| {
                let here = at < *share;
                at = at.saturating_sub(*share);
                here
            });
            let disease = found.map_or("flu", |(name, _)| *name);
            visit += 1;
            let (cost, nights) = (40 + draws.below(300) + draws.below(300), draws.below(3));
            writeln!(visits, "{visit},{id},{disease},{cost}.{:02},{nights}", draws.below(100))?;
        }
    }
    let regions: String = REGIONS.iter().map(|(code, name)| format!("{code},{name}\n")).collect();
    std::fs::write(folder.join("patients.csv"), patients)?;
    std::fs::write(folder.join("visits.csv"), visits)?;
    std::fs::write(folder.join("regions.csv"), format!("code,name\n{regions}"))?;
    Ok(())
}

async fn run(folder: &Path, port: u16) -> Result<(), Box<dyn Error>> {
    let curator = Curator::in_memory(Policy::parse(POLICY, folder)?).await?;
    let users = Users::in_memory()?;
    users.add("demo", "ana", Role::Analyst, "correct horse")?;
    users.add("demo", "sam", Role::Steward, "correct horse")?;
    let service = QueryService::new(curator, users, "clinic", Limits::default());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    let end = async {
        // Without a way to be told, it ends when it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    Ok(serve(listener, None, service, HttpSettings::default(), end).await?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let folder = std::env::temp_dir().join(format!("demure-console-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    make(&folder)?;
    let served = tokio::runtime::Runtime::new()?.block_on(run(&folder, port));
    std::fs::remove_dir_all(&folder)?;
    served
}
