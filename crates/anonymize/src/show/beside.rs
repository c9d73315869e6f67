//! What stands beside a release: what became of each column, sample rows, and alternatives.

use super::SAMPLES;
use super::release::Limit;
use crate::hierarchy::STAR;
use crate::job::{Alternative, Answer, Gain, gain};
use crate::publish::Release;
use crate::publish::change::{Change, changes};
use crate::publish::samples::{Sample, samples};
use crate::table::Column;
use demure_report::{
    Records, Report, Table, WriteError, grouped, named, percent, printable, short,
};
use serde_json::{Value, json};
use std::io::Write;

/// A release, with sample rows and alternatives.
pub struct Beside<'r, 'a> {
    release: &'r Release<'a>,
    /// The columns of sample rows: quasi-identifiers first.
    shown: Vec<usize>,
    names: Vec<&'a str>,
    /// The release and its alternatives; nothing where those were not looked for.
    alternatives: Option<(Table, Vec<Value>)>,
}

impl<'r, 'a> Beside<'r, 'a> {
    /// A release of these columns and its alternatives. `k` is the k that was asked for.
    #[must_use]
    pub fn new(
        release: &'r Release<'a>,
        shown: &[usize],
        limit: Limit,
        k: Option<u32>,
        others: Vec<Alternative>,
    ) -> Self {
        let name = |at: &usize| release.table.columns.get(*at).map_or("", |c| c.name.as_str());
        let known = |at: &usize| release.attributes.iter().any(|a| a.column.name == name(at));
        let mut shown = shown.to_vec();
        shown.sort_by_key(|at| !known(at));
        let names = shown.iter().map(name).collect();
        let alternatives = (!others.is_empty()).then(|| {
            let own = gain(release);
            // A search that was stopped, though less was asked of it, may have lost more than
            // this release, which serves as well.
            let idle = |other: &Alternative| match &other.answer {
                Answer::Release(gain) => {
                    let less = other.k < k || other.limit > limit.rows;
                    less && !gain.complete && gain.loss > own.loss
                }
                Answer::None | Answer::Unknown => false,
            };
            let others = others.into_iter().map(|other| match idle(&other) {
                true => Alternative { answer: Answer::Unknown, ..other },
                false => other,
            });
            let others: Vec<Alternative> = others.collect();
            let (option, answer) = ("this release".to_owned(), Answer::Release(own));
            let mut all = vec![Alternative { option, k, limit: limit.rows, answer }];
            all.extend(others);
            alternatives(&all, release.table.rows)
        });
        Self { release, shown, names, alternatives }
    }

    /// So many sample rows; what was is shown only where that is asked for.
    pub(crate) fn samples(&self, rows: usize, before: bool) -> Table {
        samples_table(&self.names, &samples(self.release, &self.shown, rows), before)
    }

    /// The release and its alternatives.
    pub(crate) fn alternatives(&self) -> Option<&Table> {
        self.alternatives.as_ref().map(|(table, _)| table)
    }

    /// For programs. A row as it was is there only if rows were asked for.
    #[must_use]
    pub fn fields(&self, asked: Option<usize>) -> Report {
        let found = samples(self.release, &self.shown, asked.unwrap_or(SAMPLES));
        let report =
            Report::default().hidden("samples", samples_json(&self.names, &found, asked.is_some()));
        match &self.alternatives {
            Some((_, objects)) => report.hidden("alternatives", objects.clone()),
            None => report,
        }
    }

    /// For people.
    ///
    /// # Errors
    /// `out` does not take it.
    pub fn print(&self, rows: usize, out: &mut impl Write) -> Result<(), WriteError> {
        let samples = (rows > 0).then(|| self.samples(rows, true));
        for table in samples.iter().chain(self.alternatives()) {
            writeln!(out, "\n{}", table.title).map_err(WriteError)?;
            table.print("  ", out)?;
        }
        if let Some(hint) = hint(&changes(self.release)) {
            writeln!(out, "\nhint: {hint}").map_err(WriteError)?;
        }
        Ok(())
    }
}

