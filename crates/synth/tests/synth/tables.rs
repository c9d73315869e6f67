//! Whole runs: accuracy, rules, public marginals, conditions, saved models, the report, determinism.

use crate::made_up::{self, Draw, assert_valid, pair_error, price, rows, schema, table};
use demure_core::random::SeededForTests;
use demure_core::unit::{Beta, Neighbours};
use demure_synth::{CodedTable, Condition, Error, Model, Rule, Schema, Synthesis, Synthesizer};

fn synthesizer(schema: &Schema, epsilon: f64) -> Synthesizer {
    Synthesizer::new(schema.clone(), price(epsilon, Neighbours::AddRemove))
}

fn run(synthesizer: &Synthesizer, table: &CodedTable, seed: u64) -> Synthesis {
    synthesizer.run(table, &mut SeededForTests::insecure(seed)).unwrap()
}

const CODES: [usize; 7] = [40, 4, 12, 3, 90, 6, 2];

#[test]
fn rows_are_close_to_the_table_and_closer_with_more_budget() {
    let schema = schema(&CODES);
    let (table, another) = (table(&schema, 20_000, 1), table(&schema, 20_000, 2));
    let error = |epsilon| {
        let made = run(&synthesizer(&schema, epsilon), &table, 2);
        assert_valid(&schema, &made.rows);
        pair_error(&schema, &table, &made.rows)
    };
    let errors = [error(0.1), error(1.0), error(10.0)];
    assert!(errors[0] > errors[1] && errors[1] > errors[2], "{errors:?}");
    let sampling = pair_error(&schema, &table, &another);
    // Another draw of as many rows, and the right one-way counts without any dependence.
    assert!(errors[2] < sampling / 2.0, "{errors:?} {sampling}");
    let mut draw = Draw(3);
    let mut columns = table.columns().to_vec();
    for column in &mut columns {
        (1..column.len()).for_each(|i| column.swap(i, draw.below(i + 1)));
    }
    let independent = CodedTable::new(&schema, columns).unwrap();
    let independent = pair_error(&schema, &table, &independent);
    assert!(errors[1] < independent / 2.0, "{errors:?} {independent}");
}

#[test]
fn a_seed_decides_everything() {
    let schema = schema(&CODES);
    let table = table(&schema, 3000, 1);
    let one = run(&synthesizer(&schema, 1.0), &table, 5);
    // Also on another number of threads, below 60,000 rows.
    let again = run(&synthesizer(&schema, 1.0).threads(3), &table, 5);
    assert!(one.rows == again.rows && one.report == again.report);
    assert_eq!(one.model.to_text(), again.model.to_text());
    let other = run(&synthesizer(&schema, 1.0), &table, 6);
    assert!(one.rows != other.rows);
}

#[test]
fn large_tables_are_polished_in_blocks() {
    let schema = schema(&[9, 4, 30, 3]);
    let table = table(&schema, 130_000, 8);
    let made = run(&synthesizer(&schema, 1.0), &table, 1);
    assert!(pair_error(&schema, &table, &made.rows) < 0.01);
}

#[test]
fn no_row_breaks_a_rule() {
    let schema = schema(&CODES);
    let table = table(&schema, 5000, 9);
    let low: Vec<usize> = (0..20).collect();
    let middle: Vec<usize> = (5..60).collect();
    let rules = [
        Rule::forbid(&schema, &[("c0", &low), ("c1", &[0, 3])]).unwrap(),
        Rule::forbid(&schema, &[("c1", &[1]), ("c2", &[0, 1, 2, 3]), ("c6", &[1])]).unwrap(),
        Rule::only(&schema, "c4", &middle).unwrap(),
        Rule::forbid(&schema, &[("c3", &[0, 1]), ("c5", &[2, 4])]).unwrap(),
    ];
    let broken = |row: &[u16]| {
        let is = |column: usize, codes: &[usize]| codes.contains(&usize::from(row[column]));
        (is(0, &low) && is(1, &[0, 3]))
            || (is(1, &[1]) && is(2, &[0, 1, 2, 3]) && is(6, &[1]))
            || !is(4, &middle)
            || (is(3, &[0, 1]) && is(5, &[2, 4]))
    };
    assert!(rows(&table).iter().any(|row| broken(row)), "rules that change nothing");
    for epsilon in [0.05, 1.0, 20.0] {
        let synthesizer =
            rules.iter().cloned().fold(synthesizer(&schema, epsilon), Synthesizer::rule);
        let made = run(&synthesizer, &table, 3);
        assert!(made.rows.rows() > 1000);
        assert!(!rows(&made.rows).iter().any(|row| broken(row)));
        // Also in rows that are drawn later, from a saved model, under a condition.
        let model = Model::from_text(&made.model.to_text()).unwrap();
        let condition = Condition::of(&schema).is("c1", &[1, 3]).unwrap();
        let more =
            model.sample_where(&condition, 700, 1, &mut SeededForTests::insecure(4)).unwrap();
        assert!(!rows(&more).iter().any(|row| broken(row) || ![1, 3].contains(&row[1])));
    }
    // Rules that leave nothing.
    let nothing = synthesizer(&schema, 1.0).rule(Rule::only(&schema, "c0", &[]).unwrap());
    let made = nothing.run(&table, &mut SeededForTests::insecure(1));
    assert!(matches!(made, Err(Error::Unsatisfiable)));
}

