//! The settings that clients ask a PostgreSQL server for. They are constants: `set_config` returns its argument and
//! changes nothing.

use super::Schema;

/// A setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    value: &'static str,
    pub(crate) context: &'static str,
    pub(crate) kind: &'static str,
}

/// The start of `server_version` and `version()`: the catalog is that of PostgreSQL 15.
pub const SERVER_VERSION: &str = "15.0";

const fn user(name: &'static str, value: &'static str, kind: &'static str) -> Setting {
    Setting { name, value, context: "user", kind }
}

const fn internal(name: &'static str, value: &'static str, kind: &'static str) -> Setting {
    Setting { name, value, context: "internal", kind }
}

/// All settings, sorted by name.
pub(crate) const SETTINGS: &[Setting] = &[
    user("application_name", "", "string"),
    user("bytea_output", "hex", "enum"),
    user("client_encoding", "UTF8", "string"),
    user("client_min_messages", "notice", "enum"),
    user("DateStyle", "ISO, MDY", "string"),
    user("default_table_access_method", "heap", "string"),
    user("default_tablespace", "", "string"),
    user("default_transaction_isolation", "read committed", "enum"),
    user("default_transaction_read_only", "on", "bool"),
    user("extra_float_digits", "1", "integer"),
    internal("in_hot_standby", "off", "bool"),
    internal("integer_datetimes", "on", "bool"),
    user("IntervalStyle", "postgres", "enum"),
    internal("is_superuser", "off", "bool"),
    user("jit", "off", "bool"),
    internal("lc_collate", "C", "string"),
    internal("lc_ctype", "C", "string"),
    user("lc_messages", "C", "string"),
    user("lock_timeout", "0", "integer"),
    internal("max_identifier_length", "63", "integer"),
    internal("max_index_keys", "32", "integer"),
    user("search_path", "\"$user\", public", "string"),
    internal("server_encoding", "UTF8", "string"),
    internal("server_version", SERVER_VERSION, "string"),
    internal("server_version_num", "150000", "integer"),
    user("session_authorization", "", "string"),
    user("standard_conforming_strings", "on", "bool"),
    user("statement_timeout", "0", "integer"),
    user("TimeZone", "UTC", "string"),
    user("transaction_isolation", "read committed", "enum"),
    user("transaction_read_only", "on", "bool"),
];

/// The setting with a name, ignoring case.
pub(crate) fn find(name: &str) -> Option<&'static Setting> {
    let name = match name.to_ascii_lowercase().as_str() {
        "time zone" => "timezone".to_owned(),
        "transaction isolation level" => "transaction_isolation".to_owned(),
        "session authorization" => "session_authorization".to_owned(),
        other => other.to_owned(),
    };
    SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(&name))
}

/// Its value.
pub(crate) fn value(schema: &Schema, setting: &Setting) -> String {
    match setting.name {
        "session_authorization" => schema.user.clone(),
        _ => setting.value.to_owned(),
    }
}
