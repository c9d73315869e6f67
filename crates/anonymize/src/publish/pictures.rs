//! Class sizes, distances and risk, before a release and after it: what pictures of it show.

use super::Release;
use super::served::Sets;
use super::verdict::Verdict;
use crate::class::Class;
use crate::model::Measure;

/// Heights over named ranges, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is shown.
    pub title: String,
    /// What the ranges are of.
    pub range: String,
    /// The ranges.
    pub labels: Vec<String>,
    /// What the heights are.
    pub height: &'static str,
    /// The heights of the table's own classes; empty where nothing is known about them.
    pub before: Vec<f64>,
    /// Those of the release's.
    pub after: Vec<f64>,
}

/// How many rows a class may have, and how that is written: from the first number to before the second.
const SIZES: [(u64, u64, &str); 9] = [
    (1, 2, "1"),
    (2, 3, "2"),
    (3, 5, "3–4"),
    (5, 10, "5–9"),
    (10, 20, "10–19"),
    (20, 50, "20–49"),
    (50, 100, "50–99"),
    (100, 1000, "100–999"),
    (1000, u64::MAX, "≥ 1,000"),
];

/// Probabilities of the right row.
const LIMITS: [(f64, &str); 5] =
    [(0.5, "> 50 %"), (0.2, "> 20 %"), (0.1, "> 10 %"), (0.05, "> 5 %"), (0.01, "> 1 %")];

/// All pictures of a release: `before` are the table's own classes, `old` and `new` what the models
/// measure of those and of the release's.
#[must_use]
pub fn bars(
    release: &Release<'_>,
    before: &[Class],
    old: &[Verdict],
    new: &[Verdict],
) -> Vec<Bars> {
    let mut all = vec![sizes(before, &release.classes)];
    let measured = old.iter().zip(new).filter(|(_, new)| new.distance);
    all.extend(measured.filter_map(|(old, new)| distances(old, new, before, &release.classes)));
    all.push(risks(release.table.rows, before, &release.classes));
    all
}

fn sizes(before: &[Class], after: &[Class]) -> Bars {
    let heights = |classes: &[Class]| -> Vec<f64> {
        let rows = |(low, high, _): &(u64, u64, &str)| {
            let inside = classes.iter().filter(|class| (*low..*high).contains(&class.size));
            inside.map(|class| class.size as f64).sum()
        };
        SIZES.iter().map(rows).collect()
    };
    Bars {
        title: "Class sizes".to_owned(),
        range: "rows in the class".to_owned(),
        labels: SIZES.iter().map(|(_, _, label)| (*label).to_owned()).collect(),
        height: "rows in such classes",
        before: heights(before),
        after: heights(after),
    }
}

fn risks(rows: usize, before: &[Class], after: &[Class]) -> Bars {
    let heights = |classes: &[Class]| -> Vec<f64> {
        let at_risk = |(limit, _): &(f64, &str)| {
            let exposed = classes.iter().filter(|c| 1.0 / c.size.max(1) as f64 > *limit);
            100.0 * exposed.map(|class| class.size as f64).sum::<f64>() / rows.max(1) as f64
        };
        LIMITS.iter().map(at_risk).collect()
    };
    Bars {
        title: "Risk of being found, by someone who knows the person is in the table".to_owned(),
        range: "probability of the right row (1 / class size)".to_owned(),
        labels: LIMITS.iter().map(|(_, label)| (*label).to_owned()).collect(),
        height: "percent of rows",
        before: heights(before),
        after: heights(after),
    }
}

/// How many rows are in classes so far from the table; `None` where all distances are 0.
fn distances(old: &Verdict, new: &Verdict, before: &[Class], after: &[Class]) -> Option<Bars> {
    let finite = |verdict: &Verdict| -> Vec<Option<f64>> {
        let number = |m: &Option<Measure>| m.map(Measure::to_f64).filter(|x| x.is_finite());
        verdict.measures.iter().map(number).collect()
    };
    let (old_values, new_values) = (finite(old), finite(new));
    let most = old_values.iter().chain(&new_values).flatten().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let width = most / 10.0;
    let bin = |x: f64| ((x / width) as usize).min(9);
    let heights = |values: &[Option<f64>], classes: &[Class]| -> Vec<f64> {
        let count = |at: usize| {
            let pairs = values.iter().zip(classes);
            pairs.filter(|(x, _)| x.is_some_and(|x| bin(x) == at)).map(|(_, c)| c.size as f64).sum()
        };
        (0..10).map(count).collect()
    };
    // Models that choose what they compare with say nothing about the table as it was.
    let known = old_values.iter().any(Option::is_some);
    let digits = usize::from(width < 0.1) + usize::from(width < 1.0) + 1;
    let from = match new.sets {
        Sets::None => "the whole table",
        _ => "M",
    };
    Some(Bars {
        title: match &new.column {
            Some(column) => format!("How far {column} in a class is from {from}"),
            None => format!("How far a class is from {from}"),
        },
        range: format!("distance: {}", new.name),
        labels: (1..=10).map(|at| format!("≤ {:.digits$}", width * f64::from(at))).collect(),
        height: "rows in such classes",
        before: if known { heights(&old_values, before) } else { Vec::new() },
        after: heights(&new_values, after),
    })
}

#[cfg(test)]
mod tests;
