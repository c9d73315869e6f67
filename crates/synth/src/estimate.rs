//! A fitted distribution, and the two-way tables that it expects.

use crate::error::{Error, Result};
use crate::fit;
use crate::junction::{Part, Passages, Tree};
use crate::profile::Profile;
use crate::view::{Level, coarsen};

/// Below this many rows an expected cell is not divided by.
const NOTHING: f64 = 1e-9;
/// Rounds of scaling rows and columns after a table was bent.
const SCALINGS: usize = 4;

/// A factor of the product: log potentials of one column or of a pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Factor {
    pub(crate) columns: Vec<usize>,
    pub(crate) levels: Vec<usize>,
    /// −∞ where nothing can be.
    pub(crate) log: Vec<f64>,
}

/// A correction of the expected table of a pair, for a measurement outside the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bend {
    pub(crate) columns: [usize; 2],
    pub(crate) levels: [usize; 2],
    /// What each cell is multiplied by, before the one-way counts are restored.
    pub(crate) ratio: Vec<f64>,
}

/// A distribution over rows: a product of factors over a junction tree, at the resolution of the tree. The codes of a
/// bin have the shares of their profile, independently of the rest.
#[derive(Clone, Debug)]
pub(crate) struct Estimate {
    /// The estimated number of rows, at least 1.
    pub(crate) total: f64,
    pub(crate) profiles: Vec<Profile>,
    /// The level of each column in the tree, and how many bins it has.
    pub(crate) resolution: Vec<usize>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) factors: Vec<Factor>,
    /// In order of columns; those of one pair in the order in which they apply.
    pub(crate) bends: Vec<Bend>,
    /// Calibrated.
    pub(crate) tree: Tree,
}

