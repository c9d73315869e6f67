//! The report: one HTML page without scripts, its pictures and its style inside.

mod learnt;
mod section;

use crate::Failure;
use demure_anonymize::class::Class;
use demure_anonymize::publish::Release;
use demure_anonymize::publish::verdict::Verdict;
use demure_report::page::page;
use std::io::Write;

/// Writes the page.
pub(super) fn write(
    release: &Release<'_>,
    before: &[Class],
    old: &[Verdict],
    verdicts: &[Verdict],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let sections = [
        section::summary(release),
        section::verdicts(release, verdicts),
        learnt::beliefs(release)?,
        section::pictures(release, before, old, verdicts),
        learnt::risks(release, before)?,
        learnt::lost(release),
        section::classes(release, verdicts),
    ];
    let page = page("Anonymized table: report", &sections.concat());
    out.write_all(page.as_bytes()).map_err(Failure::writing)
}
