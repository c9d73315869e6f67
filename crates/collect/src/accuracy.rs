//! Measured errors against the formulas, and coverage of the intervals: every mechanism.
//!
//! Fixed seeds. A band of 5 standard errors has a false-alarm rate of 6e-7.

use crate::client::{Client, TrueAnswer};
use crate::collector::Collector;
use crate::estimate::{Estimate, Method, Options, estimate, frequencies, frequencies_by, simplex};
use crate::heavy;
use crate::randomizer::Mechanism;
use crate::report::{Answer, Submission};
use crate::survey::{Domain, Survey};
use crate::{cross, simulate};
use demure_core::local::Target;
use demure_core::random::{Randomness, SeededForTests};
use demure_core::sample::uniform_below;
use demure_core::unit::Beta;

fn survey(lines: &str) -> Survey {
    Survey::parse(&format!(
        "version = 1\nquestion = 'q'\nsalt = '00112233445566778899aabbccddeeff'\n{lines}"
    ))
    .unwrap()
}

fn categorical(mechanism: Mechanism, k: u32, e: f64) -> Survey {
    let values: Vec<String> = (0..k).map(|i| format!("'{i}'")).collect();
    survey(&format!("epsilon = {e:?}\nmechanism = '{mechanism}'\nvalues = [{}]", values.join(",")))
}

/// Estimates of one repetition with these values.
fn run(survey: &Survey, values: &[u32], rng: &mut dyn Randomness) -> Vec<u64> {
    let mut collector = Collector::new(survey);
    let randomizer = survey.parts()[0].randomizer;
    let bits = rng.bits().unwrap();
    for &v in values {
        let report = randomizer.category(v, bits).unwrap().into_value();
        collector.add_unique(&Submission {
            token: 0,
            answers: vec![Answer { part: 0, level: 0, report }],
        });
    }
    collector.tally(0).supports(randomizer.categories().unwrap() as usize)
}

/// A skewed truth: half of the people have value 0, the others are spread.
fn skewed(n: u32, k: u32) -> Vec<u32> {
    (0..n).map(|i| if i % 2 == 0 { 0 } else { (i / 2) % k }).collect()
}

/// `E Σ(f̂−f)²` by the formula, against its measurement.
fn mse_is_as_stated(mechanism: Mechanism) {
    for (k, n, repetitions, twin) in [
        (2, 100, 20_000, 1.1),
        (16, 200, 8_000, 1.05),
        (128, 400, 1_000, 1.05),
        (1024, 400, 150, 1.05),
    ] {
        for e in [0.5, 1.0, 4.0] {
            let survey = categorical(mechanism, k, e);
            let support = survey.parts()[0].randomizer.support().unwrap();
            let values = skewed(n, k);
            let mut truth = vec![0.0; k as usize];
            for &v in &values {
                truth[v as usize] += 1.0 / f64::from(n);
            }
            let stated: f64 = truth.iter().map(|&f| support.noise(f) / f64::from(n)).sum();
            let mut rng = SeededForTests::insecure(u64::from(k) * 1000 + (e * 10.0) as u64);
            let (mut sum, mut squares, mut bias) = (0.0, 0.0, vec![0.0; k as usize]);
            for _ in 0..repetitions {
                let counts = run(&survey, &values, &mut rng);
                let mut error = 0.0;
                for ((&c, f), b) in counts.iter().zip(&truth).zip(&mut bias) {
                    let d = support.estimate(c, u64::from(n)).unwrap() - f;
                    error += d * d;
                    *b += d;
                }
                sum += error;
                squares += error * error;
            }
            let r = f64::from(repetitions);
            let (mean, sd) =
                (sum / r, (squares / r - (sum / r).powi(2)).max(0.0).sqrt() / r.sqrt());
            let label =
                format!("{mechanism} k {k} epsilon {e}: {mean:.5} stated {stated:.5} ± {sd:.5}");
            assert!((mean - stated).abs() < 5.0 * sd + 1e-12, "{label}");
            assert!((mean - twin * stated).abs() > 5.0 * sd, "no power: {label}");
            // Unbiased: the largest of k means of the noise.
            let worst = bias
                .iter()
                .zip(&truth)
                .map(|(b, &f)| (b / r).abs() / (support.noise(f) / (f64::from(n) * r)).sqrt());
            assert!(worst.fold(0.0, f64::max) < 5.5, "biased: {label}");
        }
    }
}

#[test]
fn mse_of_response() {
    mse_is_as_stated(Mechanism::Response);
}

