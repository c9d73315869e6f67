//! Whether classes satisfy a model, and which comes nearest to not doing so.

use super::models::{Note, Promised, Worse};
use super::release::Release;
use crate::report::short;
use demure_anonymize::check;
use demure_anonymize::class::Class;
use demure_anonymize::model::{ArbitrarySubset, Measure, Model};
use serde_json::{Value, json};

/// One model on one set of classes.
pub(super) struct Verdict {
    /// Its name with its parameters.
    pub(super) name: String,
    /// The sensitive column it is about, if any.
    pub(super) column: Option<String>,
    /// Whether all classes satisfy it.
    pub(super) holds: bool,
    /// How many classes do not.
    pub(super) failing: usize,
    /// The class that comes nearest to breaking it, or breaks it most, and its measure.
    pub(super) worst: Option<(usize, Measure)>,
    /// A measure for every class; empty unless asked for.
    pub(super) measures: Vec<Option<Measure>>,
    /// For every class the set M that serves it, as counts of the sensitive column's values;
    /// empty where the model names none.
    pub(super) witnesses: Vec<Option<Vec<u64>>>,
    /// Whether it measures a distance between distributions.
    pub(super) distance: bool,
    /// What whoever publishes must be told.
    pub(super) warning: Option<&'static str>,
    /// Whether generalizing further never breaks it.
    pub(super) monotone: bool,
}

/// How much a model is asked.
#[derive(Clone, Copy, PartialEq)]
enum Ask {
    /// What the search did not know already: a model that looks at coarser releases was asked there.
    Searched,
    /// Its measures alone: nothing is said to hold.
    Measures,
}

/// The verdicts on a release.
pub(super) fn all(
    models: &[Box<dyn Model>],
    notes: &[Note],
    release: &Release<'_>,
) -> Vec<Verdict> {
    let names = names(release);
    let ask = |(model, note): (&dyn Model, &Note)| {
        Verdict::of(model, note, &release.classes, &release.whole, &names, Ask::Searched)
    };
    models.iter().map(AsRef::as_ref).zip(notes).map(ask).collect()
}

/// The measures of other classes of the same table.
pub(super) fn on(
    models: &[Box<dyn Model>],
    notes: &[Note],
    classes: &[Class],
    release: &Release<'_>,
) -> Vec<Verdict> {
    let names = names(release);
    let ask = |(model, note): (&dyn Model, &Note)| {
        Verdict::of(model, note, classes, &release.whole, &names, Ask::Measures)
    };
    models.iter().map(AsRef::as_ref).zip(notes).map(ask).collect()
}

fn names(release: &Release<'_>) -> Vec<String> {
    release.sensitive.iter().map(|column| column.name.clone()).collect()
}

/// What whoever publishes must be told, each once.
pub(super) fn warnings(verdicts: &[Verdict]) -> Vec<&'static str> {
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
    pub(super) fn checked(
        promised: &Promised,
        at: usize,
        found: &check::Report,
        names: &[String],
    ) -> Option<Self> {
        let (model, note) = (promised.models.get(at)?, promised.notes.get(at)?);
        let said = found.verdicts.get(at)?;
        let measure = |class: &check::Checked| class.measures.get(at).copied().flatten();
        let measures: Vec<Option<Measure>> = found.classes.iter().map(measure).collect();
        Some(Self {
            name: said.model.clone(),
            column: model.column().and_then(|i| names.get(i).cloned()),
            holds: said.holds,
            failing: usize::try_from(said.failing).unwrap_or(usize::MAX),
            worst: worst(&measures, note.worse),
            measures,
            witnesses: Vec::new(),
            distance: note.distance,
            warning: said.warning,
            monotone: model.monotone(),
        })
    }

    /// Asks the model.
    fn of(
        model: &dyn Model,
        note: &Note,
        classes: &[Class],
        whole: &Class,
        names: &[String],
        ask: Ask,
    ) -> Self {
        let failing = match ask {
            Ask::Measures => 0,
            Ask::Searched if model.needs_ancestors() => 0,
            _ => classes.iter().filter(|class| !model.holds(class, whole)).count(),
        };
        let holds = ask != Ask::Measures
            && failing == 0
            && (model.per_class() || model.holds_all(classes, whole));
        let measures: Vec<Option<Measure>> =
            classes.iter().map(|class| model.measure(class, whole)).collect();
        let witness = |subset: &ArbitrarySubset| -> Vec<Option<Vec<u64>>> {
            let counts = |class: &Class| subset.witness(class, whole).map(|found| found.counts);
            classes.iter().map(counts).collect()
        };
        let witnesses = match ask {
            Ask::Measures => Vec::new(),
            _ => note.subset.as_ref().map_or(Vec::new(), witness),
        };
        Self {
            name: model.name(),
            column: model.column().and_then(|i| names.get(i).cloned()),
            holds,
            failing,
            worst: worst(&measures, note.worse),
            measures,
            witnesses,
            distance: note.distance,
            warning: model.warning(),
            monotone: model.monotone(),
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "column": self.column,
            "holds": self.holds,
            "failing": self.failing,
            "worst": self.worst.map(|(_, m)| Some(m.to_f64()).filter(|x| x.is_finite())),
            "exact": self.worst.map(|(_, m)| m.to_string()),
        })
    }

    /// For people: `holds: 3-anonymity (worst 3)`.
    pub(super) fn line(&self) -> String {
        let about = self.column.as_ref().map_or(String::new(), |name| format!(" of {name}"));
        let worst =
            self.worst.map_or(String::new(), |(_, m)| format!(", worst class {}", shown(m)));
        match self.holds {
            true => format!("{}{about}: holds{worst}", self.name),
            false if self.failing == 0 => format!("{}{about}: does NOT hold", self.name),
            false => {
                format!("{}{about}: does NOT hold in {} classes{worst}", self.name, self.failing)
            }
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

/// A measure as a fraction and as a number: `5/9 = 0.555556`.
pub(super) fn shown(measure: Measure) -> String {
    let exact = measure.to_string();
    match measure {
        Measure::Exact(fraction) if fraction.denominator() == 1 => exact,
        Measure::Exact(_) | Measure::Root(_) => format!("{exact} = {}", short(measure.to_f64())),
        _ => exact,
    }
}
