//! The answer: a table, what it cost, and what is left.
//!
//! | file | what |
//! |---|---|
//! | `cells.rs` | an answer cell by cell, for those who show it |
//! | `deferred.rs` | the noised table that the rest of a plan reads |
//! | `intervals.rs` | the columns `x_low` and `x_high` |
//! | `term.rs` | the interval of what is computed from released numbers |
//! | `lasting.rs` | functions whose result changes from run to run |
//! | `cache.rs` | answers of this process, by the text of their question |
//! | `flight.rs` | buys an answer once if several analysts ask at the same time |
//! | `explain.rs` | `EXPLAIN PRIVACY` |

pub(crate) mod cache;
pub(crate) mod cells;
pub(crate) mod deferred;
pub(crate) mod explain;
pub(crate) mod flight;
pub(crate) mod intervals;
pub(crate) mod lasting;
mod term;

use crate::aggregate::ColumnQuote;
use crate::words;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use demure_ledger::{Accounting, Balance, Price};
use std::sync::Arc;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
    /// What it cost this analyst, in the budget's unit: nothing if they received it before, otherwise its full price,
    /// whether or not another analyst had bought it.
    pub price: Price,
    /// What is spent and left.
    pub balance: Balance,
    /// Whether this analyst received all of it before; if the policy shares answers, whether all of it was bought
    /// before.
    pub repeated: bool,
    /// The noised columns that it was computed from, with their expected errors.
    pub columns: Vec<ColumnQuote>,
    /// Advice.
    pub notes: Vec<String>,
}

impl Answer {
    /// The same answer, returned again.
    pub(crate) fn again(&self, balance: Balance) -> Self {
        let price = Price { main: 0.0, delta: 0.0 };
        Self { price, balance, repeated: true, notes: Vec::new(), ..self.clone() }
    }

    /// What it cost and what is left: `cost ε 0.5; left ε 2.5 of 3`.
    #[must_use]
    pub fn cost_in_words(&self) -> String {
        let concentrated = self.balance.limit.accounting == Accounting::Zcdp;
        let cost = match self.repeated {
            true => "nothing: this was bought before".to_owned(),
            false => words::price(&self.price, concentrated),
        };
        format!("cost {cost}; left {}", words::left(&self.balance))
    }

    /// Each noised column's expected error: `count(*): ± 6 (95 %)`.
    #[must_use]
    pub fn errors_in_words(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for column in &self.columns {
            let line = format!("{}: {} (95 %)", column.name, explain::expected(column));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// The parameters and columns of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The types of its parameters, `$1` first.
    pub parameters: Vec<DataType>,
    /// Its columns; empty for a statement that returns no rows.
    pub schema: SchemaRef,
}

impl Default for Description {
    fn default() -> Self {
        Self { parameters: Vec::new(), schema: Arc::new(Schema::empty()) }
    }
}

impl Description {
    /// One column of text.
    pub(crate) fn of_text(name: &str) -> Self {
        let schema = Schema::new(vec![Field::new(name, DataType::Utf8, false)]);
        Self { parameters: Vec::new(), schema: Arc::new(schema) }
    }
}
