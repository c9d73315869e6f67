use super::*;
use crate::local::lower_limit;
use crate::random::SeededForTests;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::{datasets, neighbours};

fn beta(x: f64) -> Beta {
    Beta::new(x).unwrap()
}

fn epsilon(response: &Response) -> f64 {
    response.epsilon.get()
}

#[track_caller]
fn near(found: f64, truth: f64, relative: f64) {
    assert!((found - truth).abs() <= relative * truth.abs(), "found {found}, truth {truth}");
}

#[test]
fn parametrisations_agree_and_losses_are_known() {
    assert_eq!(epsilon(&Response::truthful(2, 0.75).unwrap()), 1.098_612_288_668_109_8);
    near(epsilon(&Response::truthful(4, 0.7).unwrap()), 1.945_910_149_055_313_2, 2.3e-16);
    for a in [1e-9, 0.1, 0.5, 0.9, 0.999_999] {
        let (alpha, gamma) = (Response::alpha(a).unwrap(), Response::gamma(a / 2.0).unwrap());
        assert_eq!(alpha, gamma);
        near(epsilon(&alpha), f64::ln_1p(a) - f64::ln_1p(-a), 1e-6);
        near(alpha.gap(), a, 1e-6);
        // ε → p → ε never gains, and α = tanh(ε/2).
        let back = Response::with_epsilon(2, alpha.epsilon).unwrap();
        assert!(back.p() <= alpha.p() && back.p() > alpha.p() - 4.0 * f64::EPSILON);
        near(back.gap(), (epsilon(&alpha) / 2.0).tanh(), 1e-6);
    }
    for (k, e) in [(2, 1e-6), (2, 1.0), (3, 0.2), (1000, 3.0), (u32::MAX, 20.0), (5, 700.0)] {
        let response = Response::with_epsilon(k, Epsilon::new(e).unwrap()).unwrap();
        let actual = loss(k, response.truth).unwrap();
        assert!(actual <= e, "{k} {e}: {actual}");
        assert!(e > 30.0 || actual > e * (1.0 - 1e-8), "{k} {e}: {actual}");
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for p in [0.5, 0.0, 1.0, 2.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Response::truthful(2, p).unwrap_err().to_string();
        assert!(error.contains("truth"), "{error}");
        let (alpha, gamma) = (2.0 * p - 1.0, p - 0.5);
        assert!(Response::alpha(alpha).unwrap_err().to_string().contains("alpha"));
        assert!(Response::gamma(gamma).unwrap_err().to_string().contains("gamma"));
    }
    assert!(Response::truthful(1, 0.9).is_err() && Response::truthful(4, 0.25).is_err());
    assert!(Response::with_epsilon(2, Epsilon::new(1e-17).unwrap()).is_err());
    let half = Response::alpha(0.5).unwrap();
    assert!(half.estimate(0, 0).is_err() && half.estimate(2, 1).is_err());
    let mut rng = SeededForTests::insecure(0);
    assert!(half.respond(2, &mut rng).is_err());
    assert!(Response::truthful(3, 0.5).unwrap().respond_bit(true, &mut rng).is_err());
}

#[test]
fn reports_fit_their_law_and_the_test_has_power() {
    for (seed, k, p, category) in [(1, 2, 0.75, 1), (2, 5, 0.4, 3), (3, 300, 0.01, 299)] {
        let response = Response::truthful(k, p).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let draws: Vec<_> = (0..200_000)
            .map(|_| i128::from(response.respond(category, &mut rng).unwrap().into_value()))
            .collect();
        let fit = |p: f64| {
            let q = (1.0 - p) / f64::from(k - 1);
            let pmf = |r| if r == i128::from(category) { p } else { q };
            Fit::of(draws.iter().copied(), pmf, 0..=i128::from(k - 1))
        };
        assert!(fit(response.p()).accepts(), "{k}");
        let twin = Response::with_epsilon(k, Epsilon::new(1.05 * epsilon(&response)).unwrap());
        assert!(k == 300 || fit(twin.unwrap().p()).rejects(), "{k}");
    }
}

#[test]
fn private_by_brute_force_when_a_row_is_replaced_and_not_when_it_is_added() {
    for (k, p) in [(2, 0.75), (3, 0.5)] {
        let domain: Vec<u32> = (0..k).collect();
        let response = Response::truthful(k, p).unwrap();
        let one = |x: u32| {
            let chance = move |r| if r == x { response.p() } else { response.q() };
            Distribution::new((0..k).map(move |r| (vec![r], chance(r))))
        };
        let all = |rows: &Vec<u32>| {
            let none = Distribution::new([(vec![], 1.0)]);
            rows.iter().fold(none, |d, &x| d.and(&one(x)).map(|(a, b)| [a, b].concat()))
        };
        let replace = |d: &Vec<u32>| datasets::replace_one(d, &domain);
        let add = |d: &Vec<u32>| datasets::add_or_remove_one(d, &domain);
        let data = || datasets::rows(&domain, 0..=2);
        let worst = neighbours::check(all, data(), replace, epsilon(&response), 0.0).unwrap();
        assert!(worst.epsilon > epsilon(&response) - 1e-12);
        let less = epsilon(&response) * 0.99;
        assert!(neighbours::check(all, data(), replace, less, 0.0).is_err());
        assert!(neighbours::check(all, data(), add, 100.0, 0.0).is_err());
    }
}

#[test]
fn estimates_are_unbiased_with_the_stated_variance() {
    assert_eq!(Response::alpha(0.5).unwrap().estimate(9, 18).unwrap(), 0.5);
    for (k, p) in [(2, 0.75), (4, 0.7), (10, 0.2)] {
        let response = Response::truthful(k, p).unwrap();
        let (n, yes) = (12u64, 5u64);
        // The count's distribution: yes coins of p and n − yes coins of q, convolved.
        let mut pmf = vec![1.0];
        for i in 0..n {
            let c = if i < yes { response.p() } else { response.q() };
            let mut next = vec![0.0; pmf.len() + 1];
            for (j, mass) in pmf.iter().enumerate() {
                next[j] += mass * (1.0 - c);
                next[j + 1] += mass * c;
            }
            pmf = next;
        }
        let moment = |power, about| -> f64 {
            let value = |c| f64::powi(response.estimate(c, n).unwrap() - about, power);
            (0..=n).zip(&pmf).map(|(c, mass)| mass * value(c)).sum()
        };
        let f = yes as f64 / n as f64;
        near(moment(1, 0.0), f, 1e-12);
        near(moment(2, f), response.variance(f, n, Target::Respondents), 1e-12);
    }
    // Known forms: at f = 0, per person, and Var ≤ 1/(4α²n) for a population.
    let e = 1f64.exp();
    for k in [2, 3, 50] {
        let response = Response::with_epsilon(k, Epsilon::new(1.0).unwrap()).unwrap();
        let known = (f64::from(k) - 2.0 + e) / (e - 1.0).powi(2);
        near(response.variance(0.0, 1, Target::Respondents), known, 1e-12);
    }
    let yes_no = Response::alpha(0.3).unwrap();
    near(yes_no.variance(0.5, 7, Target::Population), 1.0 / (4.0 * 0.09 * 7.0), 1e-12);
    near(
        yes_no.variance(0.1, 1, Target::Respondents),
        0.25 / (epsilon(&yes_no) / 2.0).sinh().powi(2),
        1e-12,
    );
}

#[test]
fn clopper_pearson_is_known_and_covers() {
    near(lower_limit(3, 10, 0.025), 0.066_739_511_177_734_47, 1e-9);
    near(1.0 - lower_limit(7, 10, 0.025), 0.652_452_850_059_997_3, 1e-9);
    near(lower_limit(1, 1000, 1e-6), 1.000_000_499_500_332_9e-9, 1e-9);
    near(lower_limit(600, 1000, 0.025), 0.568_878_445_955_893_1, 1e-9);
    near(lower_limit(10, 10, 0.025), 0.025f64.powf(0.1), 1e-9);
    let response = Response::alpha(0.5).unwrap();
    let n = 30;
    let intervals: Vec<_> =
        (0..=n).map(|c| response.exact_interval(c, n, beta(0.1)).unwrap()).collect();
    for step in 0..=100 {
        let f = f64::from(step) / 100.0;
        let pi = response.q() + f * response.gap();
        let missed: f64 = (0..=n)
            .filter(|&c| !(intervals[c as usize].0..=intervals[c as usize].1).contains(&f))
            .map(|c| {
                let choose: f64 = (0..c).map(|i| (n - i) as f64 / (c - i) as f64).product();
                choose * pi.powi(c as i32) * (1.0 - pi).powi((n - c) as i32)
            })
            .sum();
        assert!(missed <= 0.1, "{f}: {missed}");
    }
    assert_eq!(response.exact_interval(0, 50, beta(0.05)).unwrap(), (0.0, 0.0));
    // For many people it is close to the normal interval.
    let (a, b) = response.exact_interval(500_000, 1_000_000, beta(0.05)).unwrap();
    let (c, d) =
        response.normal_interval(500_000, 1_000_000, Target::Population, beta(0.05)).unwrap();
    assert!((a - c).abs() < 3e-6 && (b - d).abs() < 3e-6, "{a} {b} {c} {d}");
}

#[test]
fn plans_invert_one_another_and_have_their_known_values() {
    let warner = Response::with_epsilon(2, Epsilon::new(1.0).unwrap()).unwrap();
    let noise = ErrorBound::Normal(Target::Respondents);
    assert_eq!(warner.people_for_error(0.01, noise, beta(0.05)).unwrap(), 35_368);
    let quarter = Response::gamma(0.25).unwrap();
    // ln(40)/(2·¼·10⁻⁴) and 1.96²·¼/(¼·10⁻⁴).
    assert_eq!(quarter.people_for_error(0.01, ErrorBound::Hoeffding, beta(0.05)).unwrap(), 73_778);
    let population = ErrorBound::Normal(Target::Population);
    assert_eq!(quarter.people_for_error(0.01, population, beta(0.05)).unwrap(), 38_415);
    for bound in [ErrorBound::Hoeffding, noise, population] {
        for k in [2, 20] {
            let response = Response::with_epsilon(k, Epsilon::new(0.7).unwrap()).unwrap();
            let error = response.error(5_000, bound, beta(0.05)).unwrap();
            assert_eq!(response.people_for_error(error, bound, beta(0.05)).unwrap(), 5_000);
            let back = Response::epsilon_for_error(k, 5_000, error, bound, beta(0.05)).unwrap();
            near(back.get(), 0.7, 1e-8);
            // No frequency has a larger variance than the planned one.
            let worst = (0..=100).map(|f| f64::from(f) / 100.0).map(|f| match bound {
                ErrorBound::Normal(target) => response.variance(f, 1, target),
                ErrorBound::Hoeffding => response.variance(f, 1, Target::Population),
            });
            let planned = response.support().error_from(1.0, 1, bound).powi(2);
            assert!(worst.fold(0.0, f64::max) <= planned * (1.0 + 1e-12));
        }
    }
    assert!(warner.error(0, noise, beta(0.05)).is_err());
    assert!(Response::epsilon_for_error(1, 10, 0.1, noise, beta(0.05)).is_err());
    assert!(Response::epsilon_for_error(2, 10, 0.1, population, beta(0.05)).is_err());
}