#[test]
fn mse_of_symmetric_unary() {
    mse_is_as_stated(Mechanism::Symmetric);
}

#[test]
fn mse_of_optimised_unary() {
    mse_is_as_stated(Mechanism::Optimised);
}

#[test]
fn mse_of_local_hashing() {
    mse_is_as_stated(Mechanism::Hashing);
}

#[test]
fn mse_of_hadamard() {
    mse_is_as_stated(Mechanism::Hadamard);
}

#[test]
fn mse_of_subset() {
    mse_is_as_stated(Mechanism::Subset);
}

fn options(target: Target, simultaneous: bool) -> Options {
    Options { beta: Beta::new(0.05).unwrap(), target, simultaneous, consistent: false }
}

/// Draws people from a population in which value v has a share proportional to 1/(v+1).
fn sample(n: u32, k: u32, rng: &mut dyn Randomness) -> Vec<u32> {
    let weights: Vec<u64> = (0..k).map(|v| 1_000_000 / u64::from(v + 1)).collect();
    let total: u64 = weights.iter().sum();
    (0..n)
        .map(|_| {
            let mut u = uniform_below(total, rng).unwrap();
            let pick = weights.iter().position(|&w| {
                let here = u < w;
                u = u.saturating_sub(w);
                here
            });
            pick.unwrap() as u32
        })
        .collect()
}

#[test]
fn intervals_cover_in_at_least_95_of_100_repetitions() {
    // Of 1,000 repetitions a coverage of 95 % gives fewer than 915 once in 10⁶ tests, and of all
    // 12,000 together the least that is asked is 95 % itself (intervals for whole counts cover more).
    let (mut covered, mut asked) = (0, 0);
    let (k, n) = (16, 600);
    let weights: Vec<f64> = (0..k).map(|v| 1.0 / f64::from(v + 1)).collect();
    let total: f64 = weights.iter().sum();
    for mechanism in crate::randomizer::CATEGORICAL {
        let survey = categorical(mechanism, k, 1.0);
        let part = &survey.parts()[0];
        let mut rng = SeededForTests::insecure(95);
        let (mut all, mut first) = (0, 0);
        for _ in 0..1_000 {
            let values = sample(n, k, &mut rng);
            let counts = run(&survey, &values, &mut rng);
            let together =
                frequencies(part, &counts, u64::from(n), &options(Target::Population, true))
                    .unwrap();
            assert_eq!(together.method, Method::Exact);
            let holds = |r: (&crate::estimate::Row, &f64)| {
                r.0.lower <= r.1 / total && r.1 / total <= r.0.upper
            };
            all += u32::from(together.rows.iter().zip(&weights).all(holds));
            let alone = part
                .randomizer
                .support()
                .unwrap()
                .exact_interval(counts[0], u64::from(n), Beta::new(0.05).unwrap())
                .unwrap();
            first += u32::from(alone.0 <= weights[0] / total && weights[0] / total <= alone.1);
        }
        println!("{mechanism}: together {all}, alone {first} of 1000");
        assert!(all >= 915, "{mechanism}: together {all} of 1000");
        assert!(first >= 915, "{mechanism}: alone {first} of 1000");
        covered += all + first;
        asked += 2_000;
    }
    assert!(f64::from(covered) >= 0.95 * f64::from(asked), "{covered} of {asked}");
}

#[test]
fn normal_intervals_cover_the_respondents() {
    // 95 % ± 5 standard errors of 0.7 %.
    let (k, n) = (16, 3_000);
    let values = skewed(n, k);
    for mechanism in [Mechanism::Response, Mechanism::Hashing, Mechanism::Hadamard] {
        let survey = categorical(mechanism, k, 1.0);
        let part = &survey.parts()[0];
        let mut rng = SeededForTests::insecure(96);
        let mut all = 0;
        for _ in 0..1_000 {
            let counts = run(&survey, &values, &mut rng);
            let found = frequencies_by(
                Method::Normal,
                part,
                &counts,
                u64::from(n),
                &options(Target::Respondents, true),
            )
            .unwrap();
            let truth = |v: usize| {
                values.iter().filter(|x| **x as usize == v).count() as f64 / f64::from(n)
            };
            all += u32::from(
                found
                    .rows
                    .iter()
                    .enumerate()
                    .all(|(v, r)| r.lower <= truth(v) && truth(v) <= r.upper),
            );
        }
        assert!(all >= 915, "{mechanism}: {all} of 1000");
    }
}