#[test]
fn public_marginals_are_met() {
    let schema = schema(&CODES);
    let table = table(&schema, 20_000, 10);
    let mut shares = vec![0.0; 4];
    table.columns()[1].iter().for_each(|code| shares[usize::from(*code)] += 1.0);
    let mut pair = vec![0.0; 12 * 6];
    for (x, y) in table.columns()[2].iter().zip(&table.columns()[5]) {
        pair[usize::from(*x) * 6 + usize::from(*y)] += 1.0;
    }
    let synthesizer = synthesizer(&schema, 0.1)
        .public_marginal(&["c1"], &shares)
        .unwrap()
        .public_marginal(&["c2", "c5"], &pair)
        .unwrap()
        .public_rows(20_000);
    let made = run(&synthesizer, &table, 1);
    assert_eq!(made.rows.rows(), 20_000);
    let apart = |truth: &[f64], found: &[f64]| {
        truth.iter().zip(found).map(|(x, y)| (x - y).abs()).sum::<f64>() / 40_000.0
    };
    let mut found = vec![0.0; 4];
    made.rows.columns()[1].iter().for_each(|code| found[usize::from(*code)] += 1.0);
    assert!(apart(&shares, &found) < 0.001, "{}", apart(&shares, &found));
    let mut found = vec![0.0; 12 * 6];
    for (x, y) in made.rows.columns()[2].iter().zip(&made.rows.columns()[5]) {
        found[usize::from(*x) * 6 + usize::from(*y)] += 1.0;
    }
    assert!(apart(&pair, &found) < 0.02, "{}", apart(&pair, &found));
}

#[test]
fn a_saved_model_comes_back_bit_by_bit() {
    let schema = schema(&CODES);
    let made = run(&synthesizer(&schema, 2.0), &table(&schema, 5000, 11), 1);
    let text = made.model.to_text();
    let model = Model::from_text(&text).unwrap();
    assert_eq!(model.to_text(), text);
    assert_eq!(model.schema(), made.model.schema());
    assert_eq!(model.price(), made.model.price());
    let draw = |model: &Model| model.sample(900, 2, &mut SeededForTests::insecure(7)).unwrap();
    // The tree is built anew, so its last bits may differ; the rows are as many and as close.
    assert_eq!(draw(&model).rows(), 900);
    assert!(draw(&model) == draw(&Model::from_text(&text).unwrap()));
}

#[test]
fn a_changed_model_is_an_error_or_a_model_and_never_a_panic() {
    let schema = schema(&[5, 3, 4]);
    let rule = Rule::forbid(&schema, &[("c0", &[1]), ("c1", &[2])]).unwrap();
    let made = run(&synthesizer(&schema, 2.0).rule(rule), &table(&schema, 400, 12), 1);
    let text = made.model.to_text();
    let lines: Vec<&str> = text.lines().collect();
    let mut draw = Draw(1);
    let mut refused = 0;
    for i in 0..lines.len() {
        for change in 0..6 {
            let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let words: Vec<&str> = lines[i].split(' ').collect();
            let at = draw.below(words.len());
            let with = |word: &str| {
                let mut words = words.clone();
                words[at] = word;
                words.join(" ")
            };
            match change {
                0 => drop(changed.remove(i)),
                1 => changed.insert(i, lines[i].to_owned()),
                2 => changed[i] = with("NaN"),
                3 => changed[i] = with("-1"),
                4 => changed[i] = with("99999999"),
                _ => changed[i].truncate(lines[i].len() / 2),
            }
            match Model::from_text(&changed.join("\n")) {
                Err(_) => refused += 1,
                Ok(model) => {
                    if let Ok(rows) = model.sample(20, 1, &mut SeededForTests::insecure(1)) {
                        assert_valid(model.schema(), &rows);
                    }
                }
            }
        }
    }
    assert!(refused > 3 * lines.len(), "{refused} of {}", 6 * lines.len());
    assert!(matches!(Model::from_text(""), Err(Error::Format { line: 1, .. })));
}

