//! Looks up objects of the catalog by name, and names by identifier.

use super::Inner;
use super::content::{OWNER, OWNER_OID, SCHEMAS};
use super::types::{self, Oid};
use super::value::{Value, text};

/// An identifier in SQL, quoted if necessary.
pub(crate) fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let digit_first = name.starts_with(|c: char| c.is_ascii_digit());
    if !name.is_empty() && name.chars().all(plain) && !digit_first {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Splits `schema."Name"` into its parts, folding unquoted parts.
fn parts(name: &str) -> Vec<String> {
    let (mut parts, mut part, mut inside) = (Vec::new(), String::new(), false);
    for c in name.trim().chars() {
        match c {
            '"' => inside = !inside,
            '.' if !inside => parts.push(std::mem::take(&mut part)),
            c if inside => part.push(c),
            c => part.extend(c.to_lowercase()),
        }
    }
    parts.push(part);
    parts
}

/// The relation with a name: a table of `public`, or of the catalog.
pub(crate) fn find_relation(catalog: &Inner, name: &str) -> Option<Oid> {
    let parts = parts(name);
    let (schema, name) = match parts.as_slice() {
        [name] => (None, name),
        [schema, name] => (Some(schema.as_str()), name),
        _ => return None,
    };
    let table = || catalog.schema.tables.get(name).map(|oids| oids.table);
    let system = |schema| catalog.relations.find(schema, name).map(|relation| relation.oid);
    match schema {
        None => system(None).or_else(table),
        Some("public") => table(),
        schema => system(schema),
    }
}

/// The name and schema of a relation.
fn relation_parts(catalog: &Inner, oid: Oid) -> Option<(&str, &str)> {
    let tables = catalog.schema.tables.iter();
    let table = tables.into_iter().find(|(_, oids)| oids.table == oid);
    if let Some((name, _)) = table {
        return Some(("public", name));
    }
    let system = catalog.relations.all().iter().find(|relation| relation.oid == oid)?;
    Some((system.schema, system.name))
}

/// A relation's name, with its schema if a bare name would not find it.
pub(crate) fn relation(catalog: &Inner, oid: Oid) -> Option<String> {
    let (schema, name) = relation_parts(catalog, oid)?;
    Some(match schema {
        "information_schema" => format!("{schema}.{}", quoted(name)),
        _ => quoted(name),
    })
}

/// Whether a bare name finds the relation; `None` if it does not exist.
pub(crate) fn relation_visible(catalog: &Inner, oid: Oid) -> Option<bool> {
    relation_parts(catalog, oid).map(|(schema, _)| schema != "information_schema")
}

/// The type with a name: a type of PostgreSQL, or the row type of a table.
pub(crate) fn find_type(catalog: &Inner, name: &str) -> Option<Oid> {
    let own = |name: &str| {
        let parts = parts(name);
        let [.., name] = parts.as_slice() else { return None };
        match name.strip_prefix('_').and_then(|name| catalog.schema.tables.get(name)) {
            Some(oids) => Some(oids.array),
            None => catalog.schema.tables.get(name).map(|oids| oids.row),
        }
    };
    types::named(name).or_else(|| own(name))
}

/// A type's name in SQL.
pub(crate) fn type_name(catalog: &Inner, oid: Oid, modifier: Option<i64>) -> String {
    if let Some(name) = types::sql_name(oid, modifier) {
        return name;
    }
    for (name, oids) in &catalog.schema.tables {
        if oids.row == oid {
            return quoted(name);
        }
        if oids.array == oid {
            return format!("{}[]", quoted(name));
        }
    }
    if oid == 0 { "-".to_owned() } else { "???".to_owned() }
}

/// The schema with a name.
pub(crate) fn find_schema(name: &str) -> Option<Oid> {
    let parts = parts(name);
    SCHEMAS.iter().find(|(known, _)| parts == [*known]).map(|(_, oid)| *oid)
}

/// The role with a name.
pub(crate) fn find_role(catalog: &Inner, name: &str) -> Option<Oid> {
    catalog.schema.roles().into_iter().find(|(known, _)| *known == name).map(|(_, oid)| oid)
}

/// A role's name.
pub(crate) fn role(catalog: &Inner, oid: Oid) -> String {
    match oid {
        OWNER_OID => OWNER.to_owned(),
        _ if oid == catalog.schema.user_oid => catalog.schema.user.clone(),
        _ => format!("unknown (OID={oid})"),
    }
}

/// The procedure with a name; 0 if there is none.
pub(crate) fn find_procedure(catalog: &Inner, name: &str) -> Oid {
    let rows = catalog.relations.find(None, "pg_proc").map_or(&[][..], |found| &found.rows);
    let found = rows.iter().find(|row| row[1].str() == name).and_then(|row| row[0].int());
    found.and_then(|oid| Oid::try_from(oid).ok()).unwrap_or(0)
}

/// A procedure's name; `-` if there is none.
pub(crate) fn procedure(catalog: &Inner, oid: i64) -> Value {
    let rows = catalog.relations.find(None, "pg_proc").map_or(&[][..], |found| &found.rows);
    let found = rows.iter().find(|row| row[0] == Value::Int(oid));
    found.map_or_else(|| text("-"), |row| row[1].clone())
}

/// The comment of a relation, or of one of its columns.
pub(crate) fn comment(catalog: &Inner, relation: Oid, column: i64) -> Value {
    let Some(descriptions) = catalog.relations.find(None, "pg_description") else {
        return Value::Null;
    };
    let is =
        |row: &&Vec<Value>| row[0] == Value::Int(relation.into()) && row[2] == Value::Int(column);
    descriptions.rows.iter().find(is).map_or(Value::Null, |row| row[3].clone())
}
