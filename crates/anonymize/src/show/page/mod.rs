//! The report: one HTML page without scripts, its pictures and its style inside.

mod beside;
mod learnt;
mod section;

use super::beside::Beside;
use super::release::Limit;
use crate::Result;
use crate::job::CheckedRelease;
use crate::publish::pictures::bars;
use demure_report::page;

/// The page. Rows of the original are on it only if `originals` says so.
///
/// # Errors
/// A distribution of the release cannot be measured.
pub fn page(
    made: &CheckedRelease<'_>,
    limit: Limit,
    beside: &Beside<'_, '_>,
    originals: bool,
) -> Result<String> {
    let (release, verdicts) = (&made.release, &made.verdicts);
    let before = release.before();
    let old = made.verdicts_on(&before);
    let sections = [
        section::summary(release, limit),
        section::verdicts(release, verdicts),
        beside::columns(release),
        beside::samples(beside, originals),
        beside::alternatives(beside),
        learnt::beliefs(release)?,
        section::pictures(bars(release, &before, &old, verdicts)),
        learnt::risks(release, &before)?,
        learnt::lost(release),
        section::classes(release, verdicts),
    ];
    Ok(page::page("Anonymized table: report", &sections.concat()))
}
