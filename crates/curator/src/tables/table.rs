//! One table of a policy: its files opened, its columns as queries see them.

use crate::error::{Error, Result};
use crate::identity::files::{Format, files, format};
use crate::policy::{
    Access, ColumnBounds, ColumnKind, ColumnPolicy, Protection, TablePolicy, UnitPolicy, Value,
    nearest,
};
use crate::rows::expression::Facts;
use crate::rows::interval::Interval;
use crate::rows::times::{DAY, is_date, is_moment};
use crate::rows::written::Written;
use crate::rows::{RESERVED, unlimited};
use crate::tables::csv_files;
use crate::tables::source::{RowsOnly, alike, parquet};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::SessionState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An opened table.
pub(crate) struct Table {
    pub(crate) policy: TablePolicy,
    pub(super) source: Arc<dyn TableProvider>,
    /// The visible columns, with the types that queries see.
    pub(super) schema: SchemaRef,
    /// The version of the files, for the canonical form of a query.
    pub(crate) version: String,
    pub(super) files: Vec<PathBuf>,
    /// A stricter identity of the files, valid while this process runs.
    pub(super) identity: String,
    /// The values of each column, if this is a small public table.
    pub(super) listed: BTreeMap<String, Vec<ScalarValue>>,
}

impl Table {
    pub(super) async fn open(
        policy: &TablePolicy,
        folder: &Path,
        state: &SessionState,
    ) -> Result<Self> {
        let wrong = |reason: String| Error::Source { table: policy.name.clone(), reason };
        let failed = |e: datafusion::error::DataFusionError| wrong(e.strip_backtrace());
        let path = folder.join(&policy.source);
        let path = std::path::absolute(&path).map_err(|e| wrong(e.to_string()))?;
        let files = files(&path).map_err(|e| wrong(format!("{}: {e}", policy.source)))?;
        let first = files
            .first()
            .ok_or_else(|| wrong(format!("{}: no CSV or Parquet file is there", policy.source)))?;
        // Where one of a folder is compressed, all are read in the same way.
        let gzip = files.iter().any(|file| demure_files::is_gzip(file));
        let format = match format(first) {
            Some(Format::Csv | Format::CsvGzip) if gzip => Format::CsvGzip,
            Some(Format::Csv) => Format::Csv,
            _ => Format::Parquet,
        };
        if format == Format::Parquet && policy.delimiter.is_some() {
            return Err(wrong(format!(
                "{} is Parquet, and `delimiter` is for CSV: remove it",
                policy.source
            )));
        }
        let delimiter = policy.separator();
        // The engine would take such a path for a pattern, and find no rows.
        if files.iter().any(|file| file.to_string_lossy().contains(['[', ']', '?', '{', '}'])) {
            return Err(wrong(format!(
                "{}: brackets, braces and question marks in a file's path are not supported; \
                 rename it",
                policy.source
            )));
        }
        alike(&files, delimiter).map_err(wrong)?;
        let stamp = stamp(&files, delimiter).map_err(|e| wrong(e.to_string()))?;
        let Stamp { version, identity } = stamp;
        let urls: std::result::Result<Vec<_>, _> =
            files.iter().map(|file| ListingTableUrl::parse(file.to_string_lossy())).collect();
        let config = ListingTableConfig::new_with_multi_paths(urls.map_err(failed)?);
        let protected = matches!(policy.access, Access::Protected(_));
        let names = match format {
            Format::Parquet => Vec::new(),
            _ => csv_files::names(first, delimiter).map_err(wrong)?,
        };
        csv_files::check_delimiter(&names, policy).map_err(wrong)?;
        if protected && format != Format::Parquet {
            let checked = files.iter().try_for_each(|file| csv_files::well_formed(file, delimiter));
            checked.map_err(wrong)?;
        }
        let config = match format {
            Format::CsvGzip => None,
            Format::Csv => {
                // Not split by byte ranges: a range may begin within a quoted field.
                let csv = CsvFormat::default().with_newlines_in_values(true);
                let csv = csv.with_has_header(true).with_truncated_rows(true);
                let csv = csv.with_delimiter(delimiter);
                // Whatever the case of the file's extension.
                let options = ListingOptions::new(Arc::new(csv)).with_file_extension("");
                let config = config.with_listing_options(options);
                Some(match protected {
                    true => config.with_schema(csv_files::texts(&names)),
                    false => config.infer_schema(state).await.map_err(failed)?,
                })
            }
            Format::Parquet => {
                let options = ListingOptions::new(Arc::new(parquet())).with_file_extension("");
                let config = config.with_listing_options(options);
                let config = config.infer_schema(state).await.map_err(failed)?;
                Some(match config.file_schema.clone() {
                    Some(schema) if protected => config.with_schema(with_nulls(&schema)),
                    _ => config,
                })
            }
        };
        let source: Arc<dyn TableProvider> = match config {
            Some(config) => Arc::new(ListingTable::try_new(config).map_err(failed)?),
            None => csv_files::compressed(&files, delimiter, &names, protected).map_err(failed)?,
        };
        let source = if protected { Arc::new(RowsOnly(source)) } else { source };
        let schema = match &policy.access {
            Access::Public { .. } => {
                let schema = source.schema();
                schema.fields().iter().try_for_each(|f| readable(f)).map_err(wrong)?;
                schema
            }
            Access::Protected(protection) => {
                visible(&source.schema(), protection, format != Format::Parquet).map_err(wrong)?
            }
        };
        let (policy, listed) = (policy.clone(), BTreeMap::new());
        Ok(Self { policy, source, schema, version, files, identity, listed })
    }

