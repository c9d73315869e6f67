//! The search for a release, by any method.

use super::{Choices, Columns, Mistake, Promised};
use crate::class::Class;
use crate::error::Result;
use crate::local::{Start, local_recoding};
use crate::mondrian::mondrian;
use crate::partition;
use crate::publish::verdict::{self, Verdict};
use crate::publish::{Levels, Release, whole};
use crate::recoding::{Attribute, Cell, Recoding, Scale};
use crate::search::{self, Answer, Metric, Options, Outcome, Problem, Suppression};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How many rows may be suppressed unless a job says otherwise: enough that a few outliers do not
/// make every row coarser.
pub const SUPPRESS: Suppression = Suppression::Share(0.05);

/// How to look for a release, and how to judge one.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// How many rows may be suppressed.
    pub suppress: Suppression,
    /// What the release should lose least of.
    pub metric: Metric,
    /// The kind of release.
    pub method: Method,
    /// Stop after so long with the best found.
    pub time: Option<Duration>,
    /// Threads; 0 means as many as the machine has.
    pub threads: usize,
}

impl Default for Search {
    /// The optimal levels by loss, with [`SUPPRESS`].
    fn default() -> Self {
        Self {
            suppress: SUPPRESS,
            metric: Metric::Loss,
            method: Method::Optimal,
            time: None,
            threads: 0,
        }
    }
}

/// The kind of release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// One level for each column, the best there is.
    Optimal,
    /// Boxes found by halving (Mondrian).
    Mondrian,
    /// Levels chosen class by class.
    Local,
}

impl Method {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("optimal", "One level for each column, the best there is", Self::Optimal),
        ("mondrian", "Boxes found by halving (Mondrian)", Self::Mondrian),
        ("local", "Levels chosen class by class", Self::Local),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, _, method)| *method == self).map_or("", |(name, _, _)| name)
    }
}

/// What a release may lose least of.
pub const METRICS: Choices<Metric> = &[
    ("loss", "Leaves under each cell, as in ARX", Metric::Loss),
    ("discernibility", "Σ size² + rows × suppressed", Metric::Discernibility),
    ("average", "Rows by classes", Metric::AverageClassSize),
    ("precision", "Levels by heights", Metric::Precision),
];

/// What a score by this metric is of.
#[must_use]
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Loss => "loss",
        Metric::Discernibility => "discernibility",
        Metric::AverageClassSize => "average class size",
        Metric::Precision => "1 − precision",
    }
}

/// Who watches a search, and may end it with the best found.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Ends it as soon as it is true.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then, from any thread.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl Watch<'_> {
    pub(super) fn say(&self, progress: Progress) {
        if let Some(say) = self.progress {
            say(progress);
        }
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// The search for levels.
    Levels(search::Progress),
    /// The cutting into classes.
    Classes(partition::Progress),
    /// A search of [`alternatives`](super::alternatives) begins: which, from 1, and of how many.
    Alternative(u64, u64),
}

/// What a search came back with.
pub enum SearchResult<'a> {
    /// A release that satisfies everything.
    Release(Box<CheckedRelease<'a>>),
    /// None does, or none was found in time.
    Nothing(Nearest),
    /// The release found does not satisfy the model of this name: a bug, and nothing to publish.
    Broken(String),
}

/// A release with what was promised of it.
pub struct CheckedRelease<'a> {
    /// The release.
    pub release: Release<'a>,
    /// One for each model, in their order; all hold.
    pub verdicts: Vec<Verdict>,
    promised: Promised,
}

impl CheckedRelease<'_> {
    /// What the models measure of the table's own classes, for pictures.
    #[must_use]
    pub fn verdicts_on(&self, before: &[Class]) -> Vec<Verdict> {
        verdict::on(&self.promised.models, &self.promised.notes, before, &self.release)
    }
}

/// The release that comes nearest, where none satisfies everything.
pub struct Nearest {
    /// The columns and their levels there; empty where levels differ by place.
    pub levels: Vec<(String, usize)>,
    /// How many rows would have to be suppressed.
    pub suppressed: u64,
    /// How many may be.
    pub limit: u64,
    /// How many rows there are.
    pub rows: u64,
    /// Whether it is proven that no release satisfies everything.
    pub proven: bool,
}

/// Looks for a release, and decides every model on it anew before it is given away.
pub fn release<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    mut promised: Promised,
    watch: Watch<'_>,
) -> Result<SearchResult<'a>> {
    let found = find(search, columns, attributes, &mut promised, watch)?;
    let release = match found {
        Ok(release) => release,
        Err(nearest) => return Ok(SearchResult::Nothing(nearest)),
    };
    let verdicts = verdict::all(&promised.models, &promised.notes, &release)?;
    // The search promised them; a release that breaks one must not leave this process.
    Ok(match verdicts.iter().find(|verdict| !verdict.holds) {
        Some(broken) => SearchResult::Broken(broken.name.clone()),
        None => SearchResult::Release(Box::new(CheckedRelease { release, verdicts, promised })),
    })
}

