//! CSV files of a table: their columns, whether every row of them can be parsed, and those that are compressed.

use crate::policy::TablePolicy;
use csv::{ByteRecord, ReaderBuilder};
use datafusion::arrow::csv::ReaderBuilder as ArrowReader;
use datafusion::arrow::csv::reader::Format as ArrowFormat;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::{DataFusionError, Result as PlanResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use demure_files::heading::heading;
use demure_files::open_text;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of rows by which the types of a public table are recognised.
const LOOKED_AT: usize = 1000;

/// The delimiters that are not the default.
const OTHERS: [u8; 3] = *b";\t|";

impl TablePolicy {
    /// What separates the cells of its CSV files.
    pub(super) fn separator(&self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }
}

/// The names of a file's columns. Nothing else is read: where a quote is not closed, what follows would be rows, and the
/// file is refused.
pub(super) fn names(file: &Path, delimiter: u8) -> Result<Vec<String>, String> {
    let found = heading(file, Some(delimiter));
    found.map(|heading| heading.names).map_err(|error| in_one_line(&error))
}

/// An error without a line of its own for its hint.
fn in_one_line(error: &demure_files::Error) -> String {
    error.to_string().replace("\nhint: ", "; ")
}

const NOT_UTF8: &str = "is not UTF-8 text; if it is Latin-1, convert the file: iconv -f WINDOWS-1252 -t UTF-8 \
                        old.csv > new.csv";

/// Refuses a heading that has one column because it has another delimiter than the policy says.
pub(super) fn check_delimiter(names: &[String], policy: &TablePolicy) -> Result<(), String> {
    let [only] = names else { return Ok(()) };
    let count = |sign: &u8| only.bytes().filter(|byte| byte == sign).count();
    let found = OTHERS.iter().max_by_key(|sign| count(sign)).filter(|sign| count(sign) > 0);
    match found {
        Some(sign) if policy.delimiter.is_none() => Err(format!(
            "{}: its first line has no comma; if its columns are separated by something else, write \
             `delimiter = \"{}\"` in `[tables.{}]` (or `delimiter = \",\"` if this is one column)",
            policy.source,
            if *sign == b'\t' { "tab".to_owned() } else { char::from(*sign).to_string() },
            policy.name
        )),
        _ => Ok(()),
    }
}

/// Refuses a CSV file with a row that the engine cannot parse. A single row must not decide whether queries are
/// answered, so it is found here, before any query.
pub(super) fn well_formed(file: &Path, delimiter: u8) -> Result<(), String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = open_text(file).map_err(|e| in_one_line(&e))?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(text);
    let mut record = ByteRecord::new();
    loop {
        let line = reader.position().line();
        let after = format!("{name}, after line {line}:");
        match reader.read_byte_record(&mut record) {
            Ok(true) if record.iter().all(|field| std::str::from_utf8(field).is_ok()) => {}
            Ok(true) => return Err(format!("{after} a row {NOT_UTF8}")),
            Ok(false) => return Ok(()),
            Err(error) if error.is_io_error() => {
                return Err(format!(
                    "{after} it cannot be read to its end; if it is compressed, it is damaged or incomplete"
                ));
            }
            Err(_) => {
                return Err(format!("{after} a row has more or fewer fields than the header"));
            }
        }
    }
}

/// Compressed files as a table: of texts if people are in it, otherwise of the types that its first rows suggest.
pub(super) fn compressed(
    files: &[PathBuf],
    delimiter: u8,
    names: &[String],
    protected: bool,
) -> PlanResult<Arc<dyn TableProvider>> {
    let schema = match files.first().filter(|_| !protected) {
        None => texts(names),
        Some(first) => {
            let text = open_text(first).map_err(|e| DataFusionError::External(Box::new(e)))?;
            let format = ArrowFormat::default().with_header(true).with_delimiter(delimiter);
            Arc::new(format.infer_schema(text, Some(LOOKED_AT))?.0)
        }
    };
    let rows = files.iter().map(|path| {
        let (path, schema) = (path.clone(), Arc::clone(&schema));
        Arc::new(Rows { path, schema, delimiter }) as Arc<dyn PartitionStream>
    });
    Ok(Arc::new(StreamingTable::try_new(Arc::clone(&schema), rows.collect())?))
}

/// Columns of texts.
pub(super) fn texts(names: &[String]) -> SchemaRef {
    let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The rows of one file, read from its beginning to its end.
struct Rows {
    path: PathBuf,
    schema: SchemaRef,
    delimiter: u8,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Batches of a file, in its order.
type Batches = Box<dyn Iterator<Item = PlanResult<RecordBatch>> + Send>;

impl Rows {
    fn batches(&self, size: usize) -> PlanResult<Batches> {
        let text = open_text(&self.path).map_err(|e| DataFusionError::External(Box::new(e)))?;
        // As the engine reads files that are not compressed.
        let reader = ArrowReader::new(Arc::clone(&self.schema))
            .with_header(true)
            .with_delimiter(self.delimiter)
            .with_truncated_rows(true)
            .with_batch_size(size)
            .build(text)?;
        Ok(Box::new(reader.map(|batch| batch.map_err(DataFusionError::from))))
    }
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batches = self.batches(context.session_config().batch_size());
        let batches = batches.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))));
        let stream = futures::stream::iter(batches);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream))
    }
}
