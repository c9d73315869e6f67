//! `demure audit`: every kind of target, what convicts it and what does not.
//!
//! Where randomness is the system's, an honest target is convicted with probability 1e-6 and a broken one is missed with
//! less than that.

use super::{Run, demure, directory, file, json, number, run};
use serde_json::Value;

/// A run that convicts, and its one JSON object.
fn convicted(args: &[&str]) -> Value {
    let run = run(args);
    assert_eq!(run.code, Some(1), "{args:?}\n{}", run.err);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["verdict"], "violated");
    assert!(number(&found, "epsilon_lower") > number(&found, "claimed"));
    found
}

fn not_refuted(args: &[&str]) -> Value {
    let run = run(args);
    assert_eq!(run.code, Some(0), "{args:?}\n{}", run.err);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["verdict"], "not refuted");
    found
}

#[test]
fn tight_mechanisms_show_70_percent_of_their_claim_and_no_more_than_it() {
    for name in ["laplace", "response"] {
        let found = json(&format!("audit mechanism {name} --epsilon 1 --seed 1 --samples 40000"));
        assert_eq!((number(&found, "claimed"), &found["verdict"]), (1.0, &"not refuted".into()));
        assert_eq!(number(&found, "confidence"), 0.999_999);
        assert!((0.7..=1.0).contains(&number(&found, "epsilon_lower")), "{found}");
        assert!(number(&found["needed"]["70%"], "this_event") < 40_000.0);
    }
    let seeded = "audit mechanism geometric --epsilon 0.5 --samples 4000 --seed 3";
    assert_eq!(demure(seeded).out, demure(seeded).out);
}

#[test]
fn the_gallery_is_convicted_by_name_and_drawn() {
    let args = ["audit", "mechanism", "--broken", "float-laplace", "--seed", "1", "--json"];
    let page = directory().join("float-laplace.html");
    let found = convicted(&[&args[..], &["--report", page.to_str().unwrap()]].concat());
    assert_eq!(found["event"], "the lowest bit set in number 1 at most 2^-54");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("<svg") && page.contains("class=\"c0 line\"") && page.contains("violated")
    );
    assert!(!page.contains("<script") && !page.contains("http") && !page.contains("NaN"));
    // What is read by people says what is wrong.
    let read = demure("audit mechanism --broken svt-stoddard --seed 1");
    assert_eq!(read.code, Some(1));
    assert!(read.out.contains("violated: the claim is false") && read.out.contains("Stoddard"));
}

#[test]
fn several_are_a_table_and_the_error_is_shared() {
    let Run { code, out, err } = demure("audit mechanism --all --samples 400 --seed 1");
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.lines().count() > 50 && out.contains("key-selection") && err.contains("0 violated")
    );
    let list = demure("audit mechanism --list").out;
    assert!(list.contains("off-by-one-threshold") && list.contains("hadamard"));
}

#[test]
fn one_run_with_canaries() {
    let found = json("audit mechanism response --one-run 10000 --seed 1");
    assert!((0.7..1.0).contains(&number(&found, "epsilon_lower")), "{found}");
    assert_eq!(number(&found, "canaries"), 10_000.0);
    assert_eq!(demure("audit mechanism laplace --one-run 100").code, Some(2));
}

#[test]
fn a_program_is_judged_by_what_it_prints() {
    // Randomized response: the truth if a random byte is below a bound. 187 of 256 is ε = 0.997, 220 is 1.81.
    let script = file(
        "respond.sh",
        "yes=$(($(wc -l < \"$2\") - 1))\n\
         od -An -v -tu1 -w1 -N\"$3\" /dev/urandom | awk -v yes=$yes -v t=$1 '{ print ($1 < t) ? yes : 1 - yes }'\n",
    );
    let (left, right) = (file("nobody.csv", "id\n"), file("somebody.csv", "id\n1\n"));
    let script = script.to_str().unwrap();
    let sides = ["--left", left.to_str().unwrap(), "--right", right.to_str().unwrap()];
    let audit = |truth: &'static str| {
        let mut args = vec!["audit", "command", "--epsilon", "1", "--samples", "20000", "--json"];
        args.extend(sides);
        args.extend(["--", "sh", script, truth, "{}", "{n}"]);
        args
    };
    let honest = not_refuted(&audit("187"));
    assert!(number(&honest, "epsilon_lower") > 0.7, "{honest}");
    convicted(&audit("220"));
    // Without a claim it measures.
    let mut measured = audit("187");
    measured.drain(2..4);
    let found = run(&measured);
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert!(found.out.contains("nothing claimed"));
}

