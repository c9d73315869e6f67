//! What a mechanism promises and how wrong it may be, as fields for people and programs.
//!
//! An explanation says what the mechanism is and how much noise it adds, then what it costs
//! ([`promised`]), then how wrong the answer may be ([`error_95`] and its relatives).

use demure_core::Result;
use demure_core::mechanism::{AboveThreshold, Calibration, Family, Guarantee, Quantile, Tree};
use demure_core::unit::{Beta, Neighbours};
use demure_core::utility::Accuracy;
use demure_report::{Report, short};
use std::ops::RangeInclusive;

/// β for the 95 % error bars shown everywhere.
pub fn five_percent() -> Result<Beta> {
    Beta::new(0.05)
}

/// A mechanism and its noise, as for [`calibrated`].
#[must_use]
pub fn noised(mechanism: &str, noise: Calibration, of: &str) -> Report {
    let report = Report::default().field("mechanism", mechanism);
    calibrated(report.field("noise", noise.family.to_string()), noise, of)
}

/// The noise that the core uses. `of` says what it is on, where that is not the answer itself.
#[must_use]
pub fn calibrated(report: Report, noise: Calibration, of: &str) -> Report {
    let (change, spread) = (noise.sensitivity, noise.scale);
    let name = match noise.family {
        Family::Laplace => "scale",
        Family::Gaussian => "sigma",
    };
    let text = |x: f64| format!("{}{of}", short(x));
    report.described("sensitivity", change, text(change)).described(name, spread, text(spread))
}

/// What is spent, in its own currency.
#[must_use]
pub fn spent(report: Report, guarantee: Guarantee) -> Report {
    match guarantee {
        Guarantee::Pure(epsilon) => report.field("epsilon", epsilon.get()).hidden("delta", 0.0),
        Guarantee::Approximate(epsilon, delta) => {
            report.field("epsilon", epsilon.get()).field("delta", delta.get())
        }
        Guarantee::Concentrated(rho) => report.field("rho", rho.get()),
        _ => report,
    }
}

/// What is promised.
#[must_use]
pub fn promised(report: Report, guarantee: Guarantee, neighbours: Neighbours) -> Report {
    let meaning = match neighbours {
        Neighbours::AddRemove => "add-remove (one unit present or absent)",
        Neighbours::Replace => "replace (one unit's data changed; the size is public)",
    };
    spent(report, guarantee)
        .described("neighbours", neighbours.to_string(), meaning)
        .field("guarantee", guarantee.to_string())
}

/// The error of a mechanism that has a bound, over the noise alone.
pub fn error_95(mechanism: &impl Accuracy) -> Result<Report> {
    let error = mechanism.error(five_percent()?)?;
    let text = format!("± {} with 95 % confidence (noise alone)", short(error));
    Ok(Report::default().described("error_95", error, text))
}

/// The error of a statistic whose error depends on how many rows there are: for `rows` of them,
/// if that may be said, else for none, where it is largest.
pub fn error_of_rows(
    rows: Option<u64>,
    error: impl Fn(u64, Beta) -> Result<f64>,
) -> Result<Report> {
    let bound = error(rows.unwrap_or(0), five_percent()?)?;
    let text = match rows {
        Some(rows) => {
            format!("± {} with 95 % confidence for {rows} rows (noise alone)", short(bound))
        }
        None => format!(
            "± {} at worst (the number of rows is protected; --n N says how much for N rows)",
            short(bound)
        ),
    };
    Ok(Report::default().described("error_95", bound, text))
}

/// What the exponential mechanism for a quantile does and promises.
pub fn quantile(mechanism: &Quantile, q: f64, neighbours: Neighbours) -> Result<Report> {
    let ranks = |x: f64| format!("{} ranks", short(x));
    let error = mechanism.error(five_percent()?)?;
    let report = Report::default()
        .field("mechanism", "exponential mechanism on the rank")
        .field("q", q)
        .described("sensitivity", mechanism.sensitivity(), ranks(mechanism.sensitivity()))
        .described("scale", mechanism.scale(), ranks(mechanism.scale()))
        .field("grid", mechanism.grid().spacing());
    let text = format!("at most {} off with 95 % confidence (noise alone)", ranks(error));
    Ok(promised(report, mechanism.guarantee(), neighbours).described("error_95", error, text))
}

/// What the sparse vector does and promises.
pub fn sparse(
    mechanism: &AboveThreshold,
    positives: u32,
    sensitivity: f64,
    neighbours: Neighbours,
) -> Result<Report> {
    let (once, each) = mechanism.scales();
    let error = mechanism.error(five_percent()?)?;
    let report = Report::default()
        .field("mechanism", "sparse vector (above threshold)")
        .field("positives", positives)
        .field("sensitivity", sensitivity)
        .described("scale", each, format!("{} for each value", short(each)))
        .described("threshold_scale", once, format!("{} for the threshold", short(once)));
    let text = format!(
        "a value {} or more from the threshold is answered rightly with 95 % confidence",
        short(error)
    );
    Ok(promised(report, mechanism.guarantee(), neighbours).described("error_95", error, text))
}

/// What a tree of counts does and promises, and the error of the worst of these ranges, or of any.
pub fn tree(
    mechanism: &Tree,
    ranges: Option<&[RangeInclusive<usize>]>,
    neighbours: Neighbours,
) -> Result<Report> {
    let (noise, beta) = (mechanism.calibration(), five_percent()?);
    let report = Report::default()
        .field("mechanism", "tree of counts, made consistent")
        .field("levels", mechanism.levels())
        .field("noise", noise.family.to_string());
    let (error, what) = match ranges {
        None => (mechanism.error(beta)?, "any one range"),
        Some(ranges) => {
            let errors = ranges.iter().map(|range| mechanism.error_of_range(range.clone(), beta));
            let errors: Vec<f64> = errors.collect::<Result<_>>()?;
            (errors.into_iter().fold(0.0, f64::max), "each range")
        }
    };
    let text = format!("± {} on {what}, with 95 % confidence (noise alone)", short(error));
    let report = promised(calibrated(report, noise, ""), mechanism.guarantee(), neighbours);
    Ok(report.described("error_95", error, text))
}

/// What `draws` draws cost and how wrong each may be, in one line.
#[must_use]
pub fn one_line(explanation: &Report, draws: u32) -> String {
    let relation = explanation.text_of("neighbours").split(' ').next().unwrap_or_default();
    let times = if draws == 1 { String::new() } else { format!(", {draws} times over") };
    let error = match explanation.text_of("error_95") {
        "" => String::new(),
        error => format!("{error}; "),
    };
    format!("{error}cost {}{times} ({relation})", explanation.text_of("guarantee"))
}
