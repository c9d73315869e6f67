use super::*;
use crate::row::example;

#[test]
fn a_rule_change_reads_back_as_it_was_written() {
    let terms = [
        Terms::None,
        Terms::Nothing,
        Terms::AtMost(Epsilon::new(0.1 + 0.2).unwrap(), Delta::new(1e-17).unwrap()),
        Terms::AtMost(Epsilon::new(1e-300).unwrap(), Delta::ZERO),
    ];
    let limits = terms.into_iter().flat_map(|terms| {
        let subjects = [Subject::Analyst("ana (x), y".into()), Subject::Group("a@b )".into())];
        subjects.map(|subject| RuleChange::Limit(subject, terms))
    });
    let others = [
        RuleChange::Member("ana".into(), "onco(logy)".into(), true),
        RuleChange::Member("ana".into(), "x".into(), false),
        RuleChange::Freeze("audit, of June".into()),
        RuleChange::Unfreeze(String::new()),
    ];
    for change in limits.chain(terms.map(RuleChange::Period)).chain(others) {
        let kind = change.kind();
        let (key, event, query) = change.clone().texts();
        let row = Row { kind, key, event, query, ..example() };
        assert_eq!(RuleChange::read(&row), Some(change));
    }
    for (kind, key, event) in [
        (Kind::Grant, "", "slice(none)"),
        (Kind::Grant, "ana", "slice()"),
        (Kind::Grant, "ana", "slice(eps=0, delta=1)"),
        (Kind::Grant, "@", "slice(none)"),
        (Kind::Member, "@ana", "join(@a)"),
        (Kind::Member, "ana", "join(a)"),
        (Kind::Member, "ana", "visit(@a)"),
        (Kind::Period, "", "window(eps=1)"),
        (Kind::Reserve, "", "window(none)"),
    ] {
        let row = Row { kind, key: key.into(), event: event.into(), ..example() };
        assert_eq!(RuleChange::read(&row), None, "{event}");
    }
}

#[test]
fn names_are_one_line_and_groups_begin_with_an_at() {
    assert_eq!(Subject::parse("@a").unwrap().to_string(), "@a");
    assert_eq!(Subject::parse("Ana Ruiz").unwrap().to_string(), "Ana Ruiz");
    for bad in ["", "@", "a\nb", "@a\0", "\u{85}"] {
        assert!(matches!(Subject::parse(bad), Err(Error::BadName { .. })), "{bad:?}");
    }
    assert!(Subject::analyst("analyst", "@a").is_err() && Subject::group("a").is_err());
}
