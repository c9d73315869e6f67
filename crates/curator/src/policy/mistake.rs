//! Mistakes in a policy. Each message ends with what to write instead.
//!
//! Everyone who sees these messages may read the policy, so its names and numbers may be quoted.

use super::PointInTime;
use demure_core::Error;

/// A mistake, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The file is not TOML.
    #[error("this is not TOML ({message}): correct it; what follows may not have been understood")]
    Syntax {
        /// What the parser says.
        message: String,
    },

    /// A key, column or table is written twice.
    #[error("`{key}` is written twice: keep one of the two")]
    Twice {
        /// Its name.
        key: String,
    },

    /// An unknown key.
    #[error("unknown key `{key}` in {owner}: {remedy}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The part of the policy that it is in.
        owner: String,
        /// What was probably meant, or what is possible.
        remedy: String,
    },

    /// A required key is missing.
    #[error("{owner} has no `{key}`: write {remedy}")]
    Missing {
        /// The key.
        key: String,
        /// The part of the policy that it belongs in.
        owner: String,
        /// How it is written.
        remedy: String,
    },

    /// A value of the wrong kind, such as a text instead of a number.
    #[error("`{key}` in {owner} is {found}: write {remedy}")]
    WrongKind {
        /// The key.
        key: String,
        /// The part of the policy that it is in.
        owner: String,
        /// The kind of its value.
        found: &'static str,
        /// How it is written.
        remedy: String,
    },

    /// A privacy parameter out of its range.
    #[error("`{key}` is out of range: {source}; write {remedy}")]
    OutOfRange {
        /// The key.
        key: String,
        /// What the core says.
        source: Error,
        /// How it is written.
        remedy: String,
    },

    /// Not one of the allowed words.
    #[error("`{given}` is not a choice for `{key}`: write {remedy}")]
    UnknownChoice {
        /// The key.
        key: String,
        /// The word.
        given: String,
        /// The allowed words.
        remedy: String,
    },

    /// The default price is more than the whole budget.
    #[error(
        "`per_query` = {per_query} is more than the whole `epsilon` = {epsilon}: write a \
         smaller one, or leave it out for a tenth of `epsilon`"
    )]
    PerQuery {
        /// The ε of a query.
        per_query: f64,
        /// The ε of them all.
        epsilon: f64,
    },

    /// The default price is below the least price.
    #[error(
        "`min_per_query` = {least} is more than `per_query` = {per_query}, so that a query that \
         does not say would be refused: write a smaller one"
    )]
    MinPerQuery {
        /// The least ε of a query.
        least: f64,
        /// The default price of a query, in ε.
        per_query: f64,
    },

    /// zCDP accounting without a δ, which it needs to state an ε.
    #[error(
        "`accounting = \"zcdp\"` needs a `delta` above 0, since it states an ε only at some δ: \
         write e.g. `delta = 1e-6`, or `accounting = \"pure\"`"
    )]
    ZcdpWithoutDelta,

    /// Not the id of a ledger.
    #[error(
        "`id` in `[ledger]` is not 32 hexadecimal digits: put back what `demure` wrote there; \
         remove the section only if the policy never had a ledger"
    )]
    LedgerId,

    /// Not the address of a ledger.
    #[error(
        "`at` in `[ledger]` cannot be read: write `at = \"clinic.ledger\"` or \
         `at = \"postgres://user@host/database\"`"
    )]
    LedgerAddress,

    /// A password in the policy, where everyone can read it.
    #[error(
        "`at` in `[ledger]` holds a password: leave it out, and give the whole address in the \
         environment variable DEMURE_LEDGER"
    )]
    LedgerPassword,

    /// The policy has no tables.
    #[error("the policy has no tables: write `[tables.name]` with a `source` and a `unit`")]
    NoTables,

    /// A table whose name a query would have to quote.
    #[error(
        "table name `{name}` is not plain lowercase letters, digits and _, of at most 63: write \
         `[tables.{plain}]`"
    )]
    TableName {
        /// The name.
        name: String,
        /// A similar plain name.
        plain: String,
    },

    /// A public table has a key that only protected tables have.
    #[error(
        "table `{table}` is public, so nobody's, and has `{key}`: remove `{key}`, or remove \
         `public = true` if its rows are about people"
    )]
    PublicWith {
        /// The table.
        table: String,
        /// The key.
        key: String,
    },

    /// A protected table has a `key`.
    #[error(
        "`key` is for public tables and `{table}` is protected: remove it, or write `public = \
         true` if its rows are about nobody"
    )]
    KeyOfProtected {
        /// The table.
        table: String,
    },

    /// A contribution bound out of its range.
    #[error(
        "`{key}` of table `{table}` must be a whole number from 1 to 1048576 (2^20): write how \
         much of one person a query may use, e.g. `{key} = 5`"
    )]
    Limit {
        /// The key.
        key: String,
        /// The table.
        table: String,
    },

    /// A contribution bound other than 1 where the unit is a row.
    #[error(
        "`{key}` of table `{table}` must be 1 with `unit = \"row\"`, since a row is one row of \
         one group: remove it, or name the column that says whose row it is, `unit = \
         \"column\"`"
    )]
    RowLimit {
        /// The key.
        key: String,
        /// The table.
        table: String,
    },

    /// Contribution bounds that are declared and to be learnt.
    #[error(
        "table `{table}` declares a limit and `contributions = \"auto\"`: remove the limits, and how \
         many rows of a person count in full is learnt; or remove `contributions`"
    )]
    AutoWithLimits {
        /// The table.
        table: String,
    },

    /// The unit column is hidden.
    #[error(
        "column `{column}` of table `{table}` says whose row it is and is hidden: remove \
         `hidden = true`; no answer shows it in any case"
    )]
    HiddenUnit {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },

    /// A foreign key that is not of the form `table.column`.
    #[error(
        "`references = \"{given}\"` of table `{table}` is not a table and a column: write \
         `references = \"table.column\"`"
    )]
    Reference {
        /// The table.
        table: String,
        /// The value that is given.
        given: String,
    },

    /// A foreign key to a table that is not in the policy.
    #[error(
        "the unit of table `{table}` comes from `{given}`, which is not a table of this policy: \
         {remedy}"
    )]
    UnknownTable {
        /// The table.
        table: String,
        /// What it refers to.
        given: String,
        /// What was probably meant.
        remedy: String,
    },

    /// A foreign key to a public table.
    #[error(
        "the unit of table `{table}` comes from `{given}`, which is public and has none: refer \
         to a table with a `unit`, or name a column of `{table}` itself, `unit = \"column\"`"
    )]
    PublicReference {
        /// The table.
        table: String,
        /// What it refers to.
        given: String,
    },

    /// A foreign key to a table without a unit column.
    #[error(
        "the unit of table `{table}` comes from `{given}`, where every row is someone else and \
         no column says who: write `unit = \"column\"` in table `{given}`"
    )]
    RowReference {
        /// The table.
        table: String,
        /// What it refers to.
        given: String,
    },

    /// Foreign keys in a cycle.
    #[error(
        "the units of tables come from each other in a circle, {path}: name in one of them the \
         column that says whose row it is, `unit = \"column\"`"
    )]
    Cycle {
        /// `a → b → a`.
        path: String,
    },

    /// Bounds that are neither two numbers nor two dates.
    #[error(
        "`bounds` of column `{column}` are not two numbers, two dates or two times: write \
         `bounds = [low, high]`, dates as `[2023-01-01, 2024-12-31]`, without quotes"
    )]
    BoundsLength {
        /// The column.
        column: String,
    },

    /// Bounds that are not finite.
    #[error(
        "`bounds` of column `{column}` are not finite: write the lowest and the highest value \
         that count, e.g. `bounds = [0, 120]`; values beyond them are clamped"
    )]
    BoundsNotFinite {
        /// The column.
        column: String,
    },

    /// Bounds that contain no interval.
    #[error(
        "`bounds = [{low}, {high}]` of column `{column}` contain no two values: write the lower \
         first, and a higher one second"
    )]
    BoundsReversed {
        /// The column.
        column: String,
        /// The first.
        low: f64,
        /// The second.
        high: f64,
    },

    /// A number and a date, or a date and a time.
    #[error(
        "`bounds` of column `{column}` are of different kinds: write two numbers, two dates as \
         `[2023-01-01, 2024-12-31]`, or two times as `[2023-01-01T00:00:00, 2023-12-31T12:00:00]`"
    )]
    BoundsMixed {
        /// The column.
        column: String,
    },

    /// A bound that is neither a date nor a time without a zone.
    #[error(
        "`bounds` of column `{column}` contain {found}: write dates as `2023-01-01`, or times as \
         `2023-01-01T12:00:00`; they are in UTC"
    )]
    BoundsNotLocal {
        /// The column.
        column: String,
        /// What it is instead.
        found: &'static str,
    },

    /// Dates or times that contain no interval.
    #[error(
        "`bounds` of column `{column}` go from {low} to {high}: write the earlier first, and a \
         later one second"
    )]
    BoundsOfTimesReversed {
        /// The column.
        column: String,
        /// The first.
        low: PointInTime,
        /// The second.
        high: PointInTime,
    },

    /// Times as bounds of dates.
    #[error(
        "column `{column}` holds dates and its `bounds` are times: write dates, \
         `bounds = [2023-01-01, 2024-12-31]`, or `type = \"time\"`"
    )]
    TimesOfDates {
        /// The column.
        column: String,
    },

    /// Numbers as bounds of dates or times.
    #[error(
        "column `{column}` holds dates or times and its `bounds` are numbers: write dates, \
         `bounds = [2023-01-01, 2024-12-31]`"
    )]
    NumbersOfTimes {
        /// The column.
        column: String,
    },

    /// Dates or times as bounds of other values.
    #[error(
        "`bounds` of column `{column}` are dates or times, and its `type` is another: write \
         `type = \"date\"` or `type = \"time\"`, or numbers as `bounds`"
    )]
    TimesOfOthers {
        /// The column.
        column: String,
    },

    /// Bounds of dates beside a list of values.
    #[error(
        "column `{column}` has `values`, and `bounds` that are dates or times: keep one of the two"
    )]
    TimesAndValues {
        /// The column.
        column: String,
    },

    /// A grid for dates or times.
    #[error(
        "column `{column}` has a `grid`, which is for numbers, and `bounds` that are dates or \
         times: remove `grid`"
    )]
    GridOfTimes {
        /// The column.
        column: String,
    },

    /// Bounds too far apart for their grid, too close together, or too large.
    #[error("`bounds` and `grid` of column `{column}` do not fit: {source}; write {remedy}")]
    BoundsOnGrid {
        /// The column.
        column: String,
        /// What the core says.
        source: Error,
        /// A grid that fits, if there is one.
        remedy: String,
    },

    /// A grid that is not a positive number.
    #[error(
        "`grid` of column `{column}` must be a finite number above 0: write the precision that \
         matters, e.g. `grid = 0.01`"
    )]
    GridNotPositive {
        /// The column.
        column: String,
    },

    /// A grid without bounds.
    #[error(
        "column `{column}` has a `grid` and no bounds: write `bounds = [low, high]` too, or \
         remove it"
    )]
    GridAlone {
        /// The column.
        column: String,
    },

    /// A format that cannot be read.
    #[error(
        "the `format` of column `{column}` {fault}: write for instance `format = \"%d.%m.%Y\"`, with %Y \
         or %y, %m or %b, %d, and for times %H, %M and %S"
    )]
    Format {
        /// The column.
        column: String,
        /// What is wrong with it.
        fault: &'static str,
    },

    /// A format of what is not a date.
    #[error(
        "column `{column}` has a `format`, which is for dates and times, and another `type`: write \
         `type = \"date\"` or `type = \"time\"`, or remove the format"
    )]
    FormatOfOthers {
        /// The column.
        column: String,
    },

    /// A decimal separator of what is not a number.
    #[error(
        "column `{column}` has a `decimal`, which is for numbers, and another `type`: write \
         `type = \"real\"` or `type = \"integer\"`, or remove `decimal`"
    )]
    DecimalOfOthers {
        /// The column.
        column: String,
    },

    /// An empty list of values.
    #[error(
        "`values` of column `{column}` are empty: list every value there can be, or remove the key"
    )]
    ValuesEmpty {
        /// The column.
        column: String,
    },

    /// A list that is too long.
    #[error(
        "`values` of column `{column}` are {count}, more than 100000: list fewer, or put them \
         in a table with `public = true` and join it"
    )]
    ValuesMany {
        /// The column.
        column: String,
        /// How many there are.
        count: usize,
    },

    /// A value that no column can have.
    #[error(
        "`values` of column `{column}` contain {found}: write texts, whole numbers, finite real \
         numbers, booleans or dates like 1985-06-30"
    )]
    ValuesKind {
        /// The column.
        column: String,
        /// The kind of value.
        found: &'static str,
    },

    /// Values of different kinds.
    #[error("`values` of column `{column}` are {first} and {second}: write all of one kind{hint}")]
    ValuesMixed {
        /// The column.
        column: String,
        /// One kind.
        first: &'static str,
        /// Another.
        second: &'static str,
        /// How to fix it, if that is not obvious.
        hint: &'static str,
    },

    /// A value written twice.
    #[error("`values` of column `{column}` contain {value} twice: keep one of the two")]
    ValuesTwice {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },

    /// Bounds on values that are not numbers.
    #[error(
        "column `{column}` has `bounds`, which are for numbers, and `values` that are {kind}: \
         keep one of the two"
    )]
    BoundsAndValues {
        /// The column.
        column: String,
        /// The kind of the values.
        kind: &'static str,
    },

    /// A value outside its column's bounds.
    #[error(
        "`values` of column `{column}` contain {value}, which is outside its `bounds`: widen \
         `bounds`, or remove the value"
    )]
    ValueOutside {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
}
