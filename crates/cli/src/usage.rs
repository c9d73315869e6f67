//! Mistakes in the call, told without repeating what was typed: it may be protected.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::process::ExitCode;

/// Prints help, the version or a mistake; exit code 0 or 2.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    match mistake(error) {
        Some(text) => eprintln!("error: {text}"),
        // What clap says here holds names of options only. A closed stream is no matter.
        None => drop(error.print()),
    }
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// The mistake in words, for one that was found later than in the call itself.
pub(crate) fn words(error: &clap::Error) -> String {
    // What clap says otherwise holds names of options only, after its own "error: ".
    let own = || error.to_string().trim_start_matches("error: ").trim_end().to_owned();
    mistake(error).unwrap_or_else(own)
}

/// Our words for the kinds of error whose own text would repeat a value.
fn mistake(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(all)) => all.join(", "),
        _ => String::new(),
    };
    // `--value <VALUE>` → `--value`; `<NAME>` of an argument without a flag → `NAME`.
    let argument = text(ContextKind::InvalidArg);
    let option = argument.split([' ', '=']).next().unwrap_or_default();
    let name = option.trim_matches(['<', '>', '[', ']', '.']);
    Some(match error.kind() {
        ErrorKind::ValueValidation => {
            let why = error.source().map_or("is not valid".to_owned(), ToString::to_string);
            format!("{name} {why}")
        }
        ErrorKind::InvalidValue => match text(ContextKind::ValidValue) {
            all if all.is_empty() => format!("{name} needs a value"),
            all => format!("{name} must be one of: {all}"),
        },
        ErrorKind::TooManyValues => format!("{name} takes no value"),
        ErrorKind::UnknownArgument if option.starts_with("--") && is_word(option) => {
            let hint = match text(ContextKind::SuggestedArg) {
                near if near.is_empty() => "hint: --help lists the options".to_owned(),
                near => format!("hint: did you mean {near}?"),
            };
            format!("there is no option {option} here\n{hint}")
        }
        ErrorKind::UnknownArgument => "an argument too many, not shown here as it may be data\n\
             hint: a list has no spaces (1,2,3), and every value its option (--value 10)"
            .to_owned(),
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand);
            let shown = if is_word(&typed) { format!(" `{typed}`") } else { String::new() };
            let hint = match text(ContextKind::SuggestedSubcommand) {
                near if near.is_empty() => "--help lists the subcommands".to_owned(),
                near => format!("did you mean {near}?"),
            };
            format!("there is no such subcommand{shown}\nhint: {hint}")
        }
        _ => return None,
    })
}

/// Letters and hyphens only: the name of something, not a number from someone's data.
fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && text.contains(char::is_alphabetic)
}
