//! The contents of the catalog's relations: one database, one schema `public` with the tables of the policy, and
//! PostgreSQL's own types. Everything here follows from names and types; whether a table has rows, or how many, does
//! not appear.

use super::relations::{Column, Relations};
use super::settings;
use super::types::{self, Oid};
use super::value::{Value, int, list, text, texts};
use super::{Schema, TableInfo};
use arrow_pg::datatypes::into_pg_type;
use datafusion::arrow::datatypes::DataType;

const CATALOG: &str = "pg_catalog";
const INFORMATION: &str = "information_schema";
/// The owner of everything: the curator, not the connected user.
pub(crate) const OWNER: &str = "demure";
pub(crate) const OWNER_OID: Oid = 10;

/// The schemas, with their identifiers.
pub(crate) const SCHEMAS: [(&str, Oid); 3] =
    [(CATALOG, 11), (INFORMATION, 13_207), ("public", 2200)];

/// Fills the relations for a database, a user and the tables of the policy.
pub(crate) fn fill(schema: &Schema, tables: &[TableInfo]) -> Relations {
    let mut all = Relations::empty();
    let r = &mut all;
    general(r, schema);
    built_in_types(r);
    procedures(r);
    for relation in Relations::empty().all() {
        let namespace = if relation.schema == CATALOG { SCHEMAS[0].1 } else { SCHEMAS[1].1 };
        let class = [
            ("oid", int(relation.oid)),
            ("relname", text(relation.name)),
            ("relnamespace", int(namespace)),
            ("relkind", text(relation.kind)),
            ("relnatts", int(relation.columns.len() as i64)),
            ("relam", int(if relation.kind == "r" { 2 } else { 0 })),
            ("relreplident", text("n")),
            ("relacl", texts(&["demure=r/demure", "=r/demure"])),
        ];
        add_class(r, &class);
        for (at, column) in relation.columns.iter().enumerate() {
            add_attribute(r, relation.oid, at, column, -1);
        }
        let kind = if relation.kind == "r" { "BASE TABLE" } else { "VIEW" };
        add_information_table(r, schema, relation.schema, relation.name, kind);
        for (at, column) in relation.columns.iter().enumerate() {
            add_information_column(r, schema, (relation.schema, relation.name), at, column, -1);
        }
    }
    for table in tables {
        add_table(r, schema, table);
    }
    all
}

