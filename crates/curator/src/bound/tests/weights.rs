//! Totals for every bound: they are what the definition says, and nothing about how rows arrive shows.

use super::definition::{Ids, Row, batch, random_rows, schema, spec};
use super::tables::{Draws, context, key, native, plan, runtime};
use crate::bound::exact::{Exact, WeighedGroup};
use crate::bound::spec::{BoundSpec, Weighing};
use datafusion::common::ScalarValue;
use demure_core::mechanism::{Contribution, KeyWeights, Ladder};
use std::collections::{BTreeMap, BTreeSet};

fn ladder() -> Ladder {
    Ladder::new(6, 14).unwrap()
}

fn weighing(most_groups: Option<u64>) -> BoundSpec {
    let weighing = Weighing { ladder: ladder(), most_groups, people: true, squares: true };
    BoundSpec { weighing: Some(weighing), ..spec(1, 1) }
}

/// Rows and sums alone: the common case.
fn dense(squares: bool) -> BoundSpec {
    let weighing = Weighing { ladder: ladder(), most_groups: None, people: false, squares };
    let spec = spec(1, 1);
    let arguments = vec![spec.arguments[0].clone(), spec.arguments[2].clone()];
    BoundSpec { weighing: Some(weighing), arguments, ..spec }
}

async fn run(rows: &[Row], ids: Ids, most: Option<u64>, how: (u64, usize)) -> Exact {
    run_with(rows, ids, &weighing(most), how).await
}

async fn run_with(rows: &[Row], ids: Ids, spec: &BoundSpec, (seed, limit): (u64, usize)) -> Exact {
    let context = context();
    let half = rows.len() / 2;
    let parts = [&rows[..half], &rows[half..]];
    let batches = |rows: &[Row]| rows.chunks(37).map(|rows| batch(rows, ids)).collect();
    let partitions: Vec<Vec<_>> = parts.into_iter().map(batches).collect();
    let input = plan(&context, schema(ids), partitions).await;
    native(&context, input, spec, key(seed), limit).await
}

/// All totals, with values in place of the numbers that they were given in order of arrival.
fn canonical(exact: &Exact) -> Vec<String> {
    let shown = |of: &Contribution| format!("{:?}", of.by_rung().collect::<Vec<_>>());
    let group = |key: &[ScalarValue], of: &WeighedGroup| {
        let mut all = vec![format!("{key:?} {}", of.key), shown(&of.rows), shown(&of.people)];
        for argument in &of.arguments {
            all.extend([&argument.present, &argument.sum, &argument.squares].map(shown));
            all.push(format!("{:?}", argument.different));
            match argument.codes.is_empty() {
                true => {
                    all.extend(argument.values.iter().map(|(i, of)| format!("{i} {}", shown(of))))
                }
                false => all.extend(
                    argument
                        .codes
                        .iter()
                        .map(|(v, i)| format!("{v} {}", shown(&argument.values[i]))),
                ),
            }
        }
        all
    };
    let sizes = exact.sizes.as_ref().unwrap();
    let sizes = format!("{:?} {:?} {:?}", sizes.rows, sizes.groups, sizes.different);
    let groups = exact.groups.iter();
    groups.flat_map(|g| group(&g.key, g.weighed.as_ref().unwrap())).chain([sizes]).collect()
}

fn group<'a>(exact: &'a Exact, key: &Option<String>) -> Option<&'a WeighedGroup> {
    let wanted = [ScalarValue::Utf8View(key.clone())];
    exact.groups.iter().find(|group| group.key == wanted)?.weighed.as_ref()
}

/// The totals of one person in each group, by the definition.
type Groups<'a> = BTreeMap<Option<String>, Vec<&'a Row>>;

fn people(rows: &[Row]) -> BTreeMap<i64, Groups<'_>> {
    let mut people: BTreeMap<i64, Groups<'_>> = BTreeMap::new();
    for row in rows {
        if let Some(id) = row.id {
            people.entry(id).or_default().entry(row.key.clone()).or_default().push(row);
        }
    }
    people
}

