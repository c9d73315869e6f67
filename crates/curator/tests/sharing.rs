//! One answer and many analysts: who pays, who is refused, who waits, who learns of whom.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use async_trait::async_trait;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::logical_expr::LogicalPlan;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};
use demure_curator::bound::{BoundSpec, Engine, Key, Native, Task};
use demure_curator::policy::Policy;
use demure_curator::{Answer, Curator, Error, Explanation, Incidents, Outcome};
use demure_ledger::{Accounting, Kind, Ledger, Limit};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const COUNT: &str = "SELECT COUNT(*) FROM t";

fn policy(folder: &tempfile::TempDir, answers: &str) -> Policy {
    let rows: String = (0..500).map(|i| format!("{i},{}\n", i % 7)).collect();
    std::fs::write(folder.path().join("t.csv"), format!("id,k\n{rows}")).unwrap();
    std::fs::write(folder.path().join("days.csv"), "k,name\n0,a\n1,b\n2,c\n").unwrap();
    let text = format!(
        "[budget]\nepsilon = 20\nper_query = 1\nanswers = \"{answers}\"\n\
         [tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n[tables.t.columns]\n\
         k = {{ type = \"integer\", bounds = [0, 6] }}\n\
         [tables.days]\nsource = \"days.csv\"\npublic = true\nkey = \"k\"\n"
    );
    Policy::parse(&text, folder.path()).unwrap()
}

fn ledger(policy: &Policy) -> Ledger {
    let budget = policy.budget;
    Ledger::in_memory(Limit {
        accounting: Accounting::Pure,
        epsilon: budget.epsilon,
        delta: budget.delta,
        neighbours: budget.neighbours,
    })
    .unwrap()
}

async fn curator(answers: &str) -> (tempfile::TempDir, Arc<Curator>) {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&folder, answers);
    (folder, Curator::in_memory(policy).await.unwrap())
}

async fn ask(curator: &Arc<Curator>, who: &str, sql: &str) -> Result<Answer, Error> {
    match curator.session(who).run(sql).await? {
        Outcome::Answer(answer) => Ok(*answer),
        other => panic!("{other:?}"),
    }
}

async fn explain(curator: &Arc<Curator>, who: &str, sql: &str) -> Explanation {
    curator.session(who).explanation(sql).await.unwrap()
}

fn value(answer: &Answer) -> String {
    array_value_to_string(answer.batches[0].column(0), 0).unwrap()
}

fn spent(curator: &Curator) -> f64 {
    curator.ledger().balance().unwrap().spent.main
}

fn shown(curator: &Curator, who: &str) -> f64 {
    curator.ledger().balance_for(who).unwrap().spent.main
}

