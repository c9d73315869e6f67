//! Verifying a published table on its own.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use demure_anonymize::check::{Claim, check};
use demure_anonymize::exact::Fraction;
use demure_anonymize::model::{Distance, DistinctDiversity, KAnonymity, Model, TCloseness};
use demure_anonymize::table::Table;
use std::collections::HashMap;
use std::fmt::Write;

fn table(text: &str) -> Table {
    Table::from_csv(text.as_bytes(), b',').unwrap()
}

fn variational(numerator: u128, denominator: u128) -> Box<dyn Model> {
    let t = Fraction::new(numerator, denominator).unwrap();
    Box::new(TCloseness::new(t, Distance::Variational, 0).unwrap())
}

fn anonymity(k: u64) -> Box<dyn Model> {
    Box::new(KAnonymity::new(k).unwrap())
}

const NINE: &str = "zip,system\n1,iOS\n1,Android\n1,MacOS\n2,Windows\n2,Linux\n2,Windows\n3,MacOS\n3,Windows\n3,Android\n";

#[test]
fn the_nine_rows_are_as_close_as_the_worst_class() {
    let published = table(NINE);
    let claim = Claim {
        published: &published,
        original: None,
        quasi: &["zip"],
        sensitive: &["system"],
        population: None,
    };
    let report = check(&claim, &[anonymity(3), variational(5, 9)]).unwrap();
    assert!(report.holds());
    let distances: Vec<String> =
        report.classes.iter().map(|c| c.measures[1].unwrap().to_string()).collect();
    assert_eq!(distances, ["4/9", "5/9", "2/9"]);
    let report = check(&claim, &[anonymity(4), variational(54, 100)]).unwrap();
    assert!(!report.holds());
    assert_eq!((report.verdicts[0].failing, report.verdicts[0].first_failing), (3, Some(0)));
    assert_eq!((report.verdicts[1].failing, report.verdicts[1].first_failing), (1, Some(1)));
    assert_eq!(report.labels(&claim, 1).unwrap(), ["2"]);
    assert!(report.labels(&claim, 3).is_err());
}

#[test]
fn two_hundred_thousand_rows_do_not_overflow() {
    let mut text = String::from("q,s\n");
    for row in 0..200_000 {
        let class = row % 2;
        let rare = (row / 2) % 10 == 0;
        writeln!(text, "{class},{}", u8::from(rare == (class == 0))).unwrap();
    }
    let published = table(&text);
    let claim = Claim {
        published: &published,
        original: None,
        quasi: &["q"],
        sensitive: &["s"],
        population: None,
    };
    assert!(!check(&claim, &[variational(1, 5)]).unwrap().holds());
    assert!(!check(&claim, &[variational(399, 1000)]).unwrap().holds());
    assert!(check(&claim, &[variational(2, 5)]).unwrap().holds());
}

#[test]
fn suppressed_rows_are_counted_and_not_checked_but_are_in_the_reference() {
    let published = table("a,b,s\n1,x,p\n1,x,q\n*,*,p\n*,*,p\n*,x,p\n*,x,q\n");
    let claim = Claim {
        published: &published,
        original: None,
        quasi: &["a", "b"],
        sensitive: &["s"],
        population: None,
    };
    let report = check(&claim, &[anonymity(2), variational(1, 6)]).unwrap();
    assert!(report.holds());
    assert_eq!((report.suppressed, report.classes.len(), report.rows), (2, 2, 6));
    assert_eq!(report.table.sensitive[0].counts, [4, 2]);
    assert!(!check(&claim, &[variational(16, 100)]).unwrap().holds());
}

#[test]
fn the_original_decides_the_reference() {
    let original = table("a,s\n1,q\n2,p\n3,p\n4,q\n5,q\n6,q\n");
    let published = table("a,s\nx,p\nx,p\ny,q\ny,q\n");
    let mut claim = Claim {
        published: &published,
        original: Some(&original),
        quasi: &["a"],
        sensitive: &["s"],
        population: None,
    };
    // Q is 2/6 p, 4/6 q: classes at 2/3 and 1/3; without it 1/2 and 1/2.
    assert!(!check(&claim, &[variational(1, 2)]).unwrap().holds());
    let report = check(&claim, &[variational(2, 3)]).unwrap();
    assert!(report.holds());
    assert_eq!(report.classes[1].measures[0].unwrap().to_string(), "1/3");
    claim.original = None;
    assert!(check(&claim, &[variational(1, 2)]).unwrap().holds());
}

