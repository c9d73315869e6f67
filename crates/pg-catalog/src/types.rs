//! The types of PostgreSQL that the catalog knows: their rows in `pg_type`, their names in SQL
//! and their text forms.

use super::value::{Value, int, list, split_array, text};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A type, by its object identifier in PostgreSQL.
pub(crate) type Oid = u32;

pub(crate) const BOOL: Oid = 16;
pub(crate) const CHAR: Oid = 18;
pub(crate) const NAME: Oid = 19;
pub(crate) const INT8: Oid = 20;
pub(crate) const INT2: Oid = 21;
pub(crate) const INT2VECTOR: Oid = 22;
pub(crate) const INT4: Oid = 23;
pub(crate) const REGPROC: Oid = 24;
pub(crate) const TEXT: Oid = 25;
pub(crate) const OID: Oid = 26;
pub(crate) const XID: Oid = 28;
pub(crate) const OIDVECTOR: Oid = 30;
pub(crate) const JSON: Oid = 114;
pub(crate) const FLOAT4: Oid = 700;
pub(crate) const FLOAT8: Oid = 701;
pub(crate) const UNKNOWN: Oid = 705;
pub(crate) const TEXT_ARRAY: Oid = 1009;
pub(crate) const BPCHAR: Oid = 1042;
pub(crate) const VARCHAR: Oid = 1043;
pub(crate) const TIMESTAMPTZ: Oid = 1184;
pub(crate) const NUMERIC: Oid = 1700;
pub(crate) const REGCLASS: Oid = 2205;
pub(crate) const REGTYPE: Oid = 2206;
/// The type that `_pg_expandarray` returns: the fields `x` and `n`.
pub(crate) const RECORD: Oid = 2249;
pub(crate) const NAME_ARRAY: Oid = 1003;
pub(crate) const VOID: Oid = 2278;
pub(crate) const REGROLE: Oid = 4096;
pub(crate) const REGNAMESPACE: Oid = 4089;

/// The columns of `types.txt`: what PostgreSQL 15 has in `pg_type`, tab-separated.
pub(crate) const COLUMNS: [&str; 21] = [
    "oid",
    "typname",
    "typlen",
    "typbyval",
    "typtype",
    "typcategory",
    "typispreferred",
    "typdelim",
    "typsubscript",
    "typelem",
    "typarray",
    "typinput",
    "typoutput",
    "typreceive",
    "typsend",
    "typmodin",
    "typmodout",
    "typanalyze",
    "typalign",
    "typstorage",
    "typcollation",
];

/// The most used properties of a type.
pub(crate) struct TypeRow {
    pub(crate) name: &'static str,
    pub(crate) length: i64,
    pub(crate) by_value: bool,
    pub(crate) category: &'static str,
    pub(crate) element: Oid,
    pub(crate) array: Oid,
    pub(crate) align: &'static str,
    pub(crate) storage: &'static str,
    pub(crate) collation: Oid,
}

/// The lines of `types.txt`.
pub(crate) fn lines() -> impl Iterator<Item = Vec<&'static str>> {
    include_str!("types.txt").lines().map(|line| line.split('\t').collect())
}

fn rows() -> &'static HashMap<Oid, TypeRow> {
    static ROWS: OnceLock<HashMap<Oid, TypeRow>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let row = |c: Vec<&'static str>| {
            let oid = |at: usize| c[at].parse().unwrap_or(0);
            let row = TypeRow {
                name: c[1],
                length: c[2].parse().unwrap_or(-1),
                by_value: c[3] == "t",
                category: c[5],
                element: oid(9),
                array: oid(10),
                align: c[18],
                storage: c[19],
                collation: oid(20),
            };
            (oid(0), row)
        };
        lines().map(row).collect()
    })
}

/// The row of a built-in type.
pub(crate) fn row(oid: Oid) -> Option<&'static TypeRow> {
    rows().get(&oid)
}

/// The built-in type with a name of `pg_type` or of SQL.
pub(crate) fn named(name: &str) -> Option<Oid> {
    let name = name.trim();
    if let Some(element) = name.strip_suffix("[]") {
        return named(element).and_then(array_of);
    }
    let name = name.strip_prefix("pg_catalog.").unwrap_or(name);
    let bare = name.split_once('(').map_or(name, |(bare, _)| bare.trim_end());
    if bare == "\"char\"" {
        return Some(CHAR);
    }
    let lower = bare.trim_matches('"').to_ascii_lowercase();
    let lower = match lower.as_str() {
        "char" | "character" => "bpchar",
        "boolean" => "bool",
        "smallint" => "int2",
        "int" | "integer" => "int4",
        "bigint" => "int8",
        "real" => "float4",
        "double precision" | "float" | "double" => "float8",
        "decimal" | "dec" => "numeric",
        "character varying" | "string" => "varchar",
        "timestamp without time zone" => "timestamp",
        "timestamp with time zone" => "timestamptz",
        "time without time zone" => "time",
        "time with time zone" => "timetz",
        other => other,
    };
    rows().iter().find(|(_, row)| row.name == lower).map(|(oid, _)| *oid)
}

