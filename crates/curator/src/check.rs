//! What a policy comes to: its tables as they are understood, and questions to ask of them, with their prices.
//!
//! # Guarantee
//! Nothing is debited and nothing is written, and no row of a protected table is read but what opening reads to check
//! that files can be parsed. Of what is found, nothing comes from protected rows.

use crate::answer::explain::{Explanation, expected};
use crate::curator::Curator;
use crate::error::{Error, Result};
use crate::identity::{fits, ledger_of};
use crate::incident::Incidents;
use crate::policy::{
    Access, ColumnKind, ColumnPolicy, Policy, Protection, TablePolicy, identifies, units,
};
use crate::session::Session;
use crate::statement::names::{type_in_words, unquoted};
use crate::words::{left, price};
use datafusion::arrow::datatypes::{DataType, Schema};
use demure_core::random::SystemRandom;
use std::path::Path;

/// What a policy comes to.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The tables, by name.
    pub tables: Vec<CheckedTable>,
    /// What is left of the budget, in words.
    pub left: String,
    /// Whether the policy names its ledger. If not, the first question makes one.
    pub has_ledger: bool,
    /// The policy's warnings.
    pub warnings: Vec<String>,
}

/// A table as it is understood.
#[derive(Clone, Debug)]
pub struct CheckedTable {
    /// Its name.
    pub name: String,
    /// Where it is, as the policy says it.
    pub source: String,
    /// `public`, or `protected by` whose row it is.
    pub access: String,
    /// The columns that queries see.
    pub columns: Vec<CheckedColumn>,
    /// Columns that no query may use.
    pub hidden: Vec<String>,
    /// Questions to ask.
    pub examples: Vec<Example>,
}

/// A column as queries see it.
#[derive(Clone, Debug)]
pub struct CheckedColumn {
    /// As the source spells it.
    pub name: String,
    /// As SQL may write it.
    pub sql: String,
    /// Its type, as SQL calls it.
    pub kind: &'static str,
    /// What is known of it, in words.
    pub known: String,
}

/// A question, and what it would cost.
#[derive(Clone, Debug)]
pub struct Example {
    /// The question.
    pub sql: String,
    /// The price in words, and how far each column may be off; or why it would be refused.
    pub quote: std::result::Result<(String, Vec<String>), String>,
}

/// Opens a policy, its tables and its ledger, and says what came of it.
pub async fn check(path: &Path) -> Result<Checked> {
    let read = Policy::read(path)?;
    let has_ledger = read.ledger.is_some();
    let curator = if has_ledger {
        let (policy, ledger) = ledger_of(path)?;
        fits(&policy, &ledger)?;
        let randomness = Box::new(SystemRandom::new()?);
        Curator::with(policy, ledger, Incidents::nowhere(), randomness).await?
    } else {
        Curator::in_memory(read).await?
    };
    let session = curator.session("check");
    let mut tables = Vec::new();
    for (policy, schema) in curator.catalog.schemas() {
        tables.push(table(policy, schema, &session).await);
    }
    let balance = curator.ledger().balances()?.dataset;
    let warnings = curator.policy().warnings.clone();
    Ok(Checked { tables, left: left(&balance), has_ledger, warnings })
}

async fn table(policy: &TablePolicy, schema: &Schema, session: &Session) -> CheckedTable {
    let protection = policy.access.protection();
    let columns = schema.fields().iter().map(|field| CheckedColumn {
        name: field.name().clone(),
        sql: in_sql(field.name(), schema),
        kind: type_in_words(field.data_type()),
        known: known(field.name(), protection),
    });
    let hidden = protection.map_or(&[][..], |protection| &protection.columns);
    let hidden = hidden.iter().filter(|column| column.hidden).map(|column| column.name.clone());
    let mut examples = Vec::new();
    for sql in questions(policy, schema) {
        let quote = match session.explanation(&sql).await {
            Ok(explanation) => Ok(quoted(&explanation)),
            Err(error) => Err(refused(&error)),
        };
        examples.push(Example { sql, quote });
    }
    CheckedTable {
        name: policy.name.clone(),
        source: policy.source.clone(),
        access: policy.access.to_string(),
        columns: columns.collect(),
        hidden: hidden.collect(),
        examples,
    }
}

fn known(name: &str, protection: Option<&Protection>) -> String {
    let Some(protection) = protection else { return String::new() };
    let column = protection.column(name);
    let format = column.and_then(|column| column.format.as_ref());
    let format = format.map(|format| format!("written as {}", format.text()));
    let comma = column.filter(|column| {
        column.decimal_comma
            && matches!(column.kind, Some(ColumnKind::Integer | ColumnKind::Real) | None)
            && (column.kind.is_some() || column.bounds.is_some())
    });
    let comma = comma.map(|_| "written with a decimal comma".to_owned());
    let words = Some(protection.known_in_words(name)).filter(|words| !words.is_empty());
    words.into_iter().chain(format).chain(comma).collect::<Vec<_>>().join("; ")
}

