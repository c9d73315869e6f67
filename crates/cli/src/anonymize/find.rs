//! The search for a release, by any method.

use super::columns::Columns;
use super::options::{Measure, Method, Search};
use super::watch::{self, interrupt};
use crate::Failure;
use demure_anonymize::class::Class;
use demure_anonymize::local::{Start, local_recoding};
use demure_anonymize::model::Model;
use demure_anonymize::mondrian::mondrian;
use demure_anonymize::partition;
use demure_anonymize::publish::{Levels, Release, whole};
use demure_anonymize::recoding::{Attribute, Cell, Recoding, Scale};
use demure_anonymize::search::{self, Answer, Options, Outcome, Problem};
use demure_report::progress::Progress;
use std::time::Duration;

/// What a search came back with.
pub(super) enum Found<'a> {
    /// A release that satisfies everything.
    Release(Box<Release<'a>>),
    /// None does, or none was found in time.
    Nothing(Nearest),
}

/// The release that comes nearest, where none satisfies everything.
pub(super) struct Nearest {
    /// The columns and their levels there; empty where levels differ by place.
    pub(super) levels: Vec<(String, usize)>,
    /// How many rows would have to be suppressed.
    pub(super) suppressed: u64,
    /// How many may be.
    pub(super) limit: u64,
    /// How many rows there are.
    pub(super) rows: u64,
    /// Whether it is certain that there is none.
    pub(super) proven: bool,
}

/// The models, as the searches take them.
pub(super) type Models = Vec<Box<dyn Model>>;

/// Looks for a release, and gives the models back.
pub(super) fn release<'a>(
    options: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    models: Models,
) -> Result<(Found<'a>, Models), Failure> {
    match options.method {
        Method::Optimal => optimal(options, columns, attributes, models),
        Method::Mondrian | Method::Local => {
            if columns.population.is_some() {
                return Err(Failure::usage(
                    "--population is for --method optimal: the other methods do not count it",
                ));
            }
            if options.metric != Measure::Loss {
                return Err(Failure::usage(
                    "--metric is for --method optimal: the other methods cut where they can",
                ));
            }
            let found = by_parts(options, columns, attributes, &models)?;
            Ok((found, models))
        }
    }
}

fn optimal<'a>(
    options: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    models: Models,
) -> Result<(Found<'a>, Models), Failure> {
    let problem = Problem {
        table: columns.table,
        quasi: columns.quasi.clone(),
        sensitive: columns.sensitive.clone(),
        population: columns.population.as_ref(),
        models,
        limit: options.suppress,
        metric: options.metric.into(),
    };
    let bar = Progress::before_data(watch::PARTS);
    let show = |at: search::Progress| watch::levels(&bar, &at);
    let flag = interrupt();
    let how = Options {
        threads: threads(options),
        time: options.time.map(Duration::from_secs_f64),
        cancel: flag.as_deref(),
        progress: Some(&show),
        ..Options::default()
    };
    let answer = search::optimal(&problem, &how)?;
    drop(bar);
    let names = || attributes.iter().map(|attribute| attribute.column.name.clone());
    let found = match answer {
        // A table of `*` says nothing: it is no release.
        Answer::Release(outcome) if outcome.classes.is_empty() => Found::Nothing(Nearest {
            levels: names().zip(outcome.levels).collect(),
            suppressed: outcome.suppressed,
            limit: options.suppress.rows(columns.table.rows as u64),
            rows: columns.table.rows as u64,
            proven: outcome.proven,
        }),
        Answer::Release(outcome) => {
            Found::Release(Box::new(from_levels(options, columns, attributes, outcome)))
        }
        Answer::NoSolution(nearest) => Found::Nothing(Nearest {
            levels: names().zip(nearest.levels).collect(),
            suppressed: nearest.suppressed,
            limit: nearest.limit,
            rows: columns.table.rows as u64,
            proven: nearest.proven,
        }),
    };
    Ok((found, problem.models))
}

fn from_levels<'a>(
    options: &Search,
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
    let mut found = assemble(options, columns, attributes, recoding, classes);
    found.score = Some((name(options.metric), outcome.score));
    found.levels = Some(levels);
    found
}

/// Mondrian and local recoding: they fail only if the whole table, as one class, fails.
fn by_parts<'a>(
    options: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    models: &Models,
) -> Result<Found<'a>, Failure> {
    let sensitive = columns.sensitive();
    let rows = columns.table.rows as u64;
    let bar = Progress::before_data(watch::PARTS);
    let show = |at: partition::Progress| watch::classes(&bar, &at);
    let flag = interrupt();
    let how = partition::Options {
        threads: threads(options),
        suppress: options.suppress.rows(rows),
        time: options.time.map(Duration::from_secs_f64),
        cancel: flag.as_deref(),
        progress: Some(&show),
    };
    let parts = match options.method {
        Method::Local => {
            // Ranges have no levels to start from.
            let trees = attributes.iter().all(|a| matches!(a.scale, Scale::Tree(_)));
            let start = if trees { Start::Peeled } else { Start::Whole };
            local_recoding(attributes, &sensitive, models, start, &how)?
        }
        _ => mondrian(attributes, &sensitive, models, &how)?,
    };
    drop(bar);
    Ok(match parts {
        Some(parts) => {
            let classes = parts.recoding.classes(&sensitive);
            let mut found = assemble(options, columns, attributes, parts.recoding.clone(), classes);
            found.parts = Some(parts);
            Found::Release(Box::new(found))
        }
        None => Found::Nothing(Nearest {
            levels: Vec::new(),
            suppressed: rows,
            limit: options.suppress.rows(rows),
            rows,
            proven: true,
        }),
    })
}

fn assemble<'a>(
    options: &Search,
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
        method: match options.method {
            Method::Optimal => "optimal",
            Method::Mondrian => "mondrian",
            Method::Local => "local",
        },
        population: columns.population.clone(),
        score: None,
        levels: None,
        parts: None,
    }
}

fn threads(options: &Search) -> usize {
    options.threads.map_or(0, |threads| threads as usize)
}

/// What `--metric` says.
pub(super) fn name(metric: Measure) -> &'static str {
    match metric {
        Measure::Loss => "loss",
        Measure::Discernibility => "discernibility",
        Measure::Average => "average class size",
        Measure::Precision => "1 − precision",
    }
}
