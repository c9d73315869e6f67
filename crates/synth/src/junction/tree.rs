//! The junction tree, and its calibration: after messages to the root and back, every clique holds its marginal.

use super::graph::Set;
use super::index::index;

/// A factor of the product, as the tree needs to know it.
pub(crate) struct Part {
    /// The columns, one or two.
    pub(crate) columns: Vec<usize>,
    /// How many bins the factor has on each.
    pub(crate) bins: Vec<usize>,
    /// For each column, the factor's bin of each of the tree's bins.
    pub(crate) map: Vec<Vec<u16>>,
}

/// A clique and its link to its parent.
#[derive(Clone, Debug)]
pub(crate) struct Clique {
    pub(crate) columns: Vec<usize>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) parent: Option<usize>,
    /// The columns shared with the parent.
    pub(crate) shared: Vec<usize>,
    /// The cell of the shared table of each own cell, and of each of the parent's.
    own_cell: Vec<u32>,
    parent_cell: Vec<u32>,
    /// Factors, each with its cell for each own cell.
    factors: Vec<(usize, Vec<u32>)>,
    /// After calibration, the marginal.
    pub(crate) belief: Vec<f64>,
    message: Vec<f64>,
}

/// Cliques in a forest that has the running intersection property.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) cliques: Vec<Clique>,
    /// Parents before children.
    pub(crate) order: Vec<usize>,
}

impl Tree {
    /// A tree of these cliques; every part must fit in one of them.
    pub(crate) fn new(sizes: &[usize], sets: Vec<Set>, parts: &[Part]) -> Self {
        let (parents, order) = span(&sets);
        let sized = |columns: &[usize]| columns.iter().map(|&c| sizes[c]).collect::<Vec<_>>();
        let mut cliques: Vec<Clique> = sets
            .iter()
            .zip(&parents)
            .map(|(set, &parent)| {
                let columns: Vec<usize> = set.iter().collect();
                let own_sizes = sized(&columns);
                let shared: Vec<usize> =
                    parent.map_or(Vec::new(), |p| set.intersection(&sets[p]).iter().collect());
                let shared_sizes = sized(&shared);
                let own_cell = match parent {
                    Some(_) => index(&columns, &own_sizes, &shared, &shared_sizes, None),
                    None => Vec::new(),
                };
                let parent_cell = parent.map_or(Vec::new(), |p| {
                    let theirs: Vec<usize> = sets[p].iter().collect();
                    index(&theirs, &sized(&theirs), &shared, &shared_sizes, None)
                });
                Clique {
                    belief: vec![0.0; own_sizes.iter().product()],
                    message: vec![1.0; shared_sizes.iter().product()],
                    sizes: own_sizes,
                    columns,
                    parent,
                    shared,
                    own_cell,
                    parent_cell,
                    factors: Vec::new(),
                }
            })
            .collect();
        for (number, part) in parts.iter().enumerate() {
            let home = (0..sets.len())
                .filter(|&i| part.columns.iter().all(|&column| sets[i].contains(column)))
                .min_by_key(|&i| cliques[i].belief.len());
            if let Some(home) = home {
                let clique = &mut cliques[home];
                let cells = index(
                    &clique.columns,
                    &clique.sizes,
                    &part.columns,
                    &part.bins,
                    Some(&part.map),
                );
                clique.factors.push((number, cells));
            }
        }
        Self { cliques, order }
    }

    /// Computes every clique's marginal of the product of the factors' `potentials`, which must not be negative.
    /// Returns the log of the product's sum; if that is not finite, the marginals are of no use.
    pub(crate) fn calibrate(&mut self, potentials: &[Vec<f64>]) -> f64 {
        for clique in &mut self.cliques {
            clique.belief.fill(1.0);
            for (number, cells) in &clique.factors {
                let potential = &potentials[*number];
                for (belief, &cell) in clique.belief.iter_mut().zip(cells) {
                    *belief *= potential[cell as usize];
                }
            }
        }
        let log_sum = self.send_up();
        self.send_down();
        log_sum
    }

    /// Children first: each sends its sums over the shared columns, scaled to a maximum of 1.
    fn send_up(&mut self) -> f64 {
        let mut log_sum = 0.0;
        for &i in self.order.iter().rev() {
            let Some(parent) = self.cliques[i].parent else {
                let clique = &mut self.cliques[i];
                let sum: f64 = clique.belief.iter().sum();
                log_sum += sum.ln();
                clique.belief.iter_mut().for_each(|belief| *belief /= sum);
                continue;
            };
            let clique = &mut self.cliques[i];
            clique.message.fill(0.0);
            for (belief, &cell) in clique.belief.iter().zip(&clique.own_cell) {
                clique.message[cell as usize] += belief;
            }
            let largest = clique.message.iter().fold(0.0f64, |most, &sum| most.max(sum));
            log_sum += largest.ln();
            clique.message.iter_mut().for_each(|sum| *sum /= largest);
            let (child, parent) = two(&mut self.cliques, i, parent);
            for (belief, &cell) in parent.belief.iter_mut().zip(&child.parent_cell) {
                *belief *= child.message[cell as usize];
            }
        }
        log_sum
    }

