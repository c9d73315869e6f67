use super::*;
use demure_core::unit::{Epsilon, Rho};

#[test]
fn ladders_leave_room_for_the_noise() {
    let epsilon = |x: f64| Budget::Pure(Epsilon::new(x).unwrap());
    for budget in [epsilon(1.0), epsilon(1e-3), Budget::Concentrated(Rho::new(0.5).unwrap())] {
        for width in [1.0, 1e3, 1e6, 1e9, 1e12] {
            let ladder = ladder(width, 30, budget).unwrap();
            let most = ladder.bounded(ladder.len()).most() as f64;
            assert!(2.0 * most * width < 2f64.powf(61.0), "{width}");
        }
    }
    assert_eq!(ladder(1.0, 30, epsilon(1.0)).unwrap(), Ladder::new(20, 30).unwrap());
}

#[test]
fn weights_are_read_as_they_were_written() {
    let ladder = Ladder::new(10, 20).unwrap();
    let norms = Norms::new(-36, 4).unwrap();
    let all = [
        Weights::new(ladder, 4, 0.125, 0.01),
        Weights::new(ladder, 0, 0.0, 1e-7),
        Weights::of_norm(norms, 99, 0.25, 0.5, 1e9).unwrap(),
    ];
    let kinds = [Counted::Rows, Counted::People, Counted::Norm(0, norms)];
    let weighing = Weighing { ladder, most_groups: None, people: false, squares: false };
    let learning = Learning { weighing, sizes: Vec::new(), once: false };
    let text = written(&all);
    assert_eq!(learning.read(&text, &kinds).as_deref(), Some(&all[..]));
    // As they were written before there were norms.
    let old = learning.read("4 0.125 0.01", &kinds[..1]);
    assert_eq!(old.as_deref(), Some(&all[..1]));
    for text in [&*text, "", "4 0.5", "x 0 0", "4 2 0"] {
        assert_eq!(learning.read(text, &kinds[..1]), None, "{text}");
    }
    assert_eq!(learning.read("4 0.5 0.5", &kinds[2..]), None);
}

#[test]
fn what_was_learnt_is_said_in_words() {
    let ladder = Ladder::new(10, 20).unwrap();
    let of = |rung, lost, above, what| Weights::new(ladder, rung, lost, above).in_words(what, true);
    assert_eq!(
        of(0, 0.0, 0.0, Counted::Rows),
        "1 row of each person counts in full; hardly anyone seems to have more"
    );
    assert_eq!(
        of(6, 0.0123, 0.25, Counted::People),
        "up to 12 groups of each person count in full; about 25 % of people have more and count with a \
         smaller weight, which takes away about 1.2 % of all groups, as far as can be seen (the interval allows for it)"
    );
    assert!(of(0, 1.0, 0.0, Counted::Rows).contains("there are too few people"));
}

#[test]
fn what_was_learnt_of_sums_is_said_in_words() {
    let norms = Norms::new(-36, 4).unwrap();
    let rung = norms.rung(norms.steps(1_024.0).unsigned_abs());
    let of = |lost, above, kept| {
        let weights = Weights::of_norm(norms, rung, lost, above, kept).unwrap();
        weights.in_words(Counted::Norm(0, norms), true)
    };
    assert_eq!(
        of(0.0, 0.0, 1e9),
        "sums of up to 1024 of each person count in full; hardly anyone seems to have more"
    );
    assert_eq!(
        of(0.02, 0.003, 1e9),
        "sums of up to 1024 of each person count in full; about 0.3 % of people have more and count with \
         a smaller weight, which takes away about 2.0 % of all amounts, as far as can be seen (the interval \
         allows for it)"
    );
    assert!(of(1.0, 0.0, 0.0).contains("too few people with a value other than 0"));
    assert!(of(1.0, 0.0, 1e9).contains("sums of some people are beyond all"));
}
