use super::*;
use crate::row::example;
use crate::rule::Subject;
use crate::totals::Account;

/// A consistent chain, whatever its rows say.
fn chain(rows: &[(Kind, Option<u64>, &str, f64)]) -> Vec<Row> {
    let mut before = GENESIS;
    let sealed = rows.iter().zip(1..).map(|(&(kind, refers, event, main), seq)| {
        let event = event.to_owned();
        let answer = (kind == Kind::Settle).then(Vec::new);
        let price = Price { main, delta: 0.0 };
        let row = Row { seq, kind, refers, event, price, answer, before, ..example() }.sealed();
        before = row.hash;
        row
    });
    sealed.collect()
}

fn replayed(rows: &[Row]) -> Result<Replay> {
    let mut replay = Replay::new("visits", (0, GENESIS));
    for row in rows {
        assert_eq!(replay.apply(row)?, Step::Done);
    }
    Ok(replay)
}

const LIMIT: (Kind, Option<u64>, &str, f64) =
    (Kind::Limit, None, "limit(accounting=pure, eps=1, delta=0, neighbours=replace)", 1.0);
const DEBIT: (Kind, Option<u64>, &str, f64) = (Kind::Reserve, None, "pure(eps=0.5)", 0.5);
const REFUND: (Kind, Option<u64>, &str, f64) = (Kind::Cancel, Some(2), "", 0.5);
const RECEIPT: (Kind, Option<u64>, &str, f64) = (Kind::Receive, None, "pure(eps=0.5)", 0.5);
const ANSWER: (Kind, Option<u64>, &str, f64) = (Kind::Settle, Some(2), "", 0.0);

#[test]
fn a_whole_chain_that_makes_no_sense_is_refused() {
    assert!(replayed(&chain(&[LIMIT, DEBIT, ANSWER])).is_ok());
    assert!(replayed(&chain(&[LIMIT, DEBIT, REFUND])).is_ok());
    let zcdp = "limit(accounting=zcdp, eps=1, delta=0.000001, neighbours=replace)";
    for (rows, seq, fault) in [
        (vec![DEBIT], 1, Fault::NoLimit),
        (vec![LIMIT, (Kind::Limit, None, zcdp, 1.0)], 2, Fault::OtherCurrency),
        (vec![(Kind::Limit, None, "limit()", 1.0)], 1, Fault::Unreadable),
        // Rules come after the limit, and can be read.
        (vec![(Kind::Freeze, None, "", 0.0)], 1, Fault::NoLimit),
        (vec![LIMIT, (Kind::Grant, None, "slice(eps=2)", 2.0)], 2, Fault::Unreadable),
        (vec![LIMIT, (Kind::Member, None, "join(oncology)", 0.0)], 2, Fault::Unreadable),
        (vec![LIMIT, (Kind::Period, None, "window()", 0.0)], 2, Fault::Unreadable),
        // No answer without its debit, and none for a refunded one.
        (vec![LIMIT, ANSWER], 2, Fault::Orphan),
        (vec![LIMIT, DEBIT, ANSWER, ANSWER], 4, Fault::Orphan),
        (vec![LIMIT, DEBIT, REFUND, ANSWER], 4, Fault::Orphan),
        (vec![LIMIT, DEBIT, (Kind::Settle, None, "", 0.0)], 3, Fault::Orphan),
        // Nothing is refunded twice, or after the answer, or in excess.
        (vec![LIMIT, DEBIT, REFUND, REFUND], 4, Fault::Orphan),
        (vec![LIMIT, DEBIT, ANSWER, REFUND], 4, Fault::Orphan),
        (vec![LIMIT, DEBIT, (Kind::Cancel, Some(2), "", 0.75)], 3, Fault::Refund),
        (vec![LIMIT, DEBIT, (Kind::Cancel, Some(1), "", 1.0)], 3, Fault::Orphan),
        // Nothing is received that was not bought, or for another price or event, or twice: the buyer has it
        // already.
        (vec![RECEIPT], 1, Fault::NoLimit),
        (vec![LIMIT, RECEIPT], 2, Fault::Receipt),
        (vec![LIMIT, DEBIT, RECEIPT], 3, Fault::Receipt),
        (vec![LIMIT, DEBIT, REFUND, RECEIPT], 4, Fault::Receipt),
        (vec![LIMIT, DEBIT, ANSWER, RECEIPT], 4, Fault::Receipt),
    ] {
        let error = replayed(&chain(&rows)).unwrap_err();
        assert_eq!(error, Error::Broken { seq, fault });
    }
    let mut keyed = chain(&[LIMIT, DEBIT, ANSWER]);
    keyed[2].key = "another".into();
    keyed[2] = keyed[2].clone().sealed();
    assert!(matches!(replayed(&keyed), Err(Error::Broken { seq: 3, fault: Fault::Orphan })));
    let mut answered = chain(&[LIMIT, DEBIT]);
    answered[1].answer = Some(Vec::new());
    answered[1] = answered[1].clone().sealed();
    assert!(matches!(replayed(&answered), Err(Error::Broken { seq: 2, fault: Fault::Answer })));
    // A row replaced by another with a valid hash: the next row shows it.
    let mut replaced = chain(&[LIMIT, DEBIT, ANSWER]);
    replaced[1].who = "bob".into();
    replaced[1] = replaced[1].clone().sealed();
    let error = replayed(&replaced).unwrap_err();
    assert_eq!(error, Error::Broken { seq: 3, fault: Fault::Unlinked });
    // A row of another dataset's journal.
    let elsewhere = Replay::new("wages", (0, GENESIS)).apply(&chain(&[LIMIT])[0]).unwrap_err();
    assert_eq!(elsewhere, Error::Broken { seq: 1, fault: Fault::Unlinked });
    // Written by a later version, or without a price.
    let newer = chain(&[LIMIT, (Kind::Reserve, None, "wavelet(b=1)", 1.0)]);
    assert!(matches!(replayed(&newer), Err(Error::UnknownEvent { seq: 2, .. })));
    let priceless = chain(&[LIMIT, (Kind::Reserve, None, "gaussian(sigma=1)", 1.0)]);
    assert!(matches!(replayed(&priceless), Err(Error::UnpricedEntry { seq: 2, .. })));
}

