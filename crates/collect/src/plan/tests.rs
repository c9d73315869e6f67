use super::*;

fn aim(categories: u32, mechanism: Option<Mechanism>) -> Aim {
    Aim { categories, mechanism, beta: Beta::new(0.05).unwrap(), all: false, frequency: None }
}

fn eps(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

#[test]
fn normal_quantiles_are_known() {
    for (tail, z) in [
        (0.025, 1.959_963_984_540_054),
        (0.05, 1.644_853_626_951_472_7),
        (1e-9, 5.997_807_014_768_4),
    ] {
        assert!((z_quantile(tail) / z - 1.0).abs() < 1e-9, "{tail}");
    }
}

#[test]
fn plans_have_their_known_values() {
    // γ = ¼: ln(40)/(2·¼·10⁻⁴) by Hoeffding.
    let epsilon = crate::survey::Privacy::Gamma(0.25).epsilon().unwrap();
    let yes_no = aim(2, None);
    let plan_for = |method| plan(&yes_no, Some(epsilon), None, Some(0.01), method).unwrap();
    let hoeffding = plan_for(Method::Hoeffding);
    assert_eq!(hoeffding.people, 73_778);
    assert!(
        (hoeffding.gamma.unwrap() - 0.25).abs() < 1e-12
            && (hoeffding.alpha.unwrap() - 0.5).abs() < 1e-12
    );
    assert_eq!(plan_for(Method::Normal).people, 38_415);
    let exact = plan_for(Method::Exact).people;
    assert!(exact.abs_diff(38_415) < 400, "{exact}");
    let chernoff = plan_for(Method::Chernoff).people;
    assert!(exact < chernoff && chernoff <= 73_778, "{chernoff}");
    // Of rare values, one and all: 4e/(e−1)²·z²/10⁻⁴, without sampling of people (f → 0).
    for (all, known) in [(false, 141_470u64), (true, 607_390)] {
        let rare = Aim { frequency: Some(0.0), all, ..aim(1024, Some(Mechanism::Optimised)) };
        let found = plan(&rare, Some(eps(1.0)), None, Some(0.01), Method::Normal).unwrap();
        assert!(found.people.abs_diff(known) <= known / 50_000 + 1, "{} {known}", found.people);
    }
}

#[test]
fn two_give_the_third_and_back() {
    for (k, mechanism) in [(2, None), (16, None), (64, Some(Mechanism::Hashing))] {
        for method in METHODS {
            let aim = aim(k, mechanism);
            let forward = plan(&aim, Some(eps(1.2)), Some(3_000), None, method).unwrap();
            let people =
                plan(&aim, Some(eps(1.2)), None, Some(forward.error * 1.000_01), method).unwrap();
            assert!(people.people.abs_diff(3_000) < 60, "{method:?} {}", people.people);
            assert!(people.error <= forward.error * 1.000_02);
            let back = plan(&aim, None, Some(3_000), Some(forward.error), method).unwrap();
            // Less ε may do, with another mechanism.
            assert!(back.epsilon < 1.2 * 1.02, "{method:?} {}", back.epsilon);
            assert!(
                mechanism.is_none() || back.epsilon > 1.2 * 0.98,
                "{method:?} {}",
                back.epsilon
            );
            assert!(back.error <= forward.error * (1.0 + 1e-9));
        }
    }
    let all = (Some(eps(1.0)), Some(10), Some(0.1));
    assert!(plan(&aim(2, None), all.0, all.1, all.2, Method::Exact).is_err());
    assert!(plan(&aim(2, None), None, Some(10), None, Method::Exact).is_err());
    assert!(plan(&aim(2, None), None, Some(3), Some(0.001), Method::Exact).is_err());
    assert!(plan(&aim(2, None), all.0, None, Some(f64::NAN), Method::Exact).is_err());
}

#[test]
fn the_exact_error_is_exceeded_as_often_as_is_said() {
    // Summed outcome by outcome, and no smaller error would do.
    let support = Support::new(0.75, 0.25).unwrap();
    for n in [5u64, 18, 100] {
        for f in [0.0, 0.3, 0.5, 1.0] {
            let aim = Aim { frequency: Some(f), ..aim(2, None) };
            let e = aim.error(&support, n, Method::Exact).unwrap();
            let pi: f64 = 0.25 + 0.5 * f;
            let beyond = |e: f64| -> f64 {
                (0..=n)
                    .filter(|&c| ((c as f64 / n as f64 - 0.25) / 0.5 - f).abs() > e)
                    .map(|c| {
                        let choose: f64 = (0..c).map(|i| (n - i) as f64 / (c - i) as f64).product();
                        choose * pi.powi(c as i32) * (1.0 - pi).powi((n - c) as i32)
                    })
                    .sum()
            };
            assert!(beyond(e) <= 0.05 + 1e-12, "{n} {f}");
            assert!(beyond(e * (1.0 - 1e-5)) > 0.05, "{n} {f}");
            let chernoff = aim.error(&support, n, Method::Chernoff).unwrap();
            let hoeffding = aim.error(&support, n, Method::Hoeffding).unwrap();
            assert!(e <= chernoff * (1.0 + 1e-5) && chernoff <= hoeffding, "{n} {f}");
        }
    }
}

#[test]
fn curves_fall() {
    let curve = curve_of_people(&aim(2, None), eps(1.0), 10, 100_000, 20).unwrap();
    assert_eq!((curve[0].people, curve[curve.len() - 1].people), (10, 100_000));
    assert!(curve.windows(2).all(|w| w[1].errors.exact < w[0].errors.exact));
    assert!(curve.iter().all(|p| p.errors.exact <= p.errors.hoeffding));
    let curve = curve_of_epsilon(&aim(8, None), 1000, eps(0.1), eps(4.0), 10).unwrap();
    assert!(curve.windows(2).all(|w| w[1].errors.exact < w[0].errors.exact));
}
