//! Functions of texts and arrays.

use super::Inner;
use super::evaluate::at_most;
use super::names;
use super::value::{Value, int, list, text};

type Answer = Result<Value, String>;

pub(crate) fn length(_: &Inner, args: &[Value]) -> Answer {
    Ok(int(args[0].str().chars().count() as i64))
}

pub(crate) fn replace(_: &Inner, args: &[Value]) -> Answer {
    let (subject, from, to) = (args[0].str(), args[1].str(), args[2].str());
    if from.is_empty() {
        return Ok(args[0].clone());
    }
    let grown = subject.matches(from).count().saturating_mul(to.len());
    at_most(grown + subject.len())?;
    Ok(text(subject.replace(from, to)))
}

pub(crate) fn substring(_: &Inner, args: &[Value]) -> Answer {
    let from = args[1].int().unwrap_or(1);
    let to = args.get(2).and_then(Value::int).map(|length| from.saturating_add(length));
    let inside = |at: i64| at >= from && to.is_none_or(|to| at < to);
    let characters = args[0].str().chars().zip(1..);
    Ok(text(characters.filter(|(_, at)| inside(*at)).map(|(c, _)| c).collect::<String>()))
}

fn trimmed(args: &[Value]) -> impl Fn(char) -> bool {
    let characters: Vec<char> = args.get(1).map_or(" ", Value::str).chars().collect();
    move |c| characters.contains(&c)
}

pub(crate) fn trim(_: &Inner, args: &[Value]) -> Answer {
    Ok(text(args[0].str().trim_matches(trimmed(args))))
}

pub(crate) fn trim_start(_: &Inner, args: &[Value]) -> Answer {
    Ok(text(args[0].str().trim_start_matches(trimmed(args))))
}

pub(crate) fn trim_end(_: &Inner, args: &[Value]) -> Answer {
    Ok(text(args[0].str().trim_end_matches(trimmed(args))))
}

pub(crate) fn position(_: &Inner, args: &[Value]) -> Answer {
    let (subject, part) = (args[0].str(), args[1].str());
    Ok(int(subject.find(part).map_or(0, |at| subject[..at].chars().count() as i64 + 1)))
}

pub(crate) fn split_part(_: &Inner, args: &[Value]) -> Answer {
    let at = args[2].int().and_then(|at| usize::try_from(at - 1).ok());
    let at = at.ok_or("field position must be greater than zero")?;
    Ok(text(args[0].str().split(args[1].str()).nth(at).unwrap_or("")))
}

pub(crate) fn string_to_array(_: &Inner, args: &[Value]) -> Answer {
    let (subject, separator) = (args[0].str(), args[1].str());
    if subject.is_empty() {
        return Ok(list(Vec::new()));
    }
    if separator.is_empty() {
        return Ok(list(vec![args[0].clone()]));
    }
    Ok(list(subject.split(separator).map(text).collect()))
}

pub(crate) fn array_to_string(_: &Inner, args: &[Value]) -> Answer {
    let null = args.get(2).map(Value::output);
    let shown = |item: &Value| if item.is_null() { null.clone() } else { Some(item.output()) };
    let items: Vec<_> = args[0].items().iter().filter_map(shown).collect();
    at_most(items.len().saturating_mul(args[1].str().len()))?;
    Ok(text(items.join(args[1].str())))
}

pub(crate) fn array_length(_: &Inner, args: &[Value]) -> Answer {
    let length = args[0].items().len() as i64;
    Ok(if length == 0 || args[1].int() != Some(1) { Value::Null } else { int(length) })
}

/// `format`, with `%s`, `%I`, `%L` and `%%`.
pub(crate) fn format(_: &Inner, args: &[Value]) -> Answer {
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    let (mut out, mut rest) = (String::new(), args[1..].iter());
    let mut characters = args[0].str().chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let kind = characters.next();
        if kind == Some('%') {
            out.push('%');
            continue;
        }
        let value = rest.next().ok_or("too few arguments for format()")?;
        match kind {
            Some('s') => out.push_str(&value.output()),
            Some('I') => out.push_str(&names::quoted(&value.output())),
            Some('L') if value.is_null() => out.push_str("NULL"),
            Some('L') => out.push_str(&format!("'{}'", value.output().replace('\'', "''"))),
            _ => return Err("format() takes %s, %I, %L and %%".to_owned()),
        }
    }
    Ok(text(out))
}

pub(crate) fn json_build_object(_: &Inner, args: &[Value]) -> Answer {
    let mut object = serde_json::Map::new();
    for pair in args.chunks(2) {
        let value = pair.get(1).ok_or("argument list must have even number of elements")?;
        object.insert(pair[0].output(), json(value));
    }
    Ok(text(serde_json::Value::Object(object).to_string()))
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(int) => (*int).into(),
        Value::Float(float) => (*float).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::List(items) => items.iter().map(json).collect(),
    }
}
