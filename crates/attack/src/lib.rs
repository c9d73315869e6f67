//! What an adversary learns: attacks on releases, and audits of mechanisms.
//!
//! # What this crate does not do
//! It protects nothing and reads no file: it is given answers and says what they give away.

#![forbid(unsafe_code)]
