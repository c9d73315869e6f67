//! Named fields, as aligned text or as JSON.

use crate::number::full;
use crate::{WriteError, padded, printable_lines, width};
use serde_json::{Map, Value};
use std::io::Write;

/// An ordered list of named fields.
#[derive(Default)]
pub struct Report {
    fields: Vec<Field>,
}

struct Field {
    name: &'static str,
    /// The text; `None` if the field is only in JSON.
    text: Option<String>,
    json: Value,
}

impl Report {
    /// A field with the same value in both forms.
    #[must_use]
    pub fn field(self, name: &'static str, value: impl Into<Value>) -> Self {
        let json = value.into();
        let text = plain(&json);
        self.with(name, Some(text), json)
    }

    /// A field whose text says more than its JSON value.
    #[must_use]
    pub fn described(
        self,
        name: &'static str,
        value: impl Into<Value>,
        text: impl Into<String>,
    ) -> Self {
        self.with(name, Some(text.into()), value.into())
    }

    /// A field in JSON only.
    #[must_use]
    pub fn hidden(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.with(name, None, value.into())
    }

    fn with(mut self, name: &'static str, text: Option<String>, json: Value) -> Self {
        self.fields.push(Field { name, text, json });
        self
    }

    /// The fields of this report, then those of `other`.
    #[must_use]
    pub fn append(mut self, other: Self) -> Self {
        self.fields.extend(other.fields);
        self
    }

    /// Writes one JSON object, or one line per field.
    pub fn print(&self, json: bool, out: &mut impl Write) -> Result<(), WriteError> {
        let text = if json { format!("{{{}}}\n", self.members()) } else { self.text() };
        Ok(out.write_all(text.as_bytes())?)
    }

    /// A field's text, or an empty one.
    #[must_use]
    pub fn text_of(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|f| f.name == name);
        field.and_then(|f| f.text.as_deref()).unwrap_or_default()
    }

    /// The fields as JSON, without the braces around them.
    #[must_use]
    pub fn members(&self) -> String {
        let member = |f: &Field| format!("{}:{}", Value::from(f.name), f.json);
        self.fields.iter().map(member).collect::<Vec<_>>().join(",")
    }

    fn text(&self) -> String {
        let shown = || self.fields.iter().filter_map(|f| f.text.as_ref().map(|t| (f.name, t)));
        let columns = shown().map(|(name, _)| width(name)).max().unwrap_or(0) + 2;
        let indent = format!("\n{}", " ".repeat(columns));
        let line = |(name, text): (&str, &String)| {
            let text = printable_lines(text).replace('\n', &indent);
            format!("{}{text}\n", padded(name, columns, false))
        };
        shown().map(line).collect()
    }
}

/// A JSON value in plain text: an object or array takes one line per entry.
#[must_use]
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        Value::Object(entries) => {
            let columns = entries.keys().map(|key| width(key)).max().unwrap_or(0) + 2;
            let line = |(k, v): (&String, &Value)| padded(k, columns, false) + &plain(v);
            entries.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() => full(x),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The same in one line: `a=1,b=2`, `a,b`.
#[must_use]
pub fn line(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(line).collect::<Vec<_>>().join(","),
        Value::Object(entries) => {
            let entry = |(k, v): (&String, &Value)| format!("{k}={}", line(v));
            entries.iter().map(entry).collect::<Vec<_>>().join(",")
        }
        other => plain(other),
    }
}

/// A JSON object of named values, in order.
pub fn named<K: Into<String>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Value {
    Value::Object(entries.into_iter().map(|(k, v)| (k.into(), v.into())).collect::<Map<_, _>>())
}

/// An integer as JSON; beyond 64 bits, where JSON readers lose digits too, the nearest float.
#[must_use]
pub fn integer(value: i128) -> Value {
    i64::try_from(value).map_or_else(|_| Value::from(value as f64), Value::from)
}

#[cfg(test)]
mod tests;
