//! The PostgreSQL wire.

pub mod catalog;
