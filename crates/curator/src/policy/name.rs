//! Names of tables: plain, so that no query needs to quote them.

/// PostgreSQL truncates longer names.
const LONGEST: usize = 63;

/// Whether a name is `[a-z_][a-z0-9_]*`, of at most 63 characters.
pub(super) fn is_plain(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.len() <= LONGEST
        && name.bytes().next().is_some_and(letter)
        && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// The plain name that looks most like `name`.
pub(crate) fn made_plain(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .take(LONGEST - 1)
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '_' })
        .collect();
    if plain.is_empty() {
        plain.push_str("data");
    }
    if plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    plain
}

#[cfg(test)]
mod tests;
