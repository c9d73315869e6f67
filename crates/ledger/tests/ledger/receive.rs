//! Answers that somebody else bought: what they cost, who is refused, what a kill leaves.

use super::server::Server;
use super::{Place, limit, pure, request};
use demure_core::unit::{Delta, Epsilon};
use demure_ledger::{
    Accounting, Answers, Entry, Error, Fault, Kind, Ledger, Outcome, Price, Purchase, Question,
    Request, Rule, Start, wall_clock,
};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

scenarios! {
    in_memory: [
        each_analyst_pays_once_and_the_dataset_once,
        a_limit_bounds_what_an_analyst_is_shown,
        a_group_pays_for_what_its_members_are_shown,
        shared_answers_cost_the_others_nothing,
        whoever_is_denied_gets_nothing_at_all,
        while_frozen_there_is_what_one_was_shown_before,
        a_period_does_not_count_what_is_received,
        whoever_bought_a_copy_keeps_it,
        a_receipt_is_in_the_datasets_currency,
        what_one_query_needs_is_bought_together_or_not_at_all,
        a_refusal_does_not_tell_what_others_bought,
    ];
    in_a_file: [
        receipts_survive_and_bind_others,
        of_many_at_once_each_is_charged_once,
        what_was_asked_is_stored_with_what_it_bought,
    ];
}

use Answers::{Personal, Shared};

fn epsilon(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn by(who: &str, key: &str, event: &str) -> Request {
    Request { who: who.into(), ..request(key, event) }
}

/// Buys and settles.
fn buys(ledger: &Ledger, who: &str, key: &str, event: &str, answer: &[u8]) {
    match ledger.purchase(&by(who, key, event), Personal).unwrap() {
        Purchase::Reserved(one) => one.begin().unwrap().settle(answer).unwrap(),
        given @ Purchase::Given { .. } => panic!("{who}: {given:?}"),
    }
}

/// What is given, and for what.
fn given(ledger: &Ledger, request: &Request, answers: Answers) -> (Vec<u8>, f64) {
    match ledger.purchase(request, answers).unwrap() {
        Purchase::Given { answer, price } => (answer, price.main),
        reserved @ Purchase::Reserved(_) => panic!("{}: {reserved:?}", request.who),
    }
}

fn refused(ledger: &Ledger, request: &Request, answers: Answers) -> Rule {
    match ledger.purchase(request, answers) {
        Err(Error::OverBudget { which, .. }) => which,
        other => panic!("{}: {other:?}", request.who),
    }
}

fn spent(ledger: &Ledger, who: &str) -> f64 {
    ledger.balance_for(who).unwrap().spent.main
}

fn each_analyst_pays_once_and_the_dataset_once(place: &Place) {
    let ledger = place.open(pure(1.0));
    buys(&ledger, "ana", "k", "pure(eps=0.75)", b"42");
    for (who, first) in [("ana", 0.0), ("ben", 0.75), ("eva", 0.75)] {
        let request = by(who, "k", "pure(eps=0.75)");
        let known = ledger.recall(who, "k", Personal).unwrap();
        assert_eq!(known.is_some(), who == "ana", "{who}");
        assert_eq!(given(&ledger, &request, Personal), (b"42".to_vec(), first));
        // Hers from now on.
        assert_eq!(given(&ledger, &request, Personal), (b"42".to_vec(), 0.0));
        assert_eq!(ledger.recall(who, "k", Personal).unwrap().as_deref(), Some(&b"42"[..]));
        assert_eq!(spent(&ledger, who), 0.75);
    }
    assert_eq!(ledger.balance().unwrap().spent.main, 0.75);
    let entries = ledger.entries().unwrap();
    let receipts: Vec<_> = entries.iter().filter(|entry| entry.kind == Kind::Receive).collect();
    assert_eq!(receipts.len(), 2);
    let one = receipts[0];
    assert_eq!((one.who.as_str(), one.key.as_str(), one.refers), ("ben", "k", None));
    assert_eq!((one.event.as_str(), one.price.main), ("pure(eps=0.75)", 0.75));
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.reserved, verified.settled, verified.received), (1, 1, 2));
    assert_eq!((verified.spent.main, verified.beyond), (0.75, 0));
}

