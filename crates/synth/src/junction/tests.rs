use super::{Part, Passages, Tree, cliques, index};
use demure_core::random::SeededForTests;
use demure_core::sample::uniform_below;

struct Draw(SeededForTests);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        uniform_below(n as u64, &mut self.0).unwrap() as usize
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 40) as f64 / (1u64 << 40) as f64
    }
}

/// A random graph of six columns, with factors of which some are coarser than the tree.
struct Case {
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    parts: Vec<Part>,
    potentials: Vec<Vec<f64>>,
}

fn case(seed: u64, density: f64) -> Case {
    let mut draw = Draw(SeededForTests::insecure(seed));
    let columns = 6;
    let sizes: Vec<usize> = (0..columns).map(|_| 2 + draw.below(3)).collect();
    let mut pairs = Vec::new();
    for a in 0..columns {
        for b in a + 1..columns {
            if draw.unit() < density {
                pairs.push((a, b));
            }
        }
    }
    let all = |size: usize| (0..size as u16).collect::<Vec<_>>();
    let mut parts: Vec<Part> = sizes
        .iter()
        .enumerate()
        .map(|(column, &size)| Part {
            columns: vec![column],
            bins: vec![size],
            map: vec![all(size)],
        })
        .collect();
    parts.extend(pairs.iter().map(|&(a, b)| Part {
        columns: vec![a, b],
        bins: vec![2, sizes[b]],
        map: vec![(0..sizes[a] as u16).map(|bin| bin.min(1)).collect(), all(sizes[b])],
    }));
    let potentials = parts
        .iter()
        .map(|part| (0..part.bins.iter().product()).map(|_| (4.0 * draw.unit()).exp()).collect())
        .collect();
    Case { sizes, pairs, parts, potentials }
}

/// The product over all cells of all columns, by enumeration: its sum, and the probabilities.
fn enumerate(case: &Case) -> (f64, Vec<f64>) {
    let all: Vec<usize> = (0..case.sizes.len()).collect();
    let mut product = vec![1.0; case.sizes.iter().product()];
    for (part, potential) in case.parts.iter().zip(&case.potentials) {
        let cells = index(&all, &case.sizes, &part.columns, &part.bins, Some(&part.map));
        product.iter_mut().zip(&cells).for_each(|(p, &cell)| *p *= potential[cell as usize]);
    }
    let sum: f64 = product.iter().sum();
    product.iter_mut().for_each(|p| *p /= sum);
    (sum, product)
}

fn marginal(case: &Case, product: &[f64], onto: &[usize]) -> Vec<f64> {
    let all: Vec<usize> = (0..case.sizes.len()).collect();
    let sizes: Vec<usize> = onto.iter().map(|&column| case.sizes[column]).collect();
    let mut sums = vec![0.0; sizes.iter().product()];
    let cells = index(&all, &case.sizes, onto, &sizes, None);
    product.iter().zip(&cells).for_each(|(p, &cell)| sums[cell as usize] += p);
    sums
}

fn close(found: &[f64], truth: &[f64]) -> bool {
    found.len() == truth.len() && found.iter().zip(truth).all(|(x, y)| (x - y).abs() < 1e-10)
}

#[test]
fn calibration_and_all_pairs_agree_with_enumeration() {
    // From a forest with isolated columns to a dense graph.
    for seed in 0..60 {
        let case = case(seed, [0.1, 0.3, 0.6][seed as usize % 3]);
        let sets = cliques(&case.sizes, &case.pairs, f64::INFINITY).unwrap();
        let mut tree = Tree::new(&case.sizes, sets, &case.parts);
        let log_sum = tree.calibrate(&case.potentials);
        let (sum, product) = enumerate(&case);
        assert!((log_sum - sum.ln()).abs() < 1e-9, "{seed}: {log_sum} {}", sum.ln());

        for (i, clique) in tree.cliques.iter().enumerate() {
            assert!(
                close(&clique.belief, &marginal(&case, &product, &clique.columns)),
                "{seed} {i}"
            );
        }
        let mut marginals: Vec<Vec<f64>> =
            case.potentials.iter().map(|potential| vec![0.0; potential.len()]).collect();
        tree.marginals(&mut marginals);
        for (part, found) in case.parts.iter().zip(&marginals) {
            let cells = index(
                &(0..6).collect::<Vec<_>>(),
                &case.sizes,
                &part.columns,
                &part.bins,
                Some(&part.map),
            );
            let mut truth = vec![0.0; found.len()];
            product.iter().zip(&cells).for_each(|(p, &cell)| truth[cell as usize] += p);
            assert!(close(found, &truth), "{seed}");
        }
        let passages = Passages::new(&tree, &case.sizes);
        for a in 0..6 {
            for (b, found) in passages.from(a) {
                assert!(close(&found, &marginal(&case, &product, &[a, b])), "{seed}: {a} {b}");
            }
        }
    }
}

#[test]
fn cliques_hold_every_pair_and_none_is_in_another() {
    for seed in 0..40 {
        let case = case(seed, 0.4);
        let sets = cliques(&case.sizes, &case.pairs, f64::INFINITY).unwrap();
        for &(a, b) in &case.pairs {
            assert!(sets.iter().any(|set| set.contains(a) && set.contains(b)));
        }
        for (i, set) in sets.iter().enumerate() {
            assert!(sets.iter().enumerate().all(|(j, other)| i == j || !set.is_subset(other)));
        }
    }
}

#[test]
fn a_limit_on_cells_is_kept() {
    let pairs = [(0, 1), (1, 2), (0, 2)];
    assert!(cliques(&[10, 10, 10], &pairs, 1000.0).is_some());
    assert!(cliques(&[10, 10, 10], &pairs, 999.0).is_none());
}

#[test]
fn potentials_without_any_mass_are_not_finite_and_do_not_panic() {
    let case = case(3, 0.4);
    let sets = cliques(&case.sizes, &case.pairs, f64::INFINITY).unwrap();
    let mut tree = Tree::new(&case.sizes, sets, &case.parts);
    let nothing: Vec<Vec<f64>> =
        case.potentials.iter().map(|potential| vec![0.0; potential.len()]).collect();
    assert!(!tree.calibrate(&nothing).is_finite());
    // And the tree can still be used.
    assert!(tree.calibrate(&case.potentials).is_finite());
}
