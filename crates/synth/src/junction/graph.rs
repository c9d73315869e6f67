//! Cliques of a chordal graph that holds the measured pairs.

/// A set of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    words: Vec<u64>,
}

impl Set {
    pub(crate) fn empty(columns: usize) -> Self {
        Self { words: vec![0; columns.div_ceil(64)] }
    }

    pub(crate) fn insert(&mut self, column: usize) {
        self.words[column / 64] |= 1 << (column % 64);
    }

    fn remove(&mut self, column: usize) {
        self.words[column / 64] &= !(1 << (column % 64));
    }

    pub(crate) fn contains(&self, column: usize) -> bool {
        self.words[column / 64] >> (column % 64) & 1 == 1
    }

    fn add_all(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(mine, theirs)| mine & theirs);
        Self { words: words.collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The columns, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    64 * i + bit
                })
            })
        })
    }
}

/// How many cells a table over `set` has.
pub(crate) fn cells_of(sizes: &[usize], set: &Set) -> f64 {
    set.iter().map(|column| sizes[column] as f64).product()
}

/// The maximal cliques after greedy elimination: the column whose clique is smallest goes first. `None` as soon as
/// the cliques have more than `most` cells together.
pub(crate) fn cliques(sizes: &[usize], pairs: &[(usize, usize)], most: f64) -> Option<Vec<Set>> {
    let columns = sizes.len();
    let mut near = vec![Set::empty(columns); columns];
    for &(a, b) in pairs {
        near[a].insert(b);
        near[b].insert(a);
    }
    let cost = |near: &[Set], column: usize| sizes[column] as f64 * cells_of(sizes, &near[column]);
    let mut costs: Vec<f64> = (0..columns).map(|column| cost(&near, column)).collect();
    let mut alive: Vec<usize> = (0..columns).collect();
    let (mut found, mut cells): (Vec<Set>, f64) = (Vec::new(), 0.0);
    while let Some(at) = cheapest(&near, &costs, &alive) {
        let column = alive.remove(at);
        let mut clique = near[column].clone();
        let neighbours: Vec<usize> = clique.iter().collect();
        for &other in &neighbours {
            near[other].add_all(&clique);
            near[other].remove(other);
            near[other].remove(column);
        }
        for &other in &neighbours {
            costs[other] = cost(&near, other);
        }
        clique.insert(column);
        if !found.iter().any(|larger| clique.is_subset(larger)) {
            cells += cells_of(sizes, &clique);
            if cells > most {
                return None;
            }
            found.push(clique);
        }
    }
    Some(found)
}

/// Where in `alive` the column with the least cost is; of several, the one that adds the fewest edges.
fn cheapest(near: &[Set], costs: &[f64], alive: &[usize]) -> Option<usize> {
    let fill = |column: usize| -> usize {
        let around: Vec<usize> = near[column].iter().collect();
        around
            .iter()
            .map(|&a| around.iter().filter(|&&b| a < b && !near[a].contains(b)).count())
            .sum()
    };
    (0..alive.len()).min_by(|&x, &y| {
        let (x, y) = (alive[x], alive[y]);
        costs[x].total_cmp(&costs[y]).then_with(|| fill(x).cmp(&fill(y)))
    })
}
