//! What is said while a search takes long, and Ctrl-C, which ends it with the best found.

use crate::Failure;
use crate::interrupt::interrupt;
use demure_anonymize::job::{self, Columns, Promised, Search, SearchResult, Watch};
use demure_anonymize::recoding::Attribute;
use demure_report::progress::Progress;
use demure_report::short;

/// Parts of the work that a bar tells apart.
const PARTS: u64 = 1000;

/// Looks for a release and says how far that is.
pub(super) fn release<'a>(
    search: &Search,
    columns: &Columns<'a>,
    attributes: &'a [Attribute<'a>],
    promised: Promised,
) -> Result<SearchResult<'a>, Failure> {
    let bar = Progress::before_data(PARTS);
    let flag = interrupt();
    let say = |at| say(&bar, at);
    let watch = Watch { cancel: flag.as_deref(), progress: Some(&say) };
    Ok(job::release(search, columns, attributes, promised, watch)?)
}

fn say(bar: &Progress, at: job::Progress) {
    let parts = |done: f64, all: f64| ((done / all.max(1.0)).clamp(0.0, 1.0) * PARTS as f64) as u64;
    match at {
        job::Progress::Levels(at) => bar.say(parts(at.decided, at.nodes), || {
            let best = at.best.map_or("none yet".to_owned(), short);
            format!("decided, {} looked at, best score {best}  (Ctrl-C takes it)", at.checked)
        }),
        job::Progress::Classes(at) => bar.say(parts(at.settled as f64, at.rows as f64), || {
            format!("of the rows in {} classes  (Ctrl-C leaves the others coarse)", at.classes)
        }),
    }
}