fn quoted(explanation: &Explanation) -> (String, Vec<String>) {
    let cost = price(&explanation.price, explanation.concentrated);
    let columns = explanation.aggregates.iter().flat_map(|aggregate| &aggregate.columns);
    let errors = columns.map(|column| format!("{}: {}", column.name, expected(column)));
    (cost, errors.collect())
}

fn refused(error: &Error) -> String {
    match error.refusal() {
        Some((what, remedy)) => format!("{what}; {remedy}"),
        None => error.to_string(),
    }
}

/// Words that cannot be the name of a column without quotes.
const RESERVED: &str = "all analyze and any array as asc both case cast check collate column constraint create \
    current_date current_time current_timestamp current_user date day default desc distinct do else end except \
    exists false fetch filter for foreign from full grant group having hour in inner intersect interval into is \
    join lateral left like limit minute month natural not null offset on only or order outer over partition \
    position primary references returning right row second select set some table then time timestamp to true \
    union unique user using values when where window with year";

/// How SQL may write a column: without quotes if that means this one.
fn in_sql(name: &str, schema: &Schema) -> String {
    let plain = unquoted(name);
    let same = |other: &str| other.to_lowercase() == plain || unquoted(other) == plain;
    let alone = schema.fields().iter().filter(|field| same(field.name())).count() == 1;
    let begins = plain.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let word = RESERVED.split_whitespace().any(|word| word == plain);
    match alone && begins && plain.chars().all(letters) && !word {
        true => plain,
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Words in the names of columns that people group by.
const GROUPS: &[&str] = &[
    "category",
    "type",
    "kind",
    "group",
    "status",
    "region",
    "country",
    "city",
    "state",
    "sex",
    "gender",
    "segment",
    "channel",
    "product",
    "disease",
    "department",
    "class",
];

/// Questions that a table can answer.
fn questions(policy: &TablePolicy, schema: &Schema) -> Vec<String> {
    let table = &policy.name;
    let Access::Protected(protection) = &policy.access else {
        return vec![format!("SELECT COUNT(*) FROM {table}")];
    };
    let of = |name: &str| protection.column(name);
    let seen = |fits: &dyn Fn(&str, &DataType) -> bool| {
        let fields = schema.fields().iter().filter(|field| !protection.is_unit(field.name()));
        let mut fields = fields.filter(|field| fits(field.name(), field.data_type()));
        fields.next().map(|field| in_sql(field.name(), schema))
    };
    let text = |kind: &DataType| matches!(kind, DataType::Utf8);
    let named = |name: &str| {
        let words = unquoted(name);
        words.split('_').any(|word| GROUPS.contains(&word))
    };
    let id = |name: &str| {
        let column = [(name.to_owned(), ColumnKind::Text, true)];
        !units(&column).is_empty() || identifies(name)
    };
    let group = seen(&|name, _| of(name).is_some_and(|column| column.values.is_some()))
        .or_else(|| seen(&|name, kind| text(kind) && named(name) && !id(name)))
        .or_else(|| seen(&|name, kind| text(kind) && !id(name)));
    let date = seen(&|_, kind| matches!(kind, DataType::Date32 | DataType::Timestamp(..)));
    let bounded = |column: &ColumnPolicy| column.bounds.and_then(|b| b.numbers()).is_some();
    let number = |kind: &DataType| kind.is_numeric();
    let amount = seen(&|name, kind| number(kind) && of(name).is_some_and(bounded))
        .or_else(|| seen(&|name, kind| number(kind) && !id(name)));
    // Texts that are read in a way that may be wrong: if it is, there are few values.
    let read = seen(&|name, _| {
        of(name).is_some_and(|column| column.format.is_some() || column.decimal_comma)
    });
    let mut all = vec![format!("SELECT COUNT(*) FROM {table}")];
    all.extend(
        group.as_ref().map(|key| format!("SELECT {key}, COUNT(*) FROM {table} GROUP BY {key}")),
    );
    all.extend(date.map(|date| {
        format!("SELECT date_trunc('month', {date}) AS month, COUNT(*) FROM {table} GROUP BY month")
    }));
    all.extend(amount.map(|amount| match group {
        Some(key) => format!("SELECT {key}, AVG({amount}) FROM {table} GROUP BY {key}"),
        None => format!("SELECT AVG({amount}) FROM {table}"),
    }));
    all.extend(read.map(|read| format!("SELECT COUNT(*), COUNT({read}) FROM {table}")));
    all
}
