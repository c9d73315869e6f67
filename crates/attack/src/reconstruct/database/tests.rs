use super::*;

#[test]
fn each_does_what_it_says() {
    let mut draws = Draws::new(1);
    let mut answer = |database: Database, x: u64| database.answer(x, &mut draws);
    assert_eq!(answer(Database::Plain, 7), Some(7.0));
    assert_eq!(answer(Database::Rounding { step: 5 }, 7), Some(5.0));
    assert_eq!(answer(Database::Rounding { step: 5 }, 8), Some(10.0));
    assert_eq!(answer(Database::Threshold { least: 10 }, 9), None);
    assert_eq!(answer(Database::Threshold { least: 10 }, 10), Some(10.0));
    assert_ne!(answer(Database::Noised { sigma: 1.0 }, 7), Some(7.0));
    // The remainder of 5 is one of −2 … 2: variance 2.
    assert_eq!(Database::Rounding { step: 5 }.sigma(100), Some(2f64.sqrt()));
    assert_eq!(Database::Rounding { step: 1 }.sigma(4), Some(0.0));
    assert_eq!(Database::Rounding { step: 15 }.sigma(400), None);
}
