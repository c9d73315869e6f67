use super::*;

#[test]
fn the_alias_table_gives_every_entry_exactly_its_weight() {
    for per_unit in [1e-300, 0.3, 1.0, 7.7, 64.0] {
        let strips = Strips::new(per_unit, true).unwrap();
        let capacity = TOTAL >> strips.column_bits;
        let mut got = vec![0u64; strips.columns.len()];
        for (j, column) in strips.columns.iter().enumerate() {
            got[j] += column.threshold;
            got[column.alias as usize] += capacity - column.threshold;
        }
        assert_eq!(got[..strips.weights.len()], strips.weights, "{per_unit}");
        assert!(got[strips.weights.len()..].iter().all(|&w| w == 0));
    }
}

#[test]
fn the_weights_cover_the_curve() {
    for per_unit in [0.5, 3.0, 64.0] {
        let strips = Strips::new(per_unit, false).unwrap();
        for j in 0..strips.count() {
            let x = Ratio::from_f64(j as f64).unwrap().div(&Ratio::from_f64(per_unit).unwrap());
            let exact = |b| Enclosure::exp_neg(&x.mul(&x).scale(-1), b);
            let weight = Ratio::new(strips.weights[j], 1u64);
            let height = Ratio::from_f64(strips.height).unwrap();
            let p = exact(200).mul_ratio(&height.div(&weight));
            assert!(p.upper <= Natural::power_of_two(200), "{per_unit} {j}");
        }
        // And the tail's first, heaviest point, with the width of 1 unit.
        let x = Ratio::from_f64(strips.count() as f64 / per_unit).unwrap();
        let peak = Enclosure::exp_neg(&x.mul(&x).scale(-1), 200)
            .mul_ratio(&Ratio::from_f64(strips.height * (per_unit + 2.0) * 1.001).unwrap());
        let tail = Ratio::new(strips.weights[strips.count()], 1u64);
        assert!(peak.upper <= tail.fixed(200).0);
    }
}
