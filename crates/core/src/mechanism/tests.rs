use super::*;
use crate::error::Result;
use crate::unit::Neighbours::{self, AddRemove, Replace};

#[test]
fn calibrations_are_the_documented_formulas_in_both_relations() {
    let of = Contributions::new(3, 2).unwrap();
    let (few, two) = (Rows::AtMost(2), Rows::Exactly(2));
    let b = Bounds::new(1.0, 3.0).unwrap();
    let root = f64::sqrt;
    type Make<'a> = &'a dyn Fn(Budget, Neighbours) -> Result<Calibration>;
    // Δ₁, Δ₂ and the share of the budget, under add or remove and under replace.
    let table: [(&str, Make<'_>, [[f64; 3]; 2]); 9] = [
        (
            "histogram",
            &|e, n| Ok(Histogram::new(e, n, of)?.calibration()),
            [[6.0, 2.0 * root(3.0), 1.0], [12.0, 2.0 * root(6.0), 1.0]],
        ),
        ("count", &|e, n| Ok(Count::new(e, n, few)?.calibration()), [[2.0, 2.0, 1.0]; 2]),
        (
            "sum, at most",
            &|e, n| Ok(BoundedSum::new(e, b, n, few)?.calibration()),
            [[6.0, 6.0, 1.0]; 2],
        ),
        (
            "sum, exactly",
            &|e, n| Ok(BoundedSum::new(e, b, n, two)?.calibration()),
            [[6.0, 6.0, 1.0], [4.0, 4.0, 1.0]],
        ),
        (
            "mean, at most",
            &|e, n| Ok(BoundedMean::new(e, b, n, few)?.calibration()),
            [[4.0, 4.0, 1.0], [8.0, 4.0 * root(2.0), 1.0]],
        ),
        (
            "mean, exactly",
            &|e, n| Ok(BoundedMean::new(e, b, n, two)?.calibration()),
            [[4.0, 4.0, 1.0]; 2],
        ),
        (
            "variance, at most",
            &|e, n| Ok(BoundedVariance::new(e, b, n, few)?.calibration()),
            [[8.0, 8.0, 1.0], [16.0, 8.0 * root(2.0), 1.0]],
        ),
        (
            "variance, exactly",
            &|e, n| Ok(BoundedVariance::new(e, b, n, two)?.calibration()),
            [[8.0, 8.0, 1.0], [8.0, 8.0, 0.5]],
        ),
        (
            "tree of five levels",
            &|e, n| Ok(Tree::new(e, n, TreeShape { cells: 16, branching: 2 }, 2)?.calibration()),
            [[10.0, 2.0 * root(5.0), 1.0], [16.0, 2.0 * root(8.0), 1.0]],
        ),
    ];
    let (epsilon, rho) = (0.3, 0.08);
    for (name, make, formulas) in table {
        for (relation, [l1, l2, share]) in [AddRemove, Replace].into_iter().zip(formulas) {
            let pure = make(Epsilon::new(epsilon).unwrap().into(), relation).unwrap();
            assert_eq!((pure.family, pure.sensitivity), (Family::Laplace, l1), "{name}");
            assert!((pure.scale * share * epsilon / l1 - 1.0).abs() < 1e-15, "{name}");
            let zcdp = make(Rho::new(rho).unwrap().into(), relation).unwrap();
            let up = 1.0..1.0 + 1e-14; // rounded up, and by no more than that
            assert_eq!(zcdp.family, Family::Gaussian);
            assert!(up.contains(&(zcdp.sensitivity / l2)), "{name} {relation}");
            let sigma = l2 / root(2.0 * share * rho);
            assert!(up.contains(&(zcdp.scale / sigma)), "{name} {relation}");
        }
    }
}