#[test]
fn a_receipt_is_of_what_was_bought_and_by_somebody_else() {
    let with = |change: fn(&mut Row)| {
        let mut rows = chain(&[LIMIT, DEBIT, ANSWER, RECEIPT]);
        rows[3].who = "bob".into();
        change(&mut rows[3]);
        rows[3] = rows[3].clone().sealed();
        replayed(&rows)
    };
    let replay = with(|_| {}).unwrap();
    let spent = |who: &str| {
        let account = Account::Subject(Subject::Analyst(who.into()));
        replay.begun().unwrap().spent(&account).main
    };
    assert_eq!((spent("ann"), spent("bob"), spent("eve")), (0.5, 0.5, 0.0));
    assert_eq!(replay.begun().unwrap().spent(&Account::Dataset).main, 0.5);
    assert_eq!((replay.counts().received, replay.counts().beyond), (1, 0));
    let changes: [fn(&mut Row); 5] = [
        |row| row.key.push('0'),
        |row| row.event = "pure(eps=0.25)".into(),
        |row| row.price.main = 0.25,
        |row| row.price.delta = 1e-9,
        |row| row.refers = Some(2),
    ];
    for change in changes {
        let error = with(change).unwrap_err();
        assert_eq!(error, Error::Broken { seq: 4, fault: Fault::Receipt });
    }
    let answered = with(|row| row.answer = Some(Vec::new())).unwrap_err();
    assert_eq!(answered, Error::Broken { seq: 4, fault: Fault::Answer });
    // Twice by the same analyst.
    let mut rows = chain(&[LIMIT, DEBIT, ANSWER, RECEIPT, RECEIPT]);
    for at in [3, 4] {
        (rows[at].who, rows[at].before) = ("bob".into(), rows[at - 1].hash);
        rows[at] = rows[at].clone().sealed();
    }
    let twice = replayed(&rows).unwrap_err();
    assert_eq!(twice, Error::Broken { seq: 5, fault: Fault::Receipt });
}

#[test]
fn totals_are_of_events_and_not_of_prices_in_the_file() {
    let rows = chain(&[LIMIT, (Kind::Reserve, None, "pure(eps=0.5)", 0.001)]);
    let replay = replayed(&rows).unwrap();
    assert_eq!(replay.begun().unwrap().spent(&Account::Dataset).main, 0.5);
    assert_eq!(replay.counts().repriced, 1);
}

#[test]
fn what_no_rule_allowed_is_counted() {
    let freeze = (Kind::Freeze, None, "", 0.0);
    let period = (Kind::Period, None, "window(eps=0.75, delta=0)", 0.75);
    for (rows, beyond) in [
        (vec![LIMIT, DEBIT, DEBIT], 0),
        (vec![LIMIT, DEBIT, DEBIT, DEBIT], 1),
        (vec![LIMIT, DEBIT, period, DEBIT], 0),
        (vec![LIMIT, period, DEBIT, DEBIT], 1),
        (vec![LIMIT, DEBIT, freeze, DEBIT], 1),
    ] {
        assert_eq!(replayed(&chain(&rows)).unwrap().counts().beyond, beyond);
    }
}
