use super::*;

fn counts(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
    all.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect()
}

#[test]
fn leaders_are_named_and_a_missing_one_is_no_answer() {
    let all = || counts(&[("a", 3), ("b", 90), ("c", 20)]);
    let ask = |ask, keys| leading(ask, all(), keys, Neighbours::AddRemove).unwrap().0;
    assert_eq!(ask(TallyQuestion::Mode, None).unwrap(), ["b"]);
    assert_eq!(ask(TallyQuestion::Ranking(2), None).unwrap(), ["b", "c"]);
    assert_eq!(ask(TallyQuestion::Top(4), None), None);
    let keys = ["c".to_owned(), "d".to_owned()];
    assert_eq!(ask(TallyQuestion::Mode, Some(&keys)).unwrap(), ["c"]);
    assert_eq!(
        leading(TallyQuestion::Mode, counts(&[]), None, Neighbours::Replace).unwrap().0,
        None
    );
}
