use super::*;

fn target(class: usize, value: usize) -> Target {
    Target { classes: vec![class], second: Vec::new(), value }
}

/// The lecture's nine rows, 3-anonymous. iOS, Android, MacOS, Windows, Linux.
fn nine() -> (Vec<Histogram>, Vec<Target>) {
    let classes = vec![vec![1, 1, 1, 0, 0], vec![0, 0, 0, 2, 1], vec![0, 1, 1, 1, 0]];
    let values = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 3), (2, 2), (2, 3), (2, 1)];
    (classes, values.map(|(class, value)| target(class, value)).into())
}

#[test]
fn nine_rows_are_open_until_somebody_knows_something() {
    let (classes, targets) = nine();
    let linkage = Linkage::new(classes).unwrap();
    let blind = linkage.everybody(&targets);
    assert_eq!((blind.certain(), blind.count(Finding::Open)), (0, 9));
    // One of three in the first and the third class, two of three in the second; by chance
    // three Windows of nine.
    assert_eq!((blind.right, blind.by_chance), (4, 3));
    assert!((blind.learnt[3].confidence - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!((blind.at_worst(0), blind.at_worst(1), blind.at_worst(2)), (0, 3, 9));
    // That they do not use Linux is known of some: two Windows are certain. Of the one who
    // does, it cannot be known.
    let knows = linkage.knowing(vec![4]).everybody(&targets);
    assert_eq!(knows.count(Finding::Known), 2);
    assert_eq!(knows.learnt[4].finding, Finding::Open);
    assert!(knows.learnt[3].finding == Finding::Known && knows.learnt[3].guess == Some(3));
}

#[test]
fn one_row_or_one_value_gives_a_person_away() {
    let linkage = Linkage::new(vec![vec![1, 0], vec![0, 3], vec![2, 2]]).unwrap();
    let finding =
        |classes: Vec<usize>| linkage.learn(&Target { classes, second: vec![], value: 0 }).finding;
    assert_eq!(finding(vec![0]), Finding::Unique);
    assert_eq!(finding(vec![1]), Finding::Homogeneous);
    assert_eq!(finding(vec![2]), Finding::Open);
    // A person whose cells fit two classes may be in either.
    assert_eq!(finding(vec![0, 1]), Finding::Open);
    assert_eq!(finding(vec![]), Finding::Unmatched);
    let unmatched = linkage.learn(&Target { classes: vec![], second: vec![], value: 0 });
    assert_eq!((unmatched.guess, unmatched.confidence), (None, 0.0));
}

#[test]
fn two_releases_each_diverse_fall_together() {
    // Each release has two values in every class; only one is in both.
    let first = vec![vec![2, 2, 0], vec![0, 1, 3]];
    let second = vec![vec![2, 0, 2], vec![0, 3, 1]];
    let linkage = Linkage::new(first.clone()).unwrap().and(second).unwrap();
    let both =
        |a: usize, b: usize| linkage.learn(&Target { classes: vec![a], second: vec![b], value: 0 });
    assert_eq!((both(0, 0).finding, both(0, 0).guess), (Finding::Intersected, Some(0)));
    assert_eq!((both(0, 1).finding, both(0, 1).guess), (Finding::Intersected, Some(1)));
    assert_eq!(both(1, 1).finding, Finding::Open);
    assert!(Linkage::new(first).unwrap().and(vec![vec![1]]).is_err());
    assert!(Linkage::new(vec![]).is_err() && Linkage::new(vec![vec![]]).is_err());
}
