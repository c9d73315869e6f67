//! The sets M that a release comes with: written as JSON, read again, and verified against the tables.

use super::{Hierarchies, Mistake, Promised};
use crate::check::{Checked, Claim, Report};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::model::Model;
use crate::publish::Release;
use crate::publish::served::{Served, Sets};
use crate::publish::verdict::Verdict;
use crate::recoding::{Attribute, Recoding};
use crate::table::{Column, Table};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;

/// More classes than this are not listed.
const LISTED: usize = 10_000;

/// Every class with its labels, its size, what each model measures of it, exactly, and the set
/// that serves it where a model asks for one.
#[must_use]
pub fn classes_json(release: &Release<'_>, verdicts: &[Verdict]) -> Value {
    let class = |at: usize, size: u64| {
        let measure = |verdict: &Verdict| {
            let measure = verdict.measures.get(at).copied().flatten();
            measure.map_or(Value::Null, |measure| measure.to_string().into())
        };
        let mut object = json!({
            "labels": release.labels(at),
            "size": size,
            "measures": verdicts.iter().map(measure).collect::<Vec<_>>(),
        });
        let set = |verdict: &Verdict| match (&verdict.sets, verdict.set(at)) {
            (Sets::Each(_), Some(served)) => set_json(served, release, verdict),
            _ => Value::Null,
        };
        if verdicts.iter().any(|verdict| matches!(verdict.sets, Sets::Each(_)))
            && let Some(object) = object.as_object_mut()
        {
            let sets = verdicts.iter().map(set).collect::<Vec<_>>();
            object.insert("witnesses".to_owned(), sets.into());
        }
        object
    };
    let sizes = release.classes.iter().enumerate().take(LISTED);
    sizes.map(|(at, found)| class(at, found.size)).collect()
}

/// For each verdict the set that serves all classes, or null; `None` if no model asks for one.
#[must_use]
pub fn shared_json(release: &Release<'_>, verdicts: &[Verdict]) -> Option<Value> {
    let set = |verdict: &Verdict| match &verdict.sets {
        Sets::All(Some((served, _))) => set_json(served, release, verdict),
        _ => Value::Null,
    };
    let shared: Vec<Value> = verdicts.iter().map(set).collect();
    (!shared.iter().all(Value::is_null)).then_some(shared.into())
}

fn set_json(served: &Served, release: &Release<'_>, verdict: &Verdict) -> Value {
    let named = served.values(release, verdict);
    let counts: Map<String, Value> =
        named.map(|(value, count)| (value.to_owned(), count.into())).collect();
    let mut object = json!({
        "set": served.kind,
        "rows": served.witness.rows(),
        "distance": served.witness.measure.to_string(),
        "counts": counts,
    });
    if let Some(object) = object.as_object_mut() {
        if !served.levels.is_empty() {
            let names = release.attributes.iter().map(|attribute| attribute.column.name.clone());
            let levels = names.zip(served.levels.iter().map(|level| Value::from(*level)));
            object.insert("levels".into(), Value::Object(levels.collect()));
            object.insert("labels".into(), served.labels.clone().into());
        }
        if served.cuts > 0 {
            object.insert("cuts".into(), served.cuts.into());
        }
    }
    object
}

/// What a release's JSON says of the sets that serve its classes.
pub(super) struct Witnesses {
    path: String,
    answer: Value,
}

impl Witnesses {
    /// Reads the file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::File { what: format!("reading {shown}"), source })?;
        match serde_json::from_str(&text) {
            Ok(answer) => Ok(Self { path: shown, answer }),
            Err(error) => Err(Mistake::NotJson { path: shown, line: error.line() }.into()),
        }
    }

    /// Decides the models that ask for sets by those named here, and by nothing else.
    pub(super) fn decide(
        &self,
        promised: &Promised,
        claim: &Claim<'_>,
        typed: &[String],
        report: &mut Report,
    ) -> Result<()> {
        let original = match claim.original {
            Some(table) => Some(Original::new(table, claim, typed)?),
            None => None,
        };
        let labels: Vec<Vec<&str>> = (0..report.classes.len())
            .map(|class| report.labels(claim, class))
            .collect::<Result<_>>()?;
        let each = self.answer["each"].as_array().map_or(&[][..], Vec::as_slice);
        let by_labels: HashMap<Vec<&str>, &Value> =
            each.iter().map(|class| (texts(&class["labels"]), &class["witnesses"])).collect();
        for (at, model) in promised.models.iter().enumerate() {
            let Some(column) = model.column() else { continue };
            let Some(name) = claim.sensitive.get(column) else { continue };
            let reference = claim.original.unwrap_or(claim.published);
            let values = &reference.columns[reference.position(name)?].values;
            if model.verify(&report.table, &[], &report.table).is_none() {
                continue;
            }
            let place = self.place(model.as_ref())?;
            let table = report.table.clone();
            for (class, labels) in report.classes.iter_mut().zip(&labels) {
                let said = match model.per_class() {
                    true => by_labels.get(labels).map(|all| &all[place]),
                    false => Some(&self.answer["shared"][place]),
                };
                let said = said
                    .filter(|said| said.is_object())
                    .ok_or_else(|| Mistake::NoSet { path: self.path.clone() })?;
                let counts = counts(said, values);
                let verified = model.verify(&class.class, &counts, &table);
                let Some((serves, measure)) = verified else { continue };
                let natural = !model.needs_ancestors()
                    || self.natural(said, column, labels, &counts, class, &table, &original)?;
                if let (Some(holds), Some(known)) =
                    (class.holds.get_mut(at), class.measures.get_mut(at))
                {
                    *holds = serves && natural;
                    *known = Some(measure);
                }
            }
            let fails = |class: &Checked| class.holds.get(at) != Some(&true);
            if let Some(verdict) = report.verdicts.get_mut(at) {
                verdict.failing = report.classes.iter().filter(|class| fails(class)).count() as u64;
                verdict.first_failing = report.classes.iter().position(fails);
                verdict.holds = verdict.failing == 0;
            }
        }
        Ok(())
    }

    /// Where the answer has the model.
    fn place(&self, model: &dyn Model) -> Result<usize> {
        let models = self.answer["models"].as_array().map_or(&[][..], Vec::as_slice);
        let name = model.name();
        let place = models.iter().position(|said| said["name"] == name.as_str());
        Ok(place.ok_or_else(|| Mistake::NoModel { path: self.path.clone(), model: name })?)
    }

    /// Whether a set is what it is said to be: the class itself, the whole table, or a class of a
    /// coarser release of the original that contains it.
    #[expect(clippy::too_many_arguments, reason = "one claim, and all it is checked against")]
    fn natural(
        &self,
        said: &Value,
        column: usize,
        labels: &[&str],
        counts: &[u64],
        class: &Checked,
        table: &Class,
        original: &Option<Original<'_>>,
    ) -> Result<bool> {
        let same = |class: &Class| class.sensitive.get(column).is_some_and(|h| h.counts == counts);
        match (said["set"].as_str(), original) {
            (Some("class"), _) => Ok(same(&class.class)),
            (Some("table"), _) => Ok(same(table)),
            (Some("coarser class"), Some(original)) => original.contains(said, labels, &same),
            (Some("coarser class"), None) => Err(Mistake::NoOriginal.into()),
            _ => Err(Mistake::EarlierCut.into()),
        }
    }
}

