//! Rows down the junction tree, each clique given the columns that are known by then.

use super::draws::Draws;
use crate::estimate::Estimate;
use crate::junction::index;
use crate::profile::Profile;

/// Systematic sampling: `count` draws from `weights`, after which every item has been drawn its expected number of
/// times, rounded up or down.
///
/// # Special values
/// If all weights are 0, all items are as likely; items of weight 0 are never drawn otherwise.
fn systematic(weights: &[f64], count: usize, draws: &mut Draws, out: &mut Vec<u32>) {
    out.clear();
    let sum: f64 = weights.iter().sum();
    let Some(last) = weights.iter().rposition(|&weight| weight > 0.0) else {
        out.extend((0..count).map(|_| draws.below(weights.len().max(1)) as u32));
        return;
    };
    let start = draws.unit();
    let mut reached = 0.0;
    for (item, weight) in weights.iter().enumerate() {
        reached += weight / sum * count as f64;
        while out.len() < count && out.len() as f64 + start < reached {
            out.push(item as u32);
        }
    }
    out.resize(count, last as u32); // what rounding left over
}

/// Rows at the resolution of the tree, by column.
pub(super) fn sample(estimate: &Estimate, rows: usize, draws: &mut Draws) -> Vec<Vec<u16>> {
    let width = estimate.sizes.len();
    let mut columns = vec![vec![0u16; rows]; width];
    let mut known = vec![false; width];
    let mut drawn = Vec::new();
    for &i in &estimate.tree.order {
        let clique = &estimate.tree.cliques[i];
        let (given, new): (Vec<usize>, Vec<usize>) =
            clique.columns.iter().partition(|&&column| known[column]);
        if new.is_empty() {
            continue;
        }
        let sizes =
            |columns: &[usize]| columns.iter().map(|&c| estimate.sizes[c]).collect::<Vec<_>>();
        let (given_sizes, new_sizes) = (sizes(&given), sizes(&new));
        let cells: usize = new_sizes.iter().product();
        let table = conditional(
            clique.belief.as_slice(),
            clique,
            (&given, &given_sizes),
            (&new, &new_sizes),
        );
        for (key, rows) in by_key(&columns, &given, &given_sizes, rows).iter_mut() {
            draws.shuffle(rows);
            systematic(&table[*key * cells..][..cells], rows.len(), draws, &mut drawn);
            for (&row, &cell) in rows.iter().zip(&drawn) {
                let mut cell = cell as usize;
                for (&column, size) in new.iter().zip(&new_sizes).rev() {
                    columns[column][row as usize] = (cell % size) as u16;
                    cell /= size;
                }
            }
        }
        new.iter().for_each(|&column| known[column] = true);
    }
    columns
}

/// A clique's marginal as a table of the given columns by the new ones.
fn conditional(
    belief: &[f64],
    clique: &crate::junction::Clique,
    given: (&[usize], &[usize]),
    new: (&[usize], &[usize]),
) -> Vec<f64> {
    let of_given = index(&clique.columns, &clique.sizes, given.0, given.1, None);
    let of_new = index(&clique.columns, &clique.sizes, new.0, new.1, None);
    let cells: usize = new.1.iter().product();
    let mut table = vec![0.0; belief.len()];
    for (belief, (&row, &column)) in belief.iter().zip(of_given.iter().zip(&of_new)) {
        table[row as usize * cells + column as usize] = *belief;
    }
    table
}

/// The rows of each combination of values that occurs.
fn by_key(
    columns: &[Vec<u16>],
    given: &[usize],
    sizes: &[usize],
    rows: usize,
) -> Vec<(usize, Vec<u32>)> {
    let key = |row: usize| {
        given
            .iter()
            .zip(sizes)
            .fold(0, |key, (&column, size)| key * size + usize::from(columns[column][row]))
    };
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); sizes.iter().product()];
    (0..rows).for_each(|row| groups[key(row)].push(row as u32));
    groups.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Replaces bins of the level `from` by bins of the finer level `to`, with the shares of the profile rounded.
pub(super) fn refine(
    profile: &Profile,
    from: usize,
    to: usize,
    values: &mut [u16],
    draws: &mut Draws,
) {
    if from >= to {
        return;
    }
    let down = profile.levels[to].down_to(&profile.levels[from]);
    let shares = profile.bins(to);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); profile.levels[from].bins];
    let mut finer: Vec<Vec<u16>> = vec![Vec::new(); rows.len()];
    down.iter().enumerate().for_each(|(bin, &coarse)| finer[usize::from(coarse)].push(bin as u16));
    values.iter().enumerate().for_each(|(row, &bin)| rows[usize::from(bin)].push(row as u32));
    let mut drawn = Vec::new();
    for (rows, finer) in rows.iter_mut().zip(&finer) {
        draws.shuffle(rows);
        let weights: Vec<f64> = finer.iter().map(|&bin| shares[usize::from(bin)]).collect();
        systematic(&weights, rows.len(), draws, &mut drawn);
        for (&row, &item) in rows.iter().zip(&drawn) {
            values[row as usize] = finer[item as usize];
        }
    }
}