fn what_was_asked_is_stored_with_what_it_bought(place: &Place) {
    let ledger = place.open(pure(8.0));
    let settings = vec![("demure.epsilon".to_owned(), "0.5".to_owned())];
    let anas =
        Question::new("SELECT COUNT(*), SUM(v)\nFROM t WHERE k = $1", vec!["'é'".into()], settings);
    let bens = Question::new("SELECT COUNT(*) FROM t", Vec::new(), Vec::new());
    // One statement buys two answers; the second of them is never computed.
    let wanted = [by("ana", "count", "pure(eps=0.5)"), by("ana", "sum", "pure(eps=0.5)")];
    let mut bought = ledger.purchase_asked(&anas, &wanted, Personal).unwrap().into_iter();
    match bought.next() {
        Some(Purchase::Reserved(one)) => one.begin().unwrap().settle(b"1").unwrap(),
        other => panic!("{other:?}"),
    }
    drop(bought);
    // Another is shown the first, and debits one that is taken back.
    let wanted = [by("ben", "count", "pure(eps=0.5)"), by("ben", "other", "pure(eps=1)")];
    let mut bought = ledger.purchase_asked(&bens, &wanted, Personal).unwrap();
    match (bought.pop(), bought.pop()) {
        (Some(Purchase::Reserved(one)), Some(Purchase::Given { .. })) => one.cancel().unwrap(),
        other => panic!("{other:?}"),
    }
    // Without a question, as earlier versions wrote it.
    ledger.reserve(&by("ana", "plain", "pure(eps=1)")).map(drop).unwrap();
    let told = |entry: &Entry| {
        let question = entry.question.as_ref().map(|question| question.sql.clone());
        let outcome = entry.outcome.map_or("", Outcome::name);
        (entry.kind, entry.who.clone(), question, entry.query.clone(), outcome)
    };
    let line = |kind, who: &str, of: Option<&Question>, query: &str, outcome| {
        (kind, who.to_owned(), of.map(|of| of.sql.clone()), query.to_owned(), outcome)
    };
    let (ana, ben) = (Some(&anas), Some(&bens));
    let expected = [
        line(Kind::Reserve, "ana", ana, "SELECT count", "answered"),
        line(Kind::Reserve, "ana", ana, "SELECT sum", "open"),
        line(Kind::Settle, "ana", None, "", ""),
        line(Kind::Receive, "ben", ben, "", ""),
        line(Kind::Reserve, "ben", ben, "SELECT other", "cancelled"),
        line(Kind::Cancel, "ben", None, "", ""),
        line(Kind::Reserve, "ana", None, "SELECT plain", "open"),
    ];
    let all = ledger.entries().unwrap();
    let found: Vec<_> = all[all.len() - expected.len()..].iter().map(told).collect();
    assert_eq!(found, expected);
    assert_eq!(all[all.len() - expected.len()].question.as_ref(), ana);
    // Alone, a debit says the same: the row that closes it is looked up.
    for entry in &all {
        let alone = ledger.page(Start::After(entry.seq - 1), None, 1).unwrap();
        assert_eq!(alone.entries, std::slice::from_ref(entry));
        let alone = ledger.entries_between(entry.seq - 1, entry.seq + 1).unwrap();
        assert_eq!(alone, std::slice::from_ref(entry));
    }
    // One person's page has her questions and nobody else's.
    let own = ledger.page(Start::After(0), Some("ben"), 100).unwrap();
    assert!(own.entries.iter().all(|entry| entry.who == "ben"));
    assert_eq!(own.entries.iter().filter(|entry| entry.question.as_ref() == ben).count(), 2);
    ledger.verify().unwrap();
    if matches!(place, Place::File(_)) {
        drop(ledger);
        let again = place.open(pure(8.0));
        assert_eq!(again.entries().unwrap(), all);
        again.verify().unwrap();
    }
}

fn a_limit_bounds_what_an_analyst_is_shown(place: &Place) {
    let ledger = place.open(pure(10.0));
    ledger.grant("sam", "ana", epsilon(0.05), Delta::ZERO).unwrap();
    buys(&ledger, "ben", "five", "pure(eps=5)", b"sharp");
    buys(&ledger, "ben", "little", "pure(eps=1/32)", b"vague");
    let own = Rule::Subject("ana".into());
    let five = by("ana", "five", "pure(eps=5)");
    assert_eq!(refused(&ledger, &five, Personal), own);
    assert_eq!(ledger.recall("ana", "five", Personal).unwrap(), None);
    assert_eq!(spent(&ledger, "ana"), 0.0);
    let little = by("ana", "little", "pure(eps=1/32)");
    assert_eq!(given(&ledger, &little, Personal), (b"vague".to_vec(), 1.0 / 32.0));
    // What she received leaves less to buy.
    let more = by("ana", "more", "pure(eps=1/32)");
    assert_eq!(refused(&ledger, &more, Personal), own);
    // A limit granted later counts what was received before.
    let eva = by("eva", "five", "pure(eps=5)");
    assert_eq!(given(&ledger, &eva, Personal).1, 5.0);
    ledger.grant("sam", "eva", epsilon(5.0), Delta::ZERO).unwrap();
    let share = ledger.balances().unwrap().limits[1].share;
    assert_eq!((share.spent.main, share.left), (5.0, Price::ZERO));
    assert_eq!(ledger.verify().unwrap().beyond, 0);
}

