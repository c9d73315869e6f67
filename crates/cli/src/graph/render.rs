//! What is promised of a graph, as fields.

use crate::input::Relation;
use crate::mechanism::budget;
use demure_core::mechanism::Guarantee;
use demure_report::Report;

/// The fields that say what is promised.
pub(super) fn promise(report: Report, guarantee: Guarantee, relation: Relation) -> Report {
    let report = budget(report, guarantee);
    let report = match relation {
        Relation::AddRemove => report.described(
            "neighbours",
            "add-remove",
            "add-remove (one edge present or absent; the vertices are public)",
        ),
        Relation::Replace => report.described(
            "neighbours",
            "replace",
            "replace (one edge in another's place; the vertices and the number of edges are public)",
        ),
    };
    report.field("guarantee", guarantee.to_string())
}