#[test]
fn rows_under_a_condition_are_like_the_rows_that_meet_it() {
    let schema = schema(&CODES);
    let table = table(&schema, 40_000, 13);
    let made = run(&synthesizer(&schema, 10.0), &table, 1);
    let high: Vec<usize> = (25..40).collect();
    let condition = Condition::of(&schema).is("c0", &high).unwrap().is("c3", &[1, 2]).unwrap();
    let drawn =
        made.model.sample_where(&condition, 4000, 2, &mut SeededForTests::insecure(3)).unwrap();
    let meets = |row: &Vec<u16>| row[0] >= 25 && row[3] >= 1;
    assert!(rows(&drawn).iter().all(meets));
    let real: Vec<Vec<u16>> = rows(&table).into_iter().filter(meets).collect();
    let real = made_up::of_rows(&schema, &real);
    let error = pair_error(&schema, &real, &drawn);
    // Other rows of the same kind are hardly closer.
    let others: Vec<Vec<u16>> =
        rows(&made_up::table(&schema, 40_000, 14)).into_iter().filter(meets).collect();
    let sampling = pair_error(&schema, &real, &made_up::of_rows(&schema, &others[..4000]));
    assert!(error < 1.3 * sampling, "{error} {sampling}");
    // The model as a whole is much further from these rows.
    let whole = pair_error(&schema, &real, &made.rows);
    assert!(whole > 2.0 * error, "{whole} {error}");
    let nobody = Condition::of(&schema).is("c0", &[]).unwrap();
    let none = made.model.sample_where(&nobody, 10, 1, &mut SeededForTests::insecure(3));
    assert!(matches!(none, Err(Error::Impossible)));
}

#[test]
fn a_target_is_modelled_better() {
    let schema = schema(&[30, 4, 12, 3, 50, 6, 2, 9, 11]);
    let table = table(&schema, 4000, 14);
    let of_target = |synthesizer: &Synthesizer| -> f64 {
        let errors = (0..4).map(|seed| {
            let made = run(synthesizer, &table, seed);
            let two = |table: &CodedTable, other: usize| {
                let columns = vec![table.columns()[3].clone(), table.columns()[other].clone()];
                let narrow = made_up::schema(&[3, schema.columns()[other].codes()]);
                (CodedTable::new(&narrow, columns).unwrap(), narrow)
            };
            let others = (0..9).filter(|other| *other != 3);
            others
                .map(|other| {
                    let ((real, narrow), (made, _)) = (two(&table, other), two(&made.rows, other));
                    pair_error(&narrow, &real, &made)
                })
                .sum::<f64>()
        });
        errors.sum()
    };
    let plain = synthesizer(&schema, 0.3);
    let target = plain.clone().target("c3").unwrap();
    assert!(of_target(&target) < of_target(&plain));
}

#[test]
fn the_report_is_within_three_deviations_in_95_of_100_runs() {
    let schema = schema(&[12, 4, 6, 3, 20]);
    let table = table(&schema, 1000, 15);
    // The size is public here: otherwise the reported error is relative to an estimate of it.
    let synthesizer = synthesizer(&schema, 1.0).public_rows(1000);
    let (mut within, mut covered, mut pairs) = (0, 0, 0);
    for seed in 0..100 {
        let made = run(&synthesizer, &table, seed);
        let report = made.report.unwrap();
        let (mean, deviation) = report.mean();
        let truth = pair_error(&schema, &table, &made.rows);
        within += usize::from((mean - truth).abs() <= 3.0 * deviation);
        // Intervals of single pairs, at 90 %.
        let half = report.half_width(Beta::new(0.1).unwrap()).unwrap();
        for pair in report.pairs() {
            let (a, b) = pair.columns;
            let narrow =
                made_up::schema(&[schema.columns()[a].codes(), schema.columns()[b].codes()]);
            let two = |table: &CodedTable| {
                let columns = vec![table.columns()[a].clone(), table.columns()[b].clone()];
                CodedTable::new(&narrow, columns).unwrap()
            };
            let truth = pair_error(&narrow, &two(&table), &two(&made.rows));
            covered += usize::from((pair.total_variation - truth).abs() <= half);
            pairs += 1;
        }
    }
    assert!(within >= 95, "{within} of 100");
    let share = covered as f64 / pairs as f64;
    assert!((0.86..0.94).contains(&share), "{share}");
}
