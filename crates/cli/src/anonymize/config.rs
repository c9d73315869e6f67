//! A job from a TOML file: every key is an option's name, so a file says what a call would.
//!
//! The file becomes arguments that go before those of the call, so that the call wins.
//! Paths are relative to the file.

use super::options::Source;
use crate::Failure;
use clap::Parser;
use demure_anonymize::job::arguments;
use std::path::Path;

/// The same options, read again with those of a job file before them.
#[derive(Parser)]
#[command(no_binary_name = true, args_override_self = true)]
struct Again<T: clap::Args> {
    #[command(flatten)]
    args: T,
}

/// What the job file says, overruled by what was typed from the `skip`-th word of the call on.
///
/// The file's `input` is left out if the call names a table, and so are the keys to be skipped.
pub(super) fn merged<T: clap::Args>(
    args: T,
    source: impl Fn(&T) -> &Source,
    skip: usize,
    skip_key: impl Fn(&str) -> bool,
) -> Result<T, Failure> {
    let Source { config: Some(path), file, .. } = source(&args) else { return Ok(args) };
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| Failure::File { what: format!("reading {shown}"), source })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let skipped = |key: &str| (file.is_some() && key == "input") || skip_key(key);
    let mut words = arguments(&text, folder, &skipped)
        .map_err(|why| Failure::usage(format!("{shown}: {why}")))?;
    words.extend(std::env::args_os().skip(skip));
    let again = Again::try_parse_from(words);
    Ok(again.map_err(|error| Failure::usage(crate::usage::words(&error)))?.args)
}
