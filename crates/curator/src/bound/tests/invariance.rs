//! The core of the privacy argument: which rows of a person are kept depends on no one else and on nothing about how
//! the rows arrive.

use super::definition::{Ids, Row, batch, random_rows, schema, shown, spec};
use super::tables::{Draws, context, kept, key, plan, runtime, sorted};
use datafusion::arrow::array::RecordBatch;

const ROUNDS: u64 = 12;

async fn run(batches: Vec<Vec<RecordBatch>>, ids: Ids, seed: u64) -> Vec<String> {
    let context = context();
    let input = plan(&context, schema(ids), batches).await;
    let rows = kept(&context, input, &spec(2, 3), key(seed), 1 << 20).await;
    sorted(rows.into_iter().map(|(key, _, rest)| (key, rest)))
}

/// Cuts the rows into batches and partitions at random.
fn cut(draws: &mut Draws, rows: &[Row], ids: Ids) -> Vec<Vec<RecordBatch>> {
    let mut partitions = vec![Vec::new(); 1 + draws.below(4) as usize];
    let mut rest = rows;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(1 + draws.below(rest.len() as u64) as usize);
        let which = draws.below(partitions.len() as u64) as usize;
        partitions[which].push(batch(now, ids));
        rest = later;
    }
    partitions
}

#[test]
fn order_batches_and_partitions_do_not_show() {
    runtime().block_on(async {
        let mut draws = Draws(3);
        for round in 0..ROUNDS {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let mut rows = random_rows(&mut draws, 300, 12);
            let plain = run(vec![vec![batch(&rows, ids)]], ids, round).await;
            for _ in 0..3 {
                draws.shuffle(&mut rows);
                assert_eq!(run(cut(&mut draws, &rows, ids), ids, round).await, plain);
            }
        }
    });
}

#[test]
fn other_people_do_not_show() {
    runtime().block_on(async {
        let mut draws = Draws(4);
        for round in 0..ROUNDS {
            let ids = if round % 2 == 0 { Ids::Int } else { Ids::Text };
            let rows = random_rows(&mut draws, 300, 10);
            let whole = run(cut(&mut draws, &rows, ids), ids, round).await;
            // Everyone alone, put together, equals everyone at once. So adding or removing a person adds or removes
            // that person's rows and nothing else.
            let mut apart = Vec::new();
            for person in -3..7 {
                let own: Vec<Row> = rows.iter().filter(|r| r.id == Some(person)).cloned().collect();
                if !own.is_empty() {
                    apart.extend(run(vec![vec![batch(&own, ids)]], ids, round).await);
                }
            }
            apart.sort_unstable();
            assert_eq!(whole, apart, "round {round}");
        }
    });
}

#[test]
fn without_bounds_that_bite_everything_stays() {
    runtime().block_on(async {
        let mut draws = Draws(5);
        let rows = random_rows(&mut draws, 500, 10);
        let context = context();
        let input = plan(&context, schema(Ids::Int), vec![vec![batch(&rows, Ids::Int)]]).await;
        let found = kept(&context, input, &spec(100, 500), key(1), 1 << 20).await;
        let all = rows.iter().filter(|r| r.id.is_some()).map(shown);
        assert_eq!(sorted(found.into_iter().map(|(key, _, rest)| (key, rest))), sorted(all));
    });
}
