//! What kind a statement is.

/// What is neither asked of the curator nor of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Formality {
    /// A transaction begins: there is nothing in it to undo.
    Begin,
    /// It ends; the word it ends with.
    End(&'static str),
    /// Something that clients say and that changes nothing here.
    Nothing(&'static str),
    /// A prepared statement is forgotten; without a name, all are.
    Deallocate(Option<String>),
    /// Settings are what they were at first; with `true`, prepared statements are forgotten too.
    Reset(bool),
}

/// Settings of clients that are accepted and change nothing.
const HARMLESS: &[&str] = &[
    "application_name",
    "bytea_output",
    "client_encoding",
    "client_min_messages",
    "datestyle",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "extra_float_digits",
    "idle_in_transaction_session_timeout",
    "intervalstyle",
    "lock_timeout",
    "names",
    "row_security",
    "search_path",
    "session",
    "standard_conforming_strings",
    "time",
    "timezone",
    "transaction",
];

/// Which formality a statement is, if any.
pub(super) fn formality(statement: &str) -> Option<Formality> {
    let mut words = statement.split(|c: char| c.is_whitespace() || c == '=' || c == ';');
    let mut next = || words.find(|word| !word.is_empty()).map(str::to_ascii_lowercase);
    let first = next()?;
    Some(match first.as_str() {
        "begin" | "start" => Formality::Begin,
        "commit" | "end" => Formality::End("COMMIT"),
        "rollback" | "abort" => Formality::End("ROLLBACK"),
        "discard" if next()? == "all" => Formality::Reset(true),
        "discard" => Formality::Nothing("DISCARD"),
        "deallocate" => return deallocate(statement),
        "close" => Formality::Nothing("CLOSE CURSOR"),
        "listen" | "unlisten" => Formality::Nothing("UNLISTEN"),
        "savepoint" => Formality::Nothing("SAVEPOINT"),
        "release" => Formality::Nothing("RELEASE"),
        "reset" => match next()?.as_str() {
            "all" => Formality::Reset(false),
            name if name.starts_with("demure.") => return None,
            _ => Formality::Nothing("RESET"),
        },
        "set" => {
            let mut name = next()?;
            if name == "local" || name == "session" {
                name = next()?;
            }
            match HARMLESS.contains(&name.trim_matches('"')) {
                true => Formality::Nothing("SET"),
                false => return None,
            }
        }
        _ => return None,
    })
}

/// `DEALLOCATE [PREPARE] name | "Name" | ALL`. Names keep their case only within quotes.
fn deallocate(statement: &str) -> Option<Formality> {
    let mut words = statement.trim_end_matches(';').split_whitespace().skip(1);
    let mut name = words.next()?;
    if name.eq_ignore_ascii_case("prepare") {
        name = words.next()?;
    }
    if words.next().is_some() {
        return None;
    }
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    Some(Formality::Deallocate(match quoted {
        Some(name) => Some(name.replace("\"\"", "\"")),
        None if name.eq_ignore_ascii_case("all") => None,
        None => Some(name.to_lowercase()),
    }))
}

#[cfg(test)]
mod tests;
