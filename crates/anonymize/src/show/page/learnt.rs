//! What an observer learns, how easily rows are found, and what the release lost.

use crate::Result;
use crate::class::Class;
use crate::job::risk_of_sizes;
use crate::observer::observe;
use crate::publish::Release;
use crate::show::risk_in_words;
use crate::utility::utility;
use demure_report::page::{escape, table};
use demure_report::{grouped, percent, short};

/// The three beliefs, in bits, for each sensitive column.
pub(crate) fn beliefs(release: &Release<'_>) -> Result<String> {
    if release.sensitive.is_empty() {
        return Ok(String::new());
    }
    let mut rows = Vec::new();
    for (at, column) in release.sensitive.iter().enumerate() {
        let seen = observe(None, &release.whole, &release.classes, at)?;
        let worst =
            seen.worst_class.map_or(String::new(), |class| format!(" (class {})", class + 1));
        rows.push(vec![
            escape(&column.name),
            bits(seen.entropy_before),
            bits(seen.entropy_table),
            bits(seen.table.divergence),
            bits(seen.mean),
            format!("{}{worst}", bits(seen.worst)),
        ]);
    }
    let head = [
        "column",
        "open before (X)",
        "open after the table (Q)",
        "learnt X → Q",
        "learnt Q → L, on average",
        "learnt Q → L, worst class",
    ];
    Ok(format!(
        "<h2>What an observer learns, in bits</h2>\n{}\
         <p class=\"soft\">Before anything is published all values are equally likely (X). The whole \
         table tells how often each occurs (Q), which no model here hides. Finding a person's class \
         leaves the class's own distribution (L): that step is what closeness bounds.</p>\n",
        table(&head, &rows, 1)
    ))
}

/// The three observers, before and after.
pub(crate) fn risks(release: &Release<'_>, before: &[Class]) -> Result<String> {
    let sizes = |classes: &[Class]| classes.iter().map(|class| class.size).collect::<Vec<u64>>();
    let people = |classes: &[Class]| release.people(classes);
    let old = risk_of_sizes(&sizes(before), 0, people(before).as_deref())?;
    let new = people(&release.classes);
    let new = risk_of_sizes(&sizes(&release.classes), release.suppressed(), new.as_deref())?;
    let row = |name: &str, old: String, new: String| vec![name.to_owned(), old, new];
    let mut rows = vec![
        row(
            "prosecutor: looks for someone known to be in the table",
            risk_in_words(&old.prosecutor),
            risk_in_words(&new.prosecutor),
        ),
        row("marketer: share of rows found", percent(old.marketer), percent(new.marketer)),
        row(
            "unique rows",
            format!("{} ({})", grouped(old.unique as f64), percent(old.unique_share)),
            format!("{} ({})", grouped(new.unique as f64), percent(new.unique_share)),
        ),
        row("suppressed rows", "0".to_owned(), grouped(new.suppressed as f64)),
    ];
    if release.population.is_some() {
        let name = "journalist: does not know who of the population is in the table";
        rows.insert(1, row(name, risk_in_words(&old.journalist), risk_in_words(&new.journalist)));
    }
    Ok(format!("<h2>Risk</h2>\n{}", table(&["", "before", "after"], &rows, 9)))
}

/// What the release lost.
pub(crate) fn lost(release: &Release<'_>) -> String {
    let u = utility(release.attributes, &release.recoding);
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let rows = [
        row("loss (0 none, 1 all; as in ARX)", short(u.loss)),
        row("precision (1 all kept, 0 none)", short(u.precision)),
        row("discernibility (Σ size² + rows × suppressed)", grouped(u.discernibility as f64)),
        row("average class size", short(u.average_class_size)),
        row(
            "entropy lost, bits over all cells",
            format!("{} ({} of all)", grouped(u.entropy.round()), percent(u.entropy_share)),
        ),
    ];
    format!("<h2>What was lost</h2>\n{}", table(&["measure", ""], &rows, 1))
}

fn bits(x: f64) -> String {
    if x.is_finite() { format!("{x:.4}") } else { "∞".to_owned() }
}
