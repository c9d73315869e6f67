use super::*;
use demure_core::random::SeededForTests;

fn candidates(method: Method, scores: Vec<f64>) -> Candidates {
    Candidates::new(method, scores, Change::General, 1.0, Neighbours::AddRemove).unwrap()
}

#[test]
fn probabilities_favour_the_best_and_add_up() {
    for method in [Method::Exponential, Method::PermuteAndFlip] {
        let (table, report) = candidates(method, vec![28.0, 5.0]).probabilities(0.5).unwrap();
        assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-9 && table[0] > 0.9);
        assert!(report.text_of("error_95").contains("below the best"));
        let (uniform, _) = candidates(method, vec![28.0, 5.0]).probabilities(0.0).unwrap();
        assert_eq!(uniform, [0.5, 0.5]);
    }
    let none = candidates(Method::NoisyMax, vec![1.0]).probabilities(1.0);
    assert!(matches!(none, Err(Error::NoTable)));
    let large = candidates(Method::PermuteAndFlip, vec![0.0; 1001]).probabilities(1.0);
    assert!(matches!(large, Err(Error::TooManyScores { most: 1000 })));
}

#[test]
fn a_clear_winner_is_selected_by_every_method() {
    let mut rng = SeededForTests::insecure(1);
    for (_, _, method) in Method::ALL {
        let all = candidates(*method, vec![0.0, 1000.0, 1.0]);
        assert_eq!(all.chooser(1.0).unwrap().select(&mut rng).unwrap(), 1);
    }
    let fractions = candidates(Method::NoisyMax, vec![0.5]);
    assert!(matches!(fractions.chooser(1.0), Err(Error::ScoresNotWhole)));
}
