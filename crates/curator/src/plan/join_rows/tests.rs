use super::*;

#[test]
fn the_share_is_the_largest_that_fits() {
    for (k, fanout, share) in
        [(1, 1, 65_536), (2, 1, 256), (3, 1, 40), (4, 1, 16), (1, 365, 179), (2, 16, 64)]
    {
        let made = |c: u64| c.saturating_pow(k).saturating_mul(fanout);
        assert_eq!(largest(|c| made(c) <= MOST_JOINED_ROWS), Some(share), "{k} {fanout}");
        assert!(made(u64::from(share)) <= MOST_JOINED_ROWS);
        assert!(made(u64::from(share) + 1) > MOST_JOINED_ROWS);
    }
    assert_eq!(largest(|_| false), None);
    assert_eq!(largest(|c| c == 1), Some(1));
}
