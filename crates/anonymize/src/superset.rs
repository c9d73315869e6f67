//! The natural supersets of a release's classes: which serve (n,t)-closeness, and how well.
//!
//! Of a full-domain release they are the classes of coarser releases, in the lattice; of
//! a partition the parts that a class was cut from. Both contain rows that are suppressed: what an
//! observer takes for a crowd does not depend on what is published of it.

use crate::class::Class;
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::model::{Model, ReferenceSet, Witness};
use crate::partition::Partition;
use crate::recoding::{Attribute, Cell, Recoding, Scale};
use crate::table::Column;
use std::collections::HashMap;

/// After so many cells of coarser releases, the first superset that serves is taken.
const PATIENCE: u64 = 20_000_000;

/// A natural superset that serves a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Natural {
    /// The set, and how far it is.
    pub witness: Witness,
    /// Of a class of a coarser release, the level of each attribute; else empty.
    pub levels: Vec<usize>,
    /// Of a part that was cut further, how many cuts up it is; else 0.
    pub cuts: usize,
}

impl Natural {
    fn plain(witness: Witness) -> Self {
        Self { witness, levels: Vec::new(), cuts: 0 }
    }
}

/// For every class of a full-domain release the nearest superset that serves it, if one does.
/// In very large lattices, one that is near.
///
/// `levels` are those of the release, which may have classes suppressed.
pub fn in_lattice(
    attributes: &[Attribute<'_>],
    sensitive: &[&Column],
    levels: &[usize],
    release: &Recoding,
    model: &dyn Model,
) -> Result<Vec<Option<Natural>>> {
    let trees: Option<Vec<&Hierarchy>> = (attributes.iter())
        .map(|attribute| match &attribute.scale {
            Scale::Tree(tree) => Some(*tree),
            Scale::Ordered { .. } => None,
        })
        .collect();
    let trees = trees
        .ok_or(Error::OutOfRange { parameter: "the columns", allowed: "given hierarchies" })?;
    // All rows at the release's levels, those that are suppressed too.
    let base = Recoding::full_domain(attributes, levels)?;
    let parts = base.classes(sensitive);
    let table = sum(parts.iter());
    let position: HashMap<&[Cell], usize> =
        (0..parts.len()).map(|class| (base.cells_of(class), class)).collect();
    let own: Vec<Option<usize>> = (0..release.sizes.len())
        .map(|class| position.get(release.cells_of(class)).copied())
        .collect();
    let mut found: Vec<Option<Natural>> = own
        .iter()
        .map(|at| {
            let class = &parts[(*at)?];
            model.witness(class, &mut std::iter::empty(), &table).map(Natural::plain)
        })
        .collect();
    let mut spent = 0;
    let mut above = levels.to_vec();
    while next_above(&mut above, levels, &trees) {
        // A class that is its own superset, at distance 0, has nothing to gain.
        let done = |natural: &Option<Natural>| {
            let near = natural.as_ref().map(|natural| natural.witness.measure.to_f64());
            near.is_some_and(|near| near <= 0.0 || spent > PATIENCE)
        };
        if found.iter().zip(&own).all(|(natural, at)| at.is_none() || done(natural)) {
            break;
        }
        spent += parts.len() as u64 * levels.len() as u64;
        let (of, coarse) = coarsen(&base, &parts, levels, &above, &trees);
        for (natural, at) in found.iter_mut().zip(&own) {
            let Some(at) = *at else { continue };
            let ancestor = &coarse[of[at]];
            let witness = model.witness(&parts[at], &mut std::iter::once(ancestor), &table);
            let Some(witness) = witness.filter(|w| w.set == ReferenceSet::Ancestor(0)) else {
                continue;
            };
            let near = natural.as_ref().map_or(f64::INFINITY, |n| n.witness.measure.to_f64());
            if witness.measure.to_f64() < near || natural.is_none() {
                *natural = Some(Natural { witness, levels: above.clone(), cuts: 0 });
            }
        }
    }
    Ok(found)
}

/// For each class its class at coarser levels, and those.
fn coarsen(
    base: &Recoding,
    parts: &[Class],
    levels: &[usize],
    above: &[usize],
    trees: &[&Hierarchy],
) -> (Vec<usize>, Vec<Class>) {
    let maps: Vec<Vec<u32>> = trees
        .iter()
        .zip(levels.iter().zip(above))
        .map(|(tree, (&from, &to))| {
            let mut map = vec![0; tree.levels[from].labels.len()];
            for (&below, &coarse) in tree.levels[from].group.iter().zip(&tree.levels[to].group) {
                map[below as usize] = coarse;
            }
            map
        })
        .collect();
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut coarse: Vec<Class> = Vec::new();
    let mut of = Vec::with_capacity(parts.len());
    for (class, part) in parts.iter().enumerate() {
        let key = base.cells_of(class).iter().zip(&maps).map(|(cell, map)| match *cell {
            Cell::Group { group, .. } => map[group as usize],
            Cell::Range { low, .. } => low,
        });
        let at = *known.entry(key.collect()).or_insert_with(|| {
            coarse.push(Class { size: 0, sensitive: Vec::new() });
            coarse.len() - 1
        });
        add(&mut coarse[at], part);
        of.push(at);
    }
    (of, coarse)
}

/// Counts through the nodes above `levels`, themselves excluded.
fn next_above(above: &mut [usize], levels: &[usize], trees: &[&Hierarchy]) -> bool {
    for ((level, &lowest), tree) in above.iter_mut().zip(levels).zip(trees) {
        if *level < tree.height() {
            *level += 1;
            return true;
        }
        *level = lowest;
    }
    false
}

/// For every class of a partition the nearest part that it was cut from and that serves it, the
/// class itself and the whole table among them.
#[must_use]
pub fn in_partition(
    partition: &Partition,
    sensitive: &[&Column],
    model: &dyn Model,
) -> Vec<Option<Natural>> {
    let mut nodes: Vec<Class> =
        partition.nodes.iter().map(|_| Class { size: 0, sensitive: Vec::new() }).collect();
    // Every node before its own parts: from the last to the first, each adds to its parent.
    let mut inner = vec![false; nodes.len()];
    for node in &partition.nodes {
        if let Some(parent) = node.parent {
            inner[parent as usize] = true;
        }
    }
    for at in (0..nodes.len()).rev() {
        if !inner[at] {
            nodes[at] = partition.class(&partition.nodes[at], sensitive);
        }
        if let Some(parent) = partition.nodes[at].parent {
            let (up, down) = nodes.split_at_mut(at);
            add(&mut up[parent as usize], &down[0]);
        }
    }
    let Some(table) = nodes.first() else { return Vec::new() };
    let one = |&leaf: &u32| {
        let parent = |at: usize| partition.nodes[at].parent.map(|up| up as usize);
        let up = std::iter::successors(parent(leaf as usize), |&at| parent(at));
        let mut up = up.map(|at| &nodes[at]);
        let witness = model.witness(&nodes[leaf as usize], &mut up, table)?;
        let cuts = match witness.set {
            ReferenceSet::Ancestor(at) => at + 1,
            _ => 0,
        };
        Some(Natural { cuts, ..Natural::plain(witness) })
    };
    partition.leaf.iter().map(one).collect()
}

fn sum<'a>(classes: impl Iterator<Item = &'a Class>) -> Class {
    let mut all = Class { size: 0, sensitive: Vec::new() };
    classes.for_each(|class| add(&mut all, class));
    all
}

/// Adds a class's rows to another, which may have none yet.
fn add(to: &mut Class, class: &Class) {
    to.size += class.size;
    if to.sensitive.is_empty() {
        to.sensitive.clone_from(&class.sensitive);
        return;
    }
    for (to, from) in to.sensitive.iter_mut().zip(&class.sensitive) {
        for (to, from) in to.counts.iter_mut().zip(&from.counts) {
            *to += from;
        }
    }
}
