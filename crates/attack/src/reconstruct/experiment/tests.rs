use super::*;
use crate::reconstruct::Norm;

fn attack(rows: usize, queries: usize, database: Database, repeat: usize) -> Attack {
    Attack { rows, queries, database, method: Method::LeastSquares, repeat }
}

/// Whether the measured share is within five standard errors of what is expected, and how many
/// standard errors off. The bits of one attack share a matrix and are a little dependent; five
/// (6e-7, two-sided) leave room for that on a fixed seed.
fn off(measured: &Measured, expected: f64) -> f64 {
    let spread = (expected * (1.0 - expected) / measured.recovered.trials as f64).sqrt();
    (measured.recovered.rate() - expected).abs() / spread.max(1e-9)
}

#[test]
fn exact_rounded_and_suppressed_answers_give_all_rows_back() {
    let plain = measure(attack(1000, 4000, Database::Plain, 1), 1).unwrap();
    assert!(plain.recovered.rate() >= 0.99);
    assert_eq!(plain.recovered.hits, 1000);
    // The known answer: multiples of 5, n = 100, m = 400.
    let rounding = attack(100, 400, Database::Rounding { step: 5 }, 20);
    let rounded = measure(rounding, 2).unwrap();
    assert!(rounded.recovered.rate() > 0.99, "{rounded:?}");
    assert!(off(&rounded, rounded.expected.unwrap()) < 5.0);
    let threshold = attack(300, 1200, Database::Threshold { least: 75 }, 2);
    let suppressed = measure(threshold, 3).unwrap();
    assert!(suppressed.answered.rate() < 0.9 && suppressed.recovered.rate() > 0.99);
    // All answers suppressed: nothing but a guess is left.
    let all = measure(attack(100, 400, Database::Threshold { least: 101 }, 20), 4).unwrap();
    assert_eq!(all.answered.hits, 0);
    assert!((all.recovered.rate() - 0.5).abs() < 5.0 * 0.5 / 2000f64.sqrt());
}

#[test]
fn the_closed_form_is_what_is_measured_and_the_test_has_power() {
    for (n, m, sigma) in [
        (200, 800, 200f64.sqrt() / 2.0),
        (200, 800, 200f64.sqrt()),
        (400, 1600, 40.0),
        (200, 400, 10.0),
        (150, 2400, 20.0),
    ] {
        let noised = attack(n, m, Database::Noised { sigma }, 8000 / n);
        let measured = measure(noised, 5).unwrap();
        assert!(off(&measured, measured.expected.unwrap()) < 5.0, "{measured:?}");
    }
    // The twin: noise a fifth larger than claimed is noticed.
    let noised = attack(200, 800, Database::Noised { sigma: 1.2 * 10.0 }, 100);
    let measured = measure(noised, 6).unwrap();
    assert!(off(&measured, expected(200, 800, 10.0).unwrap()) > 5.0);
}

#[test]
fn noise_beyond_the_root_of_n_leaves_a_guess() {
    let sigma = 40.0 * 100f64.sqrt();
    let measured = measure(attack(100, 400, Database::Noised { sigma }, 40), 7).unwrap();
    assert!(off(&measured, 0.5) < 5.0, "{measured:?}");
}

#[test]
fn the_box_tells_more_near_m_equal_n_and_feasibility_more_of_rounded_answers() {
    let of = |m: usize, database: Database, method: Method| {
        let found = measure(Attack { method, ..attack(60, m, database, 10) }, 10).unwrap();
        assert!(method == Method::LeastSquares || found.expected.is_none());
        found.recovered.rate()
    };
    let all = |m: usize, database: Database| {
        let [sum, largest] = [Norm::Sum, Norm::Largest].map(Method::LinearProgram);
        [Method::LeastSquares, sum, largest].map(|method| of(m, database, method))
    };
    // 600 bits, the same for all three: on a fixed seed, gaps that are seen on others too.
    let near = all(75, Database::Noised { sigma: 60f64.sqrt() / 4.0 });
    assert!(near[1] > near[0] + 0.03, "{near:?}");
    let rounded = all(75, Database::Rounding { step: 5 });
    assert!(rounded[2] > rounded[0] + 0.05, "{rounded:?}");
    let coarse = all(240, Database::Rounding { step: 10 });
    assert!(coarse[2] > coarse[0] + 0.01, "{coarse:?}");
}

#[test]
fn a_linear_program_finds_about_as_much_of_many_noised_answers() {
    let sigma = 5.0;
    let squares = attack(60, 240, Database::Noised { sigma }, 6);
    let program = Attack { method: Method::LinearProgram(Norm::Sum), ..squares };
    let (squares, program) = (measure(squares, 8).unwrap(), measure(program, 8).unwrap());
    // The same bits, subsets and noise: 360 bits, of which few differ.
    let gap = squares.recovered.rate() - program.recovered.rate();
    assert!(gap.abs() < 0.08, "{squares:?} {program:?}");
    assert!(program.recovered.rate() > 0.7);
}

#[test]
fn many_are_run_in_order_whatever_the_threads() {
    let attacks: Vec<Attack> =
        [0.0, 4.0, 40.0].map(|sigma| attack(50, 200, Database::Noised { sigma }, 2)).into();
    let told = AtomicUsize::new(0);
    let all = measure_all(&attacks, 9, &|_| _ = told.fetch_add(1, Ordering::Relaxed)).unwrap();
    assert_eq!(told.into_inner(), 3);
    for (at, measured) in all.iter().enumerate() {
        assert_eq!(*measured, measure(attacks[at], 9 + at as u64).unwrap());
    }
}
