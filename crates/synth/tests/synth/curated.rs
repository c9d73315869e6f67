//! The whole way under a policy: what is charged, what is refused, what stays spent, and tables at the end of what is
//! possible.

use crate::audit::{Transcript, shift};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use demure_core::random::SeededForTests;
use demure_core::unit::Neighbours;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Session};
use demure_ledger::Kind;
use demure_synth::curated::{Offer, Options, SavedModel, Synthetic};
use demure_synth::{Error, Observer, Question, Stage};
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// A folder with a table of visits, and its policy.
struct World {
    folder: tempfile::TempDir,
    budget: &'static str,
}

/// Runs a test's work to its end.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(work)
}

const PURE: &str = "epsilon = 200\ndelta = 1e-4\nper_query = 1";
const COLUMNS: &str = "ward = { values = [\"a\", \"b\", \"c\"], nullable = false }\n\
    nights = { type = \"integer\", bounds = [0, 6], nullable = false }\n\
    urgent = { type = \"boolean\", nullable = false }";

impl World {
    fn new(rows: &[(u32, String)]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), budget: PURE };
        world.write(rows);
        world
    }

    fn write(&self, rows: &[(u32, String)]) {
        let text: String = rows.iter().map(|(id, row)| format!("{id},{row}\n")).collect();
        let heading = "id,ward,nights,urgent\n".to_owned();
        std::fs::write(self.folder.path().join("visits.csv"), heading + &text).unwrap();
    }

    async fn open(&self, unit: &str, columns: &str) -> Arc<Curator> {
        let budget = self.budget;
        let text = format!(
            "[budget]\n{budget}\n[tables.visits]\nsource = \"visits.csv\"\nunit = \"{unit}\"\n\
             [tables.visits.columns]\nid = {{ type = \"integer\" }}\n{columns}\n"
        );
        let policy = Policy::parse(&text, self.folder.path()).unwrap();
        Curator::in_memory_with(policy, Box::new(SeededForTests::insecure(7))).await.unwrap()
    }
}

fn session(curator: &Arc<Curator>, epsilon: &str, delta: &str) -> Session {
    let mut session = curator.session("ann");
    session.settings_mut().set("demure.epsilon", epsilon).unwrap();
    session.settings_mut().set("demure.delta", delta).unwrap();
    session
}

async fn offer(session: &Session, rows_of: &str, k: u32) -> Result<Offer, Error> {
    let question = session.table(rows_of, NonZeroU32::new(k)).await?;
    Offer::new(question, &Options::default())
}

async fn made(curator: &Arc<Curator>, rows_of: &str, k: u32) -> Synthetic {
    let session = session(curator, "1", "1e-6");
    offer(&session, rows_of, k).await.unwrap().bought().await.unwrap().made(()).await.unwrap()
}

fn spent(curator: &Curator) -> f64 {
    curator.ledger().balance().unwrap().spent.main
}

/// Keeps the questions of a run that goes on elsewhere.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Transcript>>);

impl Observer for Kept {
    fn asked(&mut self, question: Question<'_>, sigma: f64) {
        self.0.lock().unwrap().asked(question, sigma);
    }
}

/// Person i has 1 to 3 visits, and people 0 to 4 have three equal ones.
fn visits(people: u32) -> Vec<(u32, String)> {
    let wards = ["a", "b", "c"];
    let mut rows = Vec::new();
    for id in 0..people {
        for visit in 0..if id < 5 { 3 } else { 1 + id % 3 } {
            let of = if id < 5 { id } else { id * 7 + visit * 5 };
            let (ward, nights) = (wards[of as usize % 3], of % 7);
            rows.push((id, format!("{ward},{nights},{}", of % 4 == 0)));
        }
    }
    rows
}

fn coded(rows: &[(u32, String)]) -> Vec<Vec<u16>> {
    let one = |(_, row): &(u32, String)| {
        let parts: Vec<&str> = row.split(',').collect();
        let ward = ["a", "b", "c"].iter().position(|ward| *ward == parts[0]).unwrap();
        vec![ward as u16, parts[1].parse().unwrap(), u16::from(parts[2] == "true")]
    };
    rows.iter().map(one).collect()
}

