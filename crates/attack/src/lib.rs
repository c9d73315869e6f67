//! What an adversary learns: attacks on releases, and audits of mechanisms.
//!
//! | module | what |
//! |---|---|
//! | [`audit`] | a lower bound on the ε that a mechanism really has, from its outputs |
//!
//! # What this crate does not do
//! It protects nothing and reads no file: it is given answers and says what they give away.

#![forbid(unsafe_code)]

pub mod audit;
