//! Reads a policy from its text: the file, its budget and its tables.
//!
//! Reading continues after a mistake, with a placeholder for the wrong value. That is safe because a single mistake
//! means that no policy is returned.

use super::problem::Notes;
use super::section::{self, Form, Noted, Section, in_order};
use super::{
    Access, Accounting, BudgetPolicy, ColumnPolicy, Mistake, Policy, PolicyError, Protection,
    TablePolicy, UnitPolicy, column, ledger, links, name, odds, timing,
};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::Answers;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The largest contribution bound.
const MOST: u32 = 1 << 20;
/// The largest number of rows that a table may declare.
const MOST_ROWS: u64 = 1_000_000_000_000;

const FILE: Form = &[
    ("budget", "`[budget]` and below it `epsilon = 1.0`"),
    ("tables", "`[tables.name]` and below it `source = \"file.csv\"`"),
    ("timing", "`[timing]` and below it `schedule = \"on\"`"),
    ("ledger", "`[ledger]`, as `demure` writes it"),
];
const BUDGET: Form = &[
    ("epsilon", "`epsilon = 1.0`"),
    ("delta", "`delta = 1e-6`"),
    ("accounting", "`accounting = \"pure\"` or `accounting = \"zcdp\"`"),
    ("neighbours", "`neighbours = \"add-remove\"` or `neighbours = \"replace\"`"),
    ("per_query", "`per_query = 0.1`"),
    ("answers", "`answers = \"personal\"` or `answers = \"shared\"`"),
    ("min_per_query", "`min_per_query = 0.001`"),
];
const TABLE: Form = &[
    ("source", "`source = \"file.csv\"`"),
    ("delimiter", "one ASCII character, as in `delimiter = \";\"`, or `delimiter = \"\\t\"`"),
    ("decimal", "`decimal = \",\"` or `decimal = \".\"`"),
    ("unit", "`unit = \"column\"` or `unit = \"row\"`"),
    ("contributions", "`contributions = \"auto\"`"),
    ("max_groups", "`max_groups = 1`"),
    ("max_rows_per_group", "`max_rows_per_group = 1`"),
    ("rows", "`rows = 100_000`, from 1 to 1000000000000"),
    ("columns", "`columns = { age = { bounds = [0, 120] } }`"),
    ("public", "`public = true`"),
    ("key", "`key = \"column\"` or `key = [\"a\", \"b\"]`"),
];
const UNIT: Form = &[
    ("column", "`column = \"visit_id\"`"),
    (
        "references",
        "`references = \"table.column\"`, or `unit = \"column\"` if that column itself says whose \
         row it is",
    ),
];

/// Reads a policy, or notes every mistake.
pub(super) fn policy(text: &str, folder: &Path, file: Option<&str>) -> Result<Policy, PolicyError> {
    let mut notes = Notes::new(text, file);
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut understood = true;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        match (error.message(), text.get(span.clone())) {
            // Whichever of the two was kept, the rest of the file was read as intended.
            ("duplicate key", Some(key)) => {
                let key = key.trim_matches(['"', '\'']).to_owned();
                notes.mistake(span.start, Mistake::Twice { key });
            }
            (message, _) => {
                understood = false;
                let message = message.to_owned();
                notes.mistake(span.start, Mistake::Syntax { message });
            }
        }
    }
    if !understood {
        return Err(notes.into_error());
    }

    let document = Section::new("the policy".to_owned(), 0, document.get_ref(), FILE, &mut notes);
    let budget = budget(&document, &mut notes);
    let timing = timing::timing(&document, &mut notes);
    let tables = tables(&document, &mut notes);
    let ledger = ledger::read(&document, text, &mut notes);
    match budget {
        Some(budget) if notes.clean() => Ok(Policy {
            budget,
            timing,
            tables,
            ledger,
            folder: folder.to_owned(),
            text: text.to_owned(),
            warnings: notes.into_warnings(),
        }),
        _ => Err(notes.into_error()),
    }
}