#[test]
fn totals_are_those_of_the_definition() {
    runtime().block_on(async {
        let mut draws = Draws(21);
        for round in 0..12 {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let rows = random_rows(&mut draws, 400, 3 + round % 5);
            let how = (round, 1 << 20);
            let exact = run(&rows, ids, Some(u64::MAX), how).await;
            let with_squares = run_with(&rows, ids, &dense(true), how).await;
            let without = run_with(&rows, ids, &dense(false), how).await;
            let people = people(&rows);
            let mut expected: BTreeMap<Option<String>, [Contribution; 5]> = BTreeMap::new();
            let mut keys: BTreeMap<Option<String>, u64> = BTreeMap::new();
            let mut sizes = vec![0u64; ladder().len() + 1];
            for groups in people.values() {
                let n: usize = groups.values().map(Vec::len).sum();
                let (unit, member) = (ladder().unit(n as u64), ladder().unit(groups.len() as u64));
                sizes[unit.rung()] += 1;
                for (key, own) in groups {
                    let values: Vec<u64> =
                        own.iter().filter_map(|r| r.value.map(u64::from)).collect();
                    let (sum, squares) = values.iter().fold((0, 0), |(s, q), v| (s + v, q + v * v));
                    let present = values.len() as u64;
                    let to = expected.entry(key.clone()).or_default();
                    member.add(&mut to[0], 1);
                    unit.add(&mut to[1], own.len() as u64);
                    for (at, amount) in [present, sum, squares].into_iter().enumerate() {
                        unit.add(&mut to[2 + at], amount);
                    }
                    *keys.entry(key.clone()).or_default() +=
                        KeyWeights::weight(groups.len() as u64);
                }
            }
            for exact in [&exact, &with_squares, &without] {
                assert_eq!(exact.sizes.as_ref().unwrap().rows, sizes);
            }
            assert_eq!(exact.groups.len(), expected.len());
            for (key, totals) in expected {
                let found = group(&exact, &key).unwrap();
                let of = &found.arguments[0];
                let all = [&found.people, &found.rows, &of.present, &of.sum, &of.squares];
                for rung in 0..ladder().len() {
                    let at = ladder().bounded(rung);
                    for (found, expected) in all.iter().zip(&totals) {
                        assert_eq!(at.total(found), at.total(expected), "{key:?} at {rung}");
                    }
                }
                assert_eq!(found.key, keys[&key]);
                let plain = group(&with_squares, &key).unwrap();
                let [of, present] = &plain.arguments[..] else { panic!("two arguments") };
                let same = [&plain.rows, &of.present, &of.sum, &of.squares];
                assert!(same.into_iter().eq([1, 2, 3, 4].map(|i| all[i])));
                assert!(present.present == found.arguments[2].present);
                let fewer = group(&without, &key).unwrap();
                assert!(fewer.arguments[0].sum == of.sum && fewer.rows == plain.rows);
                assert_eq!(fewer.arguments[0].squares.by_rung().count(), 0);
            }
        }
    });
}

#[test]
fn the_order_of_rows_and_the_memory_do_not_show() {
    runtime().block_on(async {
        let mut draws = Draws(22);
        let specs = [weighing(None), weighing(Some(2)), dense(true), dense(false)];
        for (round, spec) in specs.iter().enumerate() {
            for ids in [Ids::Int, Ids::Text] {
                let mut rows = random_rows(&mut draws, 2_000, 30);
                let with = |limit| (round as u64, limit);
                let plain = canonical(&run_with(&rows, ids, spec, with(1 << 30)).await);
                for limit in [1 << 30, 20_000, 1] {
                    draws.shuffle(&mut rows);
                    let again = run_with(&rows, ids, spec, with(limit)).await;
                    assert_eq!(canonical(&again), plain);
                }
            }
        }
    });
}

/// Everyone alone, added up, is everyone at once: with a limit on groups, and for different values too.
#[test]
fn other_people_do_not_show() {
    runtime().block_on(async {
        let mut draws = Draws(23);
        for round in 0..6 {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let most = [None, Some(1), Some(3)][round as usize % 3];
            let rows = random_rows(&mut draws, 300, 8);
            let whole = run(&rows, ids, most, (round, 1 << 20)).await;
            let at = ladder().bounded(2);
            let mut added: BTreeMap<String, u128> = BTreeMap::new();
            for person in people(&rows).into_keys() {
                let own: Vec<Row> = rows.iter().filter(|r| r.id == Some(person)).cloned().collect();
                let alone = run(&own, ids, most, (round, 1 << 20)).await;
                let groups = alone.groups.len();
                assert!(most.is_none_or(|most| groups as u64 <= most));
                let sum: u128 =
                    alone.groups.iter().map(|g| at.total(&g.weighed.as_ref().unwrap().rows)).sum();
                assert!(sum <= u128::from(at.most()));
                // At a bound of R, at most R different values of a person count.
                for rung in 0..ladder().len() {
                    let counted = |g: &WeighedGroup| {
                        g.arguments[1].different.range(..=rung).map(|(_, n)| n).sum::<u64>()
                    };
                    let all: u64 =
                        alone.groups.iter().map(|g| counted(g.weighed.as_ref().unwrap())).sum();
                    assert!(all <= ladder().bound(rung));
                }
                for group in &alone.groups {
                    *added.entry(format!("{:?}", group.key)).or_default() +=
                        at.total(&group.weighed.as_ref().unwrap().rows);
                }
            }
            let all = whole.groups.iter().map(|group| {
                (format!("{:?}", group.key), at.total(&group.weighed.as_ref().unwrap().rows))
            });
            assert_eq!(all.collect::<BTreeMap<_, _>>(), added);
        }
    });
}

#[test]
fn different_values_without_a_bound_are_all_of_them() {
    runtime().block_on(async {
        let mut draws = Draws(24);
        let rows = random_rows(&mut draws, 500, 6);
        let exact = run(&rows, Ids::Int, None, (1, 1 << 20)).await;
        let mut expected: BTreeMap<Option<String>, BTreeSet<&String>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.id.is_some()) {
            expected.entry(row.key.clone()).or_default().extend(&row.code);
        }
        for (key, values) in expected {
            let found = &group(&exact, &key).unwrap().arguments[1].different;
            assert_eq!(found.values().sum::<u64>(), values.len() as u64);
        }
    });
}
