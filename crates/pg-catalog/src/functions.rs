//! The functions of the catalog. All are harmless: they read the schema, or nothing. Functions that are not listed
//! here do not exist, including everything that reads files, sleeps, signals or locks.

use super::content::search_path;
use super::names;
use super::settings::{self, SERVER_VERSION};
use super::text_functions as t;
use super::types::{self, Oid};
use super::value::{Value, int, text};
use super::{Inner, content};

/// Any type: an unknown literal becomes text.
pub(crate) const ANY: Oid = 0;

/// A scalar function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) args: &'static [Oid],
    /// The number of required arguments.
    pub(crate) required: usize,
    /// Whether the last argument may be repeated.
    pub(crate) variadic: bool,
    pub(crate) returns: Oid,
    /// Whether the result is NULL if an argument is.
    pub(crate) strict: bool,
    pub(crate) call: fn(&Inner, &[Value]) -> Result<Value, String>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

type Call = fn(&Inner, &[Value]) -> Result<Value, String>;

const fn function(name: &'static str, args: &'static [Oid], returns: Oid, call: Call) -> Function {
    let required = args.len();
    Function { name, args, required, variadic: false, returns, strict: true, call }
}

impl Function {
    const fn needs(mut self, required: usize) -> Self {
        self.required = required;
        self
    }

    const fn nullable(mut self) -> Self {
        self.strict = false;
        self
    }

    const fn variadic(mut self) -> Self {
        self.variadic = true;
        self.nullable()
    }
}

/// The function with this name that takes this many arguments.
pub(crate) fn find(name: &str, arguments: usize) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| {
        f.name == name && arguments >= f.required && (arguments <= f.args.len() || f.variadic)
    })
}

/// Whether there is a function with that name.
pub(crate) fn exists(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.name == name)
}

use types::{BOOL, INT4, INT8, JSON, NAME, NAME_ARRAY, OID, REGCLASS, REGTYPE, TEXT, VOID};
use types::{REGNAMESPACE, REGROLE, TEXT_ARRAY, TIMESTAMPTZ, XID};