impl Estimate {
    /// From parts that were saved, or changed.
    pub(crate) fn assemble(
        total: f64,
        profiles: Vec<Profile>,
        resolution: Vec<usize>,
        factors: Vec<Factor>,
        mut bends: Vec<Bend>,
    ) -> Result<Self> {
        bends.sort_by_key(|bend| bend.columns);
        let sizes: Vec<usize> =
            profiles.iter().zip(&resolution).map(|(p, &level)| p.levels[level].bins).collect();
        let pairs: Vec<(usize, usize)> = factors
            .iter()
            .filter_map(|factor| match factor.columns[..] {
                [a, b] => Some((a, b)),
                _ => None,
            })
            .collect();
        let parts: Vec<Part> = factors
            .iter()
            .map(|factor| Self::part(&profiles, &resolution, &factor.columns, &factor.levels))
            .collect();
        let mut tree = fit::tree(&sizes, &pairs, &parts)?;
        let potentials: Vec<Vec<f64>> = factors
            .iter()
            .map(|factor| {
                let largest = factor.log.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x));
                factor.log.iter().map(|x| (x - largest).exp()).collect()
            })
            .collect();
        // Also catches a factor without any potential: −∞ − −∞ is not a number.
        if !tree.calibrate(&potentials).is_finite() {
            return Err(Error::Impossible);
        }
        Ok(Self { total, profiles, resolution, sizes, factors, bends, tree })
    }

    /// A factor over these columns at these levels, as the tree needs to know it.
    pub(crate) fn part(
        profiles: &[Profile],
        resolution: &[usize],
        columns: &[usize],
        levels: &[usize],
    ) -> Part {
        let level = |i: usize| &profiles[columns[i]].levels[levels[i]];
        Part {
            columns: columns.to_vec(),
            bins: (0..columns.len()).map(|i| level(i).bins).collect(),
            map: (0..columns.len())
                .map(|i| profiles[columns[i]].levels[resolution[columns[i]]].down_to(level(i)))
                .collect(),
        }
    }

    /// The same distribution given that each column's code is among those allowed (`None`: all are).
    pub(crate) fn given(&self, allowed: &[Option<Vec<bool>>]) -> Result<Self> {
        let mut factors = self.factors.clone();
        let mut profiles = self.profiles.clone();
        for (column, mask) in allowed.iter().enumerate() {
            let Some(mask) = mask else { continue };
            let level = &self.profiles[column].levels[self.resolution[column]];
            let whole = level.sum(&self.profiles[column].shares);
            let shares = &mut profiles[column].shares;
            shares.iter_mut().zip(mask).for_each(|(share, &ok)| *share *= f64::from(u8::from(ok)));
            let part = level.sum(shares);
            let sum: f64 = shares.iter().sum();
            if sum <= 0.0 {
                return Err(Error::Impossible);
            }
            shares.iter_mut().for_each(|share| *share /= sum);
            let log = part
                .iter()
                .zip(&whole)
                .map(
                    |(part, whole)| {
                        if *part > 0.0 { (part / whole).ln() } else { f64::NEG_INFINITY }
                    },
                )
                .collect();
            factors.push(Factor {
                columns: vec![column],
                levels: vec![self.resolution[column]],
                log,
            });
        }
        Self::assemble(self.total, profiles, self.resolution.clone(), factors, self.bends.clone())
    }

    /// A pair's expected counts at `levels`, from its table of probabilities in the tree: spread over the codes of
    /// bins, and bent to measurements outside the tree.
    pub(crate) fn table(
        &self,
        columns: [usize; 2],
        levels: [usize; 2],
        tree_table: &[f64],
        rows: f64,
    ) -> Vec<f64> {
        let bends: Vec<&Bend> = self.bends.iter().filter(|bend| bend.columns == columns).collect();
        // As fine as is asked for, or as a bend needs.
        let finest: [usize; 2] = std::array::from_fn(|i| {
            bends.iter().map(|bend| bend.levels[i]).fold(levels[i], usize::max)
        });
        let mut table = self.spread(columns, finest, tree_table, rows);
        for bend in bends {
            let fine = |i: usize| self.level(columns[i], finest[i]);
            let down = |i: usize| fine(i).down_to(self.level(columns[i], bend.levels[i]));
            let width = self.level(columns[1], bend.levels[1]).bins;
            multiply(&mut table, fine(1).bins, &down(0), &down(1), width, &bend.ratio);
        }
        self.to_levels(columns, finest, levels, table)
    }

    fn level(&self, column: usize, level: usize) -> &Level {
        &self.profiles[column].levels[level]
    }

    /// From the tree's resolution to `levels`: finer bins get their shares, coarser ones sums.
    fn spread(
        &self,
        columns: [usize; 2],
        levels: [usize; 2],
        table: &[f64],
        rows: f64,
    ) -> Vec<f64> {
        let own: [usize; 2] = columns.map(|column| self.resolution[column]);
        let coarse: [usize; 2] = std::array::from_fn(|i| own[i].min(levels[i]));
        let table = self.to_levels(columns, own, coarse, table.to_vec());
        if coarse == levels {
            return table.iter().map(|p| p * rows).collect();
        }
        let within = |i: usize| self.profiles[columns[i]].within(levels[i], coarse[i]);
        let down =
            |i: usize| self.level(columns[i], levels[i]).down_to(self.level(columns[i], coarse[i]));
        let width = self.level(columns[1], coarse[1]).bins;
        let (of_row, of_column) = (within(0), within(1));
        let (row_bin, column_bin) = (down(0), down(1));
        let mut fine = Vec::with_capacity(of_row.len() * of_column.len());
        for (share, &bin) in of_row.iter().zip(&row_bin) {
            let row = &table[usize::from(bin) * width..][..width];
            let weight = share * rows;
            fine.extend(
                of_column
                    .iter()
                    .zip(&column_bin)
                    .map(|(q, &bin)| row[usize::from(bin)] * weight * q),
            );
        }
        fine
    }

    fn to_levels(
        &self,
        columns: [usize; 2],
        from: [usize; 2],
        to: [usize; 2],
        table: Vec<f64>,
    ) -> Vec<f64> {
        if from == to {
            return table;
        }
        let level = |i: usize| self.level(columns[i], to[i]);
        let down = |i: usize| self.level(columns[i], from[i]).down_to(level(i));
        coarsen(&table, (&down(0), level(0).bins), (&down(1), level(1).bins))
    }

    /// The tree, ready to give the table of any pair.
    pub(crate) fn passages(&self) -> Passages<'_> {
        Passages::new(&self.tree, &self.sizes)
    }
}

/// Multiplies each cell by the ratio of its bin, then restores the sums of rows and columns.
fn multiply(
    table: &mut [f64],
    width: usize,
    rows: &[u16],
    columns: &[u16],
    ratio_width: usize,
    ratio: &[f64],
) {
    let row_sums: Vec<f64> = table.chunks(width).map(|row| row.iter().sum()).collect();
    let column_sums = sums_of_columns(table, width);
    for (row, &bin) in table.chunks_mut(width).zip(rows) {
        let ratios = &ratio[usize::from(bin) * ratio_width..][..ratio_width];
        row.iter_mut().zip(columns).for_each(|(cell, &bin)| *cell *= ratios[usize::from(bin)]);
    }
    for _ in 0..SCALINGS {
        let now = sums_of_columns(table, width);
        let scale: Vec<f64> = column_sums
            .iter()
            .zip(&now)
            .map(|(was, now)| if *now > NOTHING { was / now } else { 1.0 })
            .collect();
        for (row, was) in table.chunks_mut(width).zip(&row_sums) {
            row.iter_mut().zip(&scale).for_each(|(cell, scale)| *cell *= scale);
            let now: f64 = row.iter().sum();
            if now > NOTHING {
                row.iter_mut().for_each(|cell| *cell *= was / now);
            }
        }
    }
}

fn sums_of_columns(table: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in table.chunks(width) {
        sums.iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell);
    }
    sums
}
