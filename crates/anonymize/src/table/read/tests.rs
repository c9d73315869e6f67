use super::*;

fn rows(table: &Table) -> Vec<Vec<&str>> {
    let row =
        |r: usize| table.columns.iter().map(|c| c.values[c.codes[r] as usize].as_str()).collect();
    (0..table.rows).map(row).collect()
}

#[test]
fn reads_plain_and_quoted() {
    let table = Table::from_csv(&b"a;b\r\n1;x\r\n\r\n2;\n1;y"[..], b';').unwrap();
    assert_eq!(rows(&table), [["1", "x"], ["2", ""], ["1", "y"]]);
    let table = Table::from_csv(&b"\xef\xbb\xbfa,\"b\"\n1,\"x,\n\"\"\"\n2,\n"[..], b',').unwrap();
    assert_eq!(table.columns[0].name, "a");
    assert_eq!(rows(&table), [["1", "x,\n\""], ["2", ""]]);
    assert_eq!(Table::from_csv(&b"a,b\n"[..], b',').unwrap().rows, 0);
}

#[test]
fn says_where_never_what() {
    let fails = |bytes: &[u8], at: u64| {
        let error = Table::from_csv(bytes, b',').unwrap_err();
        assert!(matches!(error, Error::Malformed { line, .. } if line == at), "{error}");
        assert!(!error.to_string().contains("secret"));
    };
    fails(b"", 1);
    fails(b"a,b\n1,2\nsecret\n", 3);
    fails(b"a,b\n1,2\nsecret,2,3\n", 3);
    fails(b"a,b\n1,2\n\nsecret,\xff\n", 4);
    fails(b"a,b\n1,\"2\"\nsecret\n", 3);
    fails(b"a,a\n", 1);
}

#[test] // many blocks, many threads: the same as one after the other
fn blocks_agree_with_the_csv_crate() {
    let mut text = String::from("n,m\n");
    for n in 0..700_000_u64 {
        text += &format!("{},{}\n", n * n % 977, n / 1000);
    }
    assert!(text.len() > BLOCK * (ALONE as usize + 8), "or one thread reads it all");
    let fast = Table::from_csv(text.as_bytes(), b',').unwrap();
    let quoted = text.replacen("0,0", "\"0\",0", 1);
    let slow = Table::from_csv(quoted.as_bytes(), b',').unwrap();
    assert_eq!(fast.rows, 700_000);
    for (fast, slow) in fast.columns.iter().zip(&slow.columns) {
        assert_eq!(fast.values, slow.values);
        assert_eq!(fast.codes, slow.codes);
    }
}

#[test] // fields of all lengths, three delimiters, both line ends, empty lines
fn random_texts_agree_with_the_csv_crate() {
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for round in 0..300 {
        let delimiter = [',', ';', '\t'][next(3) as usize];
        let columns = 1 + next(4) as usize;
        let names: Vec<String> = (0..columns).map(|n| format!("c{n}")).collect();
        let mut text = names.join(&delimiter.to_string()) + "\n";
        for _ in 0..next(60) {
            let letters = ['a', 'b', 'é', '0', '\u{10348}', '\0'];
            let field = |next: &mut dyn FnMut(u64) -> u64| -> String {
                (0..next(22)).map(|_| letters[next(6) as usize]).collect()
            };
            let fields: Vec<String> = (0..columns).map(|_| field(&mut next)).collect();
            text += &fields.join(&delimiter.to_string());
            text += ["\n", "\r\n", "\n\n"][next(3) as usize];
        }
        let table = Table::from_csv(text.as_bytes(), delimiter as u8).unwrap();
        let mut reader =
            csv::ReaderBuilder::new().delimiter(delimiter as u8).from_reader(text.as_bytes());
        let expected: Vec<csv::StringRecord> =
            reader.records().map(|record| record.unwrap()).collect();
        assert_eq!(
            rows(&table),
            expected.iter().map(|r| r.iter().collect()).collect::<Vec<Vec<_>>>(),
            "{round}"
        );
    }
}