static FUNCTIONS: &[Function] = &[
    function("version", &[], TEXT, |_, _| {
        let crate_version = env!("CARGO_PKG_VERSION");
        Ok(text(format!("PostgreSQL {SERVER_VERSION} (Demure {crate_version})")))
    }),
    function("current_schema", &[], NAME, |_, _| Ok(text("public"))),
    function("current_schemas", &[BOOL], NAME_ARRAY, |_, a| {
        Ok(search_path(a[0].truth() == Some(true)))
    }),
    function("current_database", &[], NAME, |c, _| Ok(text(&c.schema.database))),
    function("current_catalog", &[], NAME, |c, _| Ok(text(&c.schema.database))),
    function("current_user", &[], NAME, |c, _| Ok(text(&c.schema.user))),
    function("current_role", &[], NAME, |c, _| Ok(text(&c.schema.user))),
    function("session_user", &[], NAME, |c, _| Ok(text(&c.schema.user))),
    function("user", &[], NAME, |c, _| Ok(text(&c.schema.user))),
    function("pg_backend_pid", &[], INT4, |_, _| Ok(int(0))),
    function("pg_is_in_recovery", &[], BOOL, |_, _| Ok(Value::Bool(false))),
    function("txid_current", &[], INT8, |_, _| Ok(int(1))),
    function("pg_my_temp_schema", &[], OID, |_, _| Ok(int(0))),
    function("pg_is_other_temp_schema", &[OID], BOOL, |_, _| Ok(Value::Bool(false))),
    function("pg_postmaster_start_time", &[], TIMESTAMPTZ, null),
    function("pg_conf_load_time", &[], TIMESTAMPTZ, null),
    function("inet_server_addr", &[], TEXT, null),
    function("inet_client_addr", &[], TEXT, null),
    function("inet_server_port", &[], INT4, null),
    function("inet_client_port", &[], INT4, null),
    function("pg_advisory_unlock_all", &[], VOID, |_, _| Ok(text(""))),
    function("age", &[XID], INT4, |_, _| Ok(int(0))),
    function("current_setting", &[TEXT, BOOL], TEXT, current_setting).needs(1),
    function("set_config", &[TEXT, TEXT, BOOL], TEXT, |_, a| match settings::find(a[0].str()) {
        Some(setting) if setting.context == "user" => Ok(a[1].clone()),
        Some(_) => Err(format!("parameter \"{}\" cannot be changed", a[0].str())),
        None => Err(format!("unrecognized configuration parameter \"{}\"", a[0].str())),
    }),
    function("pg_table_is_visible", &[OID], BOOL, |c, a| {
        Ok(names::relation_visible(c, oid(&a[0])).map_or(Value::Null, Value::Bool))
    }),
    function("pg_type_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_function_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_collation_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_operator_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_opclass_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_opfamily_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_conversion_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_statistics_obj_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_ts_config_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_ts_dict_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_ts_parser_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("pg_ts_template_is_visible", &[OID], BOOL, |_, _| Ok(Value::Bool(true))),
    function("format_type", &[OID, INT4], TEXT, |c, a| {
        Ok(match a[0].int() {
            Some(_) => text(names::type_name(c, oid(&a[0]), a[1].int())),
            None => Value::Null,
        })
    })
    .nullable(),
    function("pg_get_userbyid", &[OID], NAME, |c, a| Ok(text(names::role(c, oid(&a[0]))))),
    function("obj_description", &[OID, NAME], TEXT, |c, a| {
        let class = a.get(1).map_or("pg_class", Value::str);
        Ok(if class == "pg_class" { names::comment(c, oid(&a[0]), 0) } else { Value::Null })
    })
    .needs(1),
    function("col_description", &[OID, INT4], TEXT, |c, a| {
        Ok(names::comment(c, oid(&a[0]), a[1].int().unwrap_or(0)))
    }),
    function("shobj_description", &[OID, NAME], TEXT, null),
    function("pg_get_expr", &[TEXT, OID, BOOL], TEXT, null).needs(2),
    function("pg_get_indexdef", &[OID, INT4, BOOL], TEXT, null).needs(1),
    function("pg_get_constraintdef", &[OID, BOOL], TEXT, null).needs(1),
    function("pg_get_viewdef", &[ANY, BOOL], TEXT, null).needs(1),
    function("pg_get_triggerdef", &[OID, BOOL], TEXT, null).needs(1),
    function("pg_get_ruledef", &[OID, BOOL], TEXT, null).needs(1),
    function("pg_get_functiondef", &[OID], TEXT, null),
    function("pg_get_function_result", &[OID], TEXT, null),
    function("pg_get_function_arguments", &[OID], TEXT, null),
    function("pg_get_function_identity_arguments", &[OID], TEXT, null),
    function("pg_get_function_sqlbody", &[OID], TEXT, null),
    function("pg_get_partkeydef", &[OID], TEXT, null),
    function("pg_get_partition_constraintdef", &[OID], TEXT, null),
    function("pg_get_statisticsobjdef_columns", &[OID], TEXT, null),
    function("pg_get_serial_sequence", &[TEXT, TEXT], TEXT, null),
    function("pg_tablespace_location", &[OID], TEXT, |_, _| Ok(text(""))),
    // The catalog does not reveal how large a protected table is.
    function("pg_relation_size", &[REGCLASS, TEXT], INT8, null).needs(1),
    function("pg_table_size", &[REGCLASS], INT8, null),
    function("pg_indexes_size", &[REGCLASS], INT8, null),
    function("pg_total_relation_size", &[REGCLASS], INT8, null),
    function("pg_database_size", &[ANY], INT8, null),
    function("pg_tablespace_size", &[ANY], INT8, null),
    function("pg_size_pretty", &[INT8], TEXT, |_, a| Ok(text(format!("{} bytes", a[0].output())))),
    function("pg_relation_is_publishable", &[REGCLASS], BOOL, |_, _| Ok(Value::Bool(false))),
    function("pg_relation_is_updatable", &[REGCLASS, BOOL], INT4, |_, _| Ok(int(0))),
    function("pg_column_is_updatable", &[REGCLASS, types::INT2, BOOL], BOOL, |_, _| {
        Ok(Value::Bool(false))
    }),
    function("pg_encoding_to_char", &[INT4], NAME, |_, a| {
        Ok(text(if a[0].int() == Some(6) { "UTF8" } else { "" }))
    }),
    function("pg_char_to_encoding", &[NAME], INT4, |_, a| {
        Ok(int(if a[0].str().replace('-', "").eq_ignore_ascii_case("utf8") { 6 } else { -1 }))
    }),
    function("pg_client_encoding", &[], NAME, |_, _| Ok(text("UTF8"))),
    function("getdatabaseencoding", &[], NAME, |_, _| Ok(text("UTF8"))),
    function("has_table_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("has_column_privilege", &[ANY, ANY, ANY, TEXT], BOOL, privilege).needs(3),
    function("has_any_column_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("has_schema_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("has_database_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("has_sequence_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("has_function_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("has_tablespace_privilege", &[ANY, ANY, TEXT], BOOL, privilege).needs(2),
    function("pg_has_role", &[ANY, ANY, TEXT], BOOL, |c, a| {
        let role = &a[a.len() - 2];
        let own = [text(&c.schema.user), int(c.schema.user_oid)].contains(role);
        Ok(Value::Bool(own))
    })
    .needs(2),
    function("to_regtype", &[TEXT], REGTYPE, |c, a| {
        Ok(names::find_type(c, a[0].str()).map_or(Value::Null, int))
    }),
    function("to_regclass", &[TEXT], REGCLASS, |c, a| {
        Ok(names::find_relation(c, a[0].str()).map_or(Value::Null, int))
    }),
    function("to_regnamespace", &[TEXT], REGNAMESPACE, |_, a| {
        Ok(names::find_schema(a[0].str()).map_or(Value::Null, int))
    }),
    function("to_regrole", &[TEXT], REGROLE, |c, a| {
        Ok(names::find_role(c, a[0].str()).map_or(Value::Null, int))
    }),
    function("quote_ident", &[TEXT], TEXT, |_, a| Ok(text(names::quoted(a[0].str())))),
    function("quote_literal", &[ANY], TEXT, |_, a| {
        Ok(text(format!("'{}'", a[0].output().replace('\'', "''"))))
    }),
    function("lower", &[TEXT], TEXT, |_, a| Ok(text(a[0].str().to_lowercase()))),
    function("upper", &[TEXT], TEXT, |_, a| Ok(text(a[0].str().to_uppercase()))),
    function("length", &[TEXT], INT4, t::length),
    function("char_length", &[TEXT], INT4, t::length),
    function("replace", &[TEXT, TEXT, TEXT], TEXT, t::replace),
    function("substring", &[TEXT, INT4, INT4], TEXT, t::substring).needs(2),
    function("substr", &[TEXT, INT4, INT4], TEXT, t::substring).needs(2),
    function("btrim", &[TEXT, TEXT], TEXT, t::trim).needs(1),
    function("ltrim", &[TEXT, TEXT], TEXT, t::trim_start).needs(1),
    function("rtrim", &[TEXT, TEXT], TEXT, t::trim_end).needs(1),
    function("strpos", &[TEXT, TEXT], INT4, t::position),
    function("split_part", &[TEXT, TEXT, INT4], TEXT, t::split_part),
    function("concat", &[ANY], TEXT, |_, a| {
        Ok(text(a.iter().map(Value::output).collect::<String>()))
    })
    .needs(0)
    .variadic(),
    function("format", &[TEXT, ANY], TEXT, t::format).needs(1).variadic(),
    function("array_to_string", &[ANY, TEXT, TEXT], TEXT, t::array_to_string).needs(2),
    function("string_to_array", &[TEXT, TEXT], TEXT_ARRAY, t::string_to_array),
    function("array_upper", &[ANY, INT4], INT4, t::array_length),
    function("array_length", &[ANY, INT4], INT4, t::array_length),
    function("array_lower", &[ANY, INT4], INT4, |_, a| {
        Ok(if a[0].items().is_empty() { Value::Null } else { int(1) })
    }),
    function("cardinality", &[ANY], INT4, |_, a| Ok(int(a[0].items().len() as i64))),
    function("json_build_object", &[ANY], JSON, t::json_build_object).needs(0).variadic(),
];

fn null(_: &Inner, _: &[Value]) -> Result<Value, String> {
    Ok(Value::Null)
}

fn oid(value: &Value) -> Oid {
    value.int().and_then(|int| Oid::try_from(int).ok()).unwrap_or(0)
}

fn current_setting(catalog: &Inner, args: &[Value]) -> Result<Value, String> {
    let missing_ok = args.get(1).and_then(Value::truth) == Some(true);
    match settings::find(args[0].str()) {
        Some(setting) => Ok(text(settings::value(&catalog.schema, setting))),
        None if missing_ok => Ok(Value::Null),
        None => Err(format!("unrecognized configuration parameter \"{}\"", args[0].str())),
    }
}

/// Everyone may read and use; no one may write.
fn privilege(_: &Inner, args: &[Value]) -> Result<Value, String> {
    let asked = args.last().map_or("", Value::str).to_lowercase();
    let may = |one: &str| matches!(one.trim(), "select" | "usage" | "connect" | "execute");
    Ok(Value::Bool(asked.split(',').any(may)))
}

/// Parses a text as a value of a type, including names of the catalog's objects.
pub(crate) fn read(catalog: &Inner, given: &str, to: Oid) -> Result<Value, String> {
    let object = |kind: &str, found: Option<Oid>| {
        let missing = || format!("{kind} \"{given}\" does not exist");
        found.map(int).ok_or_else(missing)
    };
    if let (true, Ok(number)) = (types::is_int(to), given.trim().parse::<i64>()) {
        return types::input(&number.to_string(), to);
    }
    match to {
        _ if types::is_int(to) && given.trim() == "-" => Ok(int(0)),
        REGCLASS => object("relation", names::find_relation(catalog, given)),
        REGTYPE => object("type", names::find_type(catalog, given)),
        REGNAMESPACE => object("schema", names::find_schema(given)),
        REGROLE => object("role", names::find_role(catalog, given)),
        _ => types::input(given, to),
    }
}

/// Formats a value of a type, including names of the catalog's objects.
pub(crate) fn write(catalog: &Inner, value: &Value, from: Oid) -> String {
    let object = |name: Option<String>| match value.int() {
        Some(0) => "-".to_owned(),
        _ => name.unwrap_or_else(|| value.output()),
    };
    match from {
        REGCLASS => object(names::relation(catalog, oid(value))),
        REGTYPE => object(Some(names::type_name(catalog, oid(value), None))),
        REGNAMESPACE => {
            let known = content::SCHEMAS.iter().find(|(_, known)| *known == oid(value));
            object(known.map(|(name, _)| (*name).to_owned()))
        }
        REGROLE => object(Some(names::role(catalog, oid(value)))),
        types::INT2VECTOR | types::OIDVECTOR => {
            let items: Vec<_> = value.items().iter().map(Value::output).collect();
            items.join(" ")
        }
        _ => value.output(),
    }
}
