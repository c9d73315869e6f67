use super::*;

#[test]
fn keys_that_were_not_scouted_share_a_place() {
    let mut keys = Keys::default();
    let mut output = Vec::new();
    keys.put("a".to_owned(), 5.0, &mut output);
    keys.put("b".to_owned(), 6.0, &mut output);
    assert_eq!(output, [5.0, 6.0]);
    keys.settled = true;
    for _ in 0..2 {
        // The second output is as the first: nothing was learnt from it.
        let mut output = vec![f64::NAN; keys.places.len()];
        keys.put("b".to_owned(), 7.0, &mut output);
        assert_eq!((output.len(), output[1]), (2, 7.0));
        keys.put("c".to_owned(), 8.0, &mut output);
        keys.put("d".to_owned(), 9.0, &mut output);
        assert_eq!(output[1..], [7.0, 2.0]);
        assert!(output[0].is_nan());
    }
}
