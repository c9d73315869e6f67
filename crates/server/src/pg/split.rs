//! Statements of one message, and what kind each is.

/// The statements between semicolons, which count outside of quotes and comments only.
pub(super) fn statements(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let rest = &text[at..];
        at += match bytes[at] {
            b';' => {
                found.push(&text[from..at]);
                from = at + 1;
                1
            }
            quote @ (b'\'' | b'"') => quoted(&bytes[at..], quote),
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => comment(rest),
            b'$' => dollars(rest),
            _ => 1,
        };
        // Not within a character.
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    found.push(&text[from..]);
    found.into_iter().map(str::trim).filter(|statement| !statement.is_empty()).collect()
}

/// The length of a quoted text; a doubled quote ends one and begins the next.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    bytes.iter().skip(1).position(|&byte| byte == quote).map_or(bytes.len(), |end| end + 2)
}

/// The length of a comment; comments nest.
fn comment(text: &str) -> usize {
    let (bytes, mut depth, mut at) = (text.as_bytes(), 0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// The length of a text between `$tag$` and `$tag$`; of anything else that begins with `$`, 1.
fn dollars(text: &str) -> usize {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let end = text[1..].find(|c| !name(c)).map(|end| end + 1);
    let is_tag = |end: usize| {
        text[end..].starts_with('$') && !text[1..end].starts_with(|c: char| c.is_ascii_digit())
    };
    match end.filter(|&end| is_tag(end)) {
        Some(end) => {
            let tag = &text[..=end];
            text[end + 1..].find(tag).map_or(text.len(), |close| end + 1 + close + tag.len())
        }
        None => 1,
    }
}

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
mod tests {
    use super::*;

    #[test]
    fn semicolons_within_quotes_and_comments_do_not_count() {
        for (text, expected) in [
            ("SELECT 1", vec!["SELECT 1"]),
            ("a; b ;; c;", vec!["a", "b", "c"]),
            ("SELECT ';', \";\" ; x", vec!["SELECT ';', \";\"", "x"]),
            ("SELECT 'it''s; me'; y", vec!["SELECT 'it''s; me'", "y"]),
            ("a -- b; c\n; d", vec!["a -- b; c", "d"]),
            ("a /* ; /* ; */ ; */; b", vec!["a /* ; /* ; */ ; */", "b"]),
            ("SELECT $$;$$, $x$;$y$;$x$; b", vec!["SELECT $$;$$, $x$;$y$;$x$", "b"]),
            ("SELECT $1; $2", vec!["SELECT $1", "$2"]),
            ("'é;", vec!["'é;"]),
            ("/* é", vec!["/* é"]),
            ("$é; b", vec!["$é", "b"]),
            ("", vec![]),
            (" ;; ", vec![]),
        ] {
            assert_eq!(statements(text), expected, "{text}");
        }
    }

    #[test]
    fn formalities_are_told_from_questions() {
        for (text, expected) in [
            ("BEGIN", Some(Formality::Begin)),
            ("start transaction read only", Some(Formality::Begin)),
            ("COMMIT;", Some(Formality::End("COMMIT"))),
            ("rollback to x", Some(Formality::End("ROLLBACK"))),
            ("SET extra_float_digits = 3", Some(Formality::Nothing("SET"))),
            ("set session characteristics as transaction read only", None),
            ("SET client_encoding='UTF8'", Some(Formality::Nothing("SET"))),
            ("SET demure.epsilon = 1", None),
            ("RESET demure.epsilon", None),
            ("RESET ALL", Some(Formality::Reset(false))),
            ("RESET timezone", Some(Formality::Nothing("RESET"))),
            ("DISCARD ALL;", Some(Formality::Reset(true))),
            ("DISCARD PLANS", Some(Formality::Nothing("DISCARD"))),
            ("DEALLOCATE ALL", Some(Formality::Deallocate(None))),
            ("deallocate prepare S_1", Some(Formality::Deallocate(Some("s_1".into())))),
            ("DEALLOCATE \"S\"\"1\"", Some(Formality::Deallocate(Some("S\"1".into())))),
            ("DEALLOCATE a b", None),
            ("DEALLOCATE", None),
            ("SELECT 1", None),
            ("DROP TABLE x", None),
            ("", None),
        ] {
            assert_eq!(formality(text), expected, "{text}");
        }
    }
}
