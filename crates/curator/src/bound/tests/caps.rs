//! The bound before a join: the choice among a person's rows depends only on those rows, however they arrive.

use super::definition::{Ids, Row, batch, random_rows, schema};
use super::tables::{Draws, argument, key, plan, runtime};
use crate::bound::cap::{CapRows, Most};
use crate::bound::engine::exact;
use crate::bound::spec::{BoundSpec, Form};
use crate::bound::{Exact, Native};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{Column, ScalarValue};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::collections::BTreeMap;

const MOST: u32 = 4;

/// All rows that stay, with one group for each content, including the id.
fn spec(columns: usize) -> BoundSpec {
    BoundSpec {
        unit: Some(0),
        keys: (0..columns).collect(),
        arguments: vec![argument(0, Form::Present)],
        max_groups: 1000,
        max_rows: 1000,
        weighing: None,
    }
}

async fn run(batches: Vec<Vec<RecordBatch>>, ids: Ids, seed: u64, memory: usize) -> Exact {
    let config = SessionConfig::new().with_target_partitions(3);
    let context = SessionContext::new_with_config(config);
    let input = plan(&context, schema(ids), batches).await;
    let columns = input.schema().fields().len();
    let unit = Column::from(input.schema().qualified_field(0));
    let input = CapRows::plan(input, &unit, Most::Rows(MOST));
    let engine = Native::new(context.state()).with_pool(memory);
    exact(&engine, input, &spec(columns), key(seed)).await.unwrap()
}

fn cut(draws: &mut Draws, rows: &[Row], ids: Ids) -> Vec<Vec<RecordBatch>> {
    let mut partitions = vec![Vec::new(); 1 + draws.below(4) as usize];
    for rows in rows.chunks(1 + draws.below(60) as usize) {
        let which = draws.below(partitions.len() as u64) as usize;
        partitions[which].push(batch(rows, ids));
    }
    partitions
}

/// The number of rows of each content.
fn counts(exact: &Exact) -> BTreeMap<String, u64> {
    exact.groups.iter().map(|group| (format!("{:?}", group.key), group.rows)).collect()
}

#[test]
fn what_stays_of_a_person_depends_on_her_own_rows_alone() {
    runtime().block_on(async {
        let mut draws = Draws(21);
        for round in 0..8 {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let mut rows = random_rows(&mut draws, 400, 12);
            let whole = counts(&run(cut(&mut draws, &rows, ids), ids, round, 1 << 30).await);
            draws.shuffle(&mut rows);
            let again = counts(&run(cut(&mut draws, &rows, ids), ids, round, 1 << 30).await);
            assert_eq!(whole, again, "the order shows in round {round}");
            let mut apart = BTreeMap::new();
            let mut dropped = 0;
            for person in -20..20 {
                let own: Vec<Row> = rows.iter().filter(|r| r.id == Some(person)).cloned().collect();
                if own.is_empty() {
                    continue;
                }
                let alone = counts(&run(vec![vec![batch(&own, ids)]], ids, round, 1 << 30).await);
                let stay: u64 = alone.values().sum();
                assert_eq!(stay, (own.len() as u64).min(u64::from(MOST)));
                dropped += own.len() as u64 - stay;
                apart.extend(alone);
            }
            assert_eq!(whole, apart, "somebody else shows in round {round}");
            assert!(dropped > 0, "the limit must bite");
        }
    });
}

/// A row counts once for every 64 bytes of its longest text: whoever is within the limit keeps all, the others as many as fit
/// if all were as large as their largest, and a row that is too large by itself is nobody's.
#[test]
fn rows_with_long_texts_count_several_times() {
    runtime().block_on(async {
        let row = |id: i64, bytes: usize, value: u8| Row {
            id: Some(id),
            key: Some("k".repeat(bytes)),
            value: Some(value),
            code: None,
        };
        // One of 64 bytes; two of 65; three of 100, of which two fit; one of 256 and one of 257, which never fits.
        let rows = vec![
            row(1, 64, 0),
            row(2, 65, 0),
            row(2, 65, 1),
            row(3, 100, 0),
            row(3, 100, 1),
            row(3, 10, 2),
            row(4, 256, 0),
            row(4, 257, 1),
        ];
        let exact = run(vec![vec![batch(&rows, Ids::Int)]], Ids::Int, 3, 1 << 30).await;
        let of = |id: i64| {
            let own = exact.groups.iter().filter(|g| g.key[0] == ScalarValue::Int64(Some(id)));
            own.map(|group| group.rows).sum::<u64>()
        };
        assert_eq!([1, 2, 3, 4].map(of), [1, 2, 2, 1]);
    });
}

#[test]
fn rows_in_files_stay_the_same_rows() {
    runtime().block_on(async {
        let mut draws = Draws(22);
        let rows = random_rows(&mut draws, 40_000, 9_000);
        let batches: Vec<RecordBatch> = rows.chunks(500).map(|r| batch(r, Ids::Int)).collect();
        let roomy = run(vec![batches.clone()], Ids::Int, 5, 1 << 30).await;
        let tight = run(vec![batches], Ids::Int, 5, 4 << 20).await;
        assert!(roomy == tight);
        assert!(!roomy.groups.is_empty());
    });
}