#[test]
fn neighbours_are_made_and_data_comes_on_standard_input() {
    let data = file("audited.csv", "id,age\na,30\nb,90\na,31\nc,2\n");
    let data = data.to_str().unwrap();
    let exact = ["audit", "command", "--data", data, "--unit", "id", "--pairs", "1"];
    let exact =
        [&exact[..], &["--epsilon", "1", "--samples", "240", "--json", "--", "wc", "-l"]].concat();
    let found = convicted(&exact);
    assert_eq!(found["neighbours"], "all, and all but the unit of line 2");
    let wrong = |tail: &[&str]| run(&[&["audit", "command", "--data", data], tail].concat());
    for (tail, says) in [
        (&["--", "sh", "-c", "echo no >&2; exit 3"][..], "the command failed"),
        (&["--", "true"], "printed nothing"),
        (&["--", "./no-such-program"], "running the command"),
        (&["--unit", "nothing", "--", "wc", "-l"], "no column"),
    ] {
        let run = wrong(tail);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{tail:?}");
        assert!(run.err.contains(says), "{tail:?}: {}", run.err);
    }
}

#[test]
fn a_query_is_charged_for_what_it_shows() {
    let folder = directory().join("audited-policy");
    std::fs::create_dir_all(&folder).unwrap();
    let rows = |n: usize| {
        let rows = (0..n).map(|i| format!("{i},{},{}\n", i % 7, ["u", "v"][i % 2]));
        "id,x,k\n".to_owned() + &rows.collect::<String>()
    };
    for (name, n) in [("t.csv", 9), ("more.csv", 40)] {
        std::fs::write(folder.join(name), rows(n)).unwrap();
    }
    let policy = folder.join("p.toml");
    let text = "[budget]\nepsilon = 1\ndelta = 1e-6\nper_query = 0.5\nneighbours = \"add-remove\"\naccounting = \"pure\"\n\
                [tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n[tables.t.columns]\n\
                id = { type = \"integer\" }\nx = { type = \"integer\", bounds = [0, 6] }\nk = { values = [\"u\", \"v\"] }\n";
    std::fs::write(&policy, text).unwrap();
    let (policy, at) = (policy.to_str().unwrap(), |name: &str| folder.join(name));
    let ask = |sql: &'static str, tail: &[&str]| {
        let mut args = vec!["audit", "query", policy, sql, "--epsilon", "1", "--json"];
        args.extend(tail);
        args.iter().map(|&word| word.to_owned()).collect::<Vec<String>>()
    };
    // The price is compared on both pairs.
    let found = ask("SELECT k, SUM(x) FROM t GROUP BY k", &["--samples", "80", "--pairs", "2"]);
    let found = not_refuted(&found.iter().map(String::as_str).collect::<Vec<_>>());
    assert!((number(&found, "claimed") - 1.0).abs() < 1e-6);
    // No ledger was written, and none was needed.
    assert!(!folder.join("p.ledger").exists());
    // The power twin: databases that are no neighbours.
    let (few, many) = (at("t.csv"), at("more.csv"));
    let sides = ["--left", few.to_str().unwrap(), "--right", many.to_str().unwrap()];
    let found = ask("SELECT COUNT(*) FROM t", &[&sides[..], &["--samples", "160"]].concat());
    convicted(&found.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_query_is_audited_on_rows_of_nobody() {
    let folder = directory().join("audited-nobody");
    std::fs::create_dir_all(&folder).unwrap();
    let policy = folder.join("p.toml");
    // No row at all: what is asked about is made of the columns and of what the policy states.
    std::fs::write(folder.join("people.csv"), "id,name,born,smoker,city\n").unwrap();
    std::fs::write(folder.join("visits.csv"), "visit,person,cost\n").unwrap();
    std::fs::write(folder.join("drugs.csv"), "of,drug\n").unwrap();
    std::fs::write(folder.join("cities.csv"), "city,region\nu,north\nv,south\n").unwrap();
    let text = "[budget]\nepsilon = 1\ndelta = 1e-6\n\
        [tables.people]\nsource = \"people.csv\"\nunit = \"id\"\n[tables.people.columns]\n\
        id = { type = \"integer\" }\nname = { hidden = true }\nborn = { type = \"date\" }\nsmoker = { type = \"boolean\" }\ncity = { values = [\"u\", \"v\"] }\n\
        [tables.visits]\nsource = \"visits.csv\"\nunit = \"person\"\n[tables.visits.columns]\n\
        visit = { type = \"integer\" }\nperson = { type = \"integer\" }\ncost = { bounds = [0, 50] }\n\
        [tables.drugs]\nsource = \"drugs.csv\"\nunit = { column = \"of\", references = \"visits.visit\" }\n\
        [tables.drugs.columns]\nof = { type = \"integer\" }\n\
        [tables.cities]\nsource = \"cities.csv\"\npublic = true\nkey = \"city\"\n";
    std::fs::write(&policy, text).unwrap();
    let policy = policy.to_str().unwrap();
    for (sql, table) in [
        ("SELECT smoker, COUNT(*) FROM people GROUP BY smoker", "people"),
        ("SELECT COUNT(*) FROM people WHERE born < DATE '2020-06-01'", "people"),
        (
            "SELECT region, COUNT(*) FROM people JOIN cities ON people.city = cities.city GROUP BY region",
            "people",
        ),
        ("SELECT SUM(cost) FROM visits", "visits"),
        ("SELECT COUNT(*) FROM visits JOIN drugs ON visits.visit = drugs.of", "visits"),
    ] {
        let asked = [
            "audit",
            "query",
            policy,
            sql,
            "--table",
            table,
            "--samples",
            "40",
            "--pairs",
            "2",
            "--json",
        ];
        let found = not_refuted(&asked);
        assert!(found["neighbours"].as_str().unwrap().starts_with("made-up rows: "), "{found}");
        let real = run(&[&asked[..], &["--on-protected-rows"]].concat());
        // There is no row to make neighbours of.
        assert_eq!(real.code, Some(2), "{sql}: {}", real.out);
        assert!(real.err.contains("two units at least"), "{sql}: {}", real.err);
        assert!(real.err.contains("keep it as you keep the rows"), "{sql}: {}", real.err);
    }
}

#[test]
fn a_question_that_is_refused_convicts_nobody() {
    let folder = directory().join("audited-zcdp");
    std::fs::create_dir_all(&folder).unwrap();
    let rows = (0..60).map(|i| format!("{i},{}\n", ["u", "v"][i % 2])).collect::<String>();
    std::fs::write(folder.join("t.csv"), "id,k\n".to_owned() + &rows).unwrap();
    for accounting in ["pure", "zcdp"] {
        let policy = folder.join(format!("{accounting}.toml"));
        let text = format!(
            "[budget]\nepsilon = 1\ndelta = 1e-6\nper_query = 0.5\naccounting = \"{accounting}\"\n\
             [tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n"
        );
        std::fs::write(&policy, text).unwrap();
        let policy = policy.to_str().unwrap();
        // The δ of private keys adds up to more than one budget in memory has.
        let sql = "SELECT k, COUNT(*) FROM t GROUP BY k";
        not_refuted(&["audit", "query", policy, sql, "--samples", "60", "--pairs", "1", "--json"]);
        // So does an ε that is large.
        let sql = "SELECT COUNT(*) FROM t";
        let large =
            ["audit", "query", policy, sql, "--epsilon", "20000", "--samples", "16", "--json"];
        not_refuted(&large);
        for (sql, epsilon, says) in [
            ("SELECT * FROM t", "1", "the question was refused: this would show rows"),
            ("SELECT COUNT(*) FROM t", "1e300", "the question was refused"),
            ("SELECT COUNT(*) FROM t", "1e-320", "the question was refused: no noise can be drawn"),
        ] {
            let run =
                run(&["audit", "query", policy, sql, "--epsilon", epsilon, "--samples", "16"]);
            assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{sql} {epsilon}: {}", run.err);
            assert!(run.err.contains(says), "{sql} {epsilon}: {}", run.err);
        }
    }
}

#[test]
fn a_survey_is_audited_as_it_is_collected() {
    let init = |name: &str, line: &str| {
        let path = directory().join(name);
        let _ = std::fs::remove_file(&path);
        let run = demure(&format!("collect init {name} {line}"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        path
    };
    for (name, line) in [
        ("audited-bits.toml", "--question ill --values yes,no --epsilon 1"),
        (
            "audited-many.toml",
            "--question which --values a,b,c,d,e,f,g,h,i,j,k,l,m,n,o --epsilon 1",
        ),
    ] {
        let path = init(name, line);
        let found = not_refuted(&[
            "audit",
            "collect",
            path.to_str().unwrap(),
            "--samples",
            "20000",
            "--json",
        ]);
        assert!((0.7..=1.0).contains(&number(&found, "epsilon_lower")), "{found}");
        // The power twin: a smaller claim.
        convicted(&[
            "audit",
            "collect",
            path.to_str().unwrap(),
            "--epsilon",
            "0.5",
            "--samples",
            "20000",
            "--json",
        ]);
    }
}

#[test]
fn mistakes_are_told_and_nothing_is_run() {
    for (line, says) in [
        ("audit mechanism", "no mechanism is named"),
        ("audit mechanism nothing", "no mechanism of this name"),
        ("audit mechanism --broken nothing", "no mechanism of this name"),
        ("audit mechanism laplace --samples 2", "at least 8"),
        ("audit mechanism laplace --minutes 0", "greater than 0"),
        ("audit mechanism laplace --error 0.7", "--error"),
        ("audit mechanism laplace --epsilon 0", "epsilon must be"),
        ("audit mechanism laplace --delta 2", "delta must be"),
        ("audit command --epsilon 1 -- true", "nothing to run it on"),
        ("audit command --left no-such-file --right no-such-file -- true", "no-such-file"),
        ("audit collect no-such-survey.toml", "error"),
        ("audit query no-such-policy.toml select", "error"),
    ] {
        let run = demure(line);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{line}");
        assert!(run.err.contains(says), "{line}: {}", run.err);
    }
}
