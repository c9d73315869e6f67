//! Made-up tables for tests: columns that depend on each other, drawn from a fixed seed.

use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_synth::{CodedTable, Column, Price, Schema};

/// splitmix64.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }
}

/// A table whose columns follow a hidden number and the column before, with some noise.
pub(crate) fn table(schema: &Schema, rows: usize, seed: u64) -> CodedTable {
    let mut draw = Draw(seed);
    let mut columns = vec![Vec::with_capacity(rows); schema.columns().len()];
    for _ in 0..rows {
        let hidden = draw.below(1000);
        let mut before = hidden;
        for (column, codes) in schema.columns().iter().zip(&mut columns) {
            let n = column.codes();
            let code = match draw.below(4) {
                0 => draw.below(n) * draw.below(n + 1) / n.max(1), // skewed
                1 | 2 => hidden * n / 1000,
                _ => before * 7 % n,
            };
            before = code;
            codes.push(code.min(n - 1) as u16);
        }
    }
    CodedTable::new(schema, columns).unwrap()
}

/// A schema with these numbers of codes, ordered and categorical in turn.
pub(crate) fn schema(codes: &[usize]) -> Schema {
    let columns = codes.iter().enumerate().map(|(i, &codes)| {
        let name = format!("c{i}");
        match i % 2 {
            0 => Column::ordered(name, codes).unwrap(),
            _ => Column::categorical(name, codes).unwrap(),
        }
    });
    Schema::new(columns.collect()).unwrap()
}

pub(crate) fn price(epsilon: f64, neighbours: Neighbours) -> Price {
    let guarantee =
        Guarantee::Approximate(Epsilon::new(epsilon).unwrap(), Delta::new(1e-9).unwrap());
    Price::new(guarantee, neighbours).unwrap()
}

/// The rows of a table, one by one.
pub(crate) fn rows(table: &CodedTable) -> Vec<Vec<u16>> {
    (0..table.rows())
        .map(|row| table.columns().iter().map(|column| column[row]).collect())
        .collect()
}

pub(crate) fn of_rows(schema: &Schema, rows: &[Vec<u16>]) -> CodedTable {
    let columns = (0..schema.columns().len())
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect();
    CodedTable::new(schema, columns).unwrap()
}

/// Panics unless every code is in its domain and all columns have as many rows.
pub(crate) fn assert_valid(schema: &Schema, table: &CodedTable) {
    assert_eq!(table.columns().len(), schema.columns().len());
    for (codes, column) in table.columns().iter().zip(schema.columns()) {
        assert_eq!(codes.len(), table.rows());
        assert!(codes.iter().all(|code| usize::from(*code) < column.codes()));
    }
}

/// The mean total variation distance over all pairs of columns.
pub(crate) fn pair_error(schema: &Schema, real: &CodedTable, made: &CodedTable) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0);
    let columns = schema.columns();
    for a in 0..columns.len() {
        for b in a + 1..columns.len() {
            let shares = |table: &CodedTable| {
                let mut shares = vec![0.0; columns[a].codes() * columns[b].codes()];
                for (x, y) in table.columns()[a].iter().zip(&table.columns()[b]) {
                    let cell = usize::from(*x) * columns[b].codes() + usize::from(*y);
                    shares[cell] += 1.0 / table.rows() as f64;
                }
                shares
            };
            let apart = shares(real).into_iter().zip(shares(made)).map(|(x, y)| (x - y).abs());
            sum += apart.sum::<f64>() / 2.0;
            pairs += 1;
        }
    }
    sum / f64::from(pairs)
}