/// Which columns of the table are not published, in words; `None` if all are.
#[must_use]
pub fn left_out(columns: &[Column], shown: &[usize]) -> Option<String> {
    let left = (0..columns.len()).filter(|at| !shown.contains(at));
    let left: Vec<&str> = left.filter_map(|at| Some(columns.get(at)?.name.as_str())).collect();
    let names = left.iter().take(COLUMNS).copied().collect::<Vec<_>>().join(", ");
    let more = match left.len().checked_sub(COLUMNS).filter(|more| *more > 0) {
        Some(more) => format!(" and {more} more"),
        None => String::new(),
    };
    let are = if left.len() == 1 { "it is" } else { "they are" };
    let text = format!("{names}{more}; {are} neither in --qi nor in --sensitive nor in --keep");
    (!left.is_empty()).then(|| printable(&text))
}

/// More columns than this are not listed one by one.
const COLUMNS: usize = 8;
/// The columns of sample rows are at most so wide together.
const WIDTH: usize = 100;
/// Longer texts of a sample row are cut off.
const LETTERS: usize = 24;

/// `age: as it was in 3.9 % of rows, coarser in 92.1 %, * in 4 %`, a line for each column.
pub(crate) fn changes_text(changes: &[Change<'_>]) -> String {
    let line = |c: &Change<'_>| printable(&format!("{}: {}", c.column, change(c)));
    let mut lines: Vec<String> = changes.iter().take(COLUMNS).map(line).collect();
    if let Some(more) = changes.len().checked_sub(COLUMNS).filter(|more| *more > 0) {
        lines.push(format!("and {more} more; --json lists all"));
    }
    lines.join("\n")
}

/// What became of a column, in words.
pub(crate) fn change(change: &Change<'_>) -> String {
    let rows = change.exact + change.coarser + change.star;
    let ways = [("as it was", change.exact), ("coarser", change.coarser), (STAR, change.star)];
    match ways.iter().find(|(_, count)| *count == rows) {
        Some((way, _)) if *way == STAR => format!("{STAR} in every row"),
        Some((way, _)) => (*way).to_owned(),
        None => {
            let some = ways.iter().filter(|(_, count)| *count > 0);
            let text = |(way, count): &(&str, u64)| {
                format!("{way} in {}", percent(*count as f64 / rows.max(1) as f64))
            };
            some.map(text).collect::<Vec<_>>().join(", ") + " of rows"
        }
    }
}

pub(crate) fn changes_json(changes: &[Change<'_>]) -> Value {
    let one = |c: &Change<'_>| {
        let counts = json!({
            "exact": c.exact, "coarser": c.coarser, "star": c.star,
            "values": c.values, "labels": c.labels,
        });
        (c.column.to_owned(), counts)
    };
    named(changes.iter().map(one))
}

/// What to do about columns of which nothing is left.
pub(crate) fn hint(changes: &[Change<'_>]) -> Option<String> {
    let stars: Vec<&Change<'_>> = changes.iter().filter(|change| change.is_star()).collect();
    let first = stars.first()?;
    let what = match stars.len() {
        1 => format!("`{}` is {STAR} in every row: the release says nothing of it", first.column),
        n => format!("{n} columns are {STAR} in every row: the release says nothing of them"),
    };
    let remedy = match stars.iter().find(|change| change.all_or_nothing) {
        Some(Change { column, way, .. }) => {
            let it = match *column == first.column && stars.len() == 1 {
                true => "it".to_owned(),
                false => format!("`{column}`"),
            };
            format!(
                "; {it} has no level between its values and {STAR}, and --hierarchy {column}={} would \
                 give it some",
                way.unwrap_or("FILE")
            )
        }
        None => "; a smaller k or more suppression may bring it back".to_owned(),
    };
    Some(what + &remedy)
}

/// Sample rows: two lines for each, or one where what was is not to be shown.
fn samples_table(names: &[&str], samples: &[Sample<'_>], before: bool) -> Table {
    let cut = |text: &str| match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for Sample { row, before: old, after } in samples {
        let mut lead = grouped(*row as f64);
        if before {
            let texts = old.iter().copied().map(cut);
            rows.push(
                [std::mem::take(&mut lead), "was".to_owned()].into_iter().chain(texts).collect(),
            );
        }
        let texts = after.iter().map(|text| cut(text));
        rows.push([lead, "is".to_owned()].into_iter().chain(texts).collect());
    }
    let head: Vec<&str> = ["row", ""].into_iter().chain(names.iter().copied()).collect();
    // As many columns as fit, and one at least.
    let mut left = WIDTH;
    let fits = |at: &usize| -> bool {
        let texts = rows.iter().filter_map(|row| row.get(*at)).map(|text| text.chars().count());
        let wide = texts.chain(head.get(*at).map(|name| name.chars().count())).max().unwrap_or(0);
        let fits = *at < 3 || wide + 2 <= left;
        left = left.saturating_sub(wide + 2);
        fits
    };
    let columns = (0..head.len()).take_while(fits).count();
    let more = match columns < head.len() {
        true => format!(", in {} of {} columns", columns.saturating_sub(2), names.len()),
        false => String::new(),
    };
    let what = if before { "before and after" } else { "as published" };
    let head = head.get(..columns).unwrap_or_default();
    Table::of_texts(head, rows).titled(format!("Sample rows, {what}{more}"))
}

fn samples_json(names: &[&str], samples: &[Sample<'_>], before: bool) -> Value {
    let one = |sample: &Sample<'_>| {
        let after = named(names.iter().copied().zip(sample.after.iter().cloned()));
        match before {
            true => {
                let before = named(names.iter().copied().zip(sample.before.iter().copied()));
                json!({ "row": sample.row, "before": before, "after": after })
            }
            false => json!({ "row": sample.row, "after": after }),
        }
    };
    samples.iter().map(one).collect()
}

/// Releases and what they lose, as a table and as objects.
fn alternatives(all: &[Alternative], rows: usize) -> (Table, Vec<Value>) {
    fn of(alternative: &Alternative) -> Option<&Gain> {
        match &alternative.answer {
            Answer::Release(gain) => Some(gain),
            Answer::None | Answer::Unknown => None,
        }
    }
    let text = |a: &Alternative, text: &dyn Fn(&Gain) -> String| of(a).map_or(String::new(), text);
    let share = |count: u64| percent(count as f64 / rows.max(1) as f64);
    let rows =
        |gain: &Gain| format!("{} ({})", grouped(gain.suppressed as f64), share(gain.suppressed));
    let loss = |a: &Alternative| match &a.answer {
        Answer::Release(gain) if gain.complete => short(gain.loss),
        Answer::Release(gain) => format!("≤ {}", short(gain.loss)),
        Answer::None => "no release".to_owned(),
        Answer::Unknown => "not found in time".to_owned(),
    };
    let released = |a: &Alternative| match &a.answer {
        Answer::Release(_) => Some(true),
        Answer::None => Some(false),
        Answer::Unknown => None,
    };
    let (table, objects) = Records::of(all)
        .shown("", |a| a.option.clone())
        .named("option", |a| a.option.clone())
        .named("k", |a| a.k)
        .named("limit", |a| a.limit)
        .named("released", released)
        .shown("loss", loss)
        .named("loss", |a| of(a).map(|gain| gain.loss))
        .named("complete", |a| of(a).map(|gain| gain.complete))
        .shown("suppressed", |a| text(a, &rows))
        .named("suppressed", |a| of(a).map(|gain| gain.suppressed))
        .shown("classes", |a| text(a, &|gain| grouped(gain.classes as f64)))
        .named("classes", |a| of(a).map(|gain| gain.classes))
        .shown("* in every row", |a| text(a, &|gain| gain.stars.join(", ")))
        .named("stars", |a| of(a).map(|gain| gain.stars.clone()))
        .finish("Alternatives (loss: 0 is nothing, 1 is all)", usize::MAX);
    (table, objects)
}