    /// How the policy says that a column's texts are written, if it says so and they are texts.
    pub(super) fn written(&self, field: &Field, protection: &Protection) -> Option<Written> {
        let column = protection.column(field.name())?;
        let stored = plain(self.source.schema().field_with_name(field.name()).ok()?.data_type());
        match field.data_type() {
            _ if stored != DataType::Utf8 => None,
            DataType::Date32 | DataType::Timestamp(..) => column.format.clone().map(Written::Time),
            DataType::Int64 | DataType::Float64 => column.decimal_comma.then_some(Written::Comma),
            _ => None,
        }
    }

    pub(super) fn facts(&self, field: &Field, protection: &Protection) -> Facts {
        let unit = matches!(&protection.unit, UnitPolicy::Column(column) if column == field.name());
        let data_type = field.data_type();
        let origin = Some((self.policy.name.clone(), field.name().clone()));
        let integral = data_type.is_integer();
        let mut facts = Facts { unit, integral, origin, ..Facts::unknown() };
        let Some(column) = protection.columns.iter().find(|c| c.name == *field.name()) else {
            return facts;
        };
        facts.nullable = column.nullable;
        match column.bounds {
            Some(ColumnBounds::Numbers(low, high)) => facts.interval = Interval::new(low, high),
            Some(ColumnBounds::Times(low, high)) if is_moment(data_type) => {
                let day = |at: i64| at.div_euclid(DAY) * DAY;
                let (low, high) = match is_date(data_type) {
                    true => (day(low.microseconds()), day(high.microseconds())),
                    false => (low.microseconds(), high.end()),
                };
                // What nanoseconds can hold.
                let most = match data_type {
                    DataType::Timestamp(TimeUnit::Nanosecond, _) => i64::MAX / 1_000,
                    _ => i64::MAX,
                };
                let within = |at: i64| at.clamp(-most, most) as f64;
                facts.interval = Interval::new(within(low), within(high));
            }
            Some(ColumnBounds::Times(..)) | None => {}
        }
        facts.grid = column.grid.map(|grid| grid.log2() as i32);
        if let Some(values) = &column.values {
            let scalars = values.iter().filter_map(|value| scalar(value, data_type));
            facts.values = Some(scalars.collect());
            let numbers: Vec<f64> =
                facts.values.iter().flatten().filter_map(crate::rows::expression::place).collect();
            if column.bounds.is_none() && numbers.len() == values.len() {
                let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                facts.interval = Interval::new(low, high);
            }
        }
        facts
    }
}

