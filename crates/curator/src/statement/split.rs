//! Where a statement ends: at a `;` outside of quotes and comments.

/// The statements between semicolons.
#[must_use]
pub fn statements(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((statement, after)) = split_statement(rest) {
        found.push(statement);
        rest = after;
    }
    found.push(rest);
    found.into_iter().map(str::trim).filter(|statement| !statement.is_empty()).collect()
}

/// The first statement, without its `;`, and what follows; nothing if it has no end yet.
#[must_use]
pub fn split_statement(text: &str) -> Option<(&str, &str)> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        at += match bytes[at] {
            b';' => return Some((&text[..at], &text[at + 1..])),
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
    None
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

#[cfg(test)]
mod tests;