#[test]
fn means_are_unbiased_with_the_stated_error_and_their_intervals_cover() {
    for mechanism in ["sign", "piecewise", "hybrid"] {
        for e in [0.5, 1.0, 4.0] {
            let survey =
                survey(&format!("epsilon = {e:?}\nrange = [10, 30]\nmechanism = '{mechanism}'"));
            let mut rng = SeededForTests::insecure(7);
            let truth = [("12".to_owned(), 0.5), ("20.5".to_owned(), 0.2), ("29".to_owned(), 0.3)];
            let found = simulate::simulate(
                &survey,
                300,
                &truth,
                1_000,
                &options(Target::Population, true),
                &mut rng,
            )
            .unwrap();
            let mean = &found.values[0];
            let theory = mean.theory.unwrap();
            assert!((mean.truth - 18.8).abs() < 1e-12);
            assert!((mean.estimate - mean.truth).abs() < 5.0 * theory / 1000f64.sqrt(), "{mean:?}");
            // The measured variance has a relative standard error of about √(2/1000).
            assert!(
                (mean.error.powi(2) / theory.powi(2) - 1.0).abs() < 5.0 * 0.045,
                "{mechanism} {e} {mean:?}"
            );
            assert!(mean.covered.unwrap() > 0.915, "{mechanism} {e} {mean:?}");
        }
    }
}

#[test]
fn a_distribution_is_found_to_a_few_hundredths() {
    let survey = survey("epsilon = 1.0\nrange = [0, 10]\nstatistic = 'distribution'\nbins = 64");
    let client = Client::new(&survey);
    let mut rng = SeededForTests::insecure(12);
    let mut collector = Collector::new(&survey);
    // Two humps.
    let n = 60_000;
    let mut truth = Vec::new();
    for i in 0..n {
        let sum: u64 = (0..4).map(|_| uniform_below(1 << 20, &mut rng).unwrap()).sum();
        let x = sum as f64 / f64::from(1 << 22) * 3.0 + if i % 3 == 0 { 6.5 } else { 1.0 };
        truth.push(x);
        collector.add_unique(&client.randomize(&[TrueAnswer::Number(x)], &mut rng).unwrap());
    }
    let found = estimate(&mut collector, &Options::usual().unwrap()).unwrap();
    let Estimate::Distribution(found) = &found.estimates[0] else { panic!() };
    let total: f64 = found.bins.iter().map(|b| b.estimate).sum();
    assert!((total - 1.0).abs() < 1e-9 && found.bins.iter().all(|b| b.estimate >= 0.0));
    // Wasserstein distance, relative to the range.
    let (mut distance, mut below) = (0.0, 0.0);
    for bin in &found.bins {
        below += bin.estimate;
        let share = truth.iter().filter(|x| **x < bin.to).count() as f64 / f64::from(n);
        distance += (below - share).abs() / 64.0;
    }
    // 0.006 to 0.012 over other seeds; the smoothed iteration gives 0.057.
    assert!(distance < 0.02, "{distance}");
    let mean = truth.iter().sum::<f64>() / f64::from(n);
    assert!((found.mean - mean).abs() < 0.15, "{} {mean}", found.mean);
    truth.sort_by(f64::total_cmp);
    assert!((found.quantile(0.5) - truth[truth.len() / 2]).abs() < 0.4);
}

