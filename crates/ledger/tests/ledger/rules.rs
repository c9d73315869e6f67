//! Limits, groups, periods, freezes.

use super::{Place, limit, pure, request};
use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon};
use demure_ledger::{Accounting, Error, Kind, Ledger, Price, Request, Rule};

scenarios! {
    in_memory: [
        a_slice_is_the_most_that_an_analyst_ever_spends,
        a_slice_is_in_the_datasets_currency,
        a_group_counts_its_members_while_they_are_members,
        a_period_counts_from_where_it_was_opened,
        while_frozen_nothing_is_reserved_and_what_is_reserved_can_end,
        names_that_could_be_mistaken_are_refused,
    ];
    in_a_file: [
        a_cancellation_takes_back_in_all_of_them,
        rules_are_entries_that_bind_others_and_survive,
        threads_of_several_analysts_stay_within_every_rule,
    ];
}

fn epsilon(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn by(who: &str, event: &str) -> Request {
    Request { who: who.into(), ..request("k", event) }
}

/// The rule that refuses, and what it has left.
fn refused(ledger: &Ledger, who: &str, event: &str) -> (Rule, f64) {
    match ledger.reserve(&by(who, event)) {
        Err(Error::OverBudget { which, left, .. }) => (which, left.main),
        other => panic!("{who} {event}: {other:?}"),
    }
}

fn buys(ledger: &Ledger, who: &str, event: &str) {
    drop(ledger.reserve(&by(who, event)).unwrap_or_else(|error| panic!("{who}: {error}")));
}

fn a_slice_is_the_most_that_an_analyst_ever_spends(place: &Place) {
    let ledger = place.open(pure(10.0));
    buys(&ledger, "ana", "pure(eps=0.5)");
    // It counts what was spent before it was granted.
    ledger.grant("sam", "ana", epsilon(1.0), Delta::ZERO).unwrap();
    let own = Rule::Subject("ana".into());
    assert_eq!(refused(&ledger, "ana", "pure(eps=0.75)").0, own);
    buys(&ledger, "ben", "pure(eps=0.75)");
    buys(&ledger, "ana", "pure(eps=0.25)");
    let error = ledger.reserve(&by("ana", "pure(eps=0.5)")).unwrap_err().to_string();
    assert!(error.contains("costs epsilon 0.5 and the limit of ana has epsilon 0.25"), "{error}");
    assert!(error.contains("ask a steward for a larger limit"), "{error}");
    // All that is left is still sold.
    let balance = ledger.balance_for("ana").unwrap();
    assert_eq!((balance.spent.main, &balance.which), (0.75, &own));
    buys(&ledger, "ana", &format!("pure(eps={})", balance.left.main));
    assert_eq!(ledger.balance_for("ana").unwrap().left, Price::ZERO);
    // Absolute, and replaced by the next.
    ledger.grant("sam", "ana", epsilon(2.0), Delta::ZERO).unwrap();
    buys(&ledger, "ana", "pure(eps=0.5)");
    ledger.deny("sam", "ana").unwrap();
    assert_eq!(refused(&ledger, "ana", "pure(eps=1/1024)"), (own, 0.0));
    // Without a limit of her own the others rule alone.
    ledger.revoke("sam", "ana").unwrap();
    buys(&ledger, "ana", "pure(eps=4)");
    assert_eq!(refused(&ledger, "ana", "pure(eps=9)").0, Rule::Dataset);
    assert_eq!(ledger.balance_for("nobody").unwrap().spent, Price::ZERO);
    ledger.verify().unwrap();
}

fn a_slice_is_in_the_datasets_currency(place: &Place) {
    let ledger = place.open(limit(Accounting::Zcdp, 4.0, 1e-6));
    let none = ledger.grant("sam", "ana", epsilon(1.0), Delta::ZERO).unwrap_err();
    assert_eq!(none, Error::ZcdpNeedsDelta);
    ledger.grant("sam", "ana", epsilon(1.0), Delta::new(1e-6).unwrap()).unwrap();
    while ledger.reserve(&by("ana", "gaussian(sigma=40)")).is_ok() {}
    let share = ledger.balances().unwrap().limits[0].share;
    let same = limit(Accounting::Zcdp, 1.0, 1e-6);
    assert_eq!((share.epsilon, share.delta, share.most), (1.0, 1e-6, same.most().unwrap()));
    let spent = same.epsilon_of(share.spent).unwrap();
    assert!(spent <= 1.0 && spent > 0.97, "{spent}");
    buys(&ledger, "ben", "gaussian(sigma=40)");
}

fn a_group_counts_its_members_while_they_are_members(place: &Place) {
    let ledger = place.open(pure(100.0));
    buys(&ledger, "ana", "pure(eps=0.5)"); // before: counts for nobody but her
    for analyst in ["ana", "ben"] {
        ledger.join("sam", analyst, "@oncology").unwrap();
    }
    buys(&ledger, "ana", "pure(eps=0.5)");
    // A limit that is granted later counts from the first member on.
    ledger.grant("sam", "@oncology", epsilon(2.0), Delta::ZERO).unwrap();
    buys(&ledger, "ben", "pure(eps=1)");
    let group = Rule::Subject("@oncology".into());
    assert_eq!(refused(&ledger, "ben", "pure(eps=0.75)").0, group);
    assert_eq!(refused(&ledger, "ana", "pure(eps=0.75)").0, group);
    buys(&ledger, "eva", "pure(eps=0.75)");
    // In two groups, both count; and her own limit as well.
    ledger.join("sam", "ana", "@surgery").unwrap();
    ledger.grant("sam", "@surgery", epsilon(0.25), Delta::ZERO).unwrap();
    ledger.grant("sam", "ana", epsilon(1.125), Delta::ZERO).unwrap();
    assert_eq!(refused(&ledger, "ana", "pure(eps=0.375)").0, Rule::Subject("ana".into()));
    ledger.grant("sam", "ana", epsilon(9.0), Delta::ZERO).unwrap();
    assert_eq!(refused(&ledger, "ana", "pure(eps=0.375)").0, Rule::Subject("@surgery".into()));
    buys(&ledger, "ana", "pure(eps=0.25)");
    let balances = ledger.balances().unwrap();
    let spent: Vec<(&str, f64)> =
        balances.limits.iter().map(|s| (s.subject.as_str(), s.share.spent.main)).collect();
    assert_eq!(spent, [("ana", 1.25), ("@oncology", 1.75), ("@surgery", 0.25)]);
    let groups: Vec<(&str, &[String])> =
        balances.groups.iter().map(|g| (g.name.as_str(), g.members.as_slice())).collect();
    let (both, one) = (["ana".to_owned(), "ben".to_owned()], ["ana".to_owned()]);
    assert_eq!(groups, [("@oncology", &both[..]), ("@surgery", &one[..])]);
    // Who leaves does not count any more, and takes nothing along.
    ledger.leave("sam", "ana", "@oncology").unwrap();
    ledger.leave("sam", "ana", "@surgery").unwrap();
    buys(&ledger, "ana", "pure(eps=4)");
    assert_eq!(ledger.balances().unwrap().limits[1].share.spent.main, 1.75);
    assert_eq!(refused(&ledger, "ben", "pure(eps=0.5)").0, group);
    ledger.verify().unwrap();
}

fn a_period_counts_from_where_it_was_opened(place: &Place) {
    let ledger = place.open(pure(10.0));
    buys(&ledger, "ana", "pure(eps=2)");
    ledger.open_period("sam", epsilon(1.0), Delta::ZERO).unwrap();
    buys(&ledger, "ana", "pure(eps=0.5)");
    assert_eq!(refused(&ledger, "ben", "pure(eps=0.75)").0, Rule::Period);
    let period = ledger.balances().unwrap().period.unwrap();
    assert_eq!((period.epsilon, period.spent.main), (1.0, 0.5));
    // The next one is new, even if it is the same.
    ledger.open_period("sam", epsilon(1.0), Delta::ZERO).unwrap();
    buys(&ledger, "ben", "pure(eps=0.75)");
    ledger.close_period("sam").unwrap();
    assert_eq!(refused(&ledger, "ben", "pure(eps=1/1024)"), (Rule::Period, 0.0));
    let error = ledger.reserve(&by("ben", "pure(eps=1)")).unwrap_err().to_string();
    assert!(error.contains("the period has epsilon 0 left"), "{error}");
    assert_eq!(ledger.balance_for("ben").unwrap().left, Price::ZERO);
    ledger.remove_period("sam").unwrap();
    assert_eq!(ledger.balances().unwrap().period, None);
    buys(&ledger, "ben", "pure(eps=4)");
    // A period never widens the limit.
    ledger.open_period("sam", epsilon(50.0), Delta::ZERO).unwrap();
    assert_eq!(refused(&ledger, "ben", "pure(eps=4)").0, Rule::Dataset);
    ledger.verify().unwrap();
}

fn while_frozen_nothing_is_reserved_and_what_is_reserved_can_end(place: &Place) {
    let ledger = place.open(pure(10.0));
    let one = ledger.reserve(&by("ana", "pure(eps=1)")).unwrap();
    let two = ledger.reserve(&by("ana", "pure(eps=1)")).unwrap();
    ledger.freeze("sam", "audit of June").unwrap();
    let error = ledger.reserve(&by("ana", "pure(eps=1)")).unwrap_err();
    let Error::Frozen(frozen) = &error else { panic!("{error:?}") };
    assert_eq!((frozen.by.as_str(), frozen.why.as_str()), ("sam", "audit of June"));
    assert!(error.to_string().contains("a steward can unfreeze it"), "{error}");
    let balance = ledger.balance_for("ana").unwrap();
    assert_eq!((balance.left, balance.frozen.as_ref()), (Price::ZERO, Some(frozen)));
    one.cancel().unwrap();
    two.begin().unwrap().settle(b"x").unwrap();
    assert_eq!(ledger.balance().unwrap().spent.main, 1.0);
    assert!(ledger.find("k").unwrap().is_some());
    ledger.unfreeze("sam", "done").unwrap();
    assert_eq!(ledger.balances().unwrap().frozen, None);
    buys(&ledger, "ana", "pure(eps=1)");
    ledger.verify().unwrap();
}

fn a_cancellation_takes_back_in_all_of_them(place: &Place) {
    let ledger = place.open(pure(100.0));
    ledger.join("sam", "ana", "@a").unwrap();
    ledger.grant("sam", "ana", epsilon(50.0), Delta::ZERO).unwrap();
    ledger.grant("sam", "@a", epsilon(50.0), Delta::ZERO).unwrap();
    ledger.open_period("sam", epsilon(50.0), Delta::ZERO).unwrap();
    let spent = |ledger: &Ledger| {
        let balances = ledger.balances().unwrap();
        let period = balances.period.map(|period| period.spent.main);
        let limits: Vec<f64> = balances.limits.iter().map(|s| s.share.spent.main).collect();
        (balances.dataset.spent.main, period, limits)
    };
    // Some sums of these are inexact: they must still come out the same.
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut open_ones = Vec::new();
    for round in 0..300 {
        let who = ["ana", "ben"][random(2) as usize];
        let event = format!("pure(eps=0.0{})", 1 + random(9));
        open_ones.push(ledger.reserve(&by(who, &event)).unwrap());
        if random(3) > 0 {
            let at = random(open_ones.len() as u64) as usize;
            open_ones.swap_remove(at).cancel().unwrap();
        }
        match round % 60 {
            20 => ledger.leave("sam", "ana", "@a").unwrap(),
            40 => ledger.join("sam", "ana", "@a").unwrap(),
            50 => ledger.open_period("sam", epsilon(50.0), Delta::ZERO).unwrap(),
            _ => {}
        }
        if round % 30 == 0 {
            assert_eq!(spent(&place.open(pure(100.0))), spent(&ledger), "{round}");
        }
    }
    ledger.verify().unwrap();
    // Nothing is left of a ledger where all is cancelled.
    open_ones.into_iter().for_each(|one| one.cancel().unwrap());
    assert_eq!(spent(&ledger), (0.0, Some(0.0), vec![0.0, 0.0]));
    ledger.verify().unwrap();
}

fn rules_are_entries_that_bind_others_and_survive(place: &Place) {
    let (one, two) = (place.open(pure(10.0)), place.open(pure(10.0)));
    one.grant("sam", "ana", epsilon(1.0), Delta::ZERO).unwrap();
    assert_eq!(refused(&two, "ana", "pure(eps=2)").0, Rule::Subject("ana".into()));
    two.freeze("eve", "why not").unwrap();
    assert!(matches!(one.reserve(&by("ben", "pure(eps=1)")), Err(Error::Frozen(_))));
    one.unfreeze("sam", "").unwrap();
    // What changes nothing is not written.
    one.unfreeze("sam", "").unwrap();
    one.grant("sam", "ana", epsilon(1.0), Delta::ZERO).unwrap();
    one.leave("sam", "ana", "@a").unwrap();
    one.revoke("sam", "ben").unwrap();
    one.remove_period("sam").unwrap();
    let entries = two.entries().unwrap();
    let kinds: Vec<Kind> = entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::Limit, Kind::Grant, Kind::Freeze, Kind::Unfreeze]);
    let grant = &entries[1];
    assert_eq!((grant.who.as_str(), grant.key.as_str()), ("sam", "ana"));
    assert_eq!((grant.event.as_str(), grant.price.main), ("slice(eps=1, delta=0)", 1.0));
    assert_eq!((entries[2].who.as_str(), entries[2].query.as_str()), ("eve", "why not"));
    let balances = one.balances().unwrap();
    drop((one, two));
    assert_eq!(place.open(pure(10.0)).balances().unwrap(), balances);
    place.open(pure(10.0)).verify().unwrap();
}

