use super::*;
use crate::identity::limit;
use crate::policy::Policy;
use crate::session::Outcome;
use crate::statement::parse::{Statement, parse};
use demure_ledger::Ledger;

/// The first part of a question that Ann asks.
async fn quoted(curator: &Arc<Curator>, sql: &str) -> Part {
    let Ok(Statement::Query(query)) = parse(sql, &curator.catalog.state(), curator.catalog.names())
    else {
        panic!()
    };
    let session = curator.session("ann");
    let planned = Planned::new(session.asker(), *query, &[]).await.unwrap();
    planned.quoted(session.asker()).unwrap().parts.remove(0)
}

/// Built as the version before secrets left it: the answer is under the plain digest.
#[tokio::test]
async fn an_answer_under_a_plain_key_is_still_free() {
    const SQL: &str = "SELECT COUNT(*) AS n FROM people";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.toml");
    std::fs::write(folder.path().join("people.csv"), "id\n1\n2\n3\n").unwrap();
    let text = "[budget]\nepsilon = 2.0\n[tables.people]\nsource = \"people.csv\"\n\
                    unit = \"id\"";
    std::fs::write(&path, text).unwrap();
    let policy = Policy::read(&path).unwrap();
    let before = Curator::in_memory(policy.clone()).await.unwrap();
    let part = quoted(&before, SQL).await;
    let Outcome::Answer(_) = before.session("ann").run(SQL).await.unwrap() else { panic!() };
    let sealed = key(&before, &part.aggregate, &part.quote);
    let bytes = before.ledger.find(&sealed).unwrap().unwrap();
    let made = digest(&before, text, &part.aggregate, &part.quote);
    let plain: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
    let clock = demure_ledger::wall_clock();
    let ledger = folder.path().join("clinic.ledger");
    let ledger = Ledger::open(&ledger, "clinic", limit(&policy), clock).unwrap();
    let event = part.quote.event.clone();
    let request =
        demure_ledger::Request { who: "ann".into(), key: plain.clone(), query: SQL.into(), event };
    ledger.reserve(&request).unwrap().begin().unwrap().settle(&bytes).unwrap();
    drop(ledger);

    let curator = Curator::open(&path).await.unwrap();
    assert!(curator.policy().ledger.is_some() && curator.ledger().has_plain_keys());
    let Outcome::Answer(answer) = curator.session("ann").run(SQL).await.unwrap() else { panic!() };
    assert!(answer.repeated && answer.price.main == 0.0);
    let spent = curator.ledger().balance().unwrap().spent.main;
    let Outcome::Answer(_) = curator.session("bob").run(SQL).await.unwrap() else { panic!() };
    assert_eq!(curator.ledger().balance().unwrap().spent.main, spent, "bob receives it");
    let Outcome::Answer(other) =
        curator.session("bob").run("SELECT COUNT(id) AS n FROM people").await.unwrap()
    else {
        panic!()
    };
    assert!(!other.repeated && curator.ledger().balance().unwrap().spent.main > spent);
    // New answers are stored under keys that no one else can compute.
    let keys: Vec<String> =
        curator.ledger().entries().unwrap().into_iter().map(|entry| entry.key).collect();
    let made = digest(&curator, text, &part.aggregate, &part.quote);
    assert!(keys.contains(&plain) && curator.ledger().seal(&made) != plain);
}

/// Someone who knows the policy, the files and the question cannot compute the key.
#[tokio::test]
async fn keys_differ_between_ledgers_of_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), "id\n1\n2\n3\n").unwrap();
    let text = "[budget]\nepsilon = 2.0\n[tables.people]\nsource = \"people.csv\"\n\
                    unit = \"id\"\n";
    let mut keys = Vec::new();
    for name in ["one.toml", "two.toml"] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let curator = Curator::open(&path).await.unwrap();
        curator.session("ann").run("SELECT COUNT(*) AS n FROM people").await.unwrap();
        let entries = curator.ledger().entries().unwrap();
        let bought = entries.iter().find(|e| e.kind == demure_ledger::Kind::Reserve).unwrap();
        keys.push((bought.key.clone(), bought.hash));
    }
    assert!(keys[0].0 != keys[1].0 && keys[0].1 != keys[1].1);
}

/// Built as another build left it: an answer that this build cannot read.
#[tokio::test]
async fn an_answer_that_cannot_be_read_is_bought_once_anew_and_then_found() {
    const SQL: &str = "SELECT COUNT(*) AS n FROM people";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.toml");
    std::fs::write(folder.path().join("people.csv"), "id\n1\n2\n3\n").unwrap();
    let text = "[budget]\nepsilon = 8\nper_query = 1\n[tables.people]\n\
                    source = \"people.csv\"\nunit = \"id\"\n";
    std::fs::write(&path, text).unwrap();
    let curator = Curator::open(&path).await.unwrap();
    let part = quoted(&curator, SQL).await;
    for (who, key) in [("ann", part.key.clone()), ("eve", part.key.clone())] {
        let event = part.quote.event.clone();
        let request = demure_ledger::Request { who: who.into(), key, query: SQL.into(), event };
        let bought = curator.ledger().reserve(&request).unwrap();
        bought.begin().unwrap().settle(b"another form").unwrap();
    }
    drop(curator);
    let spent = |curator: &Curator| curator.ledger().balance().unwrap().spent.main;
    for (who, cost, in_all) in
        [("ann", 1.0, 3.0), ("ann", 0.0, 3.0), ("bob", 1.0, 3.0), ("bob", 0.0, 3.0)]
    {
        // A new process each time, with an empty cache.
        let curator = Curator::open(&path).await.unwrap();
        let Outcome::Answer(answer) = curator.session(who).run(SQL).await.unwrap() else {
            panic!()
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(answer.price.main, cost) && near(spent(&curator), in_all), "{who}");
        assert_eq!(answer.repeated, cost == 0.0, "{who}");
        curator.ledger().verify().unwrap();
    }
}
