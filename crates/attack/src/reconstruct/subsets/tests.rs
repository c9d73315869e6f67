use super::*;

#[test]
fn products_are_those_of_the_plain_matrix() {
    for (n, m) in [(1, 1), (7, 9), (64, 65), (130, 67), (200, 3)] {
        let mut draws = Draws::new((n * 1000 + m) as u64);
        let subsets = Subsets::random(n, m, &mut draws).unwrap();
        let v: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
        let r: Vec<f64> = (0..m).map(|_| draws.normal()).collect();
        let (mut forth, mut back) = (vec![0.0; m], vec![0.0; n]);
        subsets.product(&v, &mut forth);
        subsets.transposed(&r, &mut back);
        let entry = |q: usize, j: usize| f64::from(u8::from(subsets.counts(q, j)));
        for (q, found) in forth.iter().enumerate() {
            let plain: f64 = (0..n).map(|j| entry(q, j) * v[j]).sum();
            assert!((found - plain).abs() < 1e-12, "{n} {m}");
        }
        for (j, found) in back.iter().enumerate() {
            let plain: f64 = (0..m).map(|q| entry(q, j) * r[q]).sum();
            assert!((found - plain).abs() < 1e-12, "{n} {m}");
        }
        let bits: Vec<bool> = (0..n).map(|_| draws.coin()).collect();
        let exact = subsets.answers(&bits);
        let plain = |q: usize| (0..n).filter(|&j| bits[j] && subsets.counts(q, j)).count() as u64;
        assert_eq!(exact, (0..m).map(plain).collect::<Vec<_>>());
        let last = subsets.only(&[m - 1]).unwrap();
        assert!((0..n).all(|j| last.counts(0, j) == subsets.counts(m - 1, j)));
    }
    assert!(Subsets::random(0, 1, &mut Draws::new(0)).is_err());
    assert!(Subsets::random(1, 0, &mut Draws::new(0)).is_err());
}
