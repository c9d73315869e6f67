use super::*;

#[test]
fn every_id_occurs_once() {
    for rows in [100, 1_000, 48_271, 96_542, 99_999] {
        let mut ids: Vec<i64> = (0..rows).map(|row| id(row, rows)).collect();
        ids.sort_unstable();
        assert!(ids.iter().enumerate().all(|(i, id)| *id == i as i64), "{rows}");
    }
}