/// The table a release was made from, and how its columns became coarser.
struct Original<'a> {
    columns: Vec<&'a Column>,
    hierarchies: Vec<Hierarchy>,
    sensitive: Vec<&'a Column>,
}

impl<'a> Original<'a> {
    fn new(table: &'a Table, claim: &Claim<'_>, typed: &[String]) -> Result<Self> {
        let find = |names: &[&str]| -> Result<Vec<&'a Column>> {
            names.iter().map(|name| Ok(&table.columns[table.position(name)?])).collect()
        };
        let columns = find(claim.quasi)?;
        let given = Hierarchies::new(typed, table)?;
        let one = |column: &&Column| -> Result<Hierarchy> {
            Ok(given.given(column)?.unwrap_or_else(|| Hierarchy::suppress(column)))
        };
        let hierarchies = columns.iter().map(one).collect::<Result<_>>()?;
        Ok(Self { columns, hierarchies, sensitive: find(claim.sensitive)? })
    }

    /// Whether the class of the original with these coarser labels is the set, and contains rows
    /// that were published with the labels given.
    fn contains(
        &self,
        said: &Value,
        labels: &[&str],
        same: &dyn Fn(&Class) -> bool,
    ) -> Result<bool> {
        let level = |column: &&Column| said["levels"][&column.name].as_u64();
        let levels: Option<Vec<usize>> = (self.columns.iter())
            .map(|column| level(column).and_then(|level| usize::try_from(level).ok()))
            .collect();
        let Some(levels) = levels else { return Ok(false) };
        let attributes: Vec<Attribute<'_>> = (self.columns.iter().zip(&self.hierarchies))
            .map(|(column, hierarchy)| Attribute::hierarchy(column, hierarchy))
            .collect::<Result<_>>()?;
        let Ok(coarse) = Recoding::full_domain(&attributes, &levels) else { return Ok(false) };
        let wanted = texts(&said["labels"]);
        let found = (0..coarse.sizes.len()).find(|class| {
            let cells = coarse.cells_of(*class).iter().zip(&attributes);
            cells.map(|(cell, attribute)| attribute.label(*cell)).eq(wanted.iter().copied())
        });
        let Some(found) = found else { return Ok(false) };
        let is_set = coarse.classes(&self.sensitive).get(found).is_some_and(same);
        // A row of the set that has the published labels, each on a level at most as coarse.
        let carries = |row: usize| {
            let each = self.columns.iter().zip(&self.hierarchies).zip(levels.iter().zip(labels));
            each.into_iter().all(|((column, tree), (&top, label))| {
                let below = tree.levels.iter().take(top + 1);
                below.into_iter().any(|level| {
                    let group = column.codes.get(row).and_then(|c| level.group.get(*c as usize));
                    let text = group.and_then(|group| level.labels.get(*group as usize));
                    text.is_some_and(|text| text == label)
                })
            })
        };
        let rows =
            coarse.class_of.iter().enumerate().filter(|(_, class)| **class as usize == found);
        Ok(is_set && rows.map(|(row, _)| row).any(carries))
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_str).collect()
}

/// How many rows of each value a set is said to have; a value that the table does not have, or
/// a count that is none, makes it no set.
fn counts(said: &Value, values: &[String]) -> Vec<u64> {
    let Some(named) = said["counts"].as_object() else { return Vec::new() };
    let known = |name: &String| values.iter().any(|value| value == name);
    if !named.keys().all(known) || !named.values().all(Value::is_u64) {
        return Vec::new();
    }
    values.iter().map(|value| named.get(value).and_then(Value::as_u64).unwrap_or(0)).collect()
}
