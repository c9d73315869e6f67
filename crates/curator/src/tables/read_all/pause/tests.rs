use super::*;
use datafusion::arrow::array::{AsArray, Int64Array};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use futures::FutureExt;

/// All rows, in order, in pieces, with a pause after each.
#[tokio::test]
async fn a_pause_comes_after_every_piece_and_no_row_is_lost() {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    let batch = |from: i64, rows: i64| {
        let numbers = Arc::new(Int64Array::from_iter_values(from..from + rows));
        Ok(RecordBatch::try_new(Arc::clone(&schema), vec![numbers]).unwrap())
    };
    let batches = [batch(0, 2500), batch(2500, 0), batch(2500, 1024), batch(3524, 1)];
    let rows = RecordBatchStreamAdapter::new(Arc::clone(&schema), futures::stream::iter(batches));
    let mut paused = Paused { rows: Box::pin(rows), rest: None, due: false };
    let (mut sizes, mut numbers, mut pauses) = (Vec::new(), Vec::new(), 0);
    loop {
        match paused.next().now_or_never() {
            None => pauses += 1,
            Some(None) => break,
            Some(Some(piece)) => {
                let piece = piece.unwrap();
                sizes.push(piece.num_rows());
                numbers.extend_from_slice(piece.column(0).as_primitive::<Int64Type>().values());
            }
        }
    }
    assert_eq!((sizes, pauses), (vec![1024, 1024, 452, 0, 1024, 1], 6));
    assert!(numbers.into_iter().eq(0..3525));
}