fn budget(document: &Section<'_, '_>, notes: &mut Notes<'_>) -> Option<BudgetPolicy> {
    let Some((fields, at)) = document.typed("budget", notes, DeValue::as_table).ok()? else {
        document.missing("budget", notes);
        return None;
    };
    let section = Section::new("`[budget]`".to_owned(), at, fields, BUDGET, notes);
    if section.get("epsilon").is_none() {
        section.missing("epsilon", notes);
    }
    // All of them before any `?`, so that each reports its own mistake.
    let epsilon = quantity(&section, "epsilon", Epsilon::new, notes);
    let delta = quantity(&section, "delta", Delta::new, notes);
    let accounting = choice(
        &section,
        "accounting",
        &[("pure", Accounting::Pure), ("zcdp", Accounting::Zcdp)],
        notes,
    );
    let neighbours = choice(
        &section,
        "neighbours",
        &[("add-remove", Neighbours::AddRemove), ("replace", Neighbours::Replace)],
        notes,
    );
    let per_query = quantity(&section, "per_query", Epsilon::new, notes);
    let answers = choice(
        &section,
        "answers",
        &[("personal", Answers::Personal), ("shared", Answers::Shared)],
        notes,
    );
    let least = quantity(&section, "min_per_query", Epsilon::new, notes);

    if let (Ok(Some((Accounting::Zcdp, at))), Ok(delta)) = (&accounting, &delta)
        && delta.is_none_or(|(delta, _)| delta.get() == 0.0)
    {
        notes.mistake(*at, Mistake::ZcdpWithoutDelta);
    }
    if let (Ok(Some((epsilon, _))), Ok(Some((per_query, at)))) = (&epsilon, &per_query)
        && per_query > epsilon
    {
        let (per_query, epsilon) = (per_query.get(), epsilon.get());
        notes.mistake(*at, Mistake::PerQuery { per_query, epsilon });
    }

    let (epsilon, epsilon_at) = epsilon.ok()??;
    let tenth = || (Epsilon::new(epsilon.get() / 10.0).unwrap_or(epsilon), epsilon_at);
    let (per_query, per_query_at) = per_query.ok()?.unwrap_or_else(tenth);
    let accounting = accounting.ok()?.map_or(Accounting::Pure, |(accounting, _)| accounting);
    let least = match least.ok()? {
        Some((least, at)) if least > per_query => {
            let (least, per_query) = (least.get(), per_query.get());
            notes.mistake(at, Mistake::MinPerQuery { least, per_query });
            return None;
        }
        Some((least, _)) => least,
        None => default_least(epsilon, per_query, accounting),
    };
    let (delta, delta_at) = delta.ok()?.unwrap_or((Delta::ZERO, at));
    let neighbours = neighbours.ok()?.map_or(Neighbours::AddRemove, |(neighbours, _)| neighbours);
    notes.warn(epsilon_at, odds::of_epsilon(epsilon, neighbours));
    notes.warn(delta_at, odds::of_delta(delta));
    // One warning about a large ε is enough.
    if odds::of_epsilon(epsilon, neighbours).is_none() {
        notes.warn(per_query_at, odds::of_query(per_query, neighbours));
    }
    let answers = answers.ok()?.map_or(Answers::Personal, |(answers, _)| answers);
    Some(BudgetPolicy {
        epsilon,
        delta,
        accounting,
        neighbours,
        per_query,
        min_per_query: least,
        answers,
    })
}

/// The default minimum ε of a new query. It allows a budget to be divided into a thousand queries under pure
/// accounting, and about three hundred under zCDP, where the price falls with the square of ε. It is never so large
/// that a useful query is refused: at most 0.01, or 0.1 under zCDP, and never more than the default price of a query.
fn default_least(epsilon: Epsilon, per_query: Epsilon, accounting: Accounting) -> Epsilon {
    let (parts, most) = match accounting {
        Accounting::Pure => (1000.0, 0.01),
        Accounting::Zcdp => (100.0, 0.1),
    };
    let least = (epsilon.get() / parts).min(most).min(per_query.get());
    Epsilon::new(least).unwrap_or(per_query)
}

