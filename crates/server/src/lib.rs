//! Who may ask: the PostgreSQL wire, HTTP and the console.

pub mod scram;
pub mod users;