/// The audit of `audit.rs`, on rows that went through the curator: removing the person who moves most moves what is
/// charged, and nobody moves more.
#[test]
fn removing_any_person_moves_everything_by_what_is_charged() {
    wait(async {
        let rows = visits(60);
        let world = World::new(&rows);
        let curator = world.open("id", COLUMNS).await;
        let session = session(&curator, "1", "1e-6");
        let kept = Kept::default();
        let paid = offer(&session, "visits", 3).await.unwrap().bought().await.unwrap();
        let made = paid.made(kept.clone()).await.unwrap();
        let price = made.saved.model().price().clone();
        assert_eq!((price.rows().get(), price.neighbours()), (3, Neighbours::AddRemove));
        let transcript = kept.0.lock().unwrap();
        let shares: Vec<f64> = (0..60)
            .map(|gone| {
                let others: Vec<_> = rows.iter().filter(|(id, _)| *id != gone).cloned().collect();
                shift(&transcript, &price, &coded(&rows), &coded(&others))
            })
            .collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        eprintln!("remove a person: up to {most:.6} of the charge");
        assert!(most <= 1.0 + 1e-9, "{most}");
        assert!(most >= 0.99, "{most}");
        // Those with one row move a ninth.
        assert!(shares.iter().any(|share| *share < 0.2));
    });
}

/// What the curator hands over is what the file holds, and of each person no more than was said.
#[test]
fn a_person_with_many_rows_counts_as_often_as_was_said() {
    wait(async {
        let mut rows = visits(200);
        let few = rows.len();
        rows.extend((0..5_000).map(|_| (1_000, "c,6,true".to_owned())));
        let world = World::new(&rows);
        let curator = world.open("id", COLUMNS).await;
        let session = session(&curator, "100", "1e-5");
        let made = offer(&session, "visits", 3).await.unwrap().bought().await.unwrap();
        let made = made.made(()).await.unwrap();
        let close = few as isize + 3 - made.saved.model().rows() as isize;
        assert!(close.abs() <= 5, "{} rows, and {few} + 3 count", made.saved.model().rows());
        // A row as the unit: all of them count.
        let curator = world.open("row", COLUMNS).await;
        let session = session_of_rows(&curator);
        let select = "SELECT ward, nights, urgent FROM visits";
        let made = offer(&session, select, 3).await.unwrap().bought().await.unwrap();
        let made = made.made(()).await.unwrap();
        let close = rows.len() as isize - made.saved.model().rows() as isize;
        assert!(close.abs() <= 5, "{} rows of {}", made.saved.model().rows(), rows.len());
        assert_eq!(made.saved.model().price().rows().get(), 1);
    });
}

fn session_of_rows(curator: &Arc<Curator>) -> Session {
    session(curator, "100", "1e-5")
}

#[test]
fn one_debit_says_what_was_asked_and_by_whom() {
    wait(async {
        let world = World::new(&visits(50));
        let curator = world.open("id", COLUMNS).await;
        let made = made(&curator, "SELECT ward, nights FROM visits WHERE urgent", 2).await;
        assert_eq!(spent(&curator), 1.0);
        let entries = curator.ledger().entries().unwrap();
        let debits: Vec<_> = entries.iter().filter(|entry| entry.kind == Kind::Reserve).collect();
        let [debit] = debits[..] else { panic!("{} debits", debits.len()) };
        assert_eq!(debit.who, "ann");
        assert_eq!(
            debit.query,
            "SYNTHETIC TABLE of ward, nights, at most 2 rows of each unit\n\
         SELECT ward, nights FROM visits WHERE urgent"
        );
        assert_eq!(debit.event, "pure(eps=1, delta=0.000001)");
        assert!(entries.iter().any(|entry| entry.kind == Kind::Settle));
        let names: Vec<String> =
            made.rows.schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(names, ["ward", "nights"]);
        assert_eq!(made.rows.column(1).data_type(), &DataType::Int64);
        assert_eq!(made.rows.num_rows(), made.codes.rows());
    });
}

/// Under zCDP the run is one Gaussian, whose ρ is μ²/2.
#[test]
fn under_zcdp_the_ledger_has_one_gaussian() {
    wait(async {
        for neighbours in ["add-remove", "replace"] {
            let mut world = World::new(&visits(50));
            world.budget = match neighbours {
                "replace" => {
                    "epsilon = 5\ndelta = 1e-4\naccounting = \"zcdp\"\nneighbours = \"replace\""
                }
                _ => "epsilon = 5\ndelta = 1e-4\naccounting = \"zcdp\"",
            };
            let curator = world.open("id", COLUMNS).await;
            let made = made(&curator, "visits", 3).await;
            let mu = made.saved.model().price().mu();
            let rho = spent(&curator);
            assert!((rho / (mu * mu / 2.0) - 1.0).abs() < 1e-6, "{neighbours}: ρ {rho}, μ {mu}");
            let entries = curator.ledger().entries().unwrap();
            let debit = entries.iter().find(|entry| entry.kind == Kind::Reserve).unwrap();
            assert!(debit.event.starts_with("gaussian("), "{}", debit.event);
        }
    });
}

