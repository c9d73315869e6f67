//! What a little more or less of k, or of suppression, would give: numbers to choose by, not releases.

use super::find::find;
use super::{Columns, Progress, Promise, SUPPRESS, Search, Source, Watch};
use crate::error::Result;
use crate::publish::Release;
use crate::publish::change::changes;
use crate::recoding::Attribute;
use crate::search::Suppression;
use crate::utility::loss_as_arx;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// A job whose release was found.
#[derive(Clone, Copy)]
pub struct Job<'j, 'a> {
    /// The tables and columns by name.
    pub source: &'j Source,
    /// What is promised.
    pub promise: &'j Promise,
    /// How it was looked for.
    pub search: &'j Search,
    /// The columns.
    pub columns: &'j Columns<'a>,
    /// The quasi-identifiers.
    pub attributes: &'a [Attribute<'a>],
}

/// What would be asked instead, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The option that differs, as it is typed: `--k 10`.
    pub option: String,
    /// What k would be, or k-map's; nothing where neither is promised.
    pub k: Option<u32>,
    /// How many rows might be suppressed.
    pub limit: u64,
    /// What came of it.
    pub answer: Answer,
}

/// What came of an alternative.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// There is a release.
    Release(Gain),
    /// There is none.
    None,
    /// None was found in the time there was.
    Unknown,
}

/// What a release keeps and loses.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// How many rows are suppressed.
    pub suppressed: u64,
    /// How many classes there are.
    pub classes: usize,
    /// How much is lost, as [`loss_as_arx`] has it: 0 nothing, 1 all.
    pub loss: f64,
    /// The columns of which nothing is left in any row.
    pub stars: Vec<String>,
    /// Whether the search came to its end; if not, there may be a release that loses less.
    pub complete: bool,
}

/// What a release keeps and loses.
#[must_use]
pub fn gain(release: &Release<'_>) -> Gain {
    let stopped = release.parts.as_ref().is_some_and(|parts| parts.stopped);
    let open = release.levels.as_ref().is_some_and(|levels| !levels.proven);
    let changes = changes(release);
    let stars = changes.iter().filter(|change| change.is_star());
    Gain {
        suppressed: release.suppressed(),
        classes: release.classes.len(),
        loss: loss_as_arx(release.attributes, &release.recoding),
        stars: stars.map(|change| change.column.to_owned()).collect(),
        complete: !stopped && !open,
    }
}

/// Two or three other choices near a job's. All together they take about `time`: each search is
/// stopped with the best it has, and those that do not come to begin are [`Answer::Unknown`].
/// Whoever cancels gets them so, too.
pub fn alternatives(
    job: Job<'_, '_>,
    time: Duration,
    watch: Watch<'_>,
) -> Result<Vec<Alternative>> {
    let until = Instant::now().checked_add(time);
    let wishes = wishes(job.promise, job.search, job.columns);
    let number = wishes.len();
    let mut found = Vec::with_capacity(number);
    for (at, wish) in wishes.into_iter().enumerate() {
        watch.say(Progress::Alternative(at as u64 + 1, number as u64));
        let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
        let cancelled = watch.cancel.is_some_and(|cancel| cancel.load(Relaxed));
        let answer = match cancelled || left.is_zero() {
            true => Answer::Unknown,
            // Those that follow have their share of what is left.
            false => wish.look(job, left / (number - at) as u32, watch)?,
        };
        let limit = wish.search.suppress.rows(job.columns.table.rows as u64);
        let k = wish.promise.k.or(wish.promise.k_map);
        found.push(Alternative { option: wish.option, k, limit, answer });
    }
    Ok(found)
}

/// An alternative to be looked for.
struct Wish {
    option: String,
    promise: Promise,
    search: Search,
}

impl Wish {
    fn look(&self, job: Job<'_, '_>, time: Duration, watch: Watch<'_>) -> Result<Answer> {
        let mut promised = self.promise.models(job.source, job.columns)?;
        let search = Search { time: Some(time), ..self.search };
        Ok(match find(&search, job.columns, job.attributes, &mut promised, watch)? {
            Ok(release) => Answer::Release(gain(&release)),
            Err(nearest) if nearest.proven => Answer::None,
            Err(_) => Answer::Unknown,
        })
    }
}

/// One choice of suppression, and of k one that promises more and one that promises less. Where no
/// k is promised, two of suppression.
fn wishes(promise: &Promise, search: &Search, columns: &Columns<'_>) -> Vec<Wish> {
    let rows = columns.table.rows as u64;
    let limit = search.suppress.rows(rows);
    let suppressing = |suppress: Suppression| Wish {
        option: format!("--suppress {suppress}"),
        promise: promise.clone(),
        search: Search { suppress, ..*search },
    };
    // Of a share that is less than one row nothing would be seen.
    let some = |times: u64| match SUPPRESS {
        Suppression::Share(share) if SUPPRESS.rows(rows) > 0 => {
            Suppression::Share(times as f64 * share)
        }
        _ => Suppression::Count(times),
    };
    let less_or_more = if limit > 0 { Suppression::Count(0) } else { some(1) };
    let mut wishes = vec![suppressing(less_or_more)];
    let most = columns.population.as_ref().map_or(rows, |people| people.rows as u64);
    let (option, k, most) = match (promise.k, promise.k_map) {
        (Some(k), _) => ("--k", k, rows),
        (None, Some(k)) => ("--k-map", k, most),
        (None, None) => {
            let more = some(2);
            if more.rows(rows) > limit && more.rows(rows) < rows {
                wishes.push(suppressing(more));
            }
            return wishes;
        }
    };
    let with = |k: u32| {
        let promise = match option {
            "--k" => Promise { k: Some(k), ..promise.clone() },
            _ => Promise { k_map: Some(k), ..promise.clone() },
        };
        Wish { option: format!("{option} {k}"), promise, search: *search }
    };
    let more = k.saturating_mul(2);
    if u64::from(more) <= most {
        wishes.push(with(more));
    }
    let less = k.div_ceil(2).max(2);
    if less < k {
        wishes.push(with(less));
    }
    wishes
}
