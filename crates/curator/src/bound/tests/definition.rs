//! The bounding by its definition, compared with the operator on random tables.

use super::tables::{Draws, argument, context, kept, key, plan, runtime, sorted, steps};
use crate::bound::key::Key;
use crate::bound::spec::{BoundSpec, Form};
use datafusion::arrow::array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, StringViewArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// An id, a text key, a value in 0..=9, and a text to code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) id: Option<i64>,
    pub(super) key: Option<String>,
    pub(super) value: Option<u8>,
    pub(super) code: Option<String>,
}

/// How ids are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ids {
    Int,
    Text,
}

pub(super) fn spec(max_groups: u32, max_rows: u32) -> BoundSpec {
    let arguments =
        vec![argument(2, steps(0.0, 9.0)), argument(3, Form::Code), argument(3, Form::Present)];
    BoundSpec { unit: Some(0), keys: vec![1], arguments, max_groups, max_rows, weighing: None }
}

pub(super) fn schema(ids: Ids) -> SchemaRef {
    let id = if ids == Ids::Int { DataType::Int64 } else { DataType::Utf8 };
    Arc::new(Schema::new(vec![
        Field::new("id", id, true),
        Field::new("key", DataType::Utf8View, true),
        Field::new("value", DataType::Float64, true),
        Field::new("code", DataType::Utf8, true),
    ]))
}

pub(super) fn batch(rows: &[Row], ids: Ids) -> RecordBatch {
    let id: ArrayRef = match ids {
        Ids::Int => Arc::new(rows.iter().map(|r| r.id).collect::<Int64Array>()),
        Ids::Text => {
            let text = |r: &Row| r.id.map(|id| format!("person number {id}"));
            Arc::new(rows.iter().map(text).collect::<StringArray>())
        }
    };
    let key: StringViewArray = rows.iter().map(|r| r.key.clone()).collect();
    let value: Float64Array = rows.iter().map(|r| r.value.map(f64::from)).collect();
    let code: StringArray = rows.iter().map(|r| r.code.clone()).collect();
    RecordBatch::try_new(schema(ids), vec![id, Arc::new(key), Arc::new(value), Arc::new(code)])
        .unwrap()
}

pub(super) fn random_rows(draws: &mut Draws, count: usize, people: u64) -> Vec<Row> {
    let texts =
        ["", "a", "b", "a key that is longer than sixteen bytes", "another long key, longer"];
    let text = |draws: &mut Draws| {
        let at = draws.below(texts.len() as u64 + 1) as usize;
        texts.get(at).map(|t| (*t).to_owned())
    };
    let row = |_| Row {
        id: (draws.below(30) > 0).then(|| draws.below(people) as i64 - 3),
        key: text(draws),
        value: (draws.below(8) > 0).then(|| draws.below(4) as u8 * 3),
        code: text(draws),
    };
    (0..count).map(row).collect()
}

/// The rows that stay by the definition: (key, arguments).
pub(super) fn definition(
    rows: &[Row],
    ids: Ids,
    key: &Key,
    max_groups: usize,
    max_rows: usize,
) -> Vec<Row> {
    let seed = |id: i64| match ids {
        Ids::Int => key.permute(id as u64),
        Ids::Text => key.bytes(format!("person number {id}").as_bytes()),
    };
    let text = |t: &Option<String>| t.as_ref().map_or(key.pair(0, 0), |t| key.bytes(t.as_bytes()));
    let mut people: BTreeMap<i64, BTreeMap<Option<String>, Vec<&Row>>> = BTreeMap::new();
    for row in rows {
        if let Some(id) = row.id {
            people.entry(id).or_default().entry(row.key.clone()).or_default().push(row);
        }
    }
    let mut all = Vec::new();
    for (id, groups) in people {
        let rank = |group: &Option<String>| key.pair(seed(id), text(group));
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(group, _)| (rank(group), group.clone()));
        for (group, mut rows) in groups.into_iter().take(max_groups) {
            if rows.len() > max_rows {
                rows.sort();
                let mut ranked = Vec::new();
                for (i, row) in rows.iter().enumerate() {
                    let copy = rows[..i].iter().filter(|r| r == &row).count() as u64;
                    let null = u64::from(u32::MAX);
                    let parts = [
                        row.value.map_or(null, u64::from),
                        row.code.as_ref().map_or(null, |t| key.bytes(t.as_bytes())),
                        row.code.as_ref().map_or(null, |_| 0),
                    ];
                    let content = parts
                        .iter()
                        .fold(key.permute(rank(&group)), |h, &part| key.permute(key.pair(h, part)));
                    ranked.push((key.pair(key.permute(content), copy), *row));
                }
                ranked.sort();
                rows = ranked.into_iter().take(max_rows).map(|(_, row)| row).collect();
            }
            all.extend(rows.into_iter().cloned());
        }
    }
    all
}

/// A row as the operator outputs it.
pub(super) fn shown(row: &Row) -> (Vec<ScalarValue>, Vec<Option<ScalarValue>>) {
    let code = row.code.clone().map(|t| ScalarValue::Utf8(Some(t)));
    let present = code.as_ref().map(|_| ScalarValue::from(0u32));
    let value = row.value.map(|v| ScalarValue::from(u32::from(v)));
    (vec![ScalarValue::Utf8View(row.key.clone())], vec![value, code, present])
}

#[test]
fn the_operator_keeps_what_the_definition_keeps() {
    runtime().block_on(async {
        let mut draws = Draws(1);
        for round in 0..40 {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let count = 1 + draws.below(400) as usize;
            let people = 1 + draws.below(20);
            let rows = random_rows(&mut draws, count, people);
            let (groups, most) = (1 + draws.below(4) as u32, 1 + draws.below(5) as u32);
            let context = context();
            let input = plan(&context, schema(ids), vec![vec![batch(&rows, ids)]]).await;
            let spec = spec(groups, most);
            let found = kept(&context, input, &spec, key(round), 1 << 20).await;
            let wanted = definition(&rows, ids, &key(round), groups as usize, most as usize);
            let found: Vec<_> = found.into_iter().map(|(key, _, rest)| (key, rest)).collect();
            assert_eq!(sorted(found), sorted(wanted.iter().map(shown)), "round {round}");
        }
    });
}

#[test]
fn bounds_hold_and_first_is_once_per_person_and_group() {
    runtime().block_on(async {
        let mut draws = Draws(7);
        for round in 0..20 {
            // One person at a time, since the output does not say whose row it is.
            let rows: Vec<Row> = random_rows(&mut draws, 60, 1)
                .into_iter()
                .map(|row| Row { id: Some(5), ..row })
                .collect();
            let (groups, most) = (1 + draws.below(5) as u32, 1 + draws.below(12) as u32);
            let context = context();
            let input = plan(&context, schema(Ids::Int), vec![vec![batch(&rows, Ids::Int)]]).await;
            let found = kept(&context, input, &spec(groups, most), key(round), 1 << 20).await;
            let mut by_group: BTreeMap<String, (u32, u32)> = BTreeMap::new();
            for (key, first, _) in &found {
                let entry = by_group.entry(format!("{key:?}")).or_default();
                entry.0 += 1;
                entry.1 += u32::from(*first);
            }
            let all: HashSet<_> = rows.iter().map(|row| &row.key).collect();
            assert_eq!(by_group.len(), all.len().min(groups as usize));
            assert!(by_group.values().all(|&(rows, firsts)| rows <= most && firsts == 1));
        }
    });
}