#[test]
fn a_table_of_two_attributes_is_unbiased_and_covered() {
    for budget in ["split", "joint"] {
        let survey = survey(&format!(
            "epsilon = 4.0\nbudget = '{budget}'\n[[attribute]]\nname = 'x'\nvalues = ['a','b']\n\
             [[attribute]]\nname = 'y'\nvalues = ['p','q','r','s','t','u','v','w','z','å']\nmechanism = 'local-hashing'"
        ));
        let client = Client::new(&survey);
        let mut rng = SeededForTests::insecure(21);
        let n = 1_500u32;
        // The joint law is not the product of its margins.
        let person = |i: u32| if i % 5 < 3 { (0, i % 4) } else { (1, 4 + i % 6) };
        let mut truth = vec![0.0; 20];
        for i in 0..n {
            truth[(person(i).0 * 10 + person(i).1) as usize] += 1.0 / f64::from(n);
        }
        let (mut bias, mut variance, mut covered) = (vec![0.0; 20], vec![0.0; 20], 0);
        let rounds = 200;
        for _ in 0..rounds {
            let mut collector = Collector::new(&survey).with_cross("x", "y").unwrap();
            for i in 0..n {
                let (x, y) = person(i);
                let given = [TrueAnswer::Category(x), TrueAnswer::Category(y)];
                collector.add_unique(&client.randomize(&given, &mut rng).unwrap());
            }
            let cells = cross::table(&mut collector, &options(Target::Population, true)).unwrap();
            assert_eq!((cells[13].first.as_str(), cells[13].second.as_str()), ("b", "s"));
            for (i, cell) in cells.iter().enumerate() {
                bias[i] += (cell.estimate - truth[i]) / f64::from(rounds);
                variance[i] += cell.sd.powi(2) / f64::from(rounds);
            }
            covered +=
                u32::from(cells.iter().zip(&truth).all(|(c, t)| c.lower <= *t && *t <= c.upper));
        }
        for (b, v) in bias.iter().zip(&variance) {
            assert!(b.abs() < 5.0 * (v / f64::from(rounds)).sqrt(), "{budget}: {b} {v}");
        }
        assert!(covered >= 180, "{budget}: {covered} of {rounds}");
    }
    let sample = survey(
        "epsilon = 1\nbudget = 'sample'\n[[attribute]]\nname = 'x'\nvalues = ['a','b']\n\
         [[attribute]]\nname = 'y'\nvalues = ['p','q']",
    );
    assert!(Collector::new(&sample).with_cross("x", "y").is_err());
    assert!(Collector::new(&sample).with_cross("x", "nothing").is_err());
}

#[test]
fn sampled_and_split_attributes_are_both_unbiased() {
    let tables = "[[attribute]]\nname = 'x'\nvalues = ['a','b']\n[[attribute]]\nname = 'y'\nrange = [0, 10]\n";
    let mut errors = Vec::new();
    for budget in ["split", "sample"] {
        let survey = survey(&format!("epsilon = 1\nbudget = '{budget}'\n{tables}"));
        let client = Client::new(&survey);
        let mut rng = SeededForTests::insecure(33);
        let mut collector = Collector::new(&survey);
        for i in 0..40_000 {
            let given = [
                TrueAnswer::Category(u32::from(i % 10 < 3)),
                TrueAnswer::Number(f64::from(i % 10)),
            ];
            collector.add_unique(&client.randomize(&given, &mut rng).unwrap());
        }
        let found = estimate(&mut collector, &options(Target::Population, true)).unwrap();
        let (Estimate::Frequencies(x), Estimate::Mean(y)) =
            (&found.estimates[0], &found.estimates[1])
        else {
            panic!()
        };
        assert!((x.rows[1].estimate - 0.3).abs() < 5.0 * x.rows[1].sd);
        assert!((y.estimate - 4.5).abs() < 5.0 * y.sd && y.lower < 4.5 && 4.5 < y.upper);
        errors.push(x.rows[1].sd);
        let json = found.to_json();
        assert!(json["attributes"]["x"]["values"]["b"]["estimate"].is_number());
        assert!(json["attributes"]["y"]["mean"]["lower"].is_number());
    }
    // Sampling beats splitting.
    assert!(errors[1] < errors[0], "{errors:?}");
}

#[test]
fn frequent_texts_are_found_and_none_that_nobody_has() {
    let survey = survey("epsilon = 4\nlength = 6\nalphabet = 'abcdefghijklmnopqrstuvwxyz'");
    let client = Client::new(&survey);
    let mut rng = SeededForTests::insecure(41);
    let mut collector = Collector::new(&survey);
    let words = [("privacy", 0.3), ("demure", 0.2), ("dem", 0.15), ("a", 0.1)];
    for i in 0..60_000u32 {
        let u = f64::from(i % 1000) / 1000.0;
        let mut below = 0.0;
        let word = words.iter().find(|(_, share)| {
            below += share;
            u < below
        });
        // A quarter have a text of their own.
        let text = word.map_or_else(
            || format!("{}zz", (b'a' + (i % 26) as u8) as char).repeat(2) + "x",
            |w| w.0.to_owned(),
        );
        let given = client.read(0, &text).unwrap();
        collector.add_unique(&client.randomize(&[given], &mut rng).unwrap());
    }
    let wanted = heavy::SearchOptions { most: 20, beta: Beta::new(0.05).unwrap() };
    let found = heavy::find(&mut collector, 0, &wanted).unwrap();
    for (word, share) in words {
        let cut = &word[..word.len().min(6)];
        let text = found
            .texts
            .iter()
            .find(|t| t.text == cut)
            .unwrap_or_else(|| panic!("{cut}: {found:?}"));
        assert!((text.estimate - share).abs() < 5.0 * text.sd, "{text:?}");
        assert!(text.lower <= share && share <= text.upper, "{text:?}");
    }
    for text in &found.texts {
        let real =
            words.iter().any(|(w, _)| w[..w.len().min(6)] == text.text) || text.text.contains("zz");
        assert!(real, "{text:?}");
    }
    let json = estimate(&mut collector, &Options::usual().unwrap()).unwrap().to_json();
    assert!(json["values"]["demure"]["estimate"].as_f64().unwrap() > 0.15);
}

