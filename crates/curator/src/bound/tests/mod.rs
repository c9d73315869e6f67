//! Tests of the whole module: `tables` makes data and runs the operator, `definition` defines the bounding in a few
//! slow lines.

mod caps;
mod choice;
mod definition;
mod invariance;
mod spilling;
mod sql;
mod tables;
mod values;
mod weights;
