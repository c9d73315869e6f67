use super::*;

/// A source that returns a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(out.len()).min(self.0.len());
        out[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn filled(text: &str) -> String {
    let read = |step: usize| {
        let mut out = String::new();
        BlankCells::new(Slow(text.as_bytes(), step), b',').read_to_string(&mut out).unwrap();
        out
    };
    let (slow, fast) = (read(1), read(1 << 20));
    assert_eq!(slow, fast);
    fast
}

#[test]
fn blank_lines_of_one_column_are_cells_and_others_stay() {
    for (text, wanted) in [
        ("v\n1\n\n3\n", "v\n1\n\"\"\n3\n"),
        ("v\r\n1\r\n\r\n3\r\n", "v\r\n1\r\n\"\"\r\n3\r\n"),
        ("v\n\n\n", "v\n\"\"\n\"\"\n"),
        ("\n\nv\n1\n", "\n\nv\n1\n"),
        ("v\n\"a\n\nb\"\n\n", "v\n\"a\n\nb\"\n\"\"\n"),
        ("v\n\"a\"\"\n\n\"\n\n", "v\n\"a\"\"\n\n\"\n\"\"\n"),
        ("v\na\"b\n\n\"c\"\n", "v\na\"b\n\"\"\n\"c\"\n"),
        ("v\r1\r\r2\r", "v\r1\r\"\"\r2\r"),
        ("v,w\n1,2\n\n3,4\n", "v,w\n1,2\n\n3,4\n"),
        ("\"v,w\"\n1\n\n", "\"v,w\"\n1\n\"\"\n"),
        ("", ""),
        ("v", "v"),
    ] {
        assert_eq!(filled(text), wanted, "{text:?}");
    }
}

#[test]
fn an_empty_cell_leaves_the_number_of_rows_as_it_is() {
    let rows = |text: &str| {
        let source = BlankCells::new(text.as_bytes(), b',');
        csv::Reader::from_reader(source).into_byte_records().map(Result::unwrap).count()
    };
    let full: Vec<String> = (0..50).map(|i| i.to_string()).collect();
    for blank in 0..50 {
        let mut cells = full.clone();
        cells[blank].clear();
        assert_eq!(rows(&format!("v\n{}\n", cells.join("\n"))), 50, "{blank}");
        assert_eq!(rows(&format!("v\r\n{}\r\n", cells.join("\r\n"))), 50, "{blank}");
    }
}