fn general(r: &mut Relations, schema: &Schema) {
    for (name, oid) in SCHEMAS {
        let owner = ("nspowner", int(OWNER_OID));
        let access = ("nspacl", texts(&["demure=UC/demure", "=U/demure"]));
        let cells = [("oid", int(oid)), ("nspname", text(name)), owner, access];
        r.add(CATALOG, "pg_namespace", &cells);
        let cells = [
            ("catalog_name", text(&schema.database)),
            ("schema_name", text(name)),
            ("schema_owner", text(OWNER)),
        ];
        r.add(INFORMATION, "schemata", &cells);
    }
    let database = [
        ("oid", int(schema.database_oid)),
        ("datname", text(&schema.database)),
        ("datdba", int(OWNER_OID)),
        ("encoding", int(6)),
        ("datlocprovider", text("c")),
        ("datallowconn", Value::Bool(true)),
        ("datconnlimit", int(-1)),
        ("dattablespace", int(1663)),
        ("datcollate", text("C")),
        ("datctype", text("C")),
    ];
    r.add(CATALOG, "pg_database", &database);
    r.add(
        INFORMATION,
        "information_schema_catalog_name",
        &[("catalog_name", text(&schema.database))],
    );
    for (name, oid) in schema.roles() {
        let owner = Value::Bool(oid == OWNER_OID);
        let role = [
            ("rolname", text(name)),
            ("rolsuper", owner.clone()),
            ("rolinherit", Value::Bool(true)),
            ("rolcreaterole", owner.clone()),
            ("rolcreatedb", owner.clone()),
            ("rolcanlogin", Value::Bool(true)),
            ("rolreplication", owner.clone()),
            ("rolconnlimit", int(-1)),
            ("rolpassword", text("********")),
            ("rolbypassrls", owner.clone()),
            ("oid", int(oid)),
        ];
        r.add(CATALOG, "pg_roles", &role);
        let user = [("usename", text(name)), ("usesysid", int(oid)), ("usesuper", owner)];
        r.add(CATALOG, "pg_user", &user);
    }
    r.add(INFORMATION, "enabled_roles", &[("role_name", text(&schema.user))]);
    for (oid, name, handler, kind) in [
        (2, "heap", "heap_tableam_handler", "t"),
        (403, "btree", "bthandler", "i"),
        (405, "hash", "hashhandler", "i"),
        (783, "gist", "gisthandler", "i"),
        (2742, "gin", "ginhandler", "i"),
        (4000, "spgist", "spghandler", "i"),
        (3580, "brin", "brinhandler", "i"),
    ] {
        let handler = ("amhandler", text(handler));
        let cells = [("oid", int(oid)), ("amname", text(name)), handler, ("amtype", text(kind))];
        r.add(CATALOG, "pg_am", &cells);
    }
    for (oid, name) in [(1663, "pg_default"), (1664, "pg_global")] {
        let cells = [("oid", int(oid)), ("spcname", text(name)), ("spcowner", int(OWNER_OID))];
        r.add(CATALOG, "pg_tablespace", &cells);
    }
    for (oid, name, provider) in [(100, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")] {
        let locale = if provider == "c" { text(name) } else { Value::Null };
        let cells = [
            ("oid", int(oid)),
            ("collname", text(name)),
            ("collnamespace", int(SCHEMAS[0].1)),
            ("collowner", int(OWNER_OID)),
            ("collprovider", text(provider)),
            ("collisdeterministic", Value::Bool(true)),
            ("collencoding", int(-1)),
            ("collcollate", locale.clone()),
            ("collctype", locale),
        ];
        r.add(CATALOG, "pg_collation", &cells);
    }
    for setting in settings::SETTINGS {
        let value = text(settings::value(schema, setting));
        let cells = [
            ("name", text(setting.name)),
            ("setting", value.clone()),
            ("category", text("Demure")),
            ("short_desc", text("")),
            ("context", text(setting.context)),
            ("vartype", text(setting.kind)),
            ("source", text("default")),
            ("boot_val", value.clone()),
            ("reset_val", value),
            ("pending_restart", Value::Bool(false)),
        ];
        r.add(CATALOG, "pg_settings", &cells);
    }
    for (range, subtype, multirange) in [
        (3904, 23, 4451),
        (3906, 1700, 4532),
        (3908, 1114, 4533),
        (3910, 1184, 4534),
        (3912, 1082, 4535),
        (3926, 20, 4536),
    ] {
        let cells = [
            ("rngtypid", int(range)),
            ("rngsubtype", int(subtype)),
            ("rngmultitypid", int(multirange)),
        ];
        r.add(CATALOG, "pg_range", &cells);
    }
}

fn built_in_types(r: &mut Relations) {
    let Some(columns) = r.find(None, "pg_type").map(|relation| relation.columns.clone()) else {
        return;
    };
    for line in types::lines() {
        let mut cells = common_type(SCHEMAS[0].1);
        for (name, given) in types::COLUMNS.iter().zip(&line) {
            let column = columns.iter().find(|column| column.name == *name);
            let value = column.and_then(|c| types::input(given, c.type_oid).ok());
            cells.push((name, value.unwrap_or(Value::Null)));
        }
        r.add(CATALOG, "pg_type", &cells);
    }
}

/// The functions that `pg_type` names: drivers recognise arrays by them. Each line of `procedures.txt` has an
/// identifier, a name, the return type and the number of arguments.
fn procedures(r: &mut Relations) {
    for line in include_str!("procedures.txt").lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [oid, name, returns, arguments] = words.as_slice() else { continue };
        let number = |word: &str| int(word.parse::<i64>().unwrap_or(0));
        let cells = [
            ("oid", number(oid)),
            ("proname", text(name)),
            ("pronamespace", int(SCHEMAS[0].1)),
            ("proowner", int(OWNER_OID)),
            ("prokind", text("f")),
            ("proisstrict", Value::Bool(true)),
            ("provolatile", text("i")),
            ("proparallel", text("s")),
            ("pronargs", number(arguments)),
            ("prorettype", number(returns)),
            ("prosrc", text(name)),
        ];
        r.add(CATALOG, "pg_proc", &cells);
    }
}

fn common_type(namespace: Oid) -> Vec<(&'static str, Value)> {
    vec![
        ("typnamespace", int(namespace)),
        ("typowner", int(OWNER_OID)),
        ("typisdefined", Value::Bool(true)),
        ("typtypmod", int(-1)),
    ]
}

