use super::*;
use crate::policy::Policy;

#[test]
fn a_year_has_its_days() {
    assert_eq!((date(0), date(59), date(60), date(365)), ((1, 1), (2, 29), (3, 1), (12, 31)));
}

#[test]
fn the_clinic_is_the_same_from_the_same_seed_and_its_policy_has_no_mistake() {
    let make = |seed| {
        let folder = tempfile::tempdir().unwrap();
        let policy = make(folder.path(), 500, seed).unwrap();
        let policy = Policy::read(&policy).unwrap();
        assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);
        let visits = std::fs::read_to_string(folder.path().join("visits.csv")).unwrap();
        (visits.lines().count(), visits)
    };
    let (lines, visits) = make(1);
    assert!((600..3000).contains(&lines));
    assert_eq!(make(1).1, visits);
    assert_ne!(make(2).1, visits);
}
