use super::*;

fn table() -> Table {
    Table::from_csv(&b"age,zip\n31337,3270\n17,3294\n"[..], b',').unwrap()
}

#[test]
fn hierarchies_are_built_or_explained_and_the_last_wins() {
    let table = table();
    let typed = ["age=mask", "zip=prefix:2,1", "age=intervals:10,100"].map(str::to_owned);
    let all = Hierarchies::new(&typed, &table).unwrap();
    let made = |at: usize| all.given(&table.columns[at]).unwrap().unwrap();
    assert_eq!(made(0).levels[1].labels[1], "[10, 20)");
    assert_eq!(made(1).levels[1].labels, ["32**"]);
    let none = Hierarchies::new(&[], &table).unwrap();
    assert!(none.given(&table.columns[0]).unwrap().is_none());
    for (text, says) in [
        ("age", "column=how"),
        ("size=mask", "no column `size`"),
        ("age=intervals:x", "intervals"),
        ("age=intervals:10,15", "multiple"),
        ("age=mask:3", "without anything"),
        ("age=no-such-file.csv", "no-such-file.csv"),
        ("age=dates", "not in its hierarchy"),
    ] {
        let typed = [text.to_owned()];
        let made = Hierarchies::new(&typed, &table).and_then(|all| all.given(&table.columns[0]));
        let why = made.err().unwrap().to_string();
        assert!(why.contains(says) && !why.contains("31337"), "{text}: {why}");
    }
    assert!(is_file("mask.csv") && !is_file("mask") && !is_file("intervals:5"));
    assert_eq!((delimiter(b"a;b\nc,d"), delimiter(b"a,b\nc;d")), (b';', b','));
}
