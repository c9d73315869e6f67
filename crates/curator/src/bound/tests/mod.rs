//! Tests of the whole: `tables` makes data and runs it, `definition` is the
//! bounding as a few slow lines.

mod caps;
mod choice;
mod definition;
mod invariance;
mod spilling;
mod sql;
mod tables;
mod values;
