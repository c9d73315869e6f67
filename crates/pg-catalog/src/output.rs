//! Rows of the catalog as Arrow, and the PostgreSQL type of each column.

use super::Inner;
use super::functions;
use super::types::{self, Oid};
use super::value::{Row, Value};
use arrow_pg::datatypes::{PG_CHAR_KEY, PG_OID_ALIAS_KEY, is_pg_char_field};
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    ListArray, RecordBatch, RecordBatchOptions, StringArray, TimestampMicrosecondArray,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use pgwire::api::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// The key of a field's metadata that names its type in `pg_type`.
pub const PG_TYPE: &str = "demure.pg_type";

/// The type to announce for a column of the catalog, if arrow-pg would choose a different one than PostgreSQL and its
/// encoder can send the right one: `name`, `varchar`, `json`, `oid`…. Objects (`regclass` and the like) and vectors
/// are sent as text.
#[must_use]
pub fn wire_type(field: &Field) -> Option<Type> {
    let oid = field.metadata().get(PG_TYPE).and_then(|name| pg_type(name))?;
    let sent = match oid {
        types::NAME | types::VARCHAR | types::BPCHAR | types::CHAR | types::TEXT => oid,
        types::OID | types::XID => types::OID,
        types::BOOL | types::INT2 | types::INT4 | types::INT8 | types::FLOAT4 | types::FLOAT8 => {
            oid
        }
        types::TIMESTAMPTZ => oid,
        types::NUMERIC => types::FLOAT8,
        // Asyncpg knows `oid[]` before it has asked for any type, and would ask for `int4[]`.
        _ => match (field.data_type(), types::element_of(oid)) {
            (DataType::List(_), Some(element)) if is_sent(element) => oid,
            (DataType::List(_), _) => types::TEXT_ARRAY,
            _ => types::TEXT,
        },
    };
    Type::from_oid(sent)
}

/// An answer in a form that arrow-pg can encode, given which columns use the binary format: there, an empty `"char"`
/// is the byte zero, which arrow-pg takes from the text.
#[must_use]
pub fn encodable(batch: &RecordBatch, binary: impl Fn(usize) -> bool) -> RecordBatch {
    let schema = batch.schema();
    let column = |(at, array): (usize, &ArrayRef)| {
        let texts = array.as_any().downcast_ref::<StringArray>();
        match texts.filter(|_| binary(at) && is_pg_char_field(schema.field(at))) {
            Some(texts) => {
                let zero = |given: &str| match given {
                    "" => "\0".to_owned(),
                    given => given.to_owned(),
                };
                Arc::new(texts.iter().map(|given| given.map(zero)).collect::<StringArray>())
            }
            None => Arc::clone(array),
        }
    };
    let arrays = batch.columns().iter().enumerate().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), arrays, &options)
        .unwrap_or_else(|_| batch.clone())
}

fn pg_type(name: &str) -> Option<Oid> {
    if name == "char" { Some(types::CHAR) } else { types::named(name) }
}

/// The Arrow type of a type of PostgreSQL.
fn arrow_type(oid: Oid) -> DataType {
    match oid {
        types::BOOL => DataType::Boolean,
        types::INT2 => DataType::Int16,
        types::INT4 | types::OID | types::XID => DataType::Int32,
        types::INT8 => DataType::Int64,
        types::FLOAT4 => DataType::Float32,
        types::FLOAT8 | types::NUMERIC => DataType::Float64,
        types::TIMESTAMPTZ => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        types::INT2VECTOR | types::OIDVECTOR => DataType::Utf8,
        _ => match types::element_of(oid) {
            Some(element) if is_listed(element) => {
                DataType::List(Arc::new(Field::new("item", arrow_type(element), true)))
            }
            _ => DataType::Utf8,
        },
    }
}

/// Whether arrays of it are sent as arrays; others are sent as text.
fn is_listed(element: Oid) -> bool {
    types::is_text(element) || types::is_int(element) || element == types::BOOL
}

/// Whether the elements of an array are sent in their own type: objects are sent as text.
fn is_sent(element: Oid) -> bool {
    types::is_text(element) && element != types::REGPROC || arrow_type(element) != DataType::Utf8
}

/// The columns of an answer.
pub(crate) fn schema(columns: &[(String, Oid)]) -> SchemaRef {
    let field = |(name, oid): &(String, Oid)| {
        let known = types::row(*oid).map_or("text", |row| row.name);
        let mut metadata = HashMap::from([(PG_TYPE.to_owned(), known.to_owned())]);
        if matches!(*oid, types::OID | types::XID) {
            metadata.insert(PG_OID_ALIAS_KEY.to_owned(), "oid".to_owned());
        }
        if *oid == types::CHAR {
            metadata.insert(PG_CHAR_KEY.to_owned(), "char".to_owned());
        }
        Field::new(name, arrow_type(*oid), true).with_metadata(metadata)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// The rows of an answer.
pub(crate) fn batch(
    catalog: &Inner,
    columns: &[(String, Oid)],
    rows: &[Row],
) -> Result<RecordBatch, String> {
    let array = |(at, (_, oid)): (usize, &(String, Oid))| {
        let cells: Vec<Value> =
            rows.iter().map(|row| row.get(at).cloned().unwrap_or(Value::Null)).collect();
        array(catalog, *oid, &cells)
    };
    let arrays: Vec<ArrayRef> = columns.iter().enumerate().map(array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema(columns), arrays, &options)
        .map_err(|_| "the catalog's answer does not fit its columns".to_owned())
}

fn array(catalog: &Inner, oid: Oid, cells: &[Value]) -> ArrayRef {
    let ints = || cells.iter().map(Value::int);
    let floats = || {
        cells.iter().map(|value| match value {
            Value::Int(int) => Some(*int as f64),
            Value::Float(float) => Some(*float),
            _ => None,
        })
    };
    // An identifier above 2³¹ keeps its bits, as arrow-pg reads them back.
    let narrow = |int: i64| i32::try_from(int).unwrap_or(int as u32 as i32);
    match arrow_type(oid) {
        DataType::Boolean => Arc::new(cells.iter().map(Value::truth).collect::<BooleanArray>()),
        DataType::Int16 => {
            Arc::new(ints().map(|i| i.and_then(|i| i.try_into().ok())).collect::<Int16Array>())
        }
        DataType::Int32 => Arc::new(ints().map(|i| i.map(narrow)).collect::<Int32Array>()),
        DataType::Int64 => Arc::new(ints().collect::<Int64Array>()),
        DataType::Float32 => {
            Arc::new(floats().map(|float| float.map(|f| f as f32)).collect::<Float32Array>())
        }
        DataType::Float64 => Arc::new(floats().collect::<Float64Array>()),
        DataType::Timestamp(..) => {
            Arc::new(ints().collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
        }
        DataType::List(item) => {
            let element = types::element_of(oid).unwrap_or(types::TEXT);
            let items: Vec<Value> =
                cells.iter().flat_map(|cell| cell.items().iter().cloned()).collect();
            let lengths = OffsetBuffer::from_lengths(cells.iter().map(|cell| cell.items().len()));
            let nulls = NullBuffer::from_iter(cells.iter().map(|cell| !cell.is_null()));
            Arc::new(ListArray::new(item, lengths, array(catalog, element, &items), Some(nulls)))
        }
        _ => {
            let shown =
                |value: &Value| (!value.is_null()).then(|| functions::write(catalog, value, oid));
            Arc::new(cells.iter().map(shown).collect::<StringArray>())
        }
    }
}