/// The array of a type.
pub(crate) fn array_of(element: Oid) -> Option<Oid> {
    match element {
        UNKNOWN => Some(TEXT_ARRAY),
        _ => row(element).map(|row| row.array).filter(|array| *array != 0),
    }
}

/// The element type of an array; `None` if it is not an array.
pub(crate) fn element_of(array: Oid) -> Option<Oid> {
    match array {
        INT2VECTOR => Some(INT2),
        OIDVECTOR => Some(OID),
        _ => row(array).filter(|row| row.category == "A").map(|row| row.element),
    }
}

/// Whether it is character data.
pub(crate) fn is_text(oid: Oid) -> bool {
    matches!(oid, CHAR | NAME | TEXT | BPCHAR | VARCHAR | REGPROC | JSON)
}

/// Whether it is kept as an integer.
pub(crate) fn is_int(oid: Oid) -> bool {
    matches!(oid, INT2 | INT4 | INT8 | OID | XID | REGCLASS | REGTYPE | REGROLE | REGNAMESPACE)
}

/// The name SQL gives a built-in type, with its modifier: `format_type`.
pub(crate) fn sql_name(oid: Oid, modifier: Option<i64>) -> Option<String> {
    let row = row(oid)?;
    if row.category == "A"
        && let Some(element) = element_of(oid)
    {
        return sql_name(element, modifier).map(|element| format!("{element}[]"));
    }
    let name = match row.name {
        "bool" => "boolean",
        "int2" => "smallint",
        "int4" => "integer",
        "int8" => "bigint",
        "float4" => "real",
        "float8" => "double precision",
        "varchar" => "character varying",
        "bpchar" => "character",
        "char" => "\"char\"",
        "timestamp" => "timestamp without time zone",
        "timestamptz" => "timestamp with time zone",
        "time" => "time without time zone",
        "timetz" => "time with time zone",
        "bit" => "bit",
        "varbit" => "bit varying",
        other => other,
    };
    Some(match modifier {
        Some(m) if m >= 4 && oid == NUMERIC => {
            format!("{name}({},{})", (m - 4) >> 16, (m - 4) & 0xffff)
        }
        Some(m) if m >= 4 && matches!(oid, VARCHAR | BPCHAR) => format!("{name}({})", m - 4),
        _ => name.to_owned(),
    })
}

/// Parses the text form of a value of a built-in type. Names of relations, types, roles and schemas are not parsed
/// here, because that takes the catalog.
pub(crate) fn input(from: &str, oid: Oid) -> Result<Value, String> {
    let invalid = || {
        let name = sql_name(oid, None).unwrap_or_else(|| oid.to_string());
        format!("invalid input syntax for type {name}: \"{from}\"")
    };
    let trimmed = from.trim();
    if let Some(element) = element_of(oid) {
        if matches!(oid, INT2VECTOR | OIDVECTOR) {
            let items = trimmed.split_whitespace().map(|item| input(item, element));
            return items.collect::<Result<_, _>>().map(list);
        }
        let item = |item: Option<String>| item.map_or(Ok(Value::Null), |i| input(&i, element));
        return split_array(from)?.into_iter().map(item).collect::<Result<_, _>>().map(list);
    }
    match oid {
        BOOL => match trimmed.to_ascii_lowercase().as_str() {
            "t" | "true" | "yes" | "y" | "on" | "1" => Ok(Value::Bool(true)),
            "f" | "false" | "no" | "n" | "off" | "0" => Ok(Value::Bool(false)),
            _ => Err(invalid()),
        },
        FLOAT4 | FLOAT8 | NUMERIC => trimmed.parse().map(Value::Float).map_err(|_| invalid()),
        _ if is_int(oid) => {
            let number: i64 = trimmed.parse().map_err(|_| invalid())?;
            let fits = match oid {
                INT2 => i16::try_from(number).is_ok(),
                INT4 => i32::try_from(number).is_ok(),
                INT8 => true,
                _ => u32::try_from(number).is_ok(),
            };
            if fits { Ok(int(number)) } else { Err(invalid()) }
        }
        REGPROC => Ok(text(trimmed.strip_prefix("pg_catalog.").unwrap_or(trimmed))),
        CHAR => Ok(text(from.chars().take(1).collect::<String>())),
        _ => Ok(text(from)),
    }
}
