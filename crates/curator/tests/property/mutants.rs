//! Bought answers are found by meaning: random statements, each with single mutations. Where a mutant is free because
//! another statement bought its answer, it has the answer that it would have had by itself.
//!
//! `DEMURE_MUTANT_WORLDS=500` makes the run longer.

use super::draw::Draw;
use super::world::{CODES, PAIRS, PROTECTED, World, header};
use super::{from_environment, grammar};
use crate::policy::Policy;
use crate::{Curator, Incidents, Outcome, Session};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_core::random::SeededForTests;
use demure_ledger::{Accounting, Ledger, Limit, Price};
use std::path::Path;

/// `None` for a world whose links are not those of one person each.
async fn open(text: &str, folder: &Path) -> Option<Session> {
    let policy = Policy::parse(text, folder).unwrap_or_else(|e| panic!("{e}"));
    let budget = policy.budget;
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: budget.epsilon,
        delta: budget.delta,
        neighbours: budget.neighbours,
    };
    let ledger = Ledger::in_memory(limit).expect("a ledger in memory");
    let incidents = Incidents::file(folder.join("incidents"));
    let seed = Box::new(SeededForTests::insecure(1));
    Some(Curator::with(policy, ledger, incidents, seed).await.ok()?.session("ann"))
}

struct Given {
    rows: Vec<Vec<String>>,
    free: bool,
}

async fn ask(session: &mut Session, sql: &str) -> Option<Given> {
    let Ok(Outcome::Answer(answer)) = session.run(sql).await else { return None };
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let columns = batch.columns().iter();
        let columns: Vec<_> = columns
            .map(|c| ArrayFormatter::try_new(c.as_ref(), &options).expect("a type"))
            .collect();
        rows.extend((0..batch.num_rows()).map(|row| {
            columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<String>>()
        }));
    }
    Some(Given { rows, free: answer.price == Price::ZERO })
}

/// Numbers to four digits, rows in any order.
fn alike(a: &Given, b: &Given) -> bool {
    let digits = |cell: &String| match cell.parse::<f64>() {
        Ok(x) => format!("{:.3e}", (x * 1e4).round() / 1e4 + 0.0),
        Err(_) => cell.clone(),
    };
    let sorted = |given: &Given| {
        let mut rows: Vec<Vec<String>> =
            given.rows.iter().map(|row| row.iter().map(digits).collect()).collect();
        rows.sort();
        rows
    };
    sorted(a) == sorted(b)
}