fn a_group_pays_for_what_its_members_are_shown(place: &Place) {
    let ledger = place.open(pure(10.0));
    ledger.join("sam", "ana", "@oncology").unwrap();
    ledger.join("sam", "ben", "@oncology").unwrap();
    ledger.grant("sam", "@oncology", epsilon(1.0), Delta::ZERO).unwrap();
    buys(&ledger, "eva", "k", "pure(eps=0.5)", b"x");
    for who in ["ana", "ben"] {
        given(&ledger, &by(who, "k", "pure(eps=0.5)"), Personal);
    }
    let share = ledger.balances().unwrap().limits[0].share;
    assert_eq!(share.spent.main, 1.0);
    buys(&ledger, "eva", "l", "pure(eps=0.5)", b"x");
    let group = Rule::Subject("@oncology".into());
    assert_eq!(refused(&ledger, &by("ana", "l", "pure(eps=0.5)"), Personal), group);
    // Who has left counts for herself alone.
    ledger.leave("sam", "ana", "@oncology").unwrap();
    given(&ledger, &by("ana", "l", "pure(eps=0.5)"), Personal);
    assert_eq!((spent(&ledger, "ana"), ledger.balance().unwrap().spent.main), (1.0, 1.0));
    ledger.verify().unwrap();
}

fn shared_answers_cost_the_others_nothing(place: &Place) {
    let ledger = place.open(pure(10.0));
    ledger.grant("sam", "ana", epsilon(0.05), Delta::ZERO).unwrap();
    buys(&ledger, "ben", "k", "pure(eps=5)", b"x");
    let request = by("ana", "k", "pure(eps=5)");
    assert_eq!(ledger.recall("ana", "k", Shared).unwrap().as_deref(), Some(&b"x"[..]));
    assert_eq!(given(&ledger, &request, Shared), (b"x".to_vec(), 0.0));
    assert_eq!((spent(&ledger, "ana"), ledger.verify().unwrap().received), (0.0, 0));
    // Shown for nothing is not received: once answers are personal it is paid for.
    assert_eq!(refused(&ledger, &request, Personal), Rule::Subject("ana".into()));
}

fn whoever_is_denied_gets_nothing_at_all(place: &Place) {
    let ledger = place.open(pure(10.0));
    buys(&ledger, "ana", "hers", "pure(eps=0.5)", b"x");
    buys(&ledger, "ben", "his", "pure(eps=0.5)", b"y");
    let requests = [by("ana", "hers", "pure(eps=0.5)"), by("ana", "his", "pure(eps=0.5)")];
    assert!(!ledger.is_denied("ana").unwrap());
    ledger.deny("sam", "ana").unwrap();
    ledger.join("sam", "eva", "@closed").unwrap();
    ledger.deny("sam", "@closed").unwrap();
    assert!(ledger.is_denied("ana").unwrap() && ledger.is_denied("eva").unwrap());
    let balances = ledger.balances().unwrap();
    assert!(balances.denies("ana") && balances.denies("eva") && !balances.denies("ben"));
    for answers in [Personal, Shared] {
        for request in &requests {
            assert_eq!(refused(&ledger, request, answers), Rule::Subject("ana".into()));
            assert_eq!(ledger.recall("ana", &request.key, answers).unwrap(), None);
        }
        let eva = by("eva", "his", "pure(eps=0.5)");
        assert_eq!(refused(&ledger, &eva, answers), Rule::Subject("@closed".into()));
    }
    ledger.revoke("sam", "ana").unwrap();
    assert_eq!(given(&ledger, &requests[0], Personal), (b"x".to_vec(), 0.0));
}

