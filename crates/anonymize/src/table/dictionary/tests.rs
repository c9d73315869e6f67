use super::*;

#[test]
fn codes_are_stable_as_it_grows() {
    let mut dictionary = Dictionary::default();
    for round in 0..2 {
        for n in 0..5000_u32 {
            assert_eq!(dictionary.code(&format!("text {n}"), (round, n)), n);
        }
    }
    assert_eq!(dictionary.first[7], (0, 7));
}

#[test] // every length on both sides of 8 and 16, texts that differ in one place only
fn texts_differ_wherever_they_differ() {
    let mut dictionary = Dictionary::default();
    let mut known = std::collections::HashMap::new();
    for length in 0..40 {
        for place in 0..=length {
            let mut text = vec![b'a'; length];
            if let Some(byte) = text.get_mut(place) {
                *byte = b'b';
            }
            let text = String::from_utf8(text).unwrap();
            let next = known.len() as u32;
            let code = *known.entry(text.clone()).or_insert(next);
            assert_eq!(dictionary.code(&text, (0, 0)), code, "{text}");
            let block = format!("xyz{text}{}", "a".repeat(PADDING));
            let found = dictionary.code_in(block.as_bytes(), 3, 3 + length, (0, 0));
            assert_eq!(found, code, "{text}");
        }
    }
    // Zero bytes are no padding.
    let codes: Vec<u32> =
        ["\0", "\0\0", "", "\0"].iter().map(|text| dictionary.code(text, (0, 0))).collect();
    assert!(codes[0] != codes[1] && codes[1] != codes[2] && codes[0] == codes[3]);
}
