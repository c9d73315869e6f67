use super::*;
use crate::search::tests::small_problem;
use crate::search::{Suppression, group, setting};

#[test] // by brute force: no node within the limit is ruled out, and many others are
fn only_nodes_beyond_the_limit_are_ruled_out() {
    let mut ruled_out = 0;
    for seed in 0..30 {
        for (k, limit) in [(2, 0), (3, 0), (3, 5), (5, 12)] {
            let (table, quasi) = small_problem(seed, 60);
            let problem = crate::search::Problem {
                table: &table,
                quasi,
                sensitive: Vec::new(),
                population: None,
                models: vec![Box::new(crate::model::KAnonymity::new(k).unwrap())],
                limit: Suppression::Count(limit),
                metric: crate::search::Metric::Loss,
            };
            let setting = setting(&problem).unwrap();
            let lattice = &setting.lattice;
            let at = |node: &[u8]| group::from_rows::<1>(&problem, lattice, node, None, 1).0;
            let pairs = Pairs::new(&setting, &at(&setting.lowest));
            let mut node = vec![0; lattice.axes.len()];
            loop {
                let sizes = at(&node).sizes;
                let lost: u32 = sizes.iter().filter(|&&size| u64::from(size) < k).sum();
                let mut low = setting.lowest.to_vec();
                // The box of this node alone and all finer ones.
                let left = pairs.raise(&mut low, &node);
                if u64::from(lost) <= limit {
                    assert!(left, "{node:?}");
                } else if !left {
                    ruled_out += 1;
                }
                let Some(axis) = (0..node.len()).find(|&a| node[a] < lattice.axes[a].top) else {
                    break;
                };
                node[..axis].fill(0);
                node[axis] += 1;
            }
        }
    }
    assert!(ruled_out > 1000, "{ruled_out}");
}