fn while_frozen_there_is_what_one_was_shown_before(place: &Place) {
    let ledger = place.open(pure(10.0));
    buys(&ledger, "ana", "k", "pure(eps=0.5)", b"x");
    given(&ledger, &by("ben", "k", "pure(eps=0.5)"), Personal);
    ledger.freeze("sam", "audit").unwrap();
    for who in ["ana", "ben"] {
        assert_eq!(given(&ledger, &by(who, "k", "pure(eps=0.5)"), Personal).1, 0.0);
    }
    let eva = by("eva", "k", "pure(eps=0.5)");
    assert!(matches!(ledger.purchase(&eva, Personal), Err(Error::Frozen(_))));
    assert_eq!(spent(&ledger, "eva"), 0.0);
    assert_eq!(ledger.verify().unwrap().beyond, 0);
}

fn a_period_does_not_count_what_is_received(place: &Place) {
    let ledger = place.open(pure(1.0));
    buys(&ledger, "ana", "k", "pure(eps=1)", b"x");
    // The dataset has nothing left, and the next period has not begun.
    ledger.close_period("sam").unwrap();
    assert_eq!(given(&ledger, &by("ben", "k", "pure(eps=1)"), Personal).1, 1.0);
    ledger.open_period("sam", epsilon(0.5), Delta::ZERO).unwrap();
    given(&ledger, &by("eva", "k", "pure(eps=1)"), Personal);
    assert_eq!(ledger.balances().unwrap().period.unwrap().spent, Price::ZERO);
    assert_eq!(ledger.verify().unwrap().beyond, 0);
}

fn whoever_bought_a_copy_keeps_it(place: &Place) {
    let ledger = place.open(pure(10.0));
    // Two curators were asked at once, or a version that bought each time.
    let one = ledger.purchase(&by("ana", "k", "pure(eps=1)"), Personal).unwrap();
    let two = ledger.purchase(&by("ben", "k", "pure(eps=1)"), Personal).unwrap();
    let (Purchase::Reserved(one), Purchase::Reserved(two)) = (one, two) else { panic!() };
    two.begin().unwrap().settle(b"two").unwrap();
    one.begin().unwrap().settle(b"one").unwrap();
    for (who, answer, price) in [("ana", "one", 0.0), ("ben", "two", 0.0), ("eva", "two", 1.0)] {
        let request = by(who, "k", "pure(eps=1)");
        assert_eq!(given(&ledger, &request, Personal), (answer.into(), price), "{who}");
        assert_eq!(given(&ledger, &request, Personal), (answer.into(), 0.0), "{who}");
    }
    assert_eq!(ledger.balance().unwrap().spent.main, 2.0);
    // A key stands for one event.
    let other = ledger.purchase(&by("max", "k", "pure(eps=0.5)"), Personal).unwrap_err();
    assert!(matches!(other, Error::Broken { fault: Fault::Receipt, .. }), "{other:?}");
    ledger.verify().unwrap();
}

fn a_refusal_does_not_tell_what_others_bought(place: &Place) {
    // Ben has bought the second part of Ann's question, or one of the same price that is not hers.
    let datasets = std::cell::Cell::new(0);
    let refusal = |bought: &str, granted: Option<f64>, parts: [f64; 3]| {
        datasets.set(datasets.get() + 1);
        let ledger = match place {
            Place::Memory => place.open(pure(1.0)),
            _ => place.dataset(&format!("refusal-{}", datasets.get()), pure(1.0)),
        };
        buys(&ledger, "ben", bought, &format!("pure(eps={})", parts[1]), b"42");
        if let Some(most) = granted {
            ledger.grant("sam", "ann", epsilon(most), Delta::ZERO).unwrap();
        }
        let requests: Vec<Request> = ["first", "second", "third"]
            .iter()
            .zip(parts)
            .map(|(key, eps)| by("ann", key, &format!("pure(eps={eps})")))
            .collect();
        match ledger.purchase_all(&requests, Personal) {
            Err(Error::OverBudget { asked, left, which, .. }) => (asked, left, which),
            other => panic!("{other:?}"),
        }
    };
    // The dataset has too little either way; the analyst has; both have, in whichever order they are found out.
    for (granted, parts) in [
        (None, [0.5, 0.5, 0.5]),
        (Some(0.25), [0.125, 0.125, 0.125]),
        (Some(0.5), [0.5, 0.5, 0.5]),
        (Some(0.5), [0.875, 0.125, 0.25]),
    ] {
        let (told, other) = (refusal("second", granted, parts), refusal("others", granted, parts));
        assert_eq!(told, other, "{granted:?} {parts:?}");
        assert_eq!(told.0.main, parts.iter().sum::<f64>());
    }
}

