//! What is wrong with a job: the names of its parts, never a value of a table.

/// A mistake in a job. Parts of a job are called as users write them, `--qi` or `--k-map`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// A table is empty.
    #[error("{path} has no rows below its header")]
    NoRows {
        /// The file.
        path: String,
    },

    /// A column is missing because the whole header was taken for one column.
    #[error(
        "{missing}\nhint: the header is one column; what separates columns is set with \
         --delimiter, e.g. --delimiter ';' or --delimiter tab"
    )]
    OneColumn {
        /// The column that is missing.
        missing: Box<crate::Error>,
    },

    /// No quasi-identifier was named.
    #[error(
        "no quasi-identifiers: give --qi with the columns that an observer may know, e.g. --qi zip,age"
    )]
    NoQuasi,

    /// A column is named as known and as to be hidden.
    #[error("column `{column}` is in both --qi and --sensitive: an observer knows it, or does not")]
    InBoth {
        /// The column.
        column: String,
    },

    /// The population has values that no row of the table has and its hierarchy neither.
    #[error(
        "the population has {values} distinct values of `{column}` that are not in its \
         hierarchy; add them to it"
    )]
    PopulationNotInHierarchy {
        /// The column.
        column: String,
        /// How many.
        values: u64,
    },

    /// More is asked of a class than the table has.
    #[error("--{parameter} must be at most the number of rows, which is {rows}")]
    MoreThanRows {
        /// `k` or `n`.
        parameter: &'static str,
        /// The table's rows.
        rows: usize,
    },

    /// k-map without a population.
    #[error("--k-map is about a population: give its table with --population")]
    NoPopulation,

    /// A model of sensitive values without sensitive columns.
    #[error("{option} is about sensitive columns: name them with --sensitive")]
    NoSensitive {
        /// What asks for the model.
        option: &'static str,
    },

    /// A `c` that no model takes.
    #[error("--c belongs to --l with --diversity recursive")]
    IdleC,

    /// Recursive diversity without its `c`.
    #[error("--diversity recursive needs --c, e.g. --c 3")]
    NoC,

    /// No model at all.
    #[error(
        "nothing is promised: give at least one of --k, --k-map, --l, --t, --disclosure, --likeness"
    )]
    NoPromise,

    /// `l` cannot be read.
    #[error("--l must be {must}")]
    WrongL {
        /// What it may be.
        must: &'static str,
    },

    /// A kind of subset that is decided for one distance only.
    #[error("--subset any and --subset shared are decided for --distance variational only")]
    VariationalOnly,

    /// The hierarchical distance of a column without a hierarchy.
    #[error("--distance hierarchical needs a hierarchy of `{column}`: --hierarchy {column}=FILE")]
    NoHierarchy {
        /// The column.
        column: String,
    },

    /// A hierarchy without a column.
    #[error(
        "--hierarchy must be column=how, e.g. zip=zip.csv or age=intervals:5,10; \
         number {number} is not"
    )]
    HierarchyForm {
        /// Which, counted from 1.
        number: usize,
    },

    /// A way to build a hierarchy that cannot be read.
    #[error("the hierarchy of `{column}` must be {must}")]
    HierarchyHow {
        /// The column.
        column: String,
        /// What it may be.
        must: &'static str,
    },

    /// An order without a column.
    #[error("--order must be column=order, e.g. salary=number; number {number} is not")]
    OrderForm {
        /// Which, counted from 1.
        number: usize,
    },

    /// An order by size of texts.
    #[error(
        "the values of `{column}` are not all numbers; give their order as {column}=text or \
         {column}=a,b,c"
    )]
    NotNumbers {
        /// The column.
        column: String,
    },

    /// An order that lacks values of its column.
    #[error(
        "{rows} rows have {values} distinct values of `{column}` that its --order does not list; \
         add them to it"
    )]
    NotInOrder {
        /// The column.
        column: String,
        /// How many rows.
        rows: usize,
        /// How many distinct values.
        values: usize,
    },

    /// A population where nothing counts it.
    #[error("--population is for --method optimal: the other methods do not count it")]
    IdlePopulation,

    /// A metric where nothing is minimized.
    #[error("--metric is for --method optimal: the other methods cut where they can")]
    IdleMetric,

    /// A file of witnesses that cannot be read.
    #[error("{path}: line {line} is not JSON")]
    NotJson {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },

    /// A file of witnesses that lacks a class.
    #[error(
        "{path} names no set for a class of the table; it belongs to another table, \
         or lists only a part of the classes"
    )]
    NoSet {
        /// The file.
        path: String,
    },

    /// A file of witnesses that lacks a model.
    #[error(
        "{path} says nothing about {model}: it must be the --json of that release, with the same models"
    )]
    NoModel {
        /// The file.
        path: String,
        /// The model.
        model: String,
    },

    /// A set that only the original can show.
    #[error(
        "to see that a set is a class of a coarser release takes the table it was made \
         from: give --original, and --hierarchy as it was given for the release"
    )]
    NoOriginal,

    /// A set that nothing at hand can show.
    #[error("a set that is a part of an earlier cut cannot be told from the published table")]
    EarlierCut,
}