/// A number that the core validates.
fn quantity<T>(
    section: &Section<'_, '_>,
    key: &'static str,
    validate: fn(f64) -> demure_core::Result<T>,
    notes: &mut Notes<'_>,
) -> section::FieldResult<T> {
    let Some((value, at)) = section.number(key, notes)? else { return Ok(None) };
    match validate(value) {
        Ok(valid) => Ok(Some((valid, at))),
        Err(source) => {
            let (key, _, remedy) = section.about(key);
            notes.mistake(at, Mistake::OutOfRange { key, source, remedy });
            Err(Noted)
        }
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(
    section: &Section<'_, '_>,
    key: &'static str,
    choices: &[(&'static str, T)],
    notes: &mut Notes<'_>,
) -> section::FieldResult<T> {
    let Some((word, at)) = section.text(key, notes)? else { return Ok(None) };
    if let Some((_, chosen)) = choices.iter().find(|(known, _)| *known == word) {
        return Ok(Some((*chosen, at)));
    }
    let (key, _, remedy) = section.about(key);
    notes.mistake(at, Mistake::UnknownChoice { key, given: word.to_owned(), remedy });
    Err(Noted)
}

fn tables(document: &Section<'_, '_>, notes: &mut Notes<'_>) -> Vec<TablePolicy> {
    let tables = match document.typed("tables", notes, DeValue::as_table) {
        Err(Noted) => return Vec::new(),
        Ok(tables) => tables.map(|(tables, _)| in_order(tables)).unwrap_or_default(),
    };
    if tables.is_empty() {
        notes.mistake(document.place("tables").unwrap_or(0), Mistake::NoTables);
    }
    let mut found = Vec::new();
    for (name, at, node) in tables {
        if !name::is_plain(name) {
            let (name, plain) = (name.to_owned(), name::made_plain(name));
            notes.mistake(at, Mistake::TableName { name, plain });
        }
        match node.get_ref() {
            DeValue::Table(fields) => {
                let owner = format!("table `{name}`");
                let section = Section::new(owner, at, fields, TABLE, notes);
                found.push(table(name, &section, notes));
            }
            other => {
                let (key, owner) = (name.to_owned(), "`[tables]`".to_owned());
                let remedy = format!("`[tables.{name}]` and below it `source = \"file.csv\"`");
                let found = section::described(other);
                notes.mistake(at, Mistake::WrongKind { key, owner, found, remedy });
            }
        }
    }
    links::check(&found, notes);
    found.into_iter().map(|(table, _)| table).collect()
}

/// A table, and the position of its unit.
fn table(name: &str, section: &Section<'_, '_>, notes: &mut Notes<'_>) -> (TablePolicy, usize) {
    let source = section.text("source", notes);
    if let Ok(None) = source {
        section.missing("source", notes);
    }
    let public = section.boolean("public", notes).map(|said| said.is_some_and(|(said, _)| said));
    let access = match public {
        Ok(true) => public_table(name, section, notes),
        Ok(false) => Access::Protected(protection(name, section, true, notes)),
        // Whether a unit is missing depends on what `public` was meant to be.
        Err(Noted) => Access::Protected(protection(name, section, false, notes)),
    };
    let source = source.ok().flatten().map_or(String::new(), |(source, _)| source.to_owned());
    let delimiter =
        section.typed("delimiter", notes, |value| demure_files::delimiter(value.as_str()?).ok());
    let delimiter = delimiter.ok().flatten().map(|(delimiter, _)| delimiter);
    let at = section.get("unit").map_or(section.at, |unit| unit.span().start);
    (TablePolicy { name: name.to_owned(), source, delimiter, access }, at)
}

fn public_table(name: &str, section: &Section<'_, '_>, notes: &mut Notes<'_>) -> Access {
    let of_people =
        ["unit", "contributions", "max_groups", "max_rows_per_group", "rows", "columns", "decimal"];
    for key in of_people {
        if let Some(at) = section.place(key) {
            let (table, key) = (name.to_owned(), key.to_owned());
            notes.mistake(at, Mistake::PublicWith { table, key });
        }
    }
    let key = section.typed("key", notes, |value| match value {
        DeValue::Array(columns) if !columns.is_empty() => {
            columns.iter().map(|column| column_name(column.get_ref())).collect()
        }
        other => column_name(other).map(|column| vec![column]),
    });
    let key: Vec<String> = match key {
        Ok(Some((key, at))) => {
            let twice = key.iter().enumerate().find(|(i, column)| key[..*i].contains(column));
            if let Some((_, column)) = twice {
                notes.mistake(at, Mistake::Twice { key: column.clone() });
            }
            key
        }
        _ => Vec::new(),
    };
    Access::Public { key }
}

fn column_name(value: &DeValue<'_>) -> Option<String> {
    value.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

fn protection(
    name: &str,
    section: &Section<'_, '_>,
    needs_unit: bool,
    notes: &mut Notes<'_>,
) -> Protection {
    if let (true, Some(at)) = (needs_unit, section.place("key")) {
        notes.mistake(at, Mistake::KeyOfProtected { table: name.to_owned() });
    }
    let unit = unit(name, section, needs_unit, notes);
    let is_row = unit == UnitPolicy::Row;
    let max_groups = limit(name, section, "max_groups", is_row, notes);
    let max_rows_per_group = limit(name, section, "max_rows_per_group", is_row, notes);
    let limited =
        ["max_groups", "max_rows_per_group"].into_iter().find_map(|key| section.place(key));
    let auto = section.typed("contributions", notes, |value| match value.as_str() {
        Some("auto") => Some(()),
        _ => None,
    });
    if let (Ok(Some(_)), Some(at)) = (auto, limited) {
        notes.mistake(at, Mistake::AutoWithLimits { table: name.to_owned() });
    }
    let learnt = limited.is_none() && !is_row;
    let rows = declared_rows(section, notes);
    let columns = columns(name, section, &unit, notes);
    Protection { unit, max_groups, max_rows_per_group, learnt, rows, columns }
}

/// The declared approximate number of rows of a table.
fn declared_rows(section: &Section<'_, '_>, notes: &mut Notes<'_>) -> Option<u64> {
    let (given, at) = section.whole("rows", notes).ok()??;
    let rows = u64::try_from(given).ok().filter(|rows| (1..=MOST_ROWS).contains(rows));
    if rows.is_none() {
        let (key, owner, remedy) = section.about("rows");
        let found = "out of range";
        notes.mistake(at, Mistake::WrongKind { key, owner, found, remedy });
    }
    rows
}

fn unit(name: &str, section: &Section<'_, '_>, needed: bool, notes: &mut Notes<'_>) -> UnitPolicy {
    // A placeholder that passes all other checks.
    let unknown = UnitPolicy::Column(String::new());
    match section.get("unit").map(|node| (node.get_ref(), node.span().start)) {
        None => {
            if needed {
                section.missing("unit", notes);
            }
            unknown
        }
        Some((DeValue::Table(fields), at)) => {
            let owner = format!("the unit of table `{name}`");
            let key = Section::new(owner, at, fields, UNIT, notes);
            foreign(name, &key, notes).unwrap_or(unknown)
        }
        Some(_) => match section.text("unit", notes) {
            Ok(Some(("row", _))) => UnitPolicy::Row,
            Ok(Some((column, _))) => UnitPolicy::Column(column.to_owned()),
            _ => unknown,
        },
    }
}

fn foreign(name: &str, key: &Section<'_, '_>, notes: &mut Notes<'_>) -> Option<UnitPolicy> {
    for needed in ["column", "references"] {
        if key.get(needed).is_none() {
            key.missing(needed, notes);
        }
    }
    let column = key.text("column", notes).ok().flatten();
    let (given, at) = key.text("references", notes).ok()??;
    match given.split_once('.').filter(|(table, key)| !table.is_empty() && !key.is_empty()) {
        Some((table, key)) => Some(UnitPolicy::Via {
            column: column.map_or(String::new(), |(column, _)| column.to_owned()),
            table: table.to_owned(),
            key: key.to_owned(),
        }),
        None => {
            let (table, given) = (name.to_owned(), given.to_owned());
            notes.mistake(at, Mistake::Reference { table, given });
            None
        }
    }
}

fn limit(
    name: &str,
    section: &Section<'_, '_>,
    key: &'static str,
    is_row: bool,
    notes: &mut Notes<'_>,
) -> u32 {
    let Ok(Some((given, at))) = section.whole(key, notes) else { return 1 };
    let (table, key) = (name.to_owned(), key.to_owned());
    match u32::try_from(given) {
        Ok(1) => 1,
        Ok(2..=MOST) if is_row => {
            notes.mistake(at, Mistake::RowLimit { key, table });
            1
        }
        Ok(limit @ 2..=MOST) => limit,
        _ => {
            notes.mistake(at, Mistake::Limit { key, table });
            1
        }
    }
}

fn columns(
    table: &str,
    section: &Section<'_, '_>,
    unit: &UnitPolicy,
    notes: &mut Notes<'_>,
) -> Vec<ColumnPolicy> {
    let Ok(Some((columns, _))) = section.typed("columns", notes, DeValue::as_table) else {
        return Vec::new();
    };
    let unit = match unit {
        UnitPolicy::Row => None,
        UnitPolicy::Column(column) | UnitPolicy::Via { column, .. } => Some(column),
    };
    let decimal = choice(section, "decimal", column::DECIMALS, notes).ok().flatten();
    let decimal_comma = decimal.is_some_and(|(comma, _)| comma);
    let mut found = Vec::new();
    for (name, at, node) in in_order(columns) {
        let column = column::read(name, at, node, decimal_comma, notes);
        if column.hidden && unit == Some(&column.name) {
            let (table, column) = (table.to_owned(), column.name.clone());
            notes.mistake(at, Mistake::HiddenUnit { table, column });
        }
        found.push(column);
    }
    found
}
