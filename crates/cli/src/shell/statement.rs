//! Where a statement ends: at a `;` outside quotes and comments.

/// What the characters so far have opened.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    Quote(char),
    Line,
    Block,
}

/// The first statement, without its `;`, and what follows; nothing if it has no end yet.
pub(super) fn split(text: &str) -> Option<(String, String)> {
    let mut inside = Inside::Nothing;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        match (inside, c) {
            (Inside::Nothing, ';') => {
                return Some((text[..at].to_owned(), text[at + 1..].to_owned()));
            }
            (Inside::Nothing, '\'' | '"') => inside = Inside::Quote(c),
            (Inside::Nothing, '-') if next == Some('-') => inside = Inside::Line,
            (Inside::Nothing, '/') if next == Some('*') => {
                inside = Inside::Block;
                characters.next();
            }
            (Inside::Quote(open), _) if c == open => inside = Inside::Nothing,
            (Inside::Line, '\n') => inside = Inside::Nothing,
            (Inside::Block, '*') if next == Some('/') => {
                inside = Inside::Nothing;
                characters.next();
            }
            _ => {}
        }
    }
    None
}

/// Whether more than space and whole-line comments is left.
pub(super) fn left_over(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_outside_quotes_and_comments() {
        for (text, first, rest) in [
            ("a; b", "a", " b"),
            ("a ';' ; b", "a ';' ", " b"),
            ("a 'it''s;' ;", "a 'it''s;' ", ""),
            ("\"x;y\";", "\"x;y\"", ""),
            ("a -- ; \n;", "a -- ; \n", ""),
            ("a /* ; */;", "a /* ; */", ""),
            ("a - 1;", "a - 1", ""),
            (";", "", ""),
        ] {
            assert_eq!(split(text), Some((first.to_owned(), rest.to_owned())), "{text}");
        }
        for open in ["a", "a ';", "a -- ;", "/* ; *", ""] {
            assert_eq!(split(open), None, "{open}");
        }
        assert!(left_over("SELECT 1\n") && !left_over("\n  -- done\n"));
    }
}
