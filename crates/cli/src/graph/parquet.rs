//! Edge lists in Parquet: the first two columns, whole numbers, batch by batch.

use crate::Failure;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, UInt64Type};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use demure_graph::read::EdgeList;
use demure_graph::{Error, Graph};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Whether a file is Parquet, by its first four bytes.
pub(super) fn is_parquet(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == b"PAR1"
}

/// Reads a graph. Says where a file is wrong, never what is in it.
pub(super) fn open(path: &Path, vertices: Option<u32>) -> Result<Graph, Failure> {
    let name = path.display();
    let wrong = |what: &str, hint: &str| Failure::usage(format!("{name}: {what}\nhint: {hint}"));
    let damaged =
        || wrong("this Parquet file cannot be read", "it is cut short or damaged: copy it again");
    let file = File::open(path).map_err(|error| wrong(&error.to_string(), "check the path"))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|_| damaged())?;
    let fields = builder.schema().fields();
    let numbers = |field: &DataType| field.is_integer();
    if fields.len() < 2 || !fields.iter().take(2).all(|field| numbers(field.data_type())) {
        return Err(wrong(
            "the first two columns of an edge list are whole numbers",
            "put the two vertices of an edge into the first two columns",
        ));
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), [0, 1]);
    let reader = builder.with_projection(mask).build().map_err(|_| damaged())?;
    let (mut list, mut row) = (EdgeList::new(vertices), 0u64);
    for batch in reader {
        let batch = batch.map_err(|_| damaged())?;
        let column = |i: usize| cast(batch.column(i), &DataType::UInt64).map_err(|_| damaged());
        let (from, to) = (column(0)?, column(1)?);
        let (from, to) = (from.as_primitive::<UInt64Type>(), to.as_primitive::<UInt64Type>());
        for i in 0..batch.num_rows() {
            row += 1;
            // What is missing or negative has become NULL.
            if from.is_null(i) || to.is_null(i) {
                let what = format!("row {row} is not two vertex numbers of at least 0");
                return Err(wrong(&what, "leave such rows out"));
            }
            let added = list.add(from.value(i), to.value(i));
            added.map_err(|error| super::source::unread(error, path))?;
        }
    }
    list.finish().map_err(|error: Error| super::source::unread(error, path))
}
