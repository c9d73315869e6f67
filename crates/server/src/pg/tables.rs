//! The curator's tables as the catalog describes them.

use datafusion::arrow::datatypes::DataType;
use demure_curator::Curator;
use demure_curator::policy::Access;
use demure_pg_catalog::TableInfo;

/// The tables of a curator, as queries see them. A type that arrow cannot read back from its name is shown as text; that
/// a column is never NULL is not known here.
pub(super) fn described(curator: &Curator) -> Vec<TableInfo> {
    let column =
        |(name, kind): (String, String)| (name, kind.parse().unwrap_or(DataType::Utf8), true);
    let comment = |name: &str| match curator.policy().table(name)?.access {
        Access::Public { .. } => Some("Public.".to_owned()),
        Access::Protected(_) => {
            Some("Protected: answers are noisy aggregates and cost budget.".to_owned())
        }
    };
    let table = |(name, columns): (String, Vec<(String, String)>)| TableInfo {
        comment: comment(&name),
        name,
        columns: columns.into_iter().map(column).collect(),
    };
    curator.tables().into_iter().map(table).collect()
}

#[cfg(test)]
mod tests;