#[test]
fn malformed_claims_are_refused_without_quoting_values() {
    let published = table(NINE);
    let good = Claim {
        published: &published,
        original: None,
        quasi: &["zip"],
        sensitive: &["system"],
        population: None,
    };
    let refuse = |claim: Claim<'_>, models: &[Box<dyn Model>]| {
        check(&claim, models).unwrap_err().to_string()
    };
    let k = [anonymity(2)];
    assert!(refuse(Claim { quasi: &["nope"], ..good }, &k).contains("no column `nope`"));
    assert!(refuse(Claim { quasi: &[], ..good }, &k).contains("at least one"));
    assert!(refuse(Claim { quasi: &["system"], ..good }, &k).contains("not both"));
    assert!(refuse(good, &[]).contains("models"));
    assert!(refuse(Claim { sensitive: &[], ..good }, &[variational(1, 2)]).contains("sensitive"));
    let other = table(&NINE.replace("Linux", "BeOS"));
    let message = refuse(Claim { original: Some(&other), ..good }, &k);
    assert!(message.contains("does not have") && !message.contains("Linux"));
    let fewer = table(&NINE.replace("Linux", "Windows").replace("iOS", "Linux"));
    let message = refuse(Claim { original: Some(&fewer), ..good }, &k);
    assert!(!message.contains("iOS"));
    let short = table("zip,system\n1,iOS\n");
    assert!(refuse(Claim { original: Some(&short), ..good }, &k).contains("no longer"));
    let empty = table("zip,system\n");
    assert!(refuse(Claim { published: &empty, ..good }, &k).contains("one row"));
}

#[test]
fn random_tables_are_grouped_as_their_texts_say() {
    let mut state = 1_u64;
    let mut draw = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for _ in 0..60 {
        let mut text = String::from("a,b,c,s\n");
        let mut groups: HashMap<[String; 3], HashMap<u64, u64>> = HashMap::new();
        let mut suppressed = 0;
        for _ in 0..40 {
            let key = [0; 3].map(|_| match draw(4) {
                0 => "*".to_owned(),
                other => other.to_string(),
            });
            let s = draw(3);
            writeln!(text, "{},{s}", key.join(",")).unwrap();
            if key.iter().all(|k| k == "*") {
                suppressed += 1;
            } else {
                *groups.entry(key).or_default().entry(s).or_default() += 1;
            }
        }
        let published = table(&text);
        let claim = Claim {
            published: &published,
            original: None,
            quasi: &["a", "b", "c"],
            sensitive: &["s"],
            population: None,
        };
        let models: [Box<dyn Model>; 2] =
            [anonymity(2), Box::new(DistinctDiversity::new(2, 0).unwrap())];
        let report = check(&claim, &models).unwrap();
        assert_eq!((report.suppressed, report.classes.len()), (suppressed, groups.len()));
        let small = groups.values().filter(|g| g.values().sum::<u64>() < 2).count() as u64;
        let dull = groups.values().filter(|g| g.len() < 2).count() as u64;
        assert_eq!((report.verdicts[0].failing, report.verdicts[1].failing), (small, dull));
    }
}

#[test] // labels of levels, of none, and `*`; values that the population alone has
fn a_population_is_matched_by_labels() {
    use demure_anonymize::hierarchy::prefixes;
    use demure_anonymize::model::KMap;
    use demure_anonymize::population::Matching;
    let published = table("zip,sex,s\n12*,f,x\n12*,m,y\n3**,*,x\n345,f,x\n*,*,y\n999,f,y\n");
    let people = table("sex,zip\nf,123\nf,124\nm,129\nm,345\nf,345\nf,399\nx,120\n");
    let hierarchies = [Some(prefixes(&people.columns[1], &[2, 1]).unwrap()), None];
    let matching = Matching { table: &people, hierarchies: &hierarchies };
    let claim = Claim {
        published: &published,
        original: None,
        quasi: &["zip", "sex"],
        sensitive: &["s"],
        population: Some(matching),
    };
    let models: Vec<Box<dyn Model>> = vec![Box::new(KMap::new(2, 1).unwrap())];
    let report = check(&claim, &models).unwrap();
    let counts: Vec<u64> =
        report.classes.iter().map(|class| class.class.sensitive[1].counts[0]).collect();
    assert_eq!(counts, [2, 1, 3, 1, 0], "the fifth row is suppressed");
    assert_eq!(report.verdicts[0].failing, 3);
}
