//! `\d` of `demure shell`: what the policy says, and nothing from protected rows. (psql's `\d` is answered by `pg-catalog`.)

use demure_curator::Curator;
use demure_curator::policy::{Access, Protection};
use demure_report::Table;
use demure_server::json::plain_name;

/// Each table, and whose it is.
pub(super) fn tables(curator: &Curator) -> Table {
    let rows = curator.tables().into_iter().map(|(name, columns)| {
        let access = curator.policy().table(&name).map(|table| table.access.to_string());
        let names: Vec<String> = columns.into_iter().map(|(name, _)| name).collect();
        vec![name, access.unwrap_or_default(), names.join(", ")]
    });
    Table::of_texts(&["table", "whose", "columns"], rows)
}

/// The columns of a table, and how much of a person counts.
pub(super) fn table(curator: &Curator, name: &str) -> Option<(Table, String)> {
    let (_, columns) = curator.tables().into_iter().find(|(table, _)| table == name)?;
    let access = &curator.policy().table(name)?.access;
    let rows = columns.into_iter().map(|(name, kind)| {
        let known = access.protection().map(|protection| protection.known_in_words(&name));
        vec![name, plain_name(&kind).to_owned(), known.unwrap_or_default()]
    });
    let table = Table::of_texts(&["column", "type", "known"], rows);
    let words = match access {
        Access::Public { .. } => "public: nobody's data, no noise, no cost".to_owned(),
        Access::Protected(Protection { max_groups, max_rows_per_group, .. }) => format!(
            "{access}: of one unit at most {max_rows_per_group} rows in each of at most {max_groups} groups"
        ),
    };
    Some((table, words))
}
