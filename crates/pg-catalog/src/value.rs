//! The value of a cell of the catalog, and its text form in PostgreSQL.

use std::cmp::Ordering;
use std::sync::Arc;

/// A value. Its SQL type is known when a statement is bound, not here: every integer and object identifier is an
/// `Int`, every kind of character data a `Text`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    /// An array, or the fields of a record.
    List(Arc<[Value]>),
}

/// One row of anything.
pub(crate) type Row = Vec<Value>;

/// Text.
pub(crate) fn text(text: impl AsRef<str>) -> Value {
    Value::Text(Arc::from(text.as_ref()))
}

/// An integer or an object identifier.
pub(crate) fn int(int: impl Into<i64>) -> Value {
    Value::Int(int.into())
}

/// An array.
pub(crate) fn list(items: Vec<Value>) -> Value {
    Value::List(items.into())
}

/// An array of texts.
pub(crate) fn texts(items: &[&str]) -> Value {
    list(items.iter().map(text).collect())
}

impl Value {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// SQL's truth value: `None` is unknown.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(*int),
            Self::Float(float) => Some(*float as i64),
            _ => None,
        }
    }

    pub(crate) fn str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    pub(crate) fn items(&self) -> &[Value] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The space it takes, in the units of a statement's budget.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64 / 4,
            Self::List(items) => items.iter().map(|item| 1 + item.size()).sum(),
            _ => 0,
        }
    }

    /// PostgreSQL's text output.
    pub(crate) fn output(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(true) => "t".to_owned(),
            Self::Bool(false) => "f".to_owned(),
            Self::Int(int) => int.to_string(),
            Self::Float(float) => float.to_string(),
            Self::Text(text) => text.to_string(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::element).collect();
                format!("{{{}}}", items.join(","))
            }
        }
    }

    fn element(&self) -> String {
        let plain = self.output();
        let special = |c: char| matches!(c, '{' | '}' | ',' | '"' | '\\') || c.is_whitespace();
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Text(text)
                if text.is_empty()
                    || text.eq_ignore_ascii_case("null")
                    || text.contains(special) =>
            {
                format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
            }
            _ => plain,
        }
    }

    /// The order of `ORDER BY`, `min`, `=` and the rest: NULL comes last.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Greater,
            (_, Self::Null) => Ordering::Less,
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Int(a), Self::Float(b)) => (*a as f64).total_cmp(b),
            (Self::Float(a), Self::Int(b)) => a.total_cmp(&(*b as f64)),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => {
                let pairs = a.iter().zip(b.iter()).map(|(a, b)| a.order(b));
                pairs.into_iter().find(|o| o.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            // Binding gave both sides the same type; if it did not, this keeps the order total.
            _ => self.output().cmp(&other.output()),
        }
    }

    /// A key that equal values share: for joins, groups and DISTINCT.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Null => "N".to_owned(),
            Self::Float(f) if f.fract() == 0.0 && f.abs() < 9e15 => format!("v{}", *f as i64),
            _ => format!("v{}", self.output()),
        }
    }
}

/// The key of a whole row.
pub(crate) fn row_key(row: &[Value]) -> String {
    let mut key = String::new();
    for value in row {
        let part = value.key();
        key.push_str(&part.len().to_string());
        key.push(':');
        key.push_str(&part);
    }
    key
}

/// Splits the text form of an array, `{a,"b c",NULL}`, into its elements.
pub(crate) fn split_array(text: &str) -> Result<Vec<Option<String>>, String> {
    let malformed = || format!("malformed array literal: \"{text}\"");
    let inner = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    let inner = inner.ok_or_else(malformed)?;
    let (mut items, mut item, mut quoted, mut was_quoted) =
        (Vec::new(), String::new(), false, false);
    let mut characters = inner.chars();
    let mut finish = |item: &mut String, was_quoted: &mut bool| {
        let text = std::mem::take(item);
        let null = !*was_quoted && text.trim().eq_ignore_ascii_case("null");
        let text = if *was_quoted { text } else { text.trim().to_owned() };
        *was_quoted = false;
        items.push((!null).then_some(text));
    };
    while let Some(c) = characters.next() {
        match c {
            '\\' => item.push(characters.next().ok_or_else(malformed)?),
            '"' => (quoted, was_quoted) = (!quoted, true),
            ',' if !quoted => finish(&mut item, &mut was_quoted),
            '{' | '}' if !quoted => return Err(malformed()),
            c => item.push(c),
        }
    }
    if quoted {
        return Err(malformed());
    }
    if !inner.trim().is_empty() {
        finish(&mut item, &mut was_quoted);
    }
    Ok(items)
}
