//! The set M that (n,t)-closeness compares a class with.

use super::Release;
use super::verdict::Verdict;
use crate::class::Class;
use crate::error::Result;
use crate::model::{Measure, Model, ReferenceSet, Witness};
use crate::recoding::{Cell, Scale};
use crate::superset::{Natural, in_lattice, in_partition};

/// A set that serves a class.
pub struct Served {
    /// Which rows, and how far they are.
    pub witness: Witness,
    /// What the set is: its kind, for programs.
    pub kind: &'static str,
    /// Of a class of a coarser release, its levels.
    pub levels: Vec<usize>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Of a part that was cut further, how many cuts up.
    pub cuts: usize,
}

/// The sets that serve a release's classes, in the model's reading, or one that serves all.
pub enum Sets {
    /// The model asks for none.
    None,
    /// One a class.
    Each(Vec<Option<Served>>),
    /// One for all, and how far it is from each; nothing where there is none.
    All(Option<(Served, Vec<(bool, Measure)>)>),
}

impl Served {
    /// The values that the set has of the column that the verdict is about, with their rows.
    pub fn values<'a>(
        &'a self,
        release: &'a Release<'_>,
        verdict: &Verdict,
    ) -> impl Iterator<Item = (&'a str, u64)> {
        let column = release.sensitive.iter().find(|c| Some(&c.name) == verdict.column.as_ref());
        let values = column.map_or(&[][..], |column| column.values.as_slice());
        let named = values.iter().map(String::as_str).zip(self.witness.counts.iter().copied());
        named.filter(|(_, count)| *count > 0)
    }

    fn plain(witness: Witness) -> Self {
        let kind = match witness.set {
            ReferenceSet::Itself => "class",
            ReferenceSet::Ancestor(_) => "coarser class",
            ReferenceSet::Table => "table",
            ReferenceSet::Chosen => "chosen rows",
        };
        Self { witness, kind, levels: Vec::new(), labels: Vec::new(), cuts: 0 }
    }

    fn natural(natural: Natural, release: &Release<'_>, class: usize) -> Self {
        let labels = match natural.levels.is_empty() {
            true => Vec::new(),
            false => coarser(release, class, &natural.levels),
        };
        let Natural { witness, levels, cuts } = natural;
        let kind = if cuts > 0 { "earlier part" } else { Self::plain(witness.clone()).kind };
        Self { levels, labels, cuts, kind, ..Self::plain(witness) }
    }
}

/// Finds the sets that a model names.
pub fn find(model: &dyn Model, release: &Release<'_>) -> Result<Sets> {
    if model.needs_ancestors() {
        let found = match (&release.levels, &release.parts) {
            (Some(levels), _) => in_lattice(
                release.attributes,
                &release.sensitive,
                &levels.chosen,
                &release.recoding,
                model,
            )?,
            (None, Some(parts)) => in_partition(parts, &release.sensitive, model),
            (None, None) => release.classes.iter().map(|_| None).collect(),
        };
        let found = found.into_iter().enumerate();
        let served = found.map(|(class, natural)| {
            natural.map(|natural| Served::natural(natural, release, class))
        });
        return Ok(Sets::Each(served.collect()));
    }
    if !model.per_class() {
        let found = model.witness_all(&release.classes, &release.whole).map(|witness| {
            let from = |class: &Class| {
                let verified = model.verify(class, &witness.counts, &release.whole);
                verified.unwrap_or((false, Measure::Infinite))
            };
            let distances = release.classes.iter().map(from).collect();
            (Served::plain(witness), distances)
        });
        return Ok(Sets::All(found));
    }
    let one = |class: &Class| {
        let found = model.witness(class, &mut std::iter::empty(), &release.whole);
        found.map(Served::plain)
    };
    let found: Vec<Option<Served>> = release.classes.iter().map(one).collect();
    Ok(match found.iter().any(Option::is_some) {
        true => Sets::Each(found),
        false => Sets::None,
    })
}

/// The labels of a class at coarser levels.
fn coarser(release: &Release<'_>, class: usize, levels: &[usize]) -> Vec<String> {
    let cells = release.recoding.cells_of(class).iter();
    let each = cells.zip(release.attributes).zip(levels);
    each.map(|((cell, attribute), &to)| {
        let (Scale::Tree(tree), Cell::Group { level, group }) = (&attribute.scale, *cell) else {
            return attribute.label(*cell);
        };
        let (Some(from), Some(above)) = (tree.levels.get(level as usize), tree.levels.get(to))
        else {
            return attribute.label(*cell);
        };
        let code = from.group.iter().position(|other| *other == group);
        let group = code.and_then(|code| above.group.get(code));
        let label = group.and_then(|group| above.labels.get(*group as usize));
        label.cloned().unwrap_or_else(|| attribute.label(*cell))
    })
    .collect()
}