/// Pieces of a statement.
fn tokens(sql: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    let mut word = String::new();
    let mut quoted = false;
    for c in sql.chars() {
        if quoted {
            word.push(c);
            if c == '\'' {
                quoted = false;
                out.push(std::mem::take(&mut word));
            }
        } else if c == '\'' {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            word.push(c);
            quoted = true;
        } else if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
        } else {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            out.push(c.to_string());
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// What may stand for each other.
const SWAPS: &[&[&str]] = &[
    &["a", "g", "e", "b"],
    &["c", "d"],
    &["x", "y"],
    &["x.a", "y.a"],
    &["x.b", "y.b"],
    &["x.c", "y.c"],
    &["x.d", "y.d", "k.label"],
    &["x.e", "y.e"],
    &["x.f", "y.f"],
    &["x.g", "y.g"],
    &["x.id", "y.id"],
    &["LEFT", "RIGHT", "INNER", "FULL"],
    &["JOIN", "LEFT JOIN"],
    &["AND", "OR"],
    &["SEMI", "ANTI"],
    &["SUM", "AVG", "MIN", "MAX", "COUNT"],
    &["MEDIAN", "MIN"],
    &["VAR_POP", "STDDEV"],
    &["BOOL_OR", "BOOL_AND"],
    &["0", "1", "2", "1.0", "'1'", "NULL", "-1"],
    &["0.1", "0.9"],
    &["0.5", "0.25"],
    &["'x'", "'w'", "'X'", "'y'"],
    &["<", ">", "<=", "=", "<>"],
    &["people", "visits", "items", "lone"],
    &["codes", "pairs"],
    &["ALL", ""],
    &["WHERE", "WHERE NOT"],
    &["HAVING", "HAVING NOT"],
    &["DISTINCT", ""],
    &["IN", "NOT IN"],
    &["NOT", ""],
    &["EXISTS", "NOT EXISTS"],
    &["ROWS", "RANGE"],
    &["CURRENT", "UNBOUNDED"],
    &["PRECEDING", "FOLLOWING"],
    &["DESC", "ASC"],
    &["LAG", "LEAD"],
    &["ROW_NUMBER", "RANK", "DENSE_RANK"],
    &["BIGINT", "INT", "DOUBLE", "TEXT"],
    &["DOUBLE", "REAL"],
    &["LEAST", "GREATEST"],
    &["ROLLUP", "CUBE"],
    &["+", "-", "*", "/", "%"],
    &["INTERSECT", "EXCEPT"],
    &["UNION", "INTERSECT"],
    &["LIKE", "ILIKE"],
    &["NULLIF", "COALESCE"],
    &["ORDER BY", ""],
    &["k.code", "k.weight"],
    &["'p%'", "'%p'"],
    &["SIN", "COS", "LN"],
    &["UPPER", "LOWER"],
    &["c", "g"],
    &["a", "x.a"],
    &["id", "a"],
    &["id", "x.id"],
    &["o0", "o1"],
    &["LIMIT", "OFFSET"],
    &["THEN", "ELSE"],
    &["FLOOR", "CEIL", "ROUND"],
];

/// A statement in which one thing is different.
fn mutate(sql: &str, draw: &mut Draw) -> String {
    let mut all = tokens(sql);
    for _ in 0..200 {
        let at = draw.below(all.len());
        match draw.below(12) {
            0 => {
                // swap two tokens of the same kind
                let other = draw.below(all.len());
                let word =
                    |t: &String| t.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '\'');
                if word(&all[at]) && word(&all[other]) && all[at] != all[other] {
                    all.swap(at, other);
                    return all.concat();
                }
            }
            1 => {
                // swap the sides of a comma or an operator
                if [",", "-", "/", "<", ">", "+", "=", "*"].contains(&all[at].as_str())
                    && at > 0
                    && at + 1 < all.len()
                {
                    let mut l = at - 1;
                    while l > 0 && all[l] == " " {
                        l -= 1;
                    }
                    let mut r = at + 1;
                    while r + 1 < all.len() && all[r] == " " {
                        r += 1;
                    }
                    if all[l] != all[r] {
                        all.swap(l, r);
                        return all.concat();
                    }
                }
            }
            _ => {
                let sets: Vec<&&[&str]> =
                    SWAPS.iter().filter(|s| s.contains(&all[at].as_str())).collect();
                if sets.is_empty() || all[at].is_empty() {
                    continue;
                }
                let set = draw.pick(&sets);
                let new = draw.text(set);
                if new != all[at] {
                    all[at] = new;
                    return all.concat();
                }
            }
        }
    }
    all.concat()
}

#[test]
fn no_mutant_is_given_the_answer_to_another_question() {
    let worlds = from_environment("DEMURE_MUTANT_WORLDS", 4);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).thread_stack_size(16 << 20).enable_all().build();
    let (mut asked, mut answered, mut free) = (0, 0, 0);
    let mut wrong = Vec::new();
    runtime.expect("a runtime").block_on(async {
        for seed in 1..=worlds as u64 {
            let mut draw = Draw(seed);
            let world = World::new(&mut draw);
            // Noise and limits must not make answers differ.
            let exact = |line: &str| match line {
                _ if line.starts_with("epsilon") => "epsilon = 1e13".to_owned(),
                _ if line.starts_with("per_query") => "per_query = 1e7".to_owned(),
                _ if line.starts_with("accounting") => "accounting = \"pure\"".to_owned(),
                _ if line.starts_with("max_groups") => "max_groups = 30".to_owned(),
                _ if line.starts_with("max_rows") => "max_rows_per_group = 60".to_owned(),
                line => line.to_owned(),
            };
            let policy = world.policy.lines().map(exact).collect::<Vec<_>>().join("\n");
            let folder = tempfile::tempdir().expect("a folder");
            let write = |name: &str, text: &str| {
                std::fs::write(folder.path().join(name), text).expect("a file");
            };
            for (i, name) in PROTECTED.iter().enumerate() {
                let rows = world.tables[i].iter().map(|row| row.join(","));
                let lines: Vec<String> =
                    std::iter::once(header(i).to_owned()).chain(rows).collect();
                write(&format!("{name}.csv"), &format!("{}\n", lines.join("\n")));
            }
            write("codes.csv", CODES);
            write("pairs.csv", PAIRS);
            for _ in 0..6 {
                let sql = grammar::query(&mut draw);
                let Some(mut shared) = open(&policy, folder.path()).await else { break };
                if ask(&mut shared, &sql).await.is_none() {
                    continue;
                }
                let mut known = vec![sql.clone()];
                for _ in 0..8 {
                    let mutant = mutate(&sql, &mut draw);
                    if known.contains(&mutant) {
                        continue;
                    }
                    known.push(mutant.clone());
                    asked += 1;
                    let Some(given) = ask(&mut shared, &mutant).await else { continue };
                    answered += 1;
                    if !given.free {
                        continue;
                    }
                    let Some(mut alone) = open(&policy, folder.path()).await else { break };
                    let Some(own) = ask(&mut alone, &mutant).await else { continue };
                    if own.free {
                        continue; // nothing is read
                    }
                    free += 1;
                    if !alike(&given, &own) {
                        let (given, own) = (given.rows, own.rows);
                        wrong.push(format!("{sql}\n{mutant}\n{given:?}\n{own:?}"));
                    }
                }
            }
        }
    });
    println!("{asked} mutants, {answered} answered, {free} of them by another's answer");
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(answered > 4 * worlds, "{answered} of {asked}");
}