/// Looks for a release, and takes the search's word for it.
pub(super) fn find<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    promised: &mut Promised,
    watch: Watch<'_>,
) -> Result<std::result::Result<Release<'a>, Nearest>> {
    match search.method {
        Method::Optimal => optimal(search, columns, attributes, promised, watch),
        Method::Mondrian | Method::Local => {
            if columns.population.is_some() {
                return Err(Mistake::IdlePopulation.into());
            }
            if search.metric != Metric::Loss {
                return Err(Mistake::IdleMetric.into());
            }
            by_parts(search, columns, attributes, promised, watch)
        }
    }
}

fn optimal<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    promised: &mut Promised,
    watch: Watch<'_>,
) -> Result<std::result::Result<Release<'a>, Nearest>> {
    let rows = columns.table.rows as u64;
    let problem = Problem {
        table: columns.table,
        quasi: columns.quasi.clone(),
        sensitive: columns.sensitive.clone(),
        population: columns.population.as_ref(),
        models: std::mem::take(&mut promised.models),
        limit: search.suppress,
        metric: search.metric,
    };
    let say = |at: search::Progress| watch.say(Progress::Levels(at));
    let how = Options {
        threads: search.threads,
        time: search.time,
        cancel: watch.cancel,
        progress: Some(&say),
        ..Options::default()
    };
    let answer = search::optimal(&problem, &how);
    promised.models = problem.models;
    let nearest = |levels: Vec<usize>, suppressed, limit, proven| {
        let names = attributes.iter().map(|attribute| attribute.column.name.clone());
        Nearest { levels: names.zip(levels).collect(), suppressed, limit, rows, proven }
    };
    Ok(match answer? {
        // A table of `*` says nothing: it is no release.
        Answer::Release(outcome) if outcome.classes.is_empty() => {
            let limit = search.suppress.rows(rows);
            Err(nearest(outcome.levels, outcome.suppressed, limit, outcome.proven))
        }
        Answer::Release(outcome) => Ok(from_levels(search, columns, attributes, outcome)),
        Answer::NoSolution(none) => {
            Err(nearest(none.levels, none.suppressed, none.limit, none.proven))
        }
    })
}

fn from_levels<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    outcome: Outcome,
) -> Release<'a> {
    let mut recoding = Recoding { width: attributes.len(), ..Recoding::default() };
    let mut classes: Vec<Class> = Vec::with_capacity(outcome.classes.len());
    for labelled in outcome.classes {
        let cells = labelled.groups.iter().zip(&outcome.levels);
        recoding
            .cells
            .extend(cells.map(|(&group, &level)| Cell::Group { level: level as u32, group }));
        recoding.sizes.push(labelled.class.size);
        classes.push(labelled.class);
    }
    recoding.class_of = outcome.assignment;
    let heights = columns.quasi.iter().map(|quasi| quasi.hierarchy.height()).collect();
    let levels = Levels {
        chosen: outcome.levels,
        heights,
        proven: outcome.proven,
        gap: outcome.gap,
        checked: outcome.checked,
    };
    let mut found = assemble(search, columns, attributes, recoding, classes);
    found.score = Some((metric_name(search.metric), outcome.score));
    found.levels = Some(levels);
    found
}

/// Mondrian and local recoding: they fail only if the whole table, as one class, fails.
fn by_parts<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    promised: &Promised,
    watch: Watch<'_>,
) -> Result<std::result::Result<Release<'a>, Nearest>> {
    let sensitive = columns.sensitive();
    let rows = columns.table.rows as u64;
    let limit = search.suppress.rows(rows);
    let say = |at: partition::Progress| watch.say(Progress::Classes(at));
    let how = partition::Options {
        threads: search.threads,
        suppress: limit,
        time: search.time,
        cancel: watch.cancel,
        progress: Some(&say),
    };
    let parts = match search.method {
        Method::Local => {
            // Ranges have no levels to start from.
            let trees = attributes.iter().all(|a| matches!(a.scale, Scale::Tree(_)));
            let start = if trees { Start::Peeled } else { Start::Whole };
            local_recoding(attributes, &sensitive, &promised.models, start, &how)?
        }
        _ => mondrian(attributes, &sensitive, &promised.models, &how)?,
    };
    Ok(match parts {
        Some(parts) => {
            let classes = parts.recoding.classes(&sensitive);
            let mut found = assemble(search, columns, attributes, parts.recoding.clone(), classes);
            found.parts = Some(parts);
            Ok(found)
        }
        None => Err(Nearest { levels: Vec::new(), suppressed: rows, limit, rows, proven: true }),
    })
}

fn assemble<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    recoding: Recoding,
    classes: Vec<Class>,
) -> Release<'a> {
    let sensitive = columns.sensitive();
    Release {
        whole: whole(columns.table.rows, &sensitive, columns.population.as_ref()),
        table: columns.table,
        attributes,
        sensitive,
        recoding,
        classes,
        method: search.method.name(),
        population: columns.population.clone(),
        score: None,
        levels: None,
        parts: None,
    }
}
