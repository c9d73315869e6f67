//! Whether classes satisfy a model, and which comes nearest to not doing so.

use super::Release;
use super::served::{self, Served, Sets};
use crate::check;
use crate::class::Class;
use crate::error::Result;
use crate::model::{Measure, Model};

/// Which end of a model's measure is the bad one.
#[derive(Clone, Copy, PartialEq)]
pub enum Worse {
    /// Sizes, diversities.
    Small,
    /// Distances, gains.
    Large,
}

/// How a model's measure is read.
#[derive(Clone, Copy)]
pub struct Note {
    /// The bad end.
    pub worse: Worse,
    /// Whether it is a distance between distributions.
    pub distance: bool,
}

/// One model on one set of classes.
pub struct Verdict {
    /// Its name with its parameters.
    pub name: String,
    /// The sensitive column it is about, if any.
    pub column: Option<String>,
    /// Whether all classes satisfy it.
    pub holds: bool,
    /// How many classes do not.
    pub failing: usize,
    /// The class that comes nearest to breaking it, or breaks it most, and its measure.
    pub worst: Option<(usize, Measure)>,
    /// A measure for every class; empty unless asked for.
    pub measures: Vec<Option<Measure>>,
    /// The sets that serve the classes, where the model asks for them.
    pub sets: Sets,
    /// Whether it measures a distance between distributions.
    pub distance: bool,
    /// What whoever publishes must be told.
    pub warning: Option<&'static str>,
    /// Whether generalizing further never breaks it.
    pub monotone: bool,
}

/// The verdicts on a release. Nothing is taken over from the search: where a model asks for sets,
/// they are found again, named, and each measured.
pub fn all(
    models: &[Box<dyn Model>],
    notes: &[Note],
    release: &Release<'_>,
) -> Result<Vec<Verdict>> {
    let names = names(release);
    let ask = |(model, note): (&dyn Model, &Note)| -> Result<Verdict> {
        let (classes, whole) = (&release.classes, &release.whole);
        let sets = served::find(model, release)?;
        let own = |class: &Class| (model.holds(class, whole), model.measure(class, whole));
        let judged: Vec<(bool, Option<Measure>)> = match &sets {
            Sets::None => classes.iter().map(own).collect(),
            Sets::Each(each) => classes
                .iter()
                .zip(each)
                .map(|(class, served)| match served {
                    Some(served) => (true, Some(served.witness.measure)),
                    None => (false, own(class).1),
                })
                .collect(),
            Sets::All(Some((_, distances))) => {
                distances.iter().map(|(holds, measure)| (*holds, Some(*measure))).collect()
            }
            Sets::All(None) => classes.iter().map(|class| (false, own(class).1)).collect(),
        };
        let failing = judged.iter().filter(|(holds, _)| !holds).count();
        let measures = judged.into_iter().map(|(_, measure)| measure).collect();
        Ok(Verdict { sets, ..Verdict::new(model, note, &names, failing, measures) })
    };
    models.iter().map(AsRef::as_ref).zip(notes).map(ask).collect()
}

/// The measures of other classes of the same table, for pictures: nothing is said to hold. Models
/// that compare with sets of their own choice have none.
pub fn on(
    models: &[Box<dyn Model>],
    notes: &[Note],
    classes: &[Class],
    release: &Release<'_>,
) -> Vec<Verdict> {
    let names = names(release);
    let ask = |(model, note): (&dyn Model, &Note)| {
        let chosen = model.needs_ancestors() || !model.per_class();
        let measure = |class: &Class| match chosen {
            true => None,
            false => model.measure(class, &release.whole),
        };
        let measures = classes.iter().map(measure).collect();
        Verdict { holds: false, ..Verdict::new(model, note, &names, 0, measures) }
    };
    models.iter().map(AsRef::as_ref).zip(notes).map(ask).collect()
}

fn names(release: &Release<'_>) -> Vec<String> {
    release.sensitive.iter().map(|column| column.name.clone()).collect()
}

/// What whoever publishes must be told, each once.
pub fn warnings(verdicts: &[Verdict]) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for warning in verdicts.iter().filter_map(|verdict| verdict.warning) {
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

impl Verdict {
    /// What a check of a published table found out about its `at`-th model.
    pub fn checked(
        (model, note): (&dyn Model, &Note),
        at: usize,
        found: &check::Report,
        names: &[String],
    ) -> Option<Self> {
        let said = found.verdicts.get(at)?;
        let measure = |class: &check::Checked| class.measures.get(at).copied().flatten();
        let measures: Vec<Option<Measure>> = found.classes.iter().map(measure).collect();
        let failing = usize::try_from(said.failing).unwrap_or(usize::MAX);
        let verdict = Self::new(model, note, names, failing, measures);
        Some(Self { holds: said.holds, ..verdict })
    }

    fn new(
        model: &dyn Model,
        note: &Note,
        names: &[String],
        failing: usize,
        measures: Vec<Option<Measure>>,
    ) -> Self {
        Self {
            name: model.name(),
            column: model.column().and_then(|i| names.get(i).cloned()),
            holds: failing == 0,
            failing,
            worst: worst(&measures, note.worse),
            measures,
            sets: Sets::None,
            distance: note.distance,
            warning: model.warning(),
            monotone: model.monotone(),
        }
    }

    /// The set that serves a class, or all.
    pub fn set(&self, class: usize) -> Option<&Served> {
        match &self.sets {
            Sets::Each(each) => each.get(class)?.as_ref(),
            Sets::All(Some((served, _))) => Some(served),
            Sets::All(None) | Sets::None => None,
        }
    }
}

/// The class at the bad end.
fn worst(measures: &[Option<Measure>], worse: Worse) -> Option<(usize, Measure)> {
    let known = measures.iter().enumerate().filter_map(|(i, m)| m.map(|m| (i, m)));
    let order = |a: &(usize, Measure), b: &(usize, Measure)| a.1.to_f64().total_cmp(&b.1.to_f64());
    match worse {
        Worse::Small => known.min_by(order),
        Worse::Large => known.max_by(order),
    }
}
