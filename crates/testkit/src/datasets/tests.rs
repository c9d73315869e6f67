use super::*;

#[test]
fn rows_are_all_of_them_once() {
    assert_eq!(
        rows(&['a', 'b'], 0..=2),
        ["", "a", "b", "aa", "ab", "ba", "bb"].map(|s| s.chars().collect::<Vec<_>>())
    );
    assert_eq!(rows(&[0, 1, 2], 4..=4).len(), 81);
    assert_eq!(distinct(rows(&[0, 1, 2], 0..=4)).len(), 1 + 3 + 9 + 27 + 81);
}

#[test]
fn neighbours_are_exactly_those_of_the_definition() {
    let domain = [0, 1, 2];
    let all = rows(&domain, 0..=3);
    let larger = rows(&domain, 0..=4);
    for x in &all {
        let differing = |y: &&Vec<i32>| {
            y.len() == x.len() && y.iter().zip(x).filter(|(a, b)| a != b).count() == 1
        };
        let expected: Vec<_> = all.iter().filter(differing).cloned().collect();
        assert_eq!(distinct(replace_one(x, &domain)), distinct(expected));

        let without = |y: &[i32], i: usize| [&y[..i], &y[i + 1..]].concat();
        let one_less =
            |long: &[i32], short: &[i32]| (0..long.len()).any(|i| without(long, i) == short);
        let near = |y: &&Vec<i32>| one_less(y, x) || one_less(x, y);
        let expected: Vec<_> = larger.iter().filter(near).cloned().collect();
        assert_eq!(add_or_remove_one(x, &domain), distinct(expected));
    }
}

#[test]
fn histograms_are_all_of_them_once() {
    // C(total + cells, cells) histograms.
    assert_eq!(distinct(histograms(3, 4)).len(), 35);
    assert_eq!(histograms(3, 4).len(), 35);
    assert_eq!(histograms(0, 4), [Vec::<u64>::new()]);
    for h in histograms(3, 3) {
        for n in histogram_replace_one(&h) {
            assert_eq!(n.iter().sum::<u64>(), h.iter().sum::<u64>());
            assert_eq!(distance(&h, &n), 2);
            assert!(histogram_replace_one(&n).contains(&h));
        }
        let adds = histogram_add_or_remove_one(&h);
        assert_eq!(adds.len(), 3 + h.iter().filter(|c| **c > 0).count());
        for n in adds {
            assert_eq!(distance(&h, &n), 1);
            assert!(histogram_add_or_remove_one(&n).contains(&h));
        }
    }
    assert_eq!(histogram_replace_one(&[1, 0, 2]).len(), 4);
}

fn distance(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).sum()
}
