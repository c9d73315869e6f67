//! Optimal full-domain generalization with record suppression.
//!
//! Each quasi-identifier gets one level of its hierarchy for the whole table;
//! classes that fail a model are suppressed. Among all choices of levels that
//! suppress no more rows than allowed, [`optimal`] finds one with the least
//! score.
//!
//! | module | what it holds |
//! |---|---|
//! | `problem` | the question and the answer |
//! | `lattice` | the levels, packed into machine words |
//! | `pairs` | levels that two columns alone rule out |
//! | `group` | classes, from rows or from finer classes |
//! | `check` | whether a node is within the limit, and its score |
//! | `score` | metrics, and their lower bounds over a box of nodes |
//! | `boxes` | branch and bound |
//! | `climb` | a first good node in a large lattice |
//!
//! # What counts as suppressed
//! Rows of classes that fail a model, and rows whose every label is `*`. The
//! table a model compares with is the original one, these rows included.

mod boxes;
mod check;
mod climb;
mod group;
mod lattice;
mod pairs;
mod problem;
mod score;
#[cfg(test)]
mod tests;

pub use problem::{
    Answer, Labelled, Metric, NoSolution, Options, Outcome, Problem, Progress, Quasi, SUPPRESSED,
    Suppression,
};

use crate::class::{Class, Histogram};
use crate::error::{Error, Result};
use crate::partition::Stop;
use boxes::{Candidate, SearchResult};
use check::{Checker, Setting};
use group::{Combinations, Grouping};
use lattice::Lattice;
use std::sync::Arc;
use std::time::Instant;

/// Finds the levels with the least score, or says that there are none.
///
/// Stopped early (`time`, `cancel`) it returns the best found and the gap it
/// has proven. If several levels have the least score, those that suppress
/// fewer rows win, then those with the least sum, then the first.
pub fn optimal<'p>(problem: &'p Problem<'p>, options: &Options<'p>) -> Result<Answer> {
    let began = Instant::now();
    let mut setting = setting(problem)?;
    let until = options.time.and_then(|time| began.checked_add(time));
    setting.stop = Stop::at(options.cancel, until);
    match setting.lattice.words {
        0 | 1 => Ok(run::<1>(&setting, options, began)),
        2 => Ok(run::<2>(&setting, options, began)),
        3 | 4 => Ok(run::<4>(&setting, options, began)),
        5..=16 => Ok(run::<16>(&setting, options, began)),
        _ => Err(Error::OutOfRange {
            parameter: "the quasi-identifiers",
            allowed: "few enough to fit in 1,024 bits a row: name fewer in --qi, or take another \
                      --method",
        }),
    }
}

fn setting<'p>(problem: &'p Problem<'p>) -> Result<Setting<'p>> {
    let lattice = Lattice::new(problem)?;
    if problem.sensitive.iter().any(|&column| column >= problem.table.columns.len()) {
        return Err(Error::OutOfRange {
            parameter: "a sensitive column",
            allowed: "a column of the table",
        });
    }
    if problem
        .models
        .iter()
        .filter_map(|model| model.column())
        .any(|at| at >= problem.sensitive.len() + usize::from(problem.population.is_some()))
    {
        return Err(Error::OutOfRange {
            parameter: "the column of a model",
            allowed: "a sensitive column",
        });
    }
    if problem.population.is_some_and(|people| {
        let right = |codes: &Vec<u32>| codes.len() == people.rows;
        people.codes.len() != problem.quasi.len() || !people.codes.iter().all(right)
    }) {
        return Err(Error::OutOfRange {
            parameter: "the population",
            allowed: "a table with all quasi-identifiers",
        });
    }
    if matches!(problem.limit, Suppression::Share(share) if !(0.0..=1.0).contains(&share)) {
        return Err(Error::OutOfRange {
            parameter: "the share of suppressed rows",
            allowed: "from 0 to 1",
        });
    }
    let asks = problem.population.is_some()
        || problem.models.iter().any(|model| model.column().is_some() || model.needs_ancestors());
    let combinations = asks.then(|| Combinations::new(problem));
    let sensitive = problem.sensitive.iter().map(|&at| {
        let column = &problem.table.columns[at];
        let mut counts = vec![0; column.values.len()];
        for &code in &column.codes {
            counts[code as usize] += 1;
        }
        Histogram { counts }
    });
    let people = problem.population.map(|people| Histogram { counts: vec![people.rows as u64] });
    let sensitive = sensitive.chain(people);
    let least = problem.models.iter().map(|model| model.least_size()).max().unwrap_or(0).max(1);
    let limit = problem.limit.rows(lattice.rows);
    Ok(Setting {
        whole: Class { size: lattice.rows, sensitive: sensitive.collect() },
        lowest: lattice.lowest(least, limit),
        least,
        limit,
        combinations,
        lattice,
        problem,
        stop: Stop::default(),
    })
}

