use super::{Price, Purse, WHOLE, quanta};
use demure_core::account::Account;
use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};
use std::num::NonZeroU32;

fn approximate(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee::Approximate(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap())
}

const RELATIONS: [Neighbours; 2] = [Neighbours::AddRemove, Neighbours::Replace];

#[test]
fn the_event_costs_what_was_promised_and_hardly_less() {
    for relation in RELATIONS {
        for (epsilon, delta) in
            [(0.01, 1e-9), (0.1, 1e-6), (1.0, 1e-9), (10.0, 1e-12), (100.0, 1e-9), (1e-3, 0.3)]
        {
            let price = Price::new(approximate(epsilon, delta), relation).unwrap();
            let account = Account::of(&[price.event()], relation).unwrap();
            let cost = account.epsilon(Delta::new(delta).unwrap()).unwrap().upper;
            assert!(cost <= epsilon, "{epsilon} {delta:e}: {cost}");
            // Where δ alone allows much, no ε at all is spent at the least noise.
            assert!(cost >= epsilon * (1.0 - 1e-6), "{epsilon} {delta:e}: {cost}");
            assert!((price.mu() * price.sigma - 1.0).abs() < 1e-12);
        }
        let rho = Rho::new(0.02).unwrap();
        let price = Price::new(Guarantee::Concentrated(rho), relation).unwrap();
        let spent = Account::of(&[price.event()], relation).unwrap().rho().unwrap();
        assert!((0.02 * (1.0 - 1e-9)..=0.02 * (1.0 + 1e-12)).contains(&spent), "{spent}");
    }
}

#[test]
fn the_event_holds_under_the_other_relation_too() {
    // Histograms move by 1 and √2, distances by 1 and 2: at most twice as much, at least as much.
    for relation in RELATIONS {
        let price = Price::new(approximate(1.0, 1e-9), relation).unwrap();
        let cost = |relation| {
            let account = Account::of(&[price.event()], relation).unwrap();
            account.epsilon(Delta::new(1e-9).unwrap()).unwrap().upper
        };
        let (add, replace) = (cost(Neighbours::AddRemove), cost(Neighbours::Replace));
        match relation {
            Neighbours::AddRemove => assert!(replace > 1.9 * add),
            Neighbours::Replace => assert!((add - replace).abs() < 1e-9),
        }
    }
}

#[test]
fn promises_without_a_gaussian_are_refused() {
    let pure = Guarantee::Pure(Epsilon::new(1.0).unwrap());
    assert!(Price::new(pure, Neighbours::AddRemove).is_err());
    assert!(Price::new(approximate(1.0, 0.0), Neighbours::AddRemove).is_err());
}

#[test]
fn the_advantage_is_that_of_two_gaussians() {
    // 2Φ(½) − 1 at μ = 1.
    let price =
        Price::new(Guarantee::Concentrated(Rho::new(0.5).unwrap()), Neighbours::AddRemove).unwrap();
    let advantage = price.advantage().unwrap();
    assert!((advantage - 0.382_924_922_548_026).abs() < 1e-9, "{advantage}");
}

#[test]
fn sensitivities_grow_with_the_rows_of_a_unit() {
    for (relation, histogram, distance) in
        [(Neighbours::AddRemove, 1.0, 1.0), (Neighbours::Replace, 2f64.sqrt(), 2.0)]
    {
        for rows in [1u32, 3, 10] {
            let price = Price::new(approximate(1.0, 1e-9), relation)
                .unwrap()
                .rows_per_unit(NonZeroU32::new(rows).unwrap());
            let rows = f64::from(rows);
            let found = price.histogram_sensitivity().unwrap().get();
            assert!(found >= histogram * rows && found < histogram * rows * (1.0 + 1e-12));
            let found = price.distance_sensitivity(7).unwrap().get();
            let truth = 7f64.sqrt() * distance * rows;
            assert!(found >= truth && found < truth * (1.0 + 1e-12));
        }
    }
}

#[test]
fn slices_never_add_up_to_more_than_the_budget() {
    let price = Price::new(approximate(1.0, 1e-9), Neighbours::AddRemove).unwrap();
    let mut purse = Purse::new(&price);
    let mut sum = 0.0;
    let mut shares = [0.4, 0.1, 0.013, 1e-9, 0.2].into_iter().cycle();
    while purse.left() > 0 {
        let most = quanta(shares.next().unwrap()).min(purse.left());
        sum += purse.take(most).unwrap().rho().get();
    }
    let whole = price.mu().powi(2) / 2.0;
    assert!(sum <= whole && sum > whole * (1.0 - 1e-9), "{sum} {whole}");
    assert!(purse.take(1).is_err());
    let mut purse = Purse::new(&price);
    assert!(purse.take(0).is_err() && purse.take(WHOLE + 1).is_err());
    assert_eq!(purse.left(), WHOLE);
}

/// The step of the proof that is not textbook: shifts that are chosen from earlier noise, with a fixed sum of
/// squares, give the characteristic function of one Gaussian. Here exactly, over all paths of three coin-like choices.
#[test]
fn chosen_shifts_with_a_fixed_sum_of_squares_make_one_gaussian() {
    // d₁ = .6; d₂ is .8 if Z₁ > 0 and .3 otherwise; d₃ takes up the rest. E e^(iuS) by integrating over Z₁ on a grid.
    let u = 1.7f64;
    let gaussian = |d: f64| (-0.5 * (u * d).powi(2)).exp();
    let (mut real, mut imaginary, h) = (0.0, 0.0, 1e-4);
    let mut z = -9.0f64 + h / 2.0;
    while z < 9.0 {
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * h;
        let second: f64 = if z > 0.0 { 0.8 } else { 0.3 };
        let third = (1.0 - 0.36 - second * second).max(0.0).sqrt();
        let rest = gaussian(second) * gaussian(third);
        real += density * (u * 0.6 * z).cos() * rest;
        imaginary += density * (u * 0.6 * z).sin() * rest;
        z += h;
    }
    assert!((real - gaussian(1.0)).abs() < 1e-9, "{real}");
    assert!(imaginary.abs() < 1e-9, "{imaginary}");
}
