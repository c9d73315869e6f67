//! Every mechanism's event costs what the mechanism guarantees: no more, and no less.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use demure_core::account::Account;
use demure_core::event::Event;
use demure_core::local::{Hadamard, Hybrid, LocalHash, Rappor, Sign, Subset, Unary, Window};
use demure_core::mechanism::{
    AboveThreshold, BoundedMean, BoundedSum, BoundedVariance, Bounds, Budget, Change,
    Contributions, Count, DiscreteGaussian, EpsilonSplit, Exponential, Gaussian, Geometric, Groups,
    Guarantee, Histogram, KeySelection, Laplace, NoisyMax, PermuteAndFlip, Quantile, Response,
    Rows, Statistics, ThresholdHistogram, Tree, TreeShape,
};
use demure_core::sensitivity::{
    Ladder, PrivateBound, Proposals, ProposeTestRelease, SmoothNoise, Stable,
};
use demure_core::unit::Neighbours::{self, AddRemove, Replace};
use demure_core::unit::{Delta, Epsilon, Norm, Rho, Sensitivity};

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

fn rho(x: f64) -> Rho {
    Rho::new(x).unwrap()
}

fn sensitivity<N: Norm>(x: f64) -> Sensitivity<N> {
    Sensitivity::new(x).unwrap()
}

fn bounds() -> Bounds {
    Bounds::new(-1.0, 3.0).unwrap()
}

/// An ε and a ρ that are not whole, so that rounding would show.
fn budgets() -> [Budget; 2] {
    [epsilon(0.3).into(), rho(0.07).into()]
}

fn account(event: Event, neighbours: Neighbours) -> Account {
    Account::of(&[event], neighbours).unwrap()
}

/// The price of `event` under `neighbours` is exactly `guarantee`.
fn price(event: Event, neighbours: Neighbours, guarantee: Guarantee) {
    let account = account(event, neighbours);
    match guarantee {
        Guarantee::Pure(epsilon) => assert_eq!(account.pure(), Some(epsilon.get())),
        Guarantee::Concentrated(rho) => {
            assert_eq!((account.rho(), account.pure()), (Some(rho.get()), None));
        }
        Guarantee::Approximate(epsilon, delta) => {
            assert_eq!(account.epsilon(delta).unwrap().upper, epsilon.get());
            // With less δ than was spent there is no ε.
            let less = Delta::new(0.99 * delta.get()).unwrap();
            assert_eq!(account.epsilon(less).unwrap().upper, f64::INFINITY);
        }
        other => panic!("a guarantee without a price: {other}"),
    }
}

macro_rules! costs_its_guarantee {
    ($($name:ident: $mechanisms:expr;)+) => { $(
        #[test]
        fn $name() {
            for mechanism in $mechanisms {
                for relation in [AddRemove, Replace] {
                    price(mechanism.event(), relation, mechanism.guarantee());
                }
            }
        }
    )+ };
}