    /// Parents first: each child is scaled so that its sums over the shared columns are the parent's. The child's own
    /// sums are taken anew, so its marginal is right whatever was lost to underflow on the way up.
    fn send_down(&mut self) {
        let mut sums = Vec::new();
        for k in 0..self.order.len() {
            let i = self.order[k];
            let Some(parent) = self.cliques[i].parent else { continue };
            let (child, parent) = two(&mut self.cliques, i, parent);
            sums.clear();
            sums.resize(child.message.len(), 0.0);
            for (belief, &cell) in parent.belief.iter().zip(&child.parent_cell) {
                sums[cell as usize] += belief;
            }
            child.message.fill(0.0);
            for (belief, &cell) in child.belief.iter().zip(&child.own_cell) {
                child.message[cell as usize] += belief;
            }
            for (own, &theirs) in child.message.iter_mut().zip(&sums) {
                *own = if *own > 0.0 { theirs / *own } else { 0.0 };
            }
            for (belief, &cell) in child.belief.iter_mut().zip(&child.own_cell) {
                *belief *= child.message[cell as usize];
            }
        }
    }

    /// The marginal of each part, at the part's bins.
    pub(crate) fn marginals(&self, out: &mut [Vec<f64>]) {
        for clique in &self.cliques {
            for (number, cells) in &clique.factors {
                let sums = &mut out[*number];
                sums.fill(0.0);
                for (belief, &cell) in clique.belief.iter().zip(cells) {
                    sums[cell as usize] += belief;
                }
            }
        }
    }

    /// The marginal of some columns of one clique, in the order given, at the tree's bins.
    pub(crate) fn marginal(&self, clique: usize, onto: &[usize]) -> Vec<f64> {
        let clique = &self.cliques[clique];
        let mut columns = clique.columns.clone();
        let mut sizes = clique.sizes.clone();
        let mut table = clique.belief.clone();
        for column in clique.columns.iter().filter(|column| !onto.contains(column)) {
            let Some(axis) = columns.iter().position(|left| left == column) else { continue };
            table = sum_out(&table, &sizes, axis);
            columns.remove(axis);
            sizes.remove(axis);
        }
        if columns == onto {
            return table;
        }
        let onto_sizes: Vec<usize> = onto.iter().map(|&column| clique.size(column)).collect();
        let mut turned = vec![0.0; table.len()];
        let cells = index(&columns, &sizes, onto, &onto_sizes, None);
        table.iter().zip(&cells).for_each(|(p, &cell)| turned[cell as usize] = *p);
        turned
    }
}

impl Clique {
    /// How many bins one of its columns has.
    pub(crate) fn size(&self, column: usize) -> usize {
        self.columns.iter().position(|&own| own == column).map_or(1, |i| self.sizes[i])
    }
}

/// Sums a table over one of its axes.
fn sum_out(table: &[f64], sizes: &[usize], axis: usize) -> Vec<f64> {
    let inner: usize = sizes[axis + 1..].iter().product();
    if inner == 1 {
        return table.chunks(sizes[axis]).map(|row| row.iter().sum()).collect();
    }
    let mut sums = vec![0.0; table.len() / sizes[axis]];
    for (block, sums) in table.chunks(sizes[axis] * inner).zip(sums.chunks_mut(inner)) {
        for row in block.chunks(inner) {
            sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
        }
    }
    sums
}

/// Two different elements.
fn two(cliques: &mut [Clique], child: usize, parent: usize) -> (&mut Clique, &mut Clique) {
    if child < parent {
        let (left, right) = cliques.split_at_mut(parent);
        (&mut left[child], &mut right[0])
    } else {
        let (left, right) = cliques.split_at_mut(child);
        (&mut right[0], &mut left[parent])
    }
}

/// A maximum spanning forest by the number of shared columns (Prim): the parent of each clique, and an order with
/// parents first.
///
/// For the cliques of a chordal graph, such a forest has the running intersection property.
fn span(sets: &[Set]) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut parents = vec![None; sets.len()];
    let mut order = Vec::with_capacity(sets.len());
    // The most columns that each clique shares with one that is in the forest, and with which.
    let mut best: Vec<Option<(usize, usize)>> = vec![None; sets.len()];
    let mut seen = vec![false; sets.len()];
    while order.len() < sets.len() {
        let waiting = (0..sets.len()).filter(|&i| !seen[i]);
        // The first of those that share most; a clique that shares nothing begins a tree of its own.
        let Some(next) = waiting
            .min_by_key(|&i| (std::cmp::Reverse(best[i].map_or(0, |(shared, _)| shared)), i))
        else {
            break;
        };
        seen[next] = true;
        parents[next] = best[next].map(|(_, parent)| parent);
        order.push(next);
        for other in (0..sets.len()).filter(|&other| !seen[other]) {
            let shared = sets[next].intersection(&sets[other]).len();
            if shared > 0 && best[other].is_none_or(|(most, _)| shared > most) {
                best[other] = Some((shared, next));
            }
        }
    }
    (parents, order)
}
