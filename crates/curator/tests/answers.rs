//! Whole statements: how often the intervals of their answers hold, and what costs nothing as it cannot be answered.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "answers/asking.rs"]
mod asking;
#[path = "answers/before_paying.rs"]
mod before_paying;
#[path = "answers/intervals.rs"]
mod intervals;
#[path = "answers/own_numbers.rs"]
mod own_numbers;
