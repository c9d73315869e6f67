//! An answer as JSON, or as an Arrow stream.
//!
//! # Special values
//! In JSON, NULL is `null`; NaN and ±∞, which JSON does not have, are `"NaN"`, `"Infinity"` and
//! `"-Infinity"`; whole numbers have all their digits, up to 64 bits; dates, times and decimals
//! are texts.

use crate::json::{self, plain_name};
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, UInt64Type};
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_curator::Answer;
use demure_ledger::AnalystBalance;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The media type of an Arrow stream.
pub(super) const ARROW: &str = "application/vnd.apache.arrow.stream";

/// `{"columns":[…],"rows":[[…]],…}`. With `intervals`, the columns `x_low` and `x_high` that
/// follow `x` are its intervals instead: one `[low, high]` a row, or `null` where there is none, or for the column.
pub(super) fn json(answer: &Answer, balance: &AnalystBalance, intervals: bool) -> Option<Response> {
    let fields = answer.schema.fields();
    let name = |at: usize| fields.get(at).map(|field| field.name().as_str());
    let mut shown: Vec<(usize, bool)> = Vec::new();
    let mut at = 0;
    while let Some(this) = name(at) {
        let ends = intervals
            && name(at + 1) == Some(&format!("{this}_low"))
            && name(at + 2) == Some(&format!("{this}_high"));
        shown.push((at, ends));
        at += if ends { 3 } else { 1 };
    }
    let columns: Vec<Value> = shown
        .iter()
        .map(
            |(at, _)| json!({ "name": fields[*at].name(), "type": plain(fields[*at].data_type()) }),
        )
        .collect();
    let mut text = format!("{{\"columns\":{},\"rows\":[", Value::from(columns));
    let mut empty = true;
    for batch in &answer.batches {
        let cells: Option<Vec<Cells<'_>>> =
            shown.iter().map(|(at, _)| Cells::of(batch.column(*at))).collect();
        let cells = cells?;
        for row in 0..batch.num_rows() {
            text.push_str(if empty { "[" } else { ",[" });
            empty = false;
            for (i, cells) in cells.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                cells.write(row, &mut text);
            }
            text.push(']');
        }
    }
    text.push(']');
    if intervals {
        text.push_str(",\"intervals\":[");
        for (i, (at, ends)) in shown.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            if *ends { write_ends(answer, *at, &mut text)? } else { text.push_str("null") }
        }
        text.push(']');
    }
    // Its opening brace becomes a comma.
    let rest = Value::Object(json::answer(answer, &balance.left, "repeated")).to_string();
    text.push(',');
    text.push_str(rest.get(1..)?);
    let kind = HeaderValue::from_static("application/json");
    Some(([(header::CONTENT_TYPE, kind)], Body::from(text)).into_response())
}

fn write_ends(answer: &Answer, at: usize, text: &mut String) -> Option<()> {
    text.push('[');
    let mut empty = true;
    for batch in &answer.batches {
        let (low, high) = (Cells::of(batch.column(at + 1))?, Cells::of(batch.column(at + 2))?);
        for row in 0..batch.num_rows() {
            if !empty {
                text.push(',');
            }
            empty = false;
            if low.array.is_null(row) || high.array.is_null(row) {
                text.push_str("null");
                continue;
            }
            text.push('[');
            low.write(row, text);
            text.push(',');
            high.write(row, text);
            text.push(']');
        }
    }
    text.push(']');
    Some(())
}

/// A type as SQL users say it.
pub(super) fn plain(kind: &DataType) -> String {
    plain_name(&kind.to_string()).to_owned()
}

/// A column, ready to be written cell by cell.
struct Cells<'a> {
    array: ArrayRef,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Boolean,
    Integer,
    Unsigned,
    Real,
    Text,
    Other(Box<ArrayFormatter<'a>>),
}

impl<'a> Cells<'a> {
    fn of(array: &'a ArrayRef) -> Option<Self> {
        const OPTIONS: FormatOptions<'static> = FormatOptions::new();
        let (kind, wanted) = match array.data_type() {
            DataType::Boolean => (Kind::Boolean, DataType::Boolean),
            DataType::UInt64 => (Kind::Unsigned, DataType::UInt64),
            kind if kind.is_integer() => (Kind::Integer, DataType::Int64),
            kind if kind.is_floating() => (Kind::Real, DataType::Float64),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                (Kind::Text, DataType::Utf8)
            }
            kind => {
                let formatter = ArrayFormatter::try_new(array.as_ref(), &OPTIONS).ok()?;
                (Kind::Other(Box::new(formatter)), kind.clone())
            }
        };
        Some(Self { array: cast(array, &wanted).ok()?, kind })
    }

    fn write(&self, row: usize, text: &mut String) {
        if self.array.is_null(row) {
            return text.push_str("null");
        }
        let value = match &self.kind {
            Kind::Boolean => Value::from(self.array.as_boolean().value(row)),
            Kind::Integer => Value::from(self.array.as_primitive::<Int64Type>().value(row)),
            Kind::Unsigned => Value::from(self.array.as_primitive::<UInt64Type>().value(row)),
            Kind::Real => real(self.array.as_primitive::<Float64Type>().value(row)),
            Kind::Text => Value::from(self.array.as_string::<i32>().value(row)),
            Kind::Other(formatter) => Value::from(formatter.value(row).to_string()),
        };
        text.push_str(&value.to_string());
    }
}

fn real(x: f64) -> Value {
    match x {
        x if x.is_nan() => Value::from("NaN"),
        f64::INFINITY => Value::from("Infinity"),
        f64::NEG_INFINITY => Value::from("-Infinity"),
        x => Value::from(x),
    }
}

/// An Arrow IPC stream; what JSON says beside the rows is in the schema's metadata, `demure`.
pub(super) fn arrow(answer: &Answer, balance: &AnalystBalance) -> Option<Response> {
    let fields = answer.schema.fields().iter();
    // Every column may be NULL: plans differ in that.
    let fields: Vec<Field> =
        fields.map(|f| Field::new(f.name(), f.data_type().clone(), true)).collect();
    let about = Value::Object(json::answer(answer, &balance.left, "repeated")).to_string();
    let metadata = HashMap::from([("demure".to_owned(), about)]);
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &schema).ok()?;
    for batch in &answer.batches {
        let batch = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec()).ok()?;
        writer.write(&batch).ok()?;
    }
    writer.finish().ok()?;
    drop(writer);
    let kind = HeaderValue::from_static(ARROW);
    Some(([(header::CONTENT_TYPE, kind)], Body::from(bytes)).into_response())
}

#[cfg(test)]
mod tests;