/// The stored columns, each of which may hold NULL. Some writers mark a column without a NULL as one that cannot have any,
/// and plans would then tell whether somebody has one.
fn with_nulls(stored: &Schema) -> SchemaRef {
    let fields = stored.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A value of the policy, converted to the column's type.
fn scalar(value: &Value, data_type: &DataType) -> Option<ScalarValue> {
    let written = match value {
        Value::Text(text) | Value::Date(text) => ScalarValue::Utf8(Some(text.clone())),
        Value::Integer(k) => ScalarValue::Int64(Some(*k)),
        Value::Real(x) => ScalarValue::Float64(Some(*x)),
        Value::Boolean(b) => ScalarValue::Boolean(Some(*b)),
    };
    written.cast_to(data_type).ok().filter(|value| !value.is_null())
}

/// The part of a source that queries see: no hidden columns, no decimals, CSV text converted to its kind.
fn visible(
    source: &Schema,
    protection: &Protection,
    csv: bool,
) -> std::result::Result<SchemaRef, String> {
    let named = |name: &str| protection.columns.iter().find(|column| column.name == name);
    let needed = match &protection.unit {
        UnitPolicy::Row => None,
        UnitPolicy::Column(column) | UnitPolicy::Via { column, .. } => Some(column.as_str()),
    };
    let declared = protection.columns.iter().map(|column| column.name.as_str()).chain(needed);
    // The type that the policy declares, whatever the writer of a Parquet file chose: because of one missing value,
    // some writers store integers as floats, and queries must not see that.
    let declares = |column: &ColumnPolicy| !matches!(column.kind, None | Some(ColumnKind::Other));
    let shown = |field: &Field| match named(field.name()) {
        Some(column) if csv || declares(column) => csv_type(column),
        // Bounds of times are in UTC, and so are the times.
        Some(ColumnPolicy { bounds: Some(ColumnBounds::Times(..)), .. }) => {
            match plain(field.data_type()) {
                DataType::Timestamp(unit, _) => DataType::Timestamp(unit, None),
                other => other,
            }
        }
        _ => plain(field.data_type()),
    };
    if let UnitPolicy::Column(unit) = &protection.unit
        && source.field_with_name(unit).is_ok_and(|field| shown(field).is_floating())
    {
        return Err(format!(
            "`{unit}` is a real number and cannot say whose row it is (NaN is nobody's name): give \
             it `type = \"integer\"` or `type = \"text\"`, or store it so"
        ));
    }
    for name in declared {
        if source.field_with_name(name).is_err() {
            return Err(missing(name, source));
        }
    }
    let mut fields = Vec::new();
    for field in source.fields() {
        if field.name().starts_with(RESERVED) {
            return Err(format!("column names must not begin with {RESERVED}"));
        }
        let column = named(field.name());
        if column.is_some_and(|column| column.hidden) || unlimited(field.data_type()) {
            continue;
        }
        readable(field)?;
        let kind = shown(field);
        if let Some(bounds) = column.and_then(|column| column.bounds) {
            fits(field.name(), bounds, &kind)?;
        }
        fields.push(Field::new(field.name(), kind, true));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// What to do about a column that is not there.
fn missing(name: &str, source: &Schema) -> String {
    let names = source.fields().iter().map(|field| field.name().as_str());
    let same = names.clone().find(|known| known.to_lowercase() == name.to_lowercase());
    let meant = same.or_else(|| nearest(name, names));
    let meant = meant.map_or(String::new(), |known| format!("; it has `{known}`"));
    format!("the policy names column `{name}`, which the source does not have{meant}")
}

/// Refuses bounds that values of the type cannot have.
fn fits(name: &str, bounds: ColumnBounds, kind: &DataType) -> std::result::Result<(), String> {
    match bounds {
        ColumnBounds::Times(..) if !is_moment(kind) => Err(format!(
            "the `bounds` of `{name}` are dates or times, and it is stored as {kind}: give it \
             `type = \"date\"` or `type = \"time\"`, or write numbers"
        )),
        ColumnBounds::Numbers(..) if kind.is_temporal() => Err(format!(
            "the `bounds` of `{name}` are numbers, and it holds dates or times: write dates, \
             `bounds = [2023-01-01, 2024-12-31]`"
        )),
        _ => Ok(()),
    }
}

/// Refuses a type that the engine cannot read in full. A failure that only happens when a row is reached would reveal
/// whether there was such a row.
fn readable(field: &Field) -> std::result::Result<(), String> {
    use DataType as T;
    let readable = match field.data_type() {
        T::Dictionary(_, values) => {
            values.is_integer()
                || values.is_temporal() && !matches!(**values, T::Interval(_))
                || matches!(
                    **values,
                    T::Float32 | T::Float64 | T::Utf8 | T::LargeUtf8 | T::Utf8View
                )
        }
        T::RunEndEncoded(..) => false,
        _ => true,
    };
    match readable {
        true => Ok(()),
        false => Err(format!(
            "`{}` is stored as {}, which cannot be read: store its values plainly, or give it \
             `hidden = true`",
            field.name(),
            field.data_type()
        )),
    }
}

/// The type that queries see for a stored type: that of its values, however they are stored.
fn plain(stored: &DataType) -> DataType {
    match stored {
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        stored if stored.is_decimal() => DataType::Float64,
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        stored => stored.clone(),
    }
}

/// The type of a CSV column, from the policy alone: its values are not read.
fn csv_type(column: &ColumnPolicy) -> DataType {
    match column.kind {
        Some(ColumnKind::Integer) => DataType::Int64,
        Some(ColumnKind::Real) => DataType::Float64,
        Some(ColumnKind::Boolean) => DataType::Boolean,
        Some(ColumnKind::Date) => DataType::Date32,
        Some(ColumnKind::Time) => DataType::Timestamp(TimeUnit::Microsecond, None),
        Some(ColumnKind::Text | ColumnKind::Other) => DataType::Utf8,
        None => match column.values.as_ref().and_then(|values| values.first()) {
            Some(Value::Integer(_)) => DataType::Int64,
            Some(Value::Real(_)) => DataType::Float64,
            Some(Value::Boolean(_)) => DataType::Boolean,
            Some(Value::Date(_)) => DataType::Date32,
            Some(Value::Text(_)) => DataType::Utf8,
            None => match column.bounds {
                Some(ColumnBounds::Numbers(..)) => DataType::Float64,
                Some(ColumnBounds::Times(low, _)) if low.is_day() => DataType::Date32,
                Some(ColumnBounds::Times(..)) => DataType::Timestamp(TimeUnit::Microsecond, None),
                None => DataType::Utf8,
            },
        },
    }
}

/// Identifies the files of a table.
pub(super) struct Stamp {
    /// Changes if names, sizes or times of the files change, or how they are read.
    pub(super) version: String,
    /// Also changes if files are replaced by others of the same size and time.
    pub(super) identity: String,
}

pub(super) fn stamp(files: &[PathBuf], delimiter: u8) -> std::io::Result<Stamp> {
    let mut stamp = Stamp { version: String::new(), identity: String::new() };
    if delimiter != b',' {
        stamp.version.push_str(&format!("delimiter {delimiter}\n"));
    }
    for file in files {
        let data = std::fs::metadata(file)?;
        let time = data.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        stamp.version.push_str(&format!("{name} {} {}\n", data.len(), time.as_nanos()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = (data.ctime(), data.ctime_nsec());
            stamp.identity.push_str(&format!("{} {} {changed:?}\n", data.dev(), data.ino()));
        }
        #[cfg(not(unix))]
        stamp.identity.push_str(&format!("{:?}\n", data.created().ok()));
    }
    Ok(stamp)
}