fn add_class(r: &mut Relations, cells: &[(&'static str, Value)]) {
    let mut all = cells.to_vec();
    all.extend([
        ("relowner", int(OWNER_OID)),
        // Not analysed: rows have not been counted.
        ("reltuples", Value::Float(-1.0)),
        ("relpersistence", text("p")),
        ("relispopulated", Value::Bool(true)),
    ]);
    r.add(CATALOG, "pg_class", &all);
}

fn add_attribute(r: &mut Relations, relation: Oid, at: usize, column: &Column, modifier: i64) {
    let Some(row) = types::row(column.type_oid) else { return };
    let cells = [
        ("attrelid", int(relation)),
        ("attname", text(&column.name)),
        ("atttypid", int(column.type_oid)),
        ("attstattarget", int(-1)),
        ("attlen", int(row.length)),
        ("attnum", int(at as i64 + 1)),
        ("attndims", int(i64::from(row.category == "A"))),
        ("attcacheoff", int(-1)),
        ("atttypmod", int(modifier)),
        ("attbyval", Value::Bool(row.by_value)),
        ("attalign", text(row.align)),
        ("attstorage", text(row.storage)),
        ("attnotnull", Value::Bool(column.not_null)),
        ("attislocal", Value::Bool(true)),
        ("attcollation", int(row.collation)),
    ];
    r.add(CATALOG, "pg_attribute", &cells);
}

/// The PostgreSQL type as which the wire sends a column, and its modifier.
fn postgres_type(arrow: &DataType) -> (Oid, i64) {
    let oid = into_pg_type(arrow).map_or(types::TEXT, |known| known.oid());
    let oid = if types::row(oid).is_some() { oid } else { types::TEXT };
    match arrow {
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s)
            if oid == types::NUMERIC && *s >= 0 =>
        {
            (oid, (i64::from(*p) << 16 | i64::from(*s)) + 4)
        }
        _ => (oid, -1),
    }
}

fn add_table(r: &mut Relations, schema: &Schema, table: &TableInfo) {
    let oids = schema.table(&table.name);
    let select = format!("{}=r/{OWNER}", schema.user);
    let class = [
        ("oid", int(oids.table)),
        ("relname", text(&table.name)),
        ("relnamespace", int(SCHEMAS[2].1)),
        ("reltype", int(oids.row)),
        ("relam", int(2)),
        ("relfilenode", int(oids.table)),
        ("relkind", text("r")),
        ("relnatts", int(table.columns.len() as i64)),
        ("relreplident", text("d")),
        ("relacl", texts(&["demure=r/demure", &select])),
    ];
    add_class(r, &class);
    let functions = |input: &str| {
        let name = |suffix: &str| text(format!("{input}_{suffix}"));
        [
            ("typinput", name("in")),
            ("typoutput", name("out")),
            ("typreceive", name("recv")),
            ("typsend", name("send")),
        ]
    };
    let row = [
        ("oid", int(oids.row)),
        ("typname", text(&table.name)),
        ("typlen", int(-1)),
        ("typtype", text("c")),
        ("typcategory", text("C")),
        ("typdelim", text(",")),
        ("typrelid", int(oids.table)),
        ("typarray", int(oids.array)),
        ("typalign", text("d")),
        ("typstorage", text("x")),
    ];
    let cells = [common_type(SCHEMAS[2].1), row.to_vec(), functions("record").to_vec()].concat();
    r.add(CATALOG, "pg_type", &cells);
    let array = [
        ("oid", int(oids.array)),
        ("typname", text(format!("_{}", table.name))),
        ("typlen", int(-1)),
        ("typtype", text("b")),
        ("typcategory", text("A")),
        ("typdelim", text(",")),
        ("typelem", int(oids.row)),
        ("typsubscript", text("array_subscript_handler")),
        ("typalign", text("d")),
        ("typstorage", text("x")),
    ];
    let cells = [common_type(SCHEMAS[2].1), array.to_vec(), functions("array").to_vec()].concat();
    r.add(CATALOG, "pg_type", &cells);
    if let Some(comment) = &table.comment {
        let cells = [
            ("objoid", int(oids.table)),
            ("classoid", int(1259)),
            ("objsubid", int(0)),
            ("description", text(comment)),
        ];
        r.add(CATALOG, "pg_description", &cells);
    }
    let cells = [
        ("schemaname", text("public")),
        ("tablename", text(&table.name)),
        ("tableowner", text(OWNER)),
        ("hasindexes", Value::Bool(false)),
        ("hasrules", Value::Bool(false)),
        ("hastriggers", Value::Bool(false)),
        ("rowsecurity", Value::Bool(false)),
    ];
    r.add(CATALOG, "pg_tables", &cells);
    add_information_table(r, schema, "public", &table.name, "BASE TABLE");
    for view in ["table_privileges", "role_table_grants"] {
        let cells = [
            ("grantor", text(OWNER)),
            ("grantee", text(&schema.user)),
            ("table_catalog", text(&schema.database)),
            ("table_schema", text("public")),
            ("table_name", text(&table.name)),
            ("privilege_type", text("SELECT")),
            ("is_grantable", text("NO")),
            ("with_hierarchy", text("YES")),
        ];
        r.add(INFORMATION, view, &cells);
    }
    for (at, (name, arrow, nullable)) in table.columns.iter().enumerate() {
        let (type_oid, modifier) = postgres_type(arrow);
        let column = Column { name: name.clone(), type_oid, not_null: !nullable };
        add_attribute(r, oids.table, at, &column, modifier);
        add_information_column(r, schema, ("public", &table.name), at, &column, modifier);
    }
}

fn add_information_table(r: &mut Relations, s: &Schema, schema: &str, name: &str, kind: &str) {
    let cells = [
        ("table_catalog", text(&s.database)),
        ("table_schema", text(schema)),
        ("table_name", text(name)),
        ("table_type", text(kind)),
        ("is_insertable_into", text("NO")),
        ("is_typed", text("NO")),
    ];
    r.add(INFORMATION, "tables", &cells);
}

fn add_information_column(
    r: &mut Relations,
    s: &Schema,
    (schema, table): (&str, &str),
    at: usize,
    column: &Column,
    modifier: i64,
) {
    let Some(row) = types::row(column.type_oid) else { return };
    let some = |number: Option<i64>| number.map_or(Value::Null, Value::Int);
    let (precision, radix, scale) = match column.type_oid {
        types::INT2 => (Some(16), Some(2), Some(0)),
        types::INT4 => (Some(32), Some(2), Some(0)),
        types::INT8 => (Some(64), Some(2), Some(0)),
        types::FLOAT4 => (Some(24), Some(2), None),
        types::FLOAT8 => (Some(53), Some(2), None),
        types::NUMERIC if modifier >= 4 => {
            (Some((modifier - 4) >> 16), Some(10), Some((modifier - 4) & 0xffff))
        }
        types::NUMERIC => (None, Some(10), None),
        _ => (None, None, None),
    };
    let moment = match row.name {
        "date" => Some(0),
        "time" | "timetz" | "timestamp" | "timestamptz" => Some(6),
        _ => None,
    };
    let kind = match row.category {
        "A" => "ARRAY".to_owned(),
        _ => types::sql_name(column.type_oid, None).unwrap_or_default(),
    };
    let cells = [
        ("table_catalog", text(&s.database)),
        ("table_schema", text(schema)),
        ("table_name", text(table)),
        ("column_name", text(&column.name)),
        ("ordinal_position", int(at as i64 + 1)),
        ("is_nullable", text(if column.not_null { "NO" } else { "YES" })),
        ("data_type", text(kind)),
        ("numeric_precision", some(precision)),
        ("numeric_precision_radix", some(radix)),
        ("numeric_scale", some(scale)),
        ("datetime_precision", some(moment)),
        ("udt_catalog", text(&s.database)),
        ("udt_schema", text(CATALOG)),
        ("udt_name", text(row.name)),
        ("dtd_identifier", text((at + 1).to_string())),
        ("is_self_referencing", text("NO")),
        ("is_identity", text("NO")),
        ("identity_cycle", text("NO")),
        ("is_generated", text("NEVER")),
        ("is_updatable", text("NO")),
    ];
    r.add(INFORMATION, "columns", &cells);
}

/// The schemas in which a bare name is looked up: `current_schemas`.
pub(crate) fn search_path(implicit: bool) -> Value {
    let names = SCHEMAS.iter().filter(|(name, _)| *name != INFORMATION);
    let names = names.filter(|(name, _)| implicit || *name == "public");
    list(names.map(|(name, _)| text(name)).collect())
}
