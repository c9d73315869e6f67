//! The parts of the page.

use crate::anonymize::render::{self, about, shown};
use demure_anonymize::class::Class;
use demure_anonymize::publish::Release;
use demure_anonymize::publish::served::{Served, Sets};
use demure_anonymize::publish::verdict::Verdict;
use demure_report::chart::{Axis, Chart, Series};
use demure_report::page::{escape, table};
use demure_report::{grouped, percent, short};

/// More classes than this are not listed.
const LISTED: usize = 500;
/// More values of a set than this are not listed.
const VALUES: usize = 12;

pub(super) fn summary(release: &Release<'_>) -> String {
    let rows = release.table.rows as f64;
    let names: Vec<&str> = release.attributes.iter().map(|a| a.column.name.as_str()).collect();
    let sensitive: Vec<&str> = release.sensitive.iter().map(|c| c.name.as_str()).collect();
    let mut facts = vec![
        ("rows", grouped(rows)),
        (
            "suppressed",
            format!(
                "{} ({})",
                grouped(release.suppressed() as f64),
                percent(release.suppressed() as f64 / rows.max(1.0))
            ),
        ),
        ("classes", grouped(release.classes.len() as f64)),
        ("quasi-identifiers", escape(&names.join(", "))),
        ("sensitive", escape(&sensitive.join(", "))),
        ("method", release.method.to_owned()),
    ];
    if let Some((metric, score)) = release.score {
        facts.push(("score", format!("{} ({metric}; smaller is better)", short(score))));
    }
    if let Some(levels) = &release.levels {
        let each = names.iter().zip(&levels.chosen).zip(&levels.heights);
        let each =
            each.map(|((name, level), height)| format!("{} {level} of {height}", escape(name)));
        facts.push(("levels", each.collect::<Vec<_>>().join(", ")));
        facts.push((
            "optimal",
            match levels.proven {
                true => "proven: no other choice of levels scores less".to_owned(),
                false => {
                    format!("not proven: another choice may score up to {} less", short(levels.gap))
                }
            },
        ));
    }
    let rows: Vec<Vec<String>> =
        facts.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect();
    format!(
        "<h1>Anonymized table</h1>\n<p class=\"soft\">What the release promises, what it costs, \
         and what an observer learns from it.</p>\n\
         <p class=\"note\"><b>This is not differential privacy.</b> The models below bound what \
         this one table says to an observer who knows the quasi-identifiers and nothing else. \
         They say nothing about several releases together.</p>\n{}",
        table(&["", ""], &rows, 9)
    )
}

