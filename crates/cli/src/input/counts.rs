//! How often each key occurs: typed, or counted in a file.

use super::{Column, Pairs};
use crate::Failure;
use std::collections::BTreeMap;

/// Where counts come from.
#[derive(clap::Args)]
pub(crate) struct Counts {
    #[command(flatten)]
    column: Column,

    /// The counts themselves, instead of a file
    #[arg(long, value_name = "NAME=N,…", conflicts_with = "file", allow_hyphen_values = true)]
    counts: Option<Pairs<u64>>,
}

impl Counts {
    /// Whether the keys were typed, and so are public already.
    pub(crate) fn typed(&self) -> Option<&[(String, u64)]> {
        self.counts.as_ref().map(|pairs| pairs.0.as_slice())
    }

    /// Whether counts are given where they are needed. No file is opened.
    pub(crate) fn check(&self, explain: bool) -> Result<(), Failure> {
        match explain || self.column.file.is_some() || self.counts.is_some() {
            true => Ok(()),
            false => {
                Err(Failure::usage("no data: give a file and --column NAME, or --counts a=10,b=3"))
            }
        }
    }

    /// The count of every key, unless nothing is to be drawn from them. In a
    /// file, every row counts once for its cell; an empty cell is no key.
    pub(crate) fn read(&self, explain: bool) -> Result<BTreeMap<String, u64>, Failure> {
        let mut counts = BTreeMap::new();
        let count = |cell: Option<&str>| {
            if let Some(key) = cell.map(str::trim).filter(|key| !key.is_empty()) {
                *counts.entry(key.to_owned()).or_default() += 1;
            }
        };
        if self.column.read(count)? {
            return Ok(counts);
        }
        self.check(explain)?;
        match self.typed() {
            Some(pairs) => Ok(pairs.iter().cloned().collect()),
            None => Ok(counts),
        }
    }
}