#[test]
fn what_is_refused_costs_nothing() {
    wait(async {
        let world = World::new(&visits(30));
        let curator = world.open("id", COLUMNS).await;
        let cases = [
            ("SELECT COUNT(*) FROM visits", "aggregates"),
            ("SELECT ward FROM visits LIMIT 3", "LIMIT"),
            ("SELECT id FROM visits", "no column but the person's id"),
            ("SELECT nights * id AS x FROM visits", "CLAMP(…, low, high) AS x"),
            (
                "SELECT ward FROM visits WHERE nights > (SELECT AVG(nights) FROM visits)",
                "released number",
            ),
            ("SHOW demure.epsilon", "SELECT"),
            ("DROP TABLE visits", "only SELECT"),
            ("SELECT nothing FROM visits", "nothing"),
        ];
        let asking = session(&curator, "1", "1e-6");
        for (sql, expected) in cases {
            let error = offer(&asking, sql, 3).await.err().unwrap().to_string();
            assert!(error.contains(expected), "{sql}: {error}");
        }
        // Nothing says how many rows of a person count.
        let error = asking.table("visits", None).await.err().unwrap().to_string();
        assert!(error.contains("--rows-per-person"), "{error}");
        // More than there is.
        let dear = session(&curator, "300", "1e-6");
        let error = offer(&dear, "visits", 3).await.unwrap().bought().await.err().unwrap();
        assert!(error.to_string().contains("budget"), "{error}");
        // Less than any release may cost.
        let cheap = session(&curator, "0.00001", "1e-6");
        assert!(cheap.table("visits", NonZeroU32::new(1)).await.is_err());
        // A text without values.
        let curator_of_text =
            world.open("id", "nights = { type = \"integer\", bounds = [0, 6] }").await;
        let error =
            offer(&session(&curator_of_text, "1", "1e-6"), "visits", 3).await.err().unwrap();
        let text = error.to_string();
        assert!(text.contains("`ward`, `urgent`"), "{text}");
        assert!(text.contains("[tables.visits.columns]: ward = { values ="), "{text}");
        // An explanation.
        let explained = offer(&asking, "visits", 3).await.unwrap().explained().unwrap();
        assert!(explained.text_of("left_out").contains("id"));
        assert!(explained.text_of("rows_per_unit").contains("3 times as wide"));
        assert!(explained.text_of("attacker").contains("whether someone is in the data"));
        assert_eq!(spent(&curator), 0.0);
        assert!(
            curator.ledger().entries().unwrap().iter().all(|entry| entry.kind != Kind::Reserve)
        );
    });
}

#[test]
fn a_policy_without_delta_is_told_so() {
    wait(async {
        let mut world = World::new(&visits(30));
        world.budget = "epsilon = 5";
        let curator = world.open("id", COLUMNS).await;
        let mut session = curator.session("ann");
        session.settings_mut().set("demure.epsilon", "1").unwrap();
        let error = offer(&session, "visits", 3).await.err().unwrap();
        assert!(matches!(error, Error::NoDelta), "{error}");
    });
}

/// Stops when its stage begins.
struct Stop(Stage);