fn names_that_could_be_mistaken_are_refused(place: &Place) {
    let ledger = place.open(pure(10.0));
    let bad = |result: Result<(), Error>| assert!(matches!(result, Err(Error::BadName { .. })));
    for who in ["", "@oncology", "a\nb", "a\0"] {
        let event = Event::pure(1.0).unwrap();
        bad(ledger.reserve(&Request { who: who.into(), event, ..by("", "pure(eps=1)") }).map(drop));
        bad(ledger.grant(who, "ana", epsilon(1.0), Delta::ZERO));
        bad(ledger.join("sam", who, "@a"));
    }
    for group in ["", "@", "oncology", "@a\tb"] {
        bad(ledger.join("sam", "ana", group));
    }
    bad(ledger.freeze("sam", "a\u{1b}[2J"));
    assert_eq!(ledger.entries().unwrap().len(), 1);
    let error = ledger.join("sam", "ana", "oncology").unwrap_err().to_string();
    assert!(error.contains("the name of the group does not begin with `@`"), "{error}");
}

fn threads_of_several_analysts_stay_within_every_rule(place: &Place) {
    let ledger = place.open(pure(4.0));
    for analyst in ["ana", "ben"] {
        ledger.join("sam", analyst, "@a").unwrap();
    }
    ledger.grant("sam", "ana", epsilon(0.5), Delta::ZERO).unwrap();
    ledger.grant("sam", "@a", epsilon(1.0), Delta::ZERO).unwrap();
    ledger.open_period("sam", epsilon(2.0), Delta::ZERO).unwrap();
    std::thread::scope(|scope| {
        for who in ["ana", "ana", "ben", "ben", "eva", "eva"] {
            let ledger = &ledger;
            scope.spawn(move || {
                loop {
                    match ledger.reserve(&by(who, "pure(eps=1/32)")) {
                        Ok(_) | Err(Error::Locked { .. }) => {}
                        Err(Error::OverBudget { .. }) => return,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    // Thirty-seconds add up exactly: all that the period allows is sold.
    let balances = ledger.balances().unwrap();
    assert_eq!(balances.dataset.spent.main, 2.0);
    assert_eq!(balances.period.unwrap().left, Price::ZERO);
    assert!(balances.limits[0].share.spent.main <= 0.5);
    assert!(balances.limits[1].share.spent.main <= 1.0);
    assert_eq!(ledger.verify().unwrap().beyond, 0);
}