// Mechanisms whose sensitivity is the caller's: for the relation that the caller means.
costs_its_guarantee! {
    laplace: [Laplace::new(epsilon(0.3), sensitivity(2.5)).unwrap()];
    geometric: [Geometric::new(epsilon(0.3), sensitivity(3.0)).unwrap()];
    gaussian: [
        Gaussian::new(epsilon(0.3), delta(1e-6), sensitivity(2.5)).unwrap(),
        Gaussian::classic(epsilon(0.3), delta(1e-6), sensitivity(2.5)).unwrap(),
        Gaussian::concentrated(rho(0.07), sensitivity(2.5)).unwrap(),
    ];
    discrete_gaussian: [
        DiscreteGaussian::new(epsilon(0.3), delta(1e-6), 3).unwrap(),
        DiscreteGaussian::concentrated(rho(0.07), sensitivity(2.5)).unwrap(),
    ];
    exponential: [Exponential::new(epsilon(0.3), sensitivity(1.0)).unwrap()];
    permute_and_flip: [PermuteAndFlip::new(epsilon(0.3), sensitivity(1.0)).unwrap()];
    noisy_max: [NoisyMax::new(epsilon(0.3), sensitivity(1.0)).unwrap()];
    response: [
        Response::with_epsilon(2, epsilon(0.3)).unwrap(),
        Response::with_epsilon(7, epsilon(0.3)).unwrap(),
        Response::truthful(3, 0.6).unwrap(),
    ];
    above_threshold: [
        AboveThreshold::new(epsilon(0.3), sensitivity(1.0), 3, Change::General).unwrap(),
        AboveThreshold::with_split(
            EpsilonSplit {
                threshold: epsilon(0.1),
                queries: epsilon(0.2),
                answers: Some(epsilon(0.4)),
            },
            sensitivity(1.0),
            3,
            Change::Monotone,
        )
        .unwrap(),
    ];
    smooth_noise: [
        Guarantee::Pure(epsilon(0.3)),
        Guarantee::Approximate(epsilon(0.3), delta(1e-6)),
        Guarantee::Concentrated(rho(0.07)),
    ]
    .map(|guarantee| SmoothNoise::new(guarantee, None).unwrap());
    ladder: [Ladder::classic(epsilon(0.3)), Ladder::with_floor(epsilon(0.3), 50).unwrap()];
    stable: [Stable::new(epsilon(0.3), delta(1e-6)).unwrap()];
    propose_test_release: [ProposeTestRelease::new(epsilon(0.3), delta(1e-6), 5).unwrap()];
    proposals: [Proposals::new(epsilon(0.1), epsilon(0.2), delta(1e-6), &[1, 5]).unwrap()];
    private_bound: [
        PrivateBound::new(epsilon(0.3), delta(1e-6)).unwrap(),
        PrivateBound::with_split(epsilon(0.1), epsilon(0.2), delta(1e-6)).unwrap(),
    ];
    unary: [Unary::symmetric(9, epsilon(0.3)), Unary::optimised(9, epsilon(0.3))]
        .map(Result::unwrap);
    subset: [Subset::new(9, epsilon(0.3)).unwrap()];
    local_hash: [LocalHash::new(9, epsilon(0.3)).unwrap()];
    hadamard: [Hadamard::new(9, epsilon(0.3)).unwrap()];
    window: [Window::piecewise(epsilon(0.3)), Window::square_wave(16, epsilon(0.3))]
        .map(Result::unwrap);
    sign: [Sign::new(epsilon(0.3)).unwrap()];
    hybrid: [Hybrid::new(epsilon(0.3)), Hybrid::new(epsilon(2.0))].map(Result::unwrap);
}

macro_rules! costs_its_guarantee_under_its_relation {
    ($($name:ident: |$budget:ident, $relation:ident| $mechanism:expr;)+) => { $(
        #[test]
        fn $name() {
            for $budget in budgets() {
                for $relation in [AddRemove, Replace] {
                    let mechanism = $mechanism;
                    assert_eq!(mechanism.guarantee(), $budget.guarantee());
                    price(mechanism.event(), $relation, $budget.guarantee());
                }
            }
        }
    )+ };
}

// Mechanisms that know the relation and derive the sensitivity from it.
costs_its_guarantee_under_its_relation! {
    count: |budget, relation| Count::new(budget, relation, Rows::AtMost(2)).unwrap();
    sum: |budget, relation| {
        BoundedSum::new(budget, bounds(), relation, Rows::AtMost(2)).unwrap()
    };
    mean: |budget, relation| {
        BoundedMean::new(budget, bounds(), relation, Rows::Exactly(2)).unwrap()
    };
    variance: |budget, relation| {
        BoundedVariance::new(budget, bounds(), relation, Rows::Exactly(2)).unwrap()
    };
    histogram: |budget, relation| {
        Histogram::new(budget, relation, Contributions::new(3, 2).unwrap()).unwrap()
    };
    groups: |budget, relation| {
        let builder = Groups::values(bounds(), Statistics::Variance).with_nulls(true);
        builder.calibrate(budget, relation, Contributions::new(3, 2).unwrap()).unwrap()
    };
    tree: |budget, relation| {
        Tree::new(budget, relation, TreeShape { cells: 50, branching: 4 }, 2).unwrap()
    };
}

