//! The choice is even: over many keys, every row and every group of a person
//! is kept equally often. False alarm 1e-6 on fixed seeds: a failure is a bug.

use super::definition::{Ids, Row, batch, schema, spec};
use super::tables::{context, kept, key, plan, runtime};
use datafusion::common::ScalarValue;
use std::collections::BTreeMap;

const KEYS: u64 = 2_000;

fn row(id: i64, key: &str, value: u8) -> Row {
    Row { id: Some(id), key: Some(key.to_owned()), value: Some(value), code: None }
}

fn chi_square(found: &[f64], expected: &[f64]) -> f64 {
    found.iter().zip(expected).map(|(f, e)| (f - e) * (f - e) / e).sum()
}

#[test]
fn groups_are_chosen_evenly() {
    runtime().block_on(async {
        let context = context();
        let names = ["a", "b", "c", "d", "e", "f"];
        // One group has many more rows than the others: that must not matter.
        let mut rows: Vec<Row> = names.iter().map(|name| row(1, name, 0)).collect();
        rows.extend((0..20).map(|i| row(1, "a", i % 9)));
        let mut counts = BTreeMap::new();
        for seed in 0..KEYS {
            let input = plan(&context, schema(Ids::Int), vec![vec![batch(&rows, Ids::Int)]]).await;
            for (key, first, _) in kept(&context, input, &spec(2, 50), key(seed), 1 << 20).await {
                *counts.entry(format!("{key:?}")).or_insert(0.0) += f64::from(u8::from(first));
            }
        }
        let counts: Vec<f64> = counts.into_values().collect();
        // Two of six, without replacement: the statistic is (1 − 1/6·…)χ²(5) at most.
        let even = vec![KEYS as f64 * 2.0 / 6.0; 6];
        assert_eq!(counts.iter().sum::<f64>(), 2.0 * KEYS as f64);
        assert!(chi_square(&counts, &even) < 35.9, "{counts:?}"); // χ²(5), upper 1e-6
        let skew: Vec<f64> =
            counts.iter().enumerate().map(|(i, c)| if i == 0 { c * 1.3 } else { *c }).collect();
        assert!(chi_square(&skew, &even) > 35.9);
    });
}

#[test]
fn rows_are_chosen_evenly_copies_and_all() {
    runtime().block_on(async {
        let context = context();
        // Nine zeros and one each of 3, 6 and 9; four stay. Each *row* is as
        // likely as every other, so zeros make up nine twelfths of what stays.
        let mut rows: Vec<Row> = (0..9).map(|_| row(1, "a", 0)).collect();
        rows.extend([3, 6, 9].map(|value| row(1, "a", value)));
        let mut counts = [0.0; 4];
        for seed in 0..KEYS {
            let input = plan(&context, schema(Ids::Int), vec![vec![batch(&rows, Ids::Int)]]).await;
            for (_, _, arguments) in kept(&context, input, &spec(1, 4), key(seed), 1 << 20).await {
                let Some(ScalarValue::UInt32(Some(value))) = arguments[0] else { panic!() };
                counts[value as usize / 3] += 1.0;
            }
        }
        let each = KEYS as f64 * 4.0 / 12.0;
        let even = [9.0 * each, each, each, each];
        assert!(chi_square(&counts, &even) < 30.7, "{counts:?}"); // χ²(3), upper 1e-6
        // If copies were kept or dropped together, each of the four values would be equally likely.
        assert!(chi_square(&[KEYS as f64; 4], &even) > 30.7);
    });
}