#[test]
fn remembered_noise_is_estimated_too() {
    let survey =
        survey("epsilon = 4\nfirst_epsilon = 2\nmechanism = 'rappor'\nvalues = ['a','b','c']");
    let client = Client::new(&survey);
    let mut rng = SeededForTests::insecure(51);
    let mut collector = Collector::new(&survey);
    for i in 0..20_000 {
        let mut memory = crate::client::Memory::default();
        let given = [TrueAnswer::Category(if i % 4 == 0 { 2 } else { 0 })];
        collector.add_unique(&client.randomize_again(&given, &mut memory, &mut rng).unwrap());
    }
    let found = estimate(&mut collector, &Options::usual().unwrap()).unwrap();
    let Estimate::Frequencies(f) = &found.estimates[0] else { panic!() };
    for (row, truth) in f.rows.iter().zip([0.75, 0.0, 0.25]) {
        assert!(
            (row.estimate - truth).abs() < 5.0 * row.sd && row.lower <= truth && truth <= row.upper
        );
    }
}

#[test]
fn consistent_estimates_are_the_nearest_distribution() {
    assert_eq!(simplex(&[0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]);
    let nearest = simplex(&[0.9, 0.4, -0.2, -0.1]);
    assert_eq!(nearest, [0.75, 0.25, 0.0, 0.0]);
    // No point of the simplex (on a grid) is nearer.
    let given = [0.7, 0.6, -0.5];
    let distance = |x: &[f64]| -> f64 { x.iter().zip(given).map(|(a, b)| (a - b).powi(2)).sum() };
    let best = distance(&simplex(&given));
    for i in 0..=50 {
        for j in 0..=50 - i {
            let point = [f64::from(i) / 50.0, f64::from(j) / 50.0, f64::from(50 - i - j) / 50.0];
            assert!(distance(&point) >= best - 1e-12);
        }
    }
}

#[test]
fn the_lecture_in_numbers_and_what_liars_can_do() {
    let exam = survey("alpha = 0.5\nvalues = ['yes','no']");
    let part = &exam.parts()[0];
    let found = frequencies(part, &[9, 9], 18, &options(Target::Population, true)).unwrap();
    assert_eq!(found.rows[0].estimate, 0.5);
    assert!((found.rows[0].sd.powi(2) - 1.0 / (4.0 * 0.25 * 18.0)).abs() < 1e-12);
    // 18 people: the interval is wide, and both values' are mirror images.
    assert!(found.rows[0].lower < 0.1 && found.rows[0].upper > 0.9);
    assert!((found.rows[0].lower + found.rows[1].upper - 1.0).abs() < 1e-9);
    assert!((found.poisoning.per_report - 1.0 / (18.0 * 0.5)).abs() < 1e-12);
    assert!((found.poisoning.per_percent - 0.02).abs() < 1e-12);
    // 300 fakes that claim every value are seen in the sum.
    let survey = categorical(Mechanism::Optimised, 64, 1.0);
    let mut rng = SeededForTests::insecure(61);
    let mut counts = run(&survey, &skewed(5_000, 64), &mut rng);
    let honest =
        frequencies(&survey.parts()[0], &counts, 5_000, &options(Target::Population, true))
            .unwrap();
    assert!(honest.poisoning.sum_z.unwrap().abs() < 5.0);
    for c in &mut counts {
        *c += 300;
    }
    let poisoned =
        frequencies(&survey.parts()[0], &counts, 5_300, &options(Target::Population, true))
            .unwrap();
    assert!(poisoned.poisoning.sum_z.unwrap() > 5.0);
    let moved = poisoned.rows[5].estimate - honest.rows[5].estimate;
    assert!(moved <= 300.0 * poisoned.poisoning.per_report);
    let Domain::Categories(_) = &survey.parts()[0].domain else { panic!() };
}