impl Observer for Stop {
    fn stage(&mut self, stage: Stage) -> ControlFlow<()> {
        if stage == self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn whatever_fails_after_the_debit_it_stays_spent() {
    wait(async {
        let world = World::new(&visits(40));
        let curator = world.open("id", COLUMNS).await;
        let asking = session(&curator, "1", "1e-6");
        // Stopped by the user.
        for (i, stage) in [Stage::Columns, Stage::Round(2), Stage::Report].into_iter().enumerate() {
            let paid = offer(&asking, "visits", 3).await.unwrap().bought().await.unwrap();
            assert_eq!(spent(&curator), 1.0 + i as f64);
            assert!(matches!(paid.made(Stop(stage)).await, Err(Error::Stopped)));
            assert_eq!(spent(&curator), 1.0 + i as f64);
        }
        // Dropped between the debit and the first read.
        drop(offer(&asking, "visits", 3).await.unwrap().bought().await.unwrap());
        assert_eq!(spent(&curator), 4.0);
        // The table changes in between.
        let paid = offer(&asking, "visits", 3).await.unwrap().bought().await.unwrap();
        world.write(&visits(41));
        let error = paid.made(()).await.err().unwrap().to_string();
        assert!(error.contains("stays spent"), "{error}");
        assert_eq!(spent(&curator), 5.0);
        let settled = curator.ledger().entries().unwrap();
        assert!(settled.iter().all(|entry| entry.kind != Kind::Settle));
    });
}

fn assert_within(made: &Synthetic) {
    for column in made.rows.columns() {
        if let Some(whole) = column.as_primitive_opt::<Int64Type>() {
            assert!(whole.iter().flatten().all(|x| (0..=6).contains(&x)));
        }
    }
    let text = made.saved.to_text();
    let saved = SavedModel::from_text(&text).unwrap();
    assert_eq!(saved.to_text(), text);
    assert!(!text.contains("NaN") && !text.contains("inf"));
    let page = made.page("SELECT *", "ε 1").unwrap();
    assert!(page.contains("What not to use it for") && !page.contains("NaN"), "{page}");
}

#[test]
fn tables_of_no_row_and_one_row_give_tables() {
    wait(async {
        for people in [0, 1] {
            let rows: Vec<_> = visits(people).into_iter().take(1).collect();
            let world = World::new(&rows);
            let curator = world.open("id", COLUMNS).await;
            let made = made(&curator, "visits", 1).await;
            assert_within(&made);
            assert!(made.rows.num_rows() < 2_000);
            let more = made.saved.sample(10, None, 2, &mut SeededForTests::insecure(1)).unwrap();
            assert_eq!((more.num_rows(), more.num_columns()), (10, 3));
        }
    });
}

#[test]
fn columns_of_one_value_and_of_none_give_columns() {
    wait(async {
        let rows: Vec<_> = (0..3_000).map(|id| (id, format!(",{},true", id % 2))).collect();
        let world = World::new(&rows);
        let columns = "ward = { values = [\"a\", \"b\"] }\n\
        nights = { values = [0, 1], nullable = false }\nurgent = { values = [true] }";
        let curator = world.open("id", columns).await;
        let made = made(&curator, "visits", 1).await;
        assert_within(&made);
        let wards = made.rows.column(0);
        assert!(
            wards.null_count() as f64 > 0.97 * wards.len() as f64,
            "{} of {}",
            wards.null_count(),
            wards.len()
        );
        let last = World::new(&rows);
        let only = last.open("id", "ward = { values = [\"a\"], nullable = false }\n").await;
        // Every row is missing where nothing may be: none is left.
        let select = "SELECT ward FROM visits";
        let made = offer(&session(&only, "10", "1e-6"), select, 1).await.unwrap();
        let made = made.bought().await.unwrap().made(()).await.unwrap();
        assert!(made.saved.model().rows() < 20, "{}", made.saved.model().rows());
    });
}

#[test]
fn sampled_rows_meet_the_condition() {
    wait(async {
        let world = World::new(&visits(2_000));
        let curator = world.open("id", COLUMNS).await;
        let made = made(&curator, "visits", 3).await;
        let mut rng = SeededForTests::insecure(3);
        let condition = Some("ward IN ('a', 'b') AND nights >= 4 AND NOT urgent");
        let rows = made.saved.sample(500, condition, 2, &mut rng).unwrap();
        assert_eq!(rows.num_rows(), 500);
        for row in 0..500 {
            assert_ne!(rows.column(0).as_string::<i32>().value(row), "c");
            assert!(rows.column(1).as_primitive::<Int64Type>().value(row) >= 4);
            assert!(!rows.column(2).as_boolean().value(row));
        }
        assert!(matches!(
            made.saved.sample(5, Some("nights > 9"), 2, &mut rng),
            Err(Error::Impossible | Error::Unsatisfiable)
        ));
    });
}

#[test]
fn no_row_is_what_is_forbidden() {
    wait(async {
        let world = World::new(&visits(1_000));
        let curator = world.open("id", COLUMNS).await;
        let session = session(&curator, "1", "1e-6");
        let question = session.table("visits", NonZeroU32::new(3)).await.unwrap();
        let forbid = vec![
            "nights >= 3 AND ward = 'a' AND nights < 6".to_owned(),
            "urgent AND nights = 0".to_owned(),
        ];
        let offer = Offer::new(question, &Options { forbid, ..Options::default() }).unwrap();
        let made = offer.bought().await.unwrap().made(()).await.unwrap();
        let more = made.saved.sample(2_000, None, 2, &mut SeededForTests::insecure(2)).unwrap();
        for rows in [&made.rows, &more] {
            for row in 0..rows.num_rows() {
                let ward = rows.column(0).as_string::<i32>().value(row);
                let nights = rows.column(1).as_primitive::<Int64Type>().value(row);
                let urgent = rows.column(2).as_boolean().value(row);
                assert!(!(ward == "a" && (3..6).contains(&nights)));
                assert!(!(urgent && nights == 0));
            }
        }
        let question = session.table("visits", NonZeroU32::new(3)).await.unwrap();
        let forbid = vec!["nights = 'x'".to_owned()];
        let wrong = Offer::new(question, &Options { forbid, ..Options::default() });
        assert!(matches!(wrong.err(), Some(Error::Condition { .. })));
        assert_eq!(spent(&curator), 1.0);
    });
}