fn what_one_query_needs_is_bought_together_or_not_at_all(place: &Place) {
    let ledger = place.open(pure(1.0));
    buys(&ledger, "bob", "sold", "pure(eps=0.25)", b"sold");
    ledger.grant("sam", "ann", epsilon(0.5), Delta::ZERO).unwrap();
    let all = |requests: &[Request]| ledger.purchase_all(requests, Personal);
    let entries = || ledger.verify().unwrap().entries;
    let before = entries();
    // A receipt and a debit within her limit, and a debit that is not.
    let needs = |last: &str| {
        [
            by("ann", "sold", "pure(eps=0.25)"),
            by("ann", "new", "pure(eps=0.125)"),
            by("ann", "last", last),
        ]
    };
    let refused = all(&needs("pure(eps=0.25)")).unwrap_err();
    let Error::OverBudget { asked, left, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!((asked.main, left.main), (0.625, 0.5), "of all of them together");
    assert_eq!(entries(), before);
    assert_eq!(ledger.balance_for("ann").unwrap().spent, Price::ZERO);
    assert_eq!(ledger.recall("ann", "sold", Personal).unwrap(), None);
    // The dataset's part of it is what is debited.
    let (whole, most) = (by("bob", "whole", "pure(eps=0.5)"), by("bob", "most", "pure(eps=0.5)"));
    let refused = all(&[whole.clone(), most]).unwrap_err();
    let Error::OverBudget { asked, left, which, .. } = &refused else { panic!("{refused:?}") };
    // What is left is rounded down.
    assert!((left.main - 0.75).abs() < 1e-12 && left.main <= 0.75, "{left:?}");
    assert_eq!((asked.main, which), (1.0, &Rule::Dataset));
    assert_eq!(entries(), before);
    // And after all that, what is allowed is bought in one go.
    let bought = all(&needs("pure(eps=0.125)")).unwrap();
    assert!(matches!(&bought[0], Purchase::Given { answer, .. } if answer == b"sold"));
    assert!(bought[1..].iter().all(|one| matches!(one, Purchase::Reserved(_))));
    assert_eq!(entries(), before + 3);
    assert_eq!(ledger.balance_for("ann").unwrap().spent.main, 0.5);
    assert_eq!(ledger.balance().unwrap().spent.main, 0.5);
    let _ = all(&[whole]).unwrap();
    assert!(all(&[]).unwrap().is_empty());
    ledger.verify().unwrap();
}

fn a_receipt_is_in_the_datasets_currency(place: &Place) {
    let ledger = place.open(limit(Accounting::Zcdp, 4.0, 1e-6));
    ledger.grant("sam", "ana", epsilon(1.0), Delta::new(1e-6).unwrap()).unwrap();
    buys(&ledger, "ben", "k", "gaussian(sigma=40)", b"x");
    let price = given(&ledger, &by("ana", "k", "gaussian(sigma=40)"), Personal).1;
    let exact = 1.0 / 3200.0; // 1/2σ², and prices round up
    assert!(price >= exact && price < exact * (1.0 + 1e-12), "{price}");
    assert_eq!(spent(&ledger, "ana"), price);
    buys(&ledger, "ben", "l", "gaussian(sigma=2)", b"x");
    let sharp = by("ana", "l", "gaussian(sigma=2)");
    assert_eq!(refused(&ledger, &sharp, Personal), Rule::Subject("ana".into()));
}

fn receipts_survive_and_bind_others(place: &Place) {
    let (one, two) = (place.open(pure(10.0)), place.open(pure(10.0)));
    one.grant("sam", "ana", epsilon(1.0), Delta::ZERO).unwrap();
    buys(&one, "ben", "k", "pure(eps=0.75)", b"x");
    buys(&one, "ben", "l", "pure(eps=0.75)", b"y");
    given(&two, &by("ana", "k", "pure(eps=0.75)"), Personal);
    let sharp = by("ana", "l", "pure(eps=0.75)");
    assert_eq!(refused(&one, &sharp, Personal), Rule::Subject("ana".into()));
    assert_eq!(given(&one, &by("ana", "k", "pure(eps=0.75)"), Personal).1, 0.0);
    let balances = one.balances().unwrap();
    drop((one, two));
    let again = place.open(pure(10.0));
    assert_eq!(again.balances().unwrap(), balances);
    assert_eq!(given(&again, &by("ana", "k", "pure(eps=0.75)"), Personal).1, 0.0);
    // A cancellation of something else takes nothing of it back.
    let open = again.purchase(&by("ana", "m", "pure(eps=0.125)"), Personal).unwrap();
    let Purchase::Reserved(open) = open else { panic!() };
    given(&again, &by("eva", "k", "pure(eps=0.75)"), Personal);
    open.cancel().unwrap();
    assert_eq!((spent(&again, "ana"), spent(&again, "eva")), (0.75, 0.75));
    again.verify().unwrap();
}

fn of_many_at_once_each_is_charged_once(place: &Place) {
    let ledger = place.open(pure(1.0));
    buys(&ledger, "ben", "k", "pure(eps=0.5)", b"x");
    std::thread::scope(|scope| {
        for thread in 0..24 {
            let ledger = &ledger;
            let who = format!("analyst {}", thread % 6);
            scope.spawn(move || {
                assert_eq!(given(ledger, &by(&who, "k", "pure(eps=0.5)"), Personal).0, b"x");
            });
        }
    });
    assert_eq!(ledger.verify().unwrap().received, 6);
    for analyst in 0..6 {
        assert_eq!(spent(&ledger, &format!("analyst {analyst}")), 0.5);
    }
}

const PLACE: &str = "DEMURE_LEDGER_RECEIVE_PLACE";
const ROUND: &str = "DEMURE_LEDGER_RECEIVE_ROUND";
/// So many answers are there to be received.
const BOUGHT: usize = 40;

fn connect(place: &str) -> Ledger {
    match place.starts_with("postgres:") {
        true => Ledger::connect(place, "visits", pure(1e6), wall_clock()).unwrap(),
        false => Ledger::open(Path::new(place), "visits", pure(1e6), wall_clock()).unwrap(),
    }
}

/// The child: is shown what others bought, and says so, until it is killed.
#[test]
fn child() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let who = std::env::var(ROUND).unwrap();
    let ledger = connect(&place);
    let mut out = std::io::stdout();
    writeln!(out, "\nopen").unwrap();
    for key in 0..BOUGHT {
        let request = by(&who, &format!("{key}"), "pure(eps=1/64)");
        assert_eq!(given(&ledger, &request, Personal).0, key.to_string().as_bytes());
        writeln!(out, "shown {key}").unwrap();
    }
}

