//! The parts of the page.

use crate::publish::Release;
use crate::publish::pictures::Bars;
use crate::publish::served::{Served, Sets};
use crate::publish::verdict::{Verdict, warnings};
use crate::show::release::{Limit, about, shown};
use demure_report::chart::{Axis, Chart, Series};
use demure_report::page::{escape, table};
use demure_report::{grouped, percent, short};

/// More classes than this are not listed.
const LISTED: usize = 500;
/// More values of a set than this are not listed.
const VALUES: usize = 12;

pub(crate) fn summary(release: &Release<'_>, limit: Limit) -> String {
    let rows = release.table.rows as f64;
    let names: Vec<&str> = release.attributes.iter().map(|a| a.column.name.as_str()).collect();
    let sensitive: Vec<&str> = release.sensitive.iter().map(|c| c.name.as_str()).collect();
    let mut facts = vec![
        ("rows", grouped(rows)),
        (
            "suppressed",
            format!(
                "{} ({}) of {}",
                grouped(release.suppressed() as f64),
                percent(release.suppressed() as f64 / rows.max(1.0)),
                limit.text()
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

pub(crate) fn verdicts(release: &Release<'_>, verdicts: &[Verdict]) -> String {
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
    let warnings: String = warnings(verdicts)
        .iter()
        .map(|text| format!("<p class=\"note\">{}</p>\n", escape(text)))
        .collect();
    let head = ["model", "about", "verdict", "nearest to breaking it", "monotone"];
    let note = match release.suppressed() {
        0 => "",
        _ => {
            "<p class=\"soft\">Suppressed rows are in no class; the table's own distribution counts them.</p>\n"
        }
    };
    format!("<h2>Models</h2>\n{}{note}{shared}{warnings}", table(&head, &rows, 9))
}

/// Class sizes, distances and risk, before and after; those before may be missing.
pub(crate) fn pictures(bars: Vec<Bars>) -> String {
    let figure = |Bars { title, range, labels, height, before, after }| {
        let highest = before.iter().chain(&after).copied().fold(0.0, f64::max);
        Chart {
            title,
            x: Axis::names(range, labels),
            y: Axis::from_zero(height, highest),
            series: vec![Series::bars("before", '▒', before), Series::bars("after", '█', after)],
            ..Chart::default()
        }
        .figure()
    };
    "<h2>Before and after</h2>\n".to_owned() + &bars.into_iter().map(figure).collect::<String>()
}

pub(crate) fn classes(release: &Release<'_>, verdicts: &[Verdict]) -> String {
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
    let text = |(value, count)| format!("{} {}", escape(value), grouped(count as f64));
    let mut named: Vec<String> = served.values(release, verdict).map(text).collect();
    if let Some(more) = named.len().checked_sub(VALUES).filter(|more| *more > 0) {
        named.truncate(VALUES);
        named.push(format!("{more} more values"));
    }
    named.join(", ")
}