#[test]
fn quantile() {
    for relation in [AddRemove, Replace] {
        let median = Quantile::new(epsilon(0.3), relation, 0.5, bounds()).unwrap();
        price(median.event(), relation, median.guarantee());
        // As zCDP it is a quarter of what ε-DP implies.
        let rho = account(median.event(), relation).rho();
        assert_eq!(rho, Some(median.rho().unwrap().get()));
    }
}

#[test]
fn threshold_histogram() {
    for relation in [AddRemove, Replace] {
        let of = Contributions::new(2, 3).unwrap();
        let (e, d) = (epsilon(0.3), delta(1e-6));
        let laplace = ThresholdHistogram::laplace(e, d, relation, of).unwrap();
        let gaussian = ThresholdHistogram::gaussian(e, d, relation, of).unwrap();
        for mechanism in [laplace, gaussian] {
            price(mechanism.event(), relation, Guarantee::Approximate(e, d));
        }
    }
}

#[test]
fn key_selection() {
    for relation in [AddRemove, Replace] {
        let (e, d) = (epsilon(0.3), delta(1e-6));
        let keys = KeySelection::new(e, d, relation, 3).unwrap();
        price(keys.event(), relation, Guarantee::Approximate(e, d));
    }
}

#[test]
fn rappor_is_charged_for_all_reports_of_a_value() {
    let rappor = Rappor::new(9, epsilon(1.0), epsilon(0.3)).unwrap();
    price(rappor.event(), Replace, Guarantee::Pure(epsilon(1.0)));
    assert_eq!(rappor.forever(), Guarantee::Pure(epsilon(1.0)));
}

#[test]
fn guarantees_without_a_mechanism() {
    price(Guarantee::Pure(epsilon(0.3)).event(), Replace, Guarantee::Pure(epsilon(0.3)));
    let none = Guarantee::Approximate(epsilon(0.3), Delta::ZERO);
    assert_eq!(account(none.event(), AddRemove).pure(), Some(0.3));
}

/// The composed upper bound on ε at δ = 1e-5 of ten of them.
fn ten(event: Event, neighbours: Neighbours) -> f64 {
    account(event.repeat(10).unwrap(), neighbours).epsilon(delta(1e-5)).unwrap().upper
}

#[test]
fn exponential_composes_better_than_its_epsilon() {
    let exponential = Exponential::new(epsilon(0.3), sensitivity(1.0)).unwrap();
    let general = exponential.guarantee().event();
    assert!(ten(exponential.event(), AddRemove) < 0.8 * ten(general, AddRemove));
}

#[test]
fn gaussian_noise_costs_its_guarantee_and_composes_better() {
    let (e, d) = (epsilon(0.3), delta(1e-6));
    let real = Gaussian::new(e, d, sensitivity(2.5)).unwrap();
    let whole = DiscreteGaussian::new(e, d, 3).unwrap();
    for (noise, stated) in [
        (real.add_remove_event().unwrap(), real.event()),
        (whole.add_remove_event().unwrap(), whole.event()),
    ] {
        let one = account(noise.clone(), AddRemove).epsilon(d).unwrap();
        assert!(one.upper <= 0.3 * (1.0 + 1e-6) && one.upper > 0.3 * (1.0 - 1e-6), "{one:?}");
        assert!(ten(noise.clone(), AddRemove) < 0.5 * ten(stated, AddRemove));
        // Replacing a unit moves the query twice as far.
        assert!(account(noise, Replace).epsilon(d).unwrap().upper > 1.9 * 0.3);
    }
    let by_rho = DiscreteGaussian::concentrated(rho(0.07), sensitivity(2.5)).unwrap();
    assert_eq!(by_rho.add_remove_event().unwrap(), by_rho.event());
}

#[test]
fn a_stated_guarantee_is_not_taken_for_the_other_relation() {
    let of = Contributions::new(1, 1).unwrap();
    let histogram = Histogram::new(epsilon(0.3), Replace, of).unwrap();
    let parts = vec![histogram.event(), histogram.event()];
    let because = demure_core::event::Disjoint::ByKey;
    assert!(Account::of(&[Event::Parallel { parts, because }], Replace).is_err());
}