fn killed_in_the_middle(place: &str, kills: u32) {
    let ledger = connect(place);
    for key in 0..BOUGHT {
        let answer = key.to_string();
        buys(&ledger, "ben", &answer, "pure(eps=1/64)", answer.as_bytes());
    }
    drop(ledger);
    let (mut state, mut cut) = (42u64, 0);
    for round in 0..kills {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let who = format!("analyst {round}");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "receive::child", "--nocapture", "--test-threads=1"])
            .envs([(PLACE, place), (ROUND, &who)])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let _ = lines.by_ref().map_while(Result::ok).find(|line| line == "open");
        let before = (state >> 50) % 30;
        let mut said: Vec<String> = (0..before).map_while(|_| lines.next()?.ok()).collect();
        std::thread::sleep(Duration::from_micros((state >> 33) % 3_000));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        said.extend(lines.map_while(Result::ok));
        let shown: HashSet<&str> = said.iter().filter_map(|l| l.strip_prefix("shown ")).collect();
        cut += u32::from(!shown.is_empty() && shown.len() < BOUGHT);

        let ledger = connect(place);
        let verified = ledger.verify().unwrap();
        assert_eq!((verified.reserved, verified.beyond), (BOUGHT as u64, 0));
        // What she was shown was charged before; one more may be charged and not yet shown.
        let charged = (spent(&ledger, &who) * 64.0).floor() as usize;
        let all = shown.len();
        assert!((all..=all + 1).contains(&charged), "{all} {charged}");
        for key in shown {
            let again = ledger.recall(&who, key, Personal).unwrap();
            assert_eq!(again.as_deref(), Some(key.as_bytes()));
        }
    }
    assert!(cut > kills / 3, "{cut} of {kills} were killed in the middle");
}

#[test]
fn whoever_is_shown_an_answer_has_paid_for_it_whenever_the_process_is_killed() {
    let (_directory, path) = super::place();
    killed_in_the_middle(path.to_str().unwrap(), 30);
}

#[test]
fn the_same_in_postgresql() {
    let Some(server) = Server::start() else { return };
    killed_in_the_middle(&server.address(), 12);
}
