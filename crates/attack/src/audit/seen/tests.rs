use super::*;

#[test]
fn keys_are_in_classes_by_how_often_they_were_seen() {
    let seen = SeenKeys::of(&[5, 5, 7, 9, 1], &[9, 8, 8, 2]).unwrap();
    // 5 twice on the left; 7 and 1 once; 9 on both; 2 once and 8 twice on the right.
    assert_eq!(seen.classes, [[2, 0], [1, 0], [1, 1], [0, 1], [0, 2]]);
    assert_eq!(seen.counts(&[5, 1, 1, 7, 9, 8, 3]), [1, 3, 1, 0, 1]);
    assert_eq!((seen.speaking(true), seen.speaking(false)), (vec![0, 1], vec![4, 3]));
    assert_eq!(seen.keys_like(&seen, 1, true), [1, 5, 7]);
    assert_eq!(seen.keys_like(&seen, 4, false), [8]);
    assert!(SeenKeys::of(&[1, 2], &[3]).is_none());
}
