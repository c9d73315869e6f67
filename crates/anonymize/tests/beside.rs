//! What is said beside a release: what became of columns, sample rows, alternatives.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use demure_anonymize::job::{
    Alternative, Answer, Columns, Gain, Job, Method, Promise, SUPPRESS, Search, SearchResult,
    Source, Watch, alternatives, gain, release,
};
use demure_anonymize::publish::Release;
use demure_anonymize::publish::change::{Change, changes};
use demure_anonymize::publish::samples::samples;
use demure_anonymize::search::Suppression;
use demure_anonymize::table::Table;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Six people in two cities and one elsewhere; ages differ, and everybody has one sex.
const PEOPLE: &str =
    "age,city,sex,ill\n31,A,f,x\n32,A,f,y\n33,A,f,x\n41,B,f,y\n42,B,f,x\n43,B,f,y\n44,C,f,x\n";

struct Asked<'t> {
    text: &'t str,
    quasi: &'t [&'t str],
    hierarchies: &'t [&'t str],
    promise: Promise,
    search: Search,
}

fn k(k: u32) -> Promise {
    Promise { k: Some(k), ..Promise::default() }
}

fn suppressing(rows: u64) -> Search {
    Search { suppress: Suppression::Count(rows), threads: 1, ..Search::default() }
}

/// Looks at the release of a table, and at the job it is of.
fn with<T>(asked: &Asked<'_>, look: impl FnOnce(&Release<'_>, Job<'_, '_>) -> T) -> T {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let table = Table::from_csv(asked.text.as_bytes(), b',').unwrap();
    let source = Source {
        quasi: owned(asked.quasi),
        sensitive: Vec::new(),
        hierarchies: owned(asked.hierarchies),
        ..Source::default()
    };
    let columns = Columns::new(&source, &table, None).unwrap();
    let promised = asked.promise.models(&source, &columns).unwrap();
    let attributes = columns.attributes(asked.search.method).unwrap();
    let found = release(&asked.search, &columns, &attributes, promised, Watch::default()).unwrap();
    let SearchResult::Release(made) = found else { panic!("there is a release") };
    let (promise, search) = (&asked.promise, &asked.search);
    let job = Job { source: &source, promise, search, columns: &columns, attributes: &attributes };
    look(&made.release, job)
}

#[test]
fn each_column_says_what_became_of_it() {
    let asked = Asked {
        text: PEOPLE,
        quasi: &["age", "city", "sex"],
        hierarchies: &["age=intervals:10"],
        promise: k(3),
        search: suppressing(1),
    };
    with(&asked, |release, _| {
        let change = |column, (exact, coarser, star), (values, labels), all_or_nothing, way| {
            Change { column, exact, coarser, star, values, labels, all_or_nothing, way }
        };
        let expected = [
            change("age", (0, 6, 1), (7, 3), false, Some("intervals:5,10,20")),
            change("city", (6, 0, 1), (3, 3), true, None),
            change("sex", (6, 0, 1), (1, 2), true, None),
        ];
        assert_eq!(changes(release), expected);
        assert!(!changes(release).iter().any(Change::is_star));
    });
    // Without levels between, ages that all differ become `*`.
    let asked = Asked { hierarchies: &[], ..asked };
    with(&asked, |release, _| {
        let found = changes(release);
        assert_eq!((found[0].star, found[0].is_star(), found[0].all_or_nothing), (7, true, true));
        assert_eq!(gain(release).stars, ["age"]);
    });
}

