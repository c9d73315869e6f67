use super::*;
use crate::read_column;
use datafusion::arrow::array::{
    BinaryArray, DictionaryArray, Float64Array, Int32Array, Int64Array,
};
use datafusion::arrow::datatypes::Int32Type;

fn file(folder: &Path, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let path = folder.join("t.parquet");
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn a_column_of_any_type_is_read_as_texts() {
    let folder = tempfile::tempdir().unwrap();
    let words: DictionaryArray<Int32Type> = [Some("x"), None, Some("x")].into_iter().collect();
    let path = file(
        folder.path(),
        vec![
            ("n", Arc::new(Int64Array::from(vec![Some(7), None, Some(-2)])) as ArrayRef),
            ("x", Arc::new(Float64Array::from(vec![0.1, 1e300, -2.5])) as ArrayRef),
            ("w", Arc::new(words) as ArrayRef),
            ("b", Arc::new(BinaryArray::from_vec(vec![b"1", b"2", b"3"])) as ArrayRef),
        ],
    );
    let read = |column: &str| {
        let mut cells = Vec::new();
        read_column(&path, column, b',', |cell| cells.push(cell.unwrap().to_owned()))?;
        Ok::<_, Error>(cells)
    };
    assert_eq!(read("n").unwrap(), ["7", "", "-2"]);
    assert_eq!(read("w").unwrap(), ["x", "", "x"]);
    let numbers: Vec<f64> = read("x").unwrap().iter().map(|x| x.parse().unwrap()).collect();
    assert_eq!(numbers, [0.1, 1e300, -2.5]);
    assert!(matches!(read("b"), Err(Error::NoTexts { .. })));
    assert!(matches!(read("no"), Err(Error::NoColumn { .. })));
    assert_eq!(fields(&path).unwrap()[0], ("n".to_owned(), DataType::Int64, true));
}

#[test]
fn whole_numbers_are_read_or_their_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let column = |numbers: Vec<Option<i32>>| Arc::new(Int32Array::from(numbers)) as ArrayRef;
    let read = |columns| {
        let path = file(folder.path(), columns);
        let mut rows = Vec::new();
        let taken = whole_numbers(File::open(&path).unwrap(), &path, |row: [u64; 2]| {
            rows.push(row);
            Ok::<_, Error>(())
        });
        taken.map(|()| rows)
    };
    let two =
        |last| vec![("a", column(vec![Some(1), Some(2)])), ("b", column(vec![Some(3), last]))];
    assert_eq!(read(two(Some(4))).unwrap(), [[1, 3], [2, 4]]);
    for wrong in [Some(-1), None] {
        assert!(matches!(read(two(wrong)), Err(Error::NoNumber { row: 2, .. })));
    }
    assert!(matches!(read(vec![("a", column(vec![Some(1)]))]), Err(Error::NotWhole { .. })));
}

#[test]
fn texts_come_back_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.parquet");
    let rows = [["1", "x"], ["", "y"]];
    let mut out = File::create(&path).unwrap();
    write_texts(&["a", "b"], 2, |at, row| Some(rows[row][at]), &path, &mut out).unwrap();
    let mut cells = Vec::new();
    read_column(&path, "a", b',', |cell| cells.push(cell.unwrap().to_owned())).unwrap();
    assert_eq!(cells, ["1", ""]);
}
