//! The policy's tables, as the planner sees them and as the engine reads them.

pub(crate) mod catalog;
mod csv_files;
pub(crate) mod read_all;
pub(crate) mod series;
pub(crate) mod source;
mod table;
