//! Two-way marginals of a calibrated tree, also of columns that share no clique.
//!
//! From a column a, walk the tree outwards. Where the walk enters a clique through the shared columns S, it knows
//! P(S, a). For a column b of that clique, a and b are independent given S, so
//! `P(a, b) = Σ_S P(S, a)·P(S, b)/P(S)`. What depends on the clique alone is computed once, for all a.

use super::index::index;
use super::tree::Tree;

/// Below this a shared cell counts as empty.
const EMPTY: f64 = 1e-15;

/// P(S, S′) without empty cells: (cell of S, cell of S′, P).
type Transition = Vec<(u32, u32, f64)>;

/// A step of the walk: into the clique `into` through the columns `shared`.
struct Passage {
    into: usize,
    shared: Vec<usize>,
    /// P(S).
    sums: Vec<f64>,
    /// Each other column of the clique, with P(S, b).
    columns: Vec<(usize, Vec<f64>)>,
    /// The passages that go on from here, each with its transition.
    onward: Vec<(usize, Transition)>,
}

/// A calibrated tree, ready for two-way marginals.
pub(crate) struct Passages<'a> {
    tree: &'a Tree,
    sizes: &'a [usize],
    all: Vec<Passage>,
    /// For each column, the smallest clique that holds it and its marginal.
    home: Vec<(usize, Vec<f64>)>,
    /// For each clique, the passages that leave it.
    leaving: Vec<Vec<usize>>,
    /// For each column, the cliques that hold it.
    holders: Vec<Vec<usize>>,
}

impl<'a> Passages<'a> {
    pub(crate) fn new(tree: &'a Tree, sizes: &'a [usize]) -> Self {
        let mut holders = vec![Vec::new(); sizes.len()];
        for (i, clique) in tree.cliques.iter().enumerate() {
            clique.columns.iter().for_each(|&column| holders[column].push(i));
        }
        let smallest = |cliques: &[usize]| {
            cliques.iter().copied().min_by_key(|&i| tree.cliques[i].belief.len()).unwrap_or(0)
        };
        let home = (0..sizes.len())
            .map(|column| {
                let clique = smallest(&holders[column]);
                (clique, tree.marginal(clique, &[column]))
            })
            .collect();
        let mut all = Vec::new();
        let mut leaving = vec![Vec::new(); tree.cliques.len()];
        for (i, clique) in tree.cliques.iter().enumerate() {
            let Some(parent) = clique.parent else { continue };
            for (from, into) in [(i, parent), (parent, i)] {
                leaving[from].push(all.len());
                all.push(Passage {
                    into,
                    sums: tree.marginal(into, &clique.shared),
                    columns: tree.cliques[into]
                        .columns
                        .iter()
                        .filter(|column| !clique.shared.contains(column))
                        .map(|&column| {
                            let onto = [&clique.shared[..], &[column]].concat();
                            (column, tree.marginal(into, &onto))
                        })
                        .collect(),
                    shared: clique.shared.clone(),
                    onward: Vec::new(),
                });
            }
        }
        for i in 0..all.len() {
            // Back through the same link is no way on: the two passages of a link are neighbours in the list.
            let onward = leaving[all[i].into]
                .iter()
                .filter(|&&next| next != i ^ 1)
                .map(|&next| (next, transition(tree, sizes, &all[i], &all[next].shared)))
                .collect();
            all[i].onward = onward;
        }
        Self { tree, sizes, all, home, leaving, holders }
    }

    /// P(column, b) for every column b after `column`, with b's bins fastest.
    pub(crate) fn from(&self, column: usize) -> Vec<(usize, Vec<f64>)> {
        let columns = self.sizes.len();
        let mut found: Vec<Option<Vec<f64>>> = vec![None; columns];
        for (b, found) in found.iter_mut().enumerate().skip(column + 1) {
            let both = self.holders[column].iter().filter(|i| self.holders[b].contains(i));
            let clique = both.copied().min_by_key(|&i| self.tree.cliques[i].belief.len());
            *found = clique.map(|clique| self.tree.marginal(clique, &[column, b]));
        }
        if found[column + 1..].iter().any(Option::is_none) {
            self.walk(column, &mut found);
        }
        let own = &self.home[column].1;
        (column + 1..columns)
            .map(|b| {
                // Columns that no path connects are independent.
                let independent =
                    || own.iter().flat_map(|x| self.home[b].1.iter().map(move |y| x * y)).collect();
                (b, found[b].take().unwrap_or_else(independent))
            })
            .collect()
    }

    fn walk(&self, column: usize, found: &mut [Option<Vec<f64>>]) {
        let size = self.sizes[column];
        // Passages to take, each with P(S, column). Cliques that hold the column are walked without a table.
        let mut waiting: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut inside = vec![(self.home[column].0, usize::MAX)];
        while let Some((clique, came)) = inside.pop() {
            for &next in self.leaving[clique].iter().filter(|&&next| next != came) {
                let passage = &self.all[next];
                if passage.shared.contains(&column) {
                    inside.push((passage.into, next ^ 1));
                } else {
                    let onto = [&passage.shared[..], &[column]].concat();
                    waiting.push((next, self.tree.marginal(clique, &onto)));
                }
            }
        }
        while let Some((at, joint)) = waiting.pop() {
            let passage = &self.all[at];
            for (b, given) in &passage.columns {
                if *b > column && found[*b].is_none() {
                    let width = self.sizes[*b];
                    found[*b] = Some(combine(&joint, size, given, width, &passage.sums));
                }
            }
            for (next, transition) in &passage.onward {
                let cells = self.all[*next].sums.len();
                let mut onward = vec![0.0; cells * size];
                for &(from, to, p) in transition {
                    let (from, to) = (from as usize, to as usize);
                    let weight = p / passage.sums[from];
                    let source = &joint[from * size..][..size];
                    let target = &mut onward[to * size..][..size];
                    target.iter_mut().zip(source).for_each(|(out, x)| *out += weight * x);
                }
                waiting.push((*next, onward));
            }
        }
    }
}

/// `Σ_S P(S, a)·P(S, b)/P(S)`, a's bins slowest.
fn combine(joint: &[f64], size: usize, given: &[f64], width: usize, sums: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; size * width];
    for (s, &p) in sums.iter().enumerate().filter(|(_, p)| **p > EMPTY) {
        let row = &given[s * width..][..width];
        for (a, x) in joint[s * size..][..size].iter().enumerate() {
            let weight = x / p;
            if weight > 0.0 {
                let target = &mut out[a * width..][..width];
                target.iter_mut().zip(row).for_each(|(out, y)| *out += weight * y);
            }
        }
    }
    out
}

/// P(S, S′) inside the clique that a passage leads into, without empty cells.
fn transition(tree: &Tree, sizes: &[usize], passage: &Passage, onward: &[usize]) -> Transition {
    let mut union = passage.shared.clone();
    union.extend(onward.iter().filter(|column| !passage.shared.contains(column)));
    let sized = |columns: &[usize]| columns.iter().map(|&c| sizes[c]).collect::<Vec<_>>();
    let table = tree.marginal(passage.into, &union);
    let from = index(&union, &sized(&union), &passage.shared, &sized(&passage.shared), None);
    let to = index(&union, &sized(&union), onward, &sized(onward), None);
    table
        .iter()
        .zip(from.iter().zip(&to))
        .filter(|(p, (from, _))| **p > 0.0 && passage.sums[**from as usize] > EMPTY)
        .map(|(&p, (&from, &to))| (from, to, p))
        .collect()
}