fn about(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

fn epsilon(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

#[tokio::test]
async fn a_limit_bounds_what_an_analyst_is_shown_whoever_bought_it() {
    let (_folder, curator) = curator("personal").await;
    curator.ledger().grant("sam", "eva", epsilon(0.05), Delta::ZERO).unwrap();
    let bought = ask(&curator, "ana", COUNT).await.unwrap();
    let (what, _) = ask(&curator, "eva", COUNT).await.unwrap_err().refusal().unwrap();
    assert!(what.contains("the limit of eva has ε 0.05 left"), "{what}");
    assert_eq!(shown(&curator, "eva"), 0.0);
    // Who may be shown it pays for it as if nobody had asked before, once.
    let received = ask(&curator, "ben", COUNT).await.unwrap();
    assert_eq!((value(&received), received.repeated), (value(&bought), false));
    assert_eq!(received.price, bought.price);
    let again = ask(&curator, "ben", COUNT).await.unwrap();
    assert_eq!((value(&again), again.repeated, again.price.main), (value(&bought), true, 0.0));
    // In other words, which the statement's text does not find and the ledger does.
    let other = ask(&curator, "ben", "SELECT COUNT(*) AS n FROM t ORDER BY n").await.unwrap();
    assert_eq!((value(&other), other.repeated), (value(&bought), true));
    assert!(about(spent(&curator), 1.0), "{}", spent(&curator));
    assert!(about(shown(&curator, "ben"), 1.0));
    curator.ledger().verify().unwrap();
}

/// Who is in the ledger with which question, its values and its settings.
fn questions(curator: &Curator) -> Vec<(String, String, String)> {
    let entries = curator.ledger().entries().unwrap();
    let asked = entries.into_iter().filter(|e| matches!(e.kind, Kind::Reserve | Kind::Receive));
    asked
        .map(|entry| {
            let question = entry.question.unwrap();
            assert!(question.complete);
            let settings = question.settings.iter().map(|(name, value)| format!("{name}={value}"));
            let beside: Vec<String> = question.values.into_iter().chain(settings).collect();
            (entry.who, question.sql, beside.join(" "))
        })
        .collect()
}

#[tokio::test]
async fn the_ledger_has_each_question_as_its_analyst_wrote_it() {
    let (_folder, curator) = curator("personal").await;
    let anas = "SELECT COUNT(*) -- of one\nFROM t WHERE k = $1";
    let mut ana = curator.session("ana");
    ana.settings_mut().set("demure.epsilon", "0.5").unwrap();
    let values = [ScalarValue::Int64(Some(3))];
    ana.run_with(anas, &values).await.unwrap();
    // A repeat, a price and a refusal are free, and leave nothing.
    ana.run_with(anas, &values).await.unwrap();
    ana.explanation(COUNT).await.unwrap();
    ana.run("SELECT id FROM t").await.unwrap_err();
    let line = |who: &str, sql: &str, beside: &str| (who.into(), sql.into(), beside.into());
    let first = line("ana", anas, "3 demure.epsilon=0.5");
    assert_eq!(questions(&curator), std::slice::from_ref(&first));
    // Whoever is shown what another bought wrote it in another way.
    ask(&curator, "ana", COUNT).await.unwrap();
    let bens = "select count(*) as n from t order by n;";
    ask(&curator, "ben", bens.trim_end_matches(';')).await.unwrap();
    let kinds = curator.ledger().entries().unwrap();
    assert_eq!(kinds.last().unwrap().kind, Kind::Receive);
    let bens = line("ben", bens.trim_end_matches(';'), "");
    assert_eq!(questions(&curator), [first, line("ana", COUNT, ""), bens]);
    // A statement that buys two answers is with both.
    let two =
        "SELECT (SELECT COUNT(*) FROM t WHERE k = 1) + (SELECT COUNT(*) FROM t WHERE k = 2) AS s";
    ask(&curator, "eva", two).await.unwrap();
    let of_two = questions(&curator).into_iter().filter(|(_, sql, _)| sql == two).count();
    assert_eq!(of_two, 2);
    curator.ledger().verify().unwrap();
}

#[tokio::test]
async fn nobody_is_told_what_others_asked() {
    let (_folder, curator) = curator("personal").await;
    let before = explain(&curator, "ben", COUNT).await;
    ask(&curator, "ana", COUNT).await.unwrap();
    let after = explain(&curator, "ben", COUNT).await;
    assert_eq!((&before.price, &before.aggregates), (&after.price, &after.aggregates));
    assert!(!after.aggregates[0].bought && after.price.main > 0.9);
    // She herself is told.
    let own = explain(&curator, "ana", COUNT).await;
    assert!(own.aggregates[0].bought && own.price.main == 0.0);
    ask(&curator, "ben", COUNT).await.unwrap();
    assert!(explain(&curator, "ben", COUNT).await.aggregates[0].bought);
}

#[tokio::test]
async fn shared_answers_are_free_for_all_but_those_who_are_denied() {
    let (_folder, curator) = curator("shared").await;
    curator.ledger().grant("sam", "eva", epsilon(0.05), Delta::ZERO).unwrap();
    let bought = ask(&curator, "ana", COUNT).await.unwrap();
    assert!(explain(&curator, "eva", COUNT).await.aggregates[0].bought);
    let free = ask(&curator, "eva", COUNT).await.unwrap();
    assert_eq!((value(&free), free.price.main, free.repeated), (value(&bought), 0.0, true));
    assert_eq!(shown(&curator, "eva"), 0.0);
    curator.ledger().deny("sam", "max").unwrap();
    assert!(ask(&curator, "max", COUNT).await.unwrap_err().refusal().is_some());
}

#[tokio::test]
async fn a_denial_holds_also_for_what_was_shown_before() {
    for answers in ["personal", "shared"] {
        let (_folder, curator) = curator(answers).await;
        ask(&curator, "ana", COUNT).await.unwrap();
        ask(&curator, "ana", COUNT).await.unwrap();
        curator.ledger().deny("sam", "ana").unwrap();
        // What this process remembers of rules is at most a tenth of a second old.
        tokio::time::sleep(Duration::from_millis(150)).await;
        for sql in [COUNT, "SELECT COUNT(*) AS n FROM t"] {
            let error = ask(&curator, "ana", sql).await.unwrap_err();
            assert!(error.refusal().unwrap().0.contains("the limit of ana"), "{error}");
        }
        assert!(!explain(&curator, "ana", COUNT).await.aggregates[0].bought);
    }
}

#[tokio::test]
async fn while_frozen_there_is_what_one_was_shown_before() {
    let (_folder, curator) = curator("personal").await;
    let bought = ask(&curator, "ana", COUNT).await.unwrap();
    curator.ledger().freeze("sam", "audit").unwrap();
    assert_eq!(value(&ask(&curator, "ana", COUNT).await.unwrap()), value(&bought));
    let other = "SELECT COUNT(*) AS n FROM t";
    assert_eq!(value(&ask(&curator, "ana", other).await.unwrap()), value(&bought));
    let error = ask(&curator, "ben", COUNT).await.unwrap_err();
    assert!(error.refusal().unwrap().0.contains("frozen by sam"), "{error}");
}

/// An engine that takes its time, counts what it reads, and fails when told to.
#[derive(Debug)]
struct Slow {
    native: Native,
    log: Arc<Log>,
}

#[derive(Debug, Default)]
struct Log {
    begun: AtomicUsize,
    ended: AtomicUsize,
    failing: AtomicUsize,
}

#[async_trait]
impl Engine for Slow {
    async fn prepare(
        &self,
        input: LogicalPlan,
        spec: &BoundSpec,
        key: Key,
    ) -> demure_curator::Result<Task> {
        let (task, log) = (self.native.prepare(input, spec, key).await?, Arc::clone(&self.log));
        Ok(task.within(|reading| async move {
            log.begun.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(200)).await;
            if log.failing.load(Ordering::SeqCst) > 0 {
                let failed: EngineResult<_> = Err(DataFusionError::Execution("told to".into()));
                return failed;
            }
            let exact = reading.await;
            log.ended.fetch_add(1, Ordering::SeqCst);
            exact
        }))
    }
}

async fn slow(answers: &str) -> (tempfile::TempDir, Arc<Curator>, Arc<Log>) {
    let folder = tempfile::tempdir().unwrap();
    let (policy, log) = (policy(&folder, answers), Arc::new(Log::default()));
    let (ledger, seed) = (ledger(&policy), Box::new(SeededForTests::insecure(7)));
    let kept = Arc::clone(&log);
    let engine =
        |state| Box::new(Slow { native: Native::new(state), log: kept }) as Box<dyn Engine>;
    let opening = Curator::with_engine(policy, ledger, Incidents::nowhere(), seed, engine);
    let curator = opening.await.unwrap();
    (folder, curator, log)
}

/// Asks at once, each as its own analyst.
async fn together(
    curator: &Arc<Curator>,
    asked: Vec<(String, &'static str)>,
) -> Vec<Result<Answer, Error>> {
    let each = asked.into_iter().map(|(who, sql)| {
        let curator = Arc::clone(curator);
        tokio::spawn(async move { ask(&curator, &who, sql).await })
    });
    let mut answers = Vec::new();
    for one in each.collect::<Vec<_>>() {
        answers.push(one.await.unwrap());
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn equal_questions_asked_at_once_are_bought_once() {
    for answers in ["personal", "shared"] {
        let (_folder, curator, log) = slow(answers).await;
        let twelve = (0..12).map(|i| (format!("analyst {i}"), COUNT)).collect();
        let got = together(&curator, twelve).await;
        let first = value(got[0].as_ref().unwrap());
        assert!(got.iter().all(|answer| value(answer.as_ref().unwrap()) == first));
        // The dataset pays once.
        assert!(about(spent(&curator), 1.0), "{answers}: {}", spent(&curator));
        assert_eq!(log.begun.load(Ordering::SeqCst), 1);
        // And each analyst once, or where answers are shared the one who bought.
        let each: Vec<f64> = (0..12).map(|i| shown(&curator, &format!("analyst {i}"))).collect();
        let paid = each.iter().filter(|paid| about(**paid, 1.0)).count();
        assert_eq!(paid, if answers == "personal" { 12 } else { 1 }, "{each:?}");
        let verified = curator.ledger().verify().unwrap();
        let received = if answers == "personal" { 11 } else { 0 };
        assert_eq!((verified.reserved, verified.cancelled, verified.received), (1, 0, received));
    }
    // One analyst with twelve tiles of one dashboard.
    let (_folder, curator, _) = slow("personal").await;
    let got = together(&curator, (0..12).map(|_| ("ana".to_owned(), COUNT)).collect()).await;
    assert!(got.iter().all(Result::is_ok));
    assert!(about(spent(&curator), 1.0) && about(shown(&curator, "ana"), 1.0));
    assert_eq!(got.iter().filter(|answer| answer.as_ref().unwrap().price.main > 0.0).count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn questions_with_parts_in_common_do_not_wait_for_each_other_for_ever() {
    let (_folder, curator, log) = slow("personal").await;
    let one = "SELECT (SELECT COUNT(*) FROM t), (SELECT SUM(k) FROM t)";
    let two = "SELECT (SELECT SUM(k) FROM t), (SELECT COUNT(*) FROM t)";
    let asked = (0..8).map(|i| (format!("{i}"), if i % 2 == 0 { one } else { two })).collect();
    let all = together(&curator, asked);
    let got = tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
    assert!(got.iter().all(Result::is_ok), "{got:?}");
    assert_eq!(log.begun.load(Ordering::SeqCst), 2);
    assert!(about(spent(&curator), 2.0), "{}", spent(&curator));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failure_is_paid_for_once_and_told_to_all() {
    let (_folder, curator, log) = slow("personal").await;
    log.failing.store(1, Ordering::SeqCst);
    let twelve = (0..12).map(|i| (format!("analyst {i}"), COUNT)).collect();
    let got = together(&curator, twelve).await;
    let incidents = got.iter().filter(|one| matches!(one, Err(Error::Incident { .. }))).count();
    let others = got.iter().filter(|one| matches!(one, Err(Error::Together))).count();
    assert_eq!((incidents, others), (1, 11));
    let text = got.iter().find_map(|one| match one {
        Err(error @ Error::Together) => Some(error.to_string()),
        _ => None,
    });
    assert!(text.unwrap().contains("nothing was spent"));
    assert!(about(spent(&curator), 1.0), "{}", spent(&curator));
    // The next one buys.
    log.failing.store(0, Ordering::SeqCst);
    ask(&curator, "analyst 3", COUNT).await.unwrap();
    assert!(about(spent(&curator), 2.0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_buyer_who_leaves_does_not_take_the_answer_along() {
    let (_folder, curator, log) = slow("personal").await;
    let leaving = {
        let curator = Arc::clone(&curator);
        tokio::spawn(async move { ask(&curator, "ana", COUNT).await })
    };
    while log.begun.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let waiting = {
        let curator = Arc::clone(&curator);
        tokio::spawn(async move { ask(&curator, "ben", COUNT).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    leaving.abort();
    waiting.await.unwrap().unwrap();
    assert!(about(spent(&curator), 1.0), "{}", spent(&curator));
    assert_eq!(log.begun.load(Ordering::SeqCst), 1);
    // Both have paid, and she may have it whenever she comes back.
    assert!(about(shown(&curator, "ana"), 1.0) && about(shown(&curator, "ben"), 1.0));
    assert!(ask(&curator, "ana", COUNT).await.unwrap().repeated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_nobody_waits_for_ends() {
    let (_folder, curator, log) = slow("personal").await;
    let leaving = {
        let curator = Arc::clone(&curator);
        tokio::spawn(async move { ask(&curator, "ana", COUNT).await })
    };
    while log.begun.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    leaving.abort();
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(log.ended.load(Ordering::SeqCst), 0);
    // What was debited stays so; the next one buys anew.
    ask(&curator, "ben", COUNT).await.unwrap();
    assert!(about(spent(&curator), 2.0), "{}", spent(&curator));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_refused_buyer_leaves_the_lead_to_others() {
    let (_folder, curator, _) = slow("personal").await;
    for i in 0..6 {
        curator.ledger().grant("sam", &format!("poor {i}"), epsilon(0.05), Delta::ZERO).unwrap();
    }
    let asked =
        (0..12).map(|i| (["poor", "rich"][i % 2].to_owned() + &format!(" {}", i / 2), COUNT));
    let got = together(&curator, asked.collect()).await;
    for (i, answer) in got.iter().enumerate() {
        match i % 2 {
            0 => assert!(answer.as_ref().unwrap_err().refusal().is_some()),
            _ => assert!(answer.is_ok(), "{answer:?}"),
        }
    }
    assert!(about(spent(&curator), 1.0), "{}", spent(&curator));
}

#[tokio::test]
async fn what_changes_by_itself_is_not_joined_with_protected_rows() {
    let (_folder, curator) = curator("personal").await;
    for inner in ["random() < 0.5", "uuid() > 'a'"] {
        let days = format!("(SELECT k, name FROM days WHERE {inner})");
        for sql in [
            format!("SELECT COUNT(*) FROM t JOIN {days} d ON t.k = d.k"),
            format!("SELECT COUNT(*) FROM t WHERE k IN (SELECT k FROM {days} d)"),
            format!(
                "WITH d AS {days} SELECT d.name, COUNT(*) FROM t JOIN d ON t.k = d.k GROUP BY d.name"
            ),
        ] {
            let error = ask(&curator, "ana", &sql).await.unwrap_err();
            let Some((what, remedy)) = error.refusal() else { panic!("{sql}: {error}") };
            assert!(what.contains("() in public rows"), "{sql}: {what}");
            assert!(remedy.contains("write the value itself"), "{remedy}");
        }
    }
    assert_eq!(spent(&curator), 0.0);
    // What stays the same is joined, found again, and kept apart by its values.
    let joined = "SELECT COUNT(*) FROM t WHERE k IN (SELECT k FROM days WHERE name < $1)";
    let mut answers = Vec::new();
    for name in ["b", "c", "b"] {
        let mut session = curator.session("ana");
        let values = [ScalarValue::from(name)];
        let Outcome::Answer(answer) = session.run_with(joined, &values).await.unwrap() else {
            panic!("no answer")
        };
        answers.push((value(&answer), answer.repeated));
    }
    assert_eq!((answers[0].1, answers[1].1, answers[2].1), (false, false, true));
    assert_eq!(answers[0].0, answers[2].0);
    // Over released rows it is no matter: that is drawn anew each time, and costs nothing.
    let drawn = "SELECT n + random() FROM (SELECT COUNT(*) AS n FROM t)";
    let (one, two) =
        (ask(&curator, "ana", drawn).await.unwrap(), ask(&curator, "ana", drawn).await.unwrap());
    assert!(value(&one) != value(&two) && two.price.main == 0.0);
}

#[tokio::test]
async fn an_epsilon_that_no_noise_fits_is_refused() {
    for accounting in ["pure", "zcdp"] {
        let folder = tempfile::tempdir().unwrap();
        let text = policy(&folder, "personal").text;
        let text = text.replace(
            "epsilon = 20",
            &format!("epsilon = 20\ndelta = 1e-6\naccounting = \"{accounting}\""),
        );
        let curator =
            Curator::in_memory(Policy::parse(&text, folder.path()).unwrap()).await.unwrap();
        let mut session = curator.session("ana");
        for epsilon in ["5e-324", "1e-320", "1e-300", "1e-160", "1e300"] {
            session.run(&format!("SET demure.epsilon = {epsilon}")).await.unwrap();
            for measure in [
                "COUNT(*)",
                "SUM(k)",
                "AVG(k)",
                "VAR(k)",
                "MEDIAN(k)",
                "MAX(k)",
                "MODE(k)",
                "COUNT(DISTINCT k)",
            ] {
                for sql in [
                    format!("SELECT {measure} FROM t"),
                    format!("SELECT id, {measure} FROM t GROUP BY id"),
                ] {
                    let before = spent(&curator);
                    match session.run(&sql).await {
                        Ok(Outcome::Answer(_)) => {}
                        Err(error) if error.refusal().is_some() => {
                            assert_eq!(spent(&curator), before)
                        }
                        other => panic!("{accounting} {epsilon} {sql}: {other:?}"),
                    }
                    let explained = session.explanation(&sql).await;
                    assert!(
                        explained.is_ok() || explained.unwrap_err().refusal().is_some(),
                        "{sql}"
                    );
                }
            }
        }
        session.run("SET demure.epsilon = default").await.unwrap();
        for error in ["1e-320", "1e300"] {
            session.run(&format!("SET demure.error_at_most = {error}")).await.unwrap();
            match session.run(COUNT).await {
                Ok(Outcome::Answer(_)) => {}
                Err(error) => assert!(error.refusal().is_some(), "{error:?}"),
                other => panic!("{other:?}"),
            }
        }
    }
    // And a policy whose own numbers are as small.
    for lines in
        ["epsilon = 1e-320", "epsilon = 1\nper_query = 1e-320", "epsilon = 1\ndelta = 1e-320"]
    {
        let folder = tempfile::tempdir().unwrap();
        let text = policy(&folder, "personal").text.replace("epsilon = 20\nper_query = 1", lines);
        let policy = Policy::parse(&text, folder.path()).unwrap();
        assert!(policy.warnings.iter().all(|warning| warning.len() < 300), "{:?}", policy.warnings);
        let curator = Curator::in_memory(policy).await.unwrap();
        for sql in [COUNT, "SELECT id, COUNT(*) FROM t GROUP BY id"] {
            match ask(&curator, "ana", sql).await {
                Ok(_) => {}
                Err(error) => assert!(error.refusal().is_some(), "{lines}: {error:?}"),
            }
        }
    }
}

#[tokio::test]
async fn receipts_are_lines_of_the_journal() {
    let (_folder, curator) = curator("personal").await;
    ask(&curator, "ana", COUNT).await.unwrap();
    ask(&curator, "ben", COUNT).await.unwrap();
    let kinds: Vec<(Kind, String)> =
        curator.ledger().entries().unwrap().into_iter().map(|e| (e.kind, e.who)).collect();
    let line = |kind, who: &str| (kind, who.to_owned());
    let expected = [
        line(Kind::Limit, ""),
        line(Kind::Reserve, "ana"),
        line(Kind::Settle, "ana"),
        line(Kind::Receive, "ben"),
    ];
    assert_eq!(kinds, expected);
}

/// Two aggregates of one query: one that somebody else bought, and one beyond the limit.
#[tokio::test]
async fn a_query_that_is_refused_has_bought_and_received_nothing() {
    let (_folder, curator) = curator("personal").await;
    let both = "SELECT (SELECT COUNT(*) FROM t) AS n, (SELECT AVG(k) FROM t) AS k";
    ask(&curator, "ana", COUNT).await.unwrap();
    let epsilon = Epsilon::new(1.5).unwrap();
    curator.ledger().grant("sam", "ben", epsilon, Delta::ZERO).unwrap();
    let entries = || curator.ledger().entries().unwrap().len();
    let before = entries();
    let error = ask(&curator, "ben", both).await.unwrap_err();
    let (what, _) = error.refusal().unwrap();
    assert!(what.contains("costs ε 2 ") && what.contains("nothing was spent"), "{what}");
    assert_eq!(entries(), before);
    assert_eq!(curator.ledger().balance_for("ben").unwrap().spent.main, 0.0);
    // What is within it is bought and received.
    curator.ledger().grant("sam", "ben", Epsilon::new(2.0).unwrap(), Delta::ZERO).unwrap();
    let price = ask(&curator, "ben", both).await.unwrap().price.main;
    assert!((price - 2.0).abs() < 1e-9, "{price}");
    assert!(ask(&curator, "ben", both).await.unwrap().repeated);
}

/// A query whose first part was bought before its second was refused says so.
#[test]
fn what_was_spent_on_a_part_is_said() {
    let refused = demure_ledger::Error::Unwritable;
    let error = Error::Partly { spent: "ε 1".to_owned(), source: Box::new(refused.into()) };
    let text = error.to_string();
    assert!(text.contains("ε 1 was spent on parts of it") && !text.contains("nothing"), "{text}");
    let source = Box::new(Error::Together);
    assert!(!Error::Partly { spent: "ε 1".to_owned(), source }.to_string().contains("nothing"));
}
