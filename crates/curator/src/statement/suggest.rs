//! What may be written next in a statement: keywords, the tables of a FROM, the columns of its tables, settings.
//!
//! It reads words, not grammar, so that it also helps with statements that are not complete yet. All that it offers is
//! public: names of the policy and of SQL.

use super::settings::SETTINGS;
use super::split::split_statement;

/// What SQL has, separated by commas.
const KEYWORDS: &str = "SELECT,FROM,WHERE,GROUP BY,ORDER BY,HAVING,LIMIT,JOIN,LEFT JOIN,ON,USING,AS,\
    AND,OR,NOT,IN,BETWEEN,LIKE,IS NULL,IS NOT NULL,CASE,WHEN,THEN,ELSE,END,WITH,UNION ALL,DISTINCT,\
    DESC,ASC,DATE,COUNT(,SUM(,AVG(,MEDIAN(,MODE(,MIN(,MAX(,STDDEV(,VAR(,CLAMP(,\
    APPROX_PERCENTILE_CONT(,EXPLAIN PRIVACY,SET,SHOW,RESET";

/// Words that end a list of tables.
const ENDS: [&str; 12] = [
    "where", "group", "order", "having", "limit", "on", "using", "union", "select", "set",
    "qualify", "window",
];

/// Words that may follow a table and are no alias of it.
const NO_ALIAS: [&str; 9] =
    ["join", "left", "right", "inner", "outer", "full", "cross", "natural", "lateral"];

/// The names that may be written.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    tables: Vec<(String, Vec<String>)>,
}

/// A word or a sign of a statement.
type Token<'a> = &'a str;

impl Suggestions {
    /// Of these tables with their columns.
    #[must_use]
    pub fn new(tables: Vec<(String, Vec<String>)>) -> Self {
        Self { tables }
    }

    /// The names of the tables, as a statement writes them.
    pub fn tables(&self) -> impl Iterator<Item = String> {
        self.tables.iter().map(|(name, _)| written(name))
    }

    /// What may stand at the cursor, between what is `before` and `after` it: the number of bytes before the cursor that
    /// it replaces, and the texts.
    #[must_use]
    pub fn at(&self, before: &str, after: &str) -> (usize, Vec<String>) {
        let mut before = before;
        while let Some((_, rest)) = split_statement(before) {
            before = rest;
        }
        let after = split_statement(after).map_or(after, |(statement, _)| statement);
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let start = before
            .rfind(|c| !part(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let (ahead, word) = before.split_at(start);
        let ahead = tokens(ahead);
        let setting = matches!(&ahead[..], [first] if is(first, &["set", "show", "reset"]));
        if setting {
            let settings = SETTINGS.iter().map(|(name, _)| (*name).to_owned());
            return (word.len(), beginning(settings, word));
        }
        let scope = self.scope(&[&ahead[..], &[";"], &tokens(after)[..]].concat());
        if let Some((of, column)) = word.rsplit_once('.') {
            let of = of.rsplit('.').next().unwrap_or(of);
            let named = scope.iter().find(|(name, _)| name.eq_ignore_ascii_case(of));
            let columns = match named {
                Some((_, columns)) => columns.to_vec(),
                None => self.tables.iter().flat_map(|(_, columns)| columns.clone()).collect(),
            };
            return (column.len(), beginning(columns.iter().map(|name| written(name)), column));
        }
        if in_table_list(&ahead) {
            let common = common_tables(&ahead).into_iter().map(str::to_owned);
            return (word.len(), beginning(self.tables().chain(common), word));
        }
        let known: Vec<String> = match scope.is_empty() {
            true => self.tables.iter().flat_map(|(_, columns)| columns.clone()).collect(),
            false => scope.iter().flat_map(|(_, columns)| columns.to_vec()).collect(),
        };
        let mut all: Vec<String> = known.iter().map(|name| written(name)).collect();
        // Without a letter, only names of tables that the statement has are short enough to read.
        if word.is_empty() {
            return match scope.is_empty() {
                true => (0, Vec::new()),
                false => (0, beginning(all.into_iter(), "")),
            };
        }
        all.extend(scope.iter().map(|(name, _)| name.clone()));
        all.extend(KEYWORDS.split(',').map(str::to_owned));
        if scope.is_empty() {
            all.extend(self.tables());
        }
        (word.len(), beginning(all.into_iter(), word))
    }

    /// The tables of a statement under the names that they have in it, with their columns.
    fn scope(&self, tokens: &[Token<'_>]) -> Vec<(String, &[String])> {
        let mut found = Vec::new();
        for (at, _) in tokens.iter().enumerate().filter(|(at, _)| in_table_list(&tokens[..*at])) {
            let of = |name: &str| {
                let name = name.trim_matches('"');
                self.tables.iter().find(|(table, _)| table.eq_ignore_ascii_case(name))
            };
            let Some((table, columns)) = of(tokens[at]) else { continue };
            let rest = &tokens[at + 1..];
            let alias = match rest {
                [first, alias, ..] if is(first, &["as"]) => Some(*alias),
                [alias, ..] => Some(*alias),
                [] => None,
            };
            let alias = alias.filter(|alias| is_name(alias) && !is(alias, &ENDS));
            let alias = alias.filter(|alias| !is(alias, &NO_ALIAS));
            found.push((alias.unwrap_or(table).trim_matches('"').to_owned(), columns.as_slice()));
        }
        found
    }
}

/// Whether a table stands after these words.
fn in_table_list(ahead: &[Token<'_>]) -> bool {
    let Some(last) = ahead.last() else { return false };
    if is(last, &["from", "join"]) {
        return true;
    }
    // After a comma: whether the list that it is in began with FROM. Parentheses that are closed are skipped.
    let mut depth = 0usize;
    for token in ahead.iter().rev().take_while(|_| *last == ",") {
        match *token {
            ")" => depth += 1,
            "(" if depth == 0 => return false,
            "(" => depth -= 1,
            ";" => return false,
            word if depth > 0 || !is_name(word) => {}
            word if is(word, &["from"]) => return true,
            word if is(word, &ENDS) || is(word, &["by"]) => return false,
            _ => {}
        }
    }
    false
}

/// The names of common tables: `WITH name AS (`.
fn common_tables<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let named = tokens.windows(3).filter(|three| is(three[1], &["as"]) && three[2] == "(");
    named.map(|three| three[0]).filter(|name| is_name(name)).collect()
}

/// The words and signs of a text, without comments and without what stands between `'` and `'`.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let name = |c: char| c.is_alphanumeric() || c == '_';
        let end = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            c if name(c) => rest.find(|c| !name(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        let counts = !first.is_whitespace() && first != '\'' && !token.starts_with("--");
        if counts {
            found.push(token);
        }
        rest = after;
    }
    found
}

fn is(token: &str, words: &[&str]) -> bool {
    words.iter().any(|word| token.eq_ignore_ascii_case(word))
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '"')
}

/// A name as a statement writes it: quoted where it has other characters than a name without quotes.
fn written(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    match name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Those that begin like the word, in their order and once.
fn beginning(names: impl Iterator<Item = String>, word: &str) -> Vec<String> {
    let begun = word.to_lowercase();
    let bare = |name: &str| name.trim_start_matches('"').to_lowercase();
    let mut fitting: Vec<String> = names.filter(|name| bare(name).starts_with(&begun)).collect();
    fitting.sort();
    fitting.dedup();
    fitting
}

#[cfg(test)]
mod tests;
