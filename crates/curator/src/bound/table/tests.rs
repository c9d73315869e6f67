use super::*;

#[test]
fn equal_hashes_do_not_make_equal_values() {
    let mut table = Table::default();
    for i in 0..500u32 {
        assert_eq!(table.intern(7, &i.to_le_bytes()).unwrap(), i);
        if i == 100 {
            assert_eq!(table.intern_null(7).unwrap(), 101);
            break;
        }
    }
    assert_eq!(table.intern(7, &[]).unwrap(), 102); // the empty string is not NULL
    assert_eq!(table.get(101), None);
    assert_eq!(table.get(102), Some(&[][..]));
    for i in 0..=100u32 {
        assert_eq!(table.find(7, &i.to_le_bytes()), Some(i));
        assert_eq!(table.get(i), Some(&i.to_le_bytes()[..]));
    }
    assert_eq!(table.find(7, b"elsewhere"), None);
}

#[test]
fn the_cache_is_exact_and_bounded() {
    let mut words = Words::new(0xa076_1d64_78bd_642f);
    assert_eq!(words.get(0), NONE);
    for i in 0..1 + (MOST_WORDS as u32 + 1_000) {
        words.put(u128::from(i) << 50, i);
    }
    assert_eq!(words.len, MOST_WORDS);
    assert_eq!(words.get(0), 0);
    assert_eq!(words.get(1_000 << 50), 1_000);
    assert_eq!(words.get(1), NONE);
    assert_eq!(words.get((MOST_WORDS as u128 + 6) << 50), NONE);
}