fn run<const W: usize>(setting: &Setting<'_>, options: &Options<'_>, began: Instant) -> Answer {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if options.threads == 0 { processors() } else { options.threads };
    let Setting { problem, lattice, combinations, .. } = setting;
    let (finest, assignment) =
        group::from_rows::<W>(problem, lattice, &setting.lowest, combinations.as_ref(), threads);
    let finest = Arc::new(finest);
    let found = boxes::search(setting, options, threads, &finest, began);
    match &found.best {
        Some(best) => Answer::Release(outcome(setting, best, &found, &finest, assignment)),
        None => Answer::NoSolution(nearest(setting, &found, &finest)),
    }
}

/// The classes of the node found, and which rows are in each: `assignment` has their classes at
/// the finest node.
fn outcome<const W: usize>(
    setting: &Setting<'_>,
    best: &Candidate,
    found: &SearchResult,
    finest: &Grouping<W>,
    mut assignment: Vec<u32>,
) -> Outcome {
    let Setting { problem, lattice, .. } = setting;
    let mut checker = Checker::new(setting);
    // Whatever the time: what was found is asked to the end.
    checker.stop = Stop::default();
    checker.check(finest, &best.node, false);
    let grouping = &checker.grouper;
    let groups =
        |key: &[u64; W]| lattice.axes.iter().map(|axis| axis.group(key) as u32).collect::<Vec<_>>();
    let mut stay: Vec<(Vec<u32>, usize)> = grouping
        .keys
        .iter()
        .enumerate()
        .filter(|&(class, _)| !checker.lost[class])
        .map(|(class, key)| (groups(key), class))
        .collect();
    stay.sort_unstable();
    let mut position = vec![SUPPRESSED; grouping.keys.len()];
    let mut classes: Vec<Labelled> = Vec::with_capacity(stay.len());
    let empty: Vec<Histogram> = setting
        .whole
        .sensitive
        .iter()
        .map(|whole| Histogram { counts: vec![0; whole.counts.len()] })
        .collect();
    for (groups, class) in stay {
        position[class] = classes.len() as u32;
        let class = Class { size: u64::from(grouping.sizes[class]), sensitive: empty.clone() };
        classes.push(Labelled { groups, class });
    }
    for id in &mut assignment {
        *id = position[grouping.ids[*id as usize] as usize];
    }
    if problem.population.is_some() {
        let stay = position.iter().filter(|&&at| at != SUPPRESSED);
        for (&at, mut counted) in stay.zip(checker.classes(finest)) {
            let sensitive = &mut classes[at as usize].class.sensitive;
            if let (Some(people), Some(last)) = (counted.sensitive.pop(), sensitive.last_mut()) {
                *last = people;
            }
        }
    }
    for (at, &column) in problem.sensitive.iter().enumerate() {
        for (&class, &code) in assignment.iter().zip(&problem.table.columns[column].codes) {
            if let Some(labelled) = classes.get_mut(class as usize) {
                labelled.class.sensitive[at].counts[code as usize] += 1;
            }
        }
    }
    let gap = (best.score - found.bound).max(0.0);
    Outcome {
        levels: best.node.iter().map(|&level| usize::from(level)).collect(),
        score: best.score,
        suppressed: best.suppressed,
        classes,
        proven: found.bound >= best.score,
        gap,
        checked: found.checked,
        assignment,
    }
}

/// How many rows the nearest node would suppress, all models asked.
fn nearest<const W: usize>(
    setting: &Setting<'_>,
    found: &SearchResult,
    finest: &Grouping<W>,
) -> NoSolution {
    let node = &found.nearest.1;
    let verdict = Checker::new(setting).check(finest, node, false);
    NoSolution {
        proven: found.bound == f64::INFINITY,
        levels: node.iter().map(|&level| usize::from(level)).collect(),
        suppressed: verdict.suppressed,
        limit: setting.limit,
        checked: found.checked,
    }
}