pub(super) fn verdicts(release: &Release<'_>, verdicts: &[Verdict]) -> String {
    let row = |verdict: &Verdict| {
        let (class, word) =
            if verdict.holds { ("good", "holds") } else { ("bad", "does not hold") };
        let worst = verdict.worst.map_or(String::new(), |(class, measure)| {
            format!("{} in class {}", escape(&shown(measure)), class + 1)
        });
        vec![
            escape(&verdict.name),
            escape(verdict.column.as_deref().unwrap_or("sizes")),
            format!("<span class=\"{class}\">{word}</span>"),
            worst,
            if verdict.monotone { "yes" } else { "no" }.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = verdicts.iter().map(row).collect();
    let shared: String = verdicts
        .iter()
        .filter_map(|verdict| match &verdict.sets {
            Sets::All(Some((served, _))) => Some(format!(
                "<p>{}: the set M that serves every class has {} ({}).</p>\n",
                escape(&verdict.name),
                escape(&about(served)),
                inside(release, verdict, served)
            )),
            _ => None,
        })
        .collect();
    let mut warnings: Vec<&str> = verdicts.iter().filter_map(|v| v.warning).collect();
    warnings.dedup();
    let warnings: String =
        warnings.iter().map(|text| format!("<p class=\"note\">{}</p>\n", escape(text))).collect();
    let head = ["model", "about", "verdict", "nearest to breaking it", "monotone"];
    let note = match release.suppressed() {
        0 => "",
        _ => {
            "<p class=\"soft\">Suppressed rows are in no class; the table's own distribution counts them.</p>\n"
        }
    };
    format!("<h2>Models</h2>\n{}{note}{shared}{warnings}", table(&head, &rows, 9))
}

/// Class sizes, distances and risk, before and after.
pub(super) fn pictures(
    release: &Release<'_>,
    before: &[Class],
    old: &[Verdict],
    new: &[Verdict],
) -> String {
    let mut out = String::from("<h2>Before and after</h2>\n");
    let edges = [1u64, 2, 3, 5, 10, 20, 50, 100, 1000, u64::MAX];
    let label = |pair: &[u64]| match pair {
        [low, u64::MAX] => format!("≥ {}", grouped(*low as f64)),
        [low, high] if low + 1 == *high => low.to_string(),
        [low, high] => format!("{low}–{}", high - 1),
        _ => String::new(),
    };
    let rows_in = |classes: &[Class], pair: &[u64]| -> f64 {
        let inside = |class: &&Class| pair.len() == 2 && (pair[0]..pair[1]).contains(&class.size);
        classes.iter().filter(inside).map(|class| class.size as f64).sum()
    };
    let heights = |classes| edges.windows(2).map(|pair| rows_in(classes, pair)).collect();
    let x = Axis::names("rows in the class", edges.windows(2).map(label).collect());
    let both = [heights(before), heights(&release.classes)];
    out += &compared("Class sizes", x, "rows in such classes", both).figure();
    for (old, new) in old.iter().zip(new).filter(|(_, new)| new.distance) {
        out.push_str(&distances(old, new, before, &release.classes));
    }
    let limits = [0.5, 0.2, 0.1, 0.05, 0.01];
    let at_risk = |classes: &[Class], limit: f64| -> f64 {
        let rows = release.table.rows.max(1) as f64;
        let exposed = classes.iter().filter(|c| 1.0 / c.size.max(1) as f64 > limit);
        100.0 * exposed.map(|class| class.size as f64).sum::<f64>() / rows
    };
    let heights = |classes| limits.map(|limit| at_risk(classes, limit)).to_vec();
    let labels = limits.map(|limit| format!("> {} %", short(100.0 * limit)));
    let x = Axis::names("probability of the right row (1 / class size)", labels.to_vec());
    let title = "Risk of being found, by someone who knows the person is in the table";
    let both = [heights(before), heights(&release.classes)];
    out + &compared(title, x, "percent of rows", both).figure()
}

/// Bars before and after; those before may be missing.
fn compared(title: &str, x: Axis, y: &str, [before, after]: [Vec<f64>; 2]) -> Chart {
    let highest = before.iter().chain(&after).copied().fold(0.0, f64::max);
    Chart {
        title: title.to_owned(),
        x,
        y: Axis::from_zero(y, highest),
        series: vec![Series::bars("before", '▒', before), Series::bars("after", '█', after)],
        ..Chart::default()
    }
}

/// How many rows are in classes so far from the table.
fn distances(old: &Verdict, new: &Verdict, before: &[Class], after: &[Class]) -> String {
    let finite = |verdict: &Verdict| -> Vec<Option<f64>> {
        let number = |m: &Option<_>| m.map(demure_anonymize::model::Measure::to_f64);
        verdict.measures.iter().map(|m| number(m).filter(|x: &f64| x.is_finite())).collect()
    };
    let (old_values, new_values) = (finite(old), finite(new));
    let most = old_values.iter().chain(&new_values).flatten().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let width = most / 10.0;
    let bin = |x: f64| ((x / width) as usize).min(9);
    let count = |values: &[Option<f64>], classes: &[Class], at: usize| -> f64 {
        let pairs = values.iter().zip(classes);
        pairs.filter(|(x, _)| x.is_some_and(|x| bin(x) == at)).map(|(_, c)| c.size as f64).sum()
    };
    // Models that choose what they compare with say nothing about the table as it was.
    let known = old_values.iter().any(Option::is_some);
    let heights = |values: &[Option<f64>], classes| -> Vec<f64> {
        (0..10).map(|at| count(values, classes, at)).collect()
    };
    let old_heights = if known { heights(&old_values, before) } else { Vec::new() };
    let digits = usize::from(width < 0.1) + usize::from(width < 1.0) + 1;
    let labels = (1..=10).map(|at| format!("≤ {:.digits$}", width * f64::from(at)));
    let from = match new.sets {
        Sets::None => "the whole table",
        _ => "M",
    };
    let title = match &new.column {
        Some(column) => format!("How far {column} in a class is from {from}"),
        None => format!("How far a class is from {from}"),
    };
    let x = Axis::names(format!("distance: {}", new.name), labels.collect());
    let both = [old_heights, heights(&new_values, after)];
    compared(&title, x, "rows in such classes", both).figure()
}

pub(super) fn classes(release: &Release<'_>, verdicts: &[Verdict]) -> String {
    let mut head = vec!["class", "size"];
    let measured: Vec<&Verdict> = verdicts.iter().filter(|v| v.column.is_some()).collect();
    let titles: Vec<String> = measured.iter().map(|v| v.name.clone()).collect();
    head.extend(titles.iter().map(String::as_str));
    head.extend(release.attributes.iter().map(|a| a.column.name.as_str()));
    let row = |class: usize| {
        let mut cells = vec![(class + 1).to_string()];
        cells.push(release.classes.get(class).map_or(String::new(), |c| grouped(c.size as f64)));
        cells.extend(measured.iter().map(|verdict| {
            let measure = verdict.measures.get(class).copied().flatten();
            let text = measure.map_or(String::new(), |m| escape(&shown(m)));
            text + &witness(release, verdict, class)
        }));
        cells.extend(release.labels(class).iter().map(|label| escape(label)));
        cells
    };
    let count = release.classes.len();
    let rows: Vec<Vec<String>> = (0..count.min(LISTED)).map(row).collect();
    let more = match count.checked_sub(LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!("<p class=\"soft\">and {} more</p>\n", grouped(more as f64)),
    };
    let table = table(&head, &rows, head.len());
    format!("<h2>Classes</h2>\n<div class=\"wide\">{table}</div>{more}")
}

/// The set M that serves a class: `M: 4 rows`, and what is in it for whoever looks.
fn witness(release: &Release<'_>, verdict: &Verdict, class: usize) -> String {
    let (Sets::Each(_), Some(served)) = (&verdict.sets, verdict.set(class)) else {
        return String::new();
    };
    format!(
        "<details class=\"set\"><summary>M: {}</summary>{}</details>",
        escape(&about(served)),
        inside(release, verdict, served)
    )
}

/// Which values a set has: `Windows 3, Linux 1`.
fn inside(release: &Release<'_>, verdict: &Verdict, served: &Served) -> String {
    let values = render::values(release, verdict);
    let counts = served.witness.counts.iter().zip(values).filter(|(count, _)| **count > 0);
    let mut named: Vec<String> = counts
        .map(|(count, value)| format!("{} {}", escape(value), grouped(*count as f64)))
        .collect();
    if let Some(more) = named.len().checked_sub(VALUES).filter(|more| *more > 0) {
        named.truncate(VALUES);
        named.push(format!("{more} more values"));
    }
    named.join(", ")
}
