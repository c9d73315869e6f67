//! What cannot be planned, and what to change. No message holds a protected value.

/// The result of a plan.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no plan. Parameters are called as users write them, `--delta` or `--n`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The core refused.
    #[error(transparent)]
    Core(#[from] demure_core::Error),

    /// A budget that no mechanism here spends.
    #[error("this budget is of a kind that cannot be spent here: give --epsilon or --rho")]
    UnknownBudget,
    /// An (ε,δ) that no ρ implies.
    #[error("no rho implies so small an epsilon and delta\nhint: give --rho, or --noise auto")]
    NoRho,
    /// A noise that needs δ.
    #[error(
        "this noise promises (ε,δ) only\n\
         hint: give --epsilon and --delta, or use --noise pareto or student for pure ε"
    )]
    NeedsDelta,
    /// A noise that has no pure ε.
    #[error(
        "Laplace-log-normal noise promises ρ-zCDP, and no pure ε\n\
         hint: give --rho, or --epsilon and --delta, or use --noise pareto for pure ε"
    )]
    NotPure,
    /// A statistic of more rows than there are; their number is public.
    #[error(
        "there are too few rows for this statistic\n\
         hint: a median needs one, and a trimmed mean more than it leaves out"
    )]
    TooFewRows,
    /// A median under add-remove without a public size.
    #[error(
        "under --neighbours add-remove the number of rows is protected\n\
         hint: give --size N, a public number that the rows are filled up to, or --neighbours replace"
    )]
    NoSize,

    /// Integer noise on a fraction.
    #[error("value must be a whole number of at most 2^53 in size with --integer")]
    ValueNotWhole,
    /// Integer noise for a change by a fraction.
    #[error("sensitivity must be a whole number up to 10^9 with --integer")]
    SensitivityNotWhole,

    /// Probabilities of a method that has no table of them.
    #[error(
        "--probabilities has no table for --method noisy-max; use exponential or permute-and-flip"
    )]
    NoTable,
    /// A table that would take too long.
    #[error("scores must be at most {most} for a table of permute-and-flip")]
    TooManyScores {
        /// How many scores it may have.
        most: usize,
    },
    /// Noisy maximum of fractions.
    #[error("scores must be whole numbers of at most 2^53 in size with --method noisy-max")]
    ScoresNotWhole,

    /// Rows where people are counted.
    #[error("max-rows must be 1 for truncated-geometric: its counts are of people, each once")]
    CountsOfPeople,

    /// A parameter of randomized response outside its range.
    #[error("{parameter} must be a number strictly between 0 and {most}")]
    NotBetween {
        /// `alpha` or `gamma`.
        parameter: &'static str,
        /// Its upper end.
        most: f64,
    },
    /// A probability of the truth outside its range.
    #[error("truth must be a number strictly between 1/categories and 1")]
    WrongTruth,
    /// A parameter of yes or no for more categories.
    #[error(
        "alpha and gamma must be for yes or no; with other categories give --epsilon or --truth"
    )]
    YesOrNo,
    /// More answers of one kind than answers.
    #[error("yes must be a whole number from 0 to n")]
    YesAboveAll,
    /// A response without a pure ε.
    #[error("randomized response has no pure epsilon here")]
    NoResponse,

    /// More cells than fit a sensible answer.
    #[error("cells must be at most 10,000,000")]
    TooManyCells,
    /// Cells of whole numbers between fractions.
    #[error("bounds must be whole numbers with --integer")]
    BoundsNotWhole,
    /// Bounds that floats cannot cut.
    #[error("bounds must be low,high, not too far or near for the cells")]
    BoundsForCells,

    /// Nobody.
    #[error("n must be a whole number of at least 1")]
    NoPeople,
    /// Not two of three.
    #[error("give two of --error, --n and --epsilon; the third is the answer")]
    NotTwo,
    /// Not two of three, for randomized response.
    #[error(
        "give two of privacy (--gamma, --alpha, --epsilon or --truth), --n and --error; \
         the third is the answer"
    )]
    NotTwoOfResponse,
    /// A number of people for an error that does not depend on it.
    #[error(
        "error must be a share, e.g. 1%, to ask for n: in absolute terms the noise is \
         the same for any number of people"
    )]
    ErrorNotShare,

    /// An event that cannot be read.
    #[error("in `{text}`, {source}")]
    Event {
        /// The event as it was written.
        text: String,
        /// What is wrong with it.
        source: demure_core::event::ParseError,
    },
    /// No unknown, or more than one.
    #[error("exactly one event must have a `?`, e.g. gaussian(sigma=?)")]
    NotOneUnknown,
    /// A curve without points.
    #[error("nothing to draw: ε is 0 or infinite almost everywhere")]
    NothingToDraw,
}
