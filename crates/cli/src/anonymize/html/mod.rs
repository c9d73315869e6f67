//! The report: one HTML page without scripts, its pictures and its style inside.

mod learnt;
mod section;

use crate::Failure;
use demure_anonymize::job::CheckedRelease;
use demure_anonymize::publish::pictures::bars;
use demure_report::page;

/// The page.
pub(super) fn page(made: &CheckedRelease<'_>) -> Result<String, Failure> {
    let (release, verdicts) = (&made.release, &made.verdicts);
    let before = release.before();
    let old = made.verdicts_on(&before);
    let sections = [
        section::summary(release),
        section::verdicts(release, verdicts),
        learnt::beliefs(release)?,
        section::pictures(bars(release, &before, &old, verdicts)),
        learnt::risks(release, &before)?,
        learnt::lost(release),
        section::classes(release, verdicts),
    ];
    Ok(page::page("Anonymized table: report", &sections.concat()))
}
