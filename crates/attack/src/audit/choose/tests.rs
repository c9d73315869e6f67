use super::*;
use demure_core::mechanism::Geometric;
use demure_core::random::SeededForTests;
use demure_core::unit::{Epsilon, Sensitivity};

fn runs(answers: [&[i128]; 2], n: usize) -> [Vec<Output>; 2] {
    let noise = Geometric::new(Epsilon::new(1.0).unwrap(), Sensitivity::new(1.0).unwrap());
    let (noise, mut rng) = (noise.unwrap(), SeededForTests::insecure(1));
    let mut one = |answer: &[i128]| -> Output {
        let drawn = noise.release_vector(answer, &mut rng).unwrap().into_value();
        drawn.into_iter().map(|x| x as f64).collect()
    };
    answers.map(|answer| (0..n).map(|_| one(answer)).collect())
}

#[test]
fn a_half_line_is_found_for_one_number() {
    let found = candidates(&runs([&[0], &[1]], 20_000), 0.0);
    assert!(found[0].score > 0.7, "{found:?}");
    // Half-lines away from the other side's answer have the full ratio.
    let keys = |x: f64, left: bool| found[0].event.holds(&[x]) && found[0].left == left;
    assert!(keys(-1.0, true) || keys(2.0, false), "{:?}", found[0]);
}

#[test]
fn numbers_are_weighed_together_where_each_says_little() {
    // Four numbers, each moved by one: together they show 4ε, one alone ε.
    let found = candidates(&runs([&[0; 4], &[1, -1, 1, -1]], 40_000), 0.0);
    assert!(matches!(found[0].event.feature, Feature::Likelihood(_)), "{found:?}");
    assert!(found[0].score > 1.6, "{found:?}");
}

#[test]
fn nothing_is_found_where_there_is_nothing() {
    let found = candidates(&runs([&[3], &[3]], 5_000), 0.0);
    assert!(found.iter().all(|candidate| candidate.score < 0.0), "{found:?}");
}