#[test]
fn a_label_that_covers_everything_says_nothing() {
    // The root is called `any`; the column has one leaf that is called otherwise.
    let folder = std::env::temp_dir().join(format!("demure-beside-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("city.csv");
    std::fs::write(&path, "A;West;any\nB;West;any\nC;East;any\n").unwrap();
    let city = format!("city={}", path.display());
    let asked = Asked {
        text: "city\nA\nB\nC\n",
        quasi: &["city"],
        hierarchies: &[&city],
        promise: k(3),
        search: suppressing(0),
    };
    with(&asked, |release, _| {
        assert_eq!(release.labels(0), ["any"]);
        assert_eq!(gain(release).stars, ["city"]);
    });
    // `East` is one leaf under another name: nothing is lost.
    let asked = Asked { text: "city\nA\nB\nC\nC\n", promise: k(2), ..asked };
    with(&asked, |release, _| {
        let found = &changes(release)[0];
        assert_eq!((found.exact, found.coarser, found.star), (2, 2, 0));
    });
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn ways_to_build_levels_fit_the_values() {
    for (values, way) in [
        ("1,22,3", Some("intervals:5,10,20")),
        ("1.5,2,", Some("intervals:5,10,20")),
        ("31337,31338,40000", Some("mask")),
        ("2024-01-31,2024-02-01", Some("dates")),
        ("2024-01-31,yesterday", None),
        ("A,B", None),
        ("nan,1", None),
    ] {
        let rows: String = values.split(',').map(|value| format!("{value},z\n")).collect();
        let text = format!("a,b\n{rows}");
        let all = values.split(',').count() as u32;
        let asked = Asked {
            text: &text,
            quasi: &["a", "b"],
            hierarchies: &[],
            promise: k(all),
            search: suppressing(0),
        };
        with(&asked, |release, _| assert_eq!(changes(release)[0].way, way, "{values}"));
    }
}

#[test]
fn samples_are_of_small_and_large_classes_and_of_suppressed_rows() {
    let asked = Asked {
        text: "id,age,ill\na,31,x\nb,31,y\nc,40,x\nd,40,y\ne,40,z\nf,77,x\n",
        quasi: &["age"],
        hierarchies: &[],
        promise: k(2),
        search: suppressing(1),
    };
    with(&asked, |release, _| {
        let shown = [1, 2];
        let rows = |count| -> Vec<usize> {
            samples(release, &shown, count).iter().map(|sample| sample.row).collect()
        };
        assert_eq!(rows(0), [0; 0]);
        assert_eq!(rows(1), [3], "of the class in the middle");
        assert_eq!(rows(2), [3, 6]);
        assert_eq!((rows(3), rows(9)), (vec![1, 3, 6], vec![1, 3, 6]));
        let last = samples(release, &shown, 3).pop().unwrap();
        assert_eq!(last.before, ["77", "x"]);
        assert_eq!(last.after, ["*", "x"]);
    });
}

#[test]
fn what_is_said_of_columns_fits_the_published_table() {
    // Every method, on a table where each suppresses: counted again from the texts that are published.
    let text: String = (0..200_u32)
        .map(|i| format!("{},{},{}\n", i * i % 37, ["A", "B", "C"][(i % 7 % 3) as usize], i % 2))
        .collect();
    let text = format!("age,city,ill\n{text}77,Z,1\n");
    for method in [Method::Optimal, Method::Mondrian, Method::Local] {
        let asked = Asked {
            text: &text,
            quasi: &["age", "city"],
            hierarchies: &["age=intervals:5,10"],
            promise: k(4),
            search: Search { method, ..suppressing(10) },
        };
        with(&asked, |release, _| {
            let rows = samples(release, &[0, 1], usize::MAX / 2);
            assert!(rows.len() > 1, "{method:?}");
            for sample in rows {
                let class = release.recoding.class_of[sample.row - 1] as usize;
                let labels = match class < release.classes.len() {
                    true => release.labels(class),
                    false => vec!["*".to_owned(); 2],
                };
                assert_eq!(sample.after, labels);
            }
            let published = release.recoding.publish(release.table, release.attributes);
            for (at, change) in changes(release).iter().enumerate() {
                let (own, new) = (&release.table.columns[at], &published.columns[at]);
                let texts = |c: &demure_anonymize::table::Column, row: usize| {
                    c.values[c.codes[row] as usize].clone()
                };
                let rows = || 0..release.table.rows;
                let exact = rows().filter(|row| texts(own, *row) == texts(new, *row)).count();
                let star = rows().filter(|row| texts(new, *row) == "*").count();
                assert_eq!((change.exact, change.star), (exact as u64, star as u64), "{method:?}");
                assert_eq!(change.coarser, (release.table.rows - exact - star) as u64);
            }
        });
    }
}

/// A hundred people of one kind and of two ages, and five of them alone in theirs.
fn hundred() -> String {
    let age = |i: u32| if i < 5 { 60 + 10 * i } else { [30, 40][(i % 2) as usize] };
    let rows: String = (0..100).map(|i| format!("{},p,{}\n", age(i), i % 3)).collect();
    format!("age,kind,ill\n{rows}")
}

fn look(asked: &Asked<'_>) -> (Gain, Vec<Alternative>) {
    with(asked, |release, job| {
        let found = alternatives(job, Duration::from_secs(60), Watch::default()).unwrap();
        (gain(release), found)
    })
}

#[test]
fn alternatives_are_what_a_call_with_that_option_gives() {
    let text = hundred();
    for method in [Method::Optimal, Method::Mondrian, Method::Local] {
        let asked = |k: u32, suppress| Asked {
            text: &text,
            quasi: &["age", "kind"],
            hierarchies: &["age=intervals:10,20"],
            promise: Promise { k: Some(k), ..Promise::default() },
            search: Search { method, suppress, threads: 1, ..Search::default() },
        };
        let (own, found) = look(&asked(5, SUPPRESS));
        let options: Vec<&str> = found.iter().map(|a| a.option.as_str()).collect();
        assert_eq!(options, ["--suppress 0", "--k 10", "--k 3"]);
        let limits: Vec<(Option<u32>, u64)> = found.iter().map(|a| (a.k, a.limit)).collect();
        assert_eq!(limits, [(Some(5), 0), (Some(10), 5), (Some(3), 5)]);
        let calls = [(5, Suppression::Count(0)), (10, SUPPRESS), (3, SUPPRESS)];
        for (Alternative { answer, option, .. }, (k, suppress)) in found.iter().zip(calls) {
            let gain = look(&asked(k, suppress)).0;
            assert_eq!(*answer, Answer::Release(gain), "{method:?} {option}");
        }
        if method == Method::Optimal {
            // The five who are alone: without them nobody else becomes coarser.
            assert_eq!((own.suppressed, own.loss < 0.1, own.complete), (5, true, true));
            let Answer::Release(none) = &found[0].answer else { panic!("there is one") };
            assert_eq!((none.suppressed, none.loss > own.loss), (0, true));
        }
    }
}

#[test]
fn alternatives_fit_what_was_asked() {
    let text = hundred();
    let options = |promise: Promise, search: Search, text: &str| -> Vec<String> {
        let asked = Asked { text, quasi: &["age", "kind"], hierarchies: &[], promise, search };
        look(&asked).1.into_iter().map(|a| a.option).collect()
    };
    assert_eq!(options(k(2), suppressing(0), &text), ["--suppress 5%", "--k 4"]);
    assert_eq!(options(k(1), suppressing(7), &text), ["--suppress 0", "--k 2"]);
    assert_eq!(options(k(60), suppressing(100), &text), ["--suppress 0", "--k 30"], "2k > rows");
    // Five percent of seven rows is no row.
    let few = "age,kind\n1,p\n1,p\n1,p\n2,p\n2,p\n2,p\n2,p\n";
    assert_eq!(options(k(3), suppressing(0), few), ["--suppress 1", "--k 6", "--k 2"]);
}

#[test]
fn what_cannot_be_is_said_and_what_was_not_looked_for_too() {
    // One row is like no other.
    let asked = Asked {
        text: "age\n1\n1\n1\n2\n",
        quasi: &["age"],
        hierarchies: &[],
        promise: k(2),
        search: suppressing(1),
    };
    let (own, found) = look(&asked);
    assert_eq!((own.suppressed, own.stars.len()), (1, 0));
    // Without suppression all are one class of `*`, which is no release.
    assert_eq!((found[0].option.as_str(), &found[0].answer), ("--suppress 0", &Answer::None));
    with(&asked, |_, job| {
        let unknown = |found: &[Alternative]| found.iter().all(|a| a.answer == Answer::Unknown);
        assert!(unknown(&alternatives(job, Duration::ZERO, Watch::default()).unwrap()));
        let cancel = AtomicBool::new(true);
        let watch = Watch { cancel: Some(&cancel), progress: None };
        assert!(unknown(&alternatives(job, Duration::from_secs(60), watch).unwrap()));
    });
}

#[test]
fn suppression_is_written_as_it_is_typed() {
    for (suppress, text) in [
        (Suppression::Count(25), "25"),
        (Suppression::Share(0.05), "5%"),
        (Suppression::Share(0.07), "7%"),
        (Suppression::Share(0.005), "0.5%"),
        (Suppression::Share(1.0), "100%"),
    ] {
        assert_eq!(suppress.to_string(), text);
    }
}
