//! Tests of the whole ledger over stores that fail.

mod batches;
mod failing;
mod failures;
