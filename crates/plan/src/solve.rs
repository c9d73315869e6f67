//! Any two of n, ε and error give the third.

use crate::error::{Error, Result};
use demure_core::mechanism::{
    BoundedMean, BoundedSum, Bounds, Contributions, Count, Histogram, Rows,
};
use demure_core::unit::{Beta, Epsilon, Neighbours};
use demure_core::utility::{Accuracy, count_for_error, epsilon_for_error};
use demure_report::{grouped, short};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// An error as it is wanted: `10` in the statistic's units, `1%` of the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorTarget {
    /// In the statistic's units.
    Absolute(f64),
    /// A share of the whole.
    Share(f64),
}

impl FromStr for ErrorTarget {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let (digits, share) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent, true),
            None => (text, false),
        };
        match digits.trim().parse::<f64>() {
            Ok(x) if x.is_finite() && x > 0.0 && share => Ok(Self::Share(x / 100.0)),
            Ok(x) if x.is_finite() && x > 0.0 => Ok(Self::Absolute(x)),
            _ => Err("must be a finite number greater than 0, e.g. 10, or a share, e.g. 1%"),
        }
    }
}

/// The error, in a statistic's units, of n people at ε, except with probability β.
type ErrorAt = Box<dyn Fn(Epsilon, u64, Beta) -> demure_core::Result<f64>>;

/// A statistic whose error is known.
pub struct Statistic {
    /// `a count`, `the mean of values between 0 and 100`.
    subject: String,
    /// How the error is bounded.
    pub method: String,
    error: ErrorAt,
    /// Whether that error depends on n.
    counts_people: bool,
    /// What 100 % is for n people, and its name.
    full: Box<dyn Fn(u64) -> f64>,
    full_name: &'static str,
}

impl Statistic {
    /// A count of rows, of which one unit has at most so many.
    #[must_use]
    pub fn count(max_rows: u32, neighbours: Neighbours) -> Self {
        Self {
            subject: "a count".into(),
            method: format!("discrete Laplace noise, sensitivity {max_rows}"),
            error: Box::new(move |epsilon, _, beta| {
                Count::new(epsilon, neighbours, Rows::AtMost(max_rows))?.error(beta)
            }),
            counts_people: false,
            full: Box::new(|n| n as f64),
            full_name: "n",
        }
    }

    /// The counts of a histogram, all at once.
    #[must_use]
    pub fn histogram(bins: u32, most: Contributions, neighbours: Neighbours) -> Self {
        Self {
            subject: match bins {
                1 => "a histogram's one count".to_owned(),
                bins => format!("every one of a histogram's {bins} counts"),
            },
            method: format!("discrete Laplace noise, union bound over {bins} bins"),
            error: Box::new(move |epsilon, _, beta| {
                Histogram::new(epsilon, neighbours, most)?.error_of_all(bins, beta)
            }),
            counts_people: false,
            full: Box::new(|n| n as f64),
            full_name: "n",
        }
    }

    /// A sum of bounded numbers.
    pub fn sum(range: RangeInclusive<f64>, neighbours: Neighbours) -> Result<Self> {
        let (low, high) = (*range.start(), *range.end());
        let bounds = Bounds::new(low, high)?;
        Ok(Self {
            subject: format!("a sum of values between {} and {}", short(low), short(high)),
            method: "discrete Laplace noise on the sum of clamped values".into(),
            error: Box::new(move |epsilon, _, beta| {
                BoundedSum::new(epsilon, bounds, neighbours, Rows::Exactly(1))?.error(beta)
            }),
            counts_people: false,
            full: Box::new(move |n| n as f64 * low.abs().max(high.abs())),
            full_name: "the largest possible sum",
        })
    }

    /// A mean of bounded numbers.
    pub fn mean(range: RangeInclusive<f64>, neighbours: Neighbours) -> Result<Self> {
        let (low, high) = (*range.start(), *range.end());
        let bounds = Bounds::new(low, high)?;
        Ok(Self {
            subject: format!("the mean of values between {} and {}", short(low), short(high)),
            method: match neighbours {
                Neighbours::AddRemove => "discrete Laplace noise on two sums, their share released",
                Neighbours::Replace => "discrete Laplace noise on the sum, divided by a public n",
            }
            .into(),
            error: Box::new(move |epsilon, n, beta| {
                BoundedMean::new(epsilon, bounds, neighbours, Rows::Exactly(1))?.error(n, beta)
            }),
            counts_people: true,
            full: Box::new(move |_| high - low),
            full_name: "the distance between the bounds",
        })
    }

    /// An error as a share of what 100 % is for n people: the share, and what it is of.
    #[must_use]
    pub fn share(&self, error: f64, n: u64) -> (f64, &'static str) {
        (error / (self.full)(n), self.full_name)
    }
}

/// Two of three.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requirements {
    /// The error allowed.
    pub error: Option<ErrorTarget>,
    /// How many people.
    pub n: Option<u64>,
    /// The privacy loss.
    pub epsilon: Option<Epsilon>,
}

/// Two quantities given and the third found.
#[derive(Clone, Copy, Debug)]
pub struct Solution {
    /// `None` where the number of people does not matter.
    pub n: Option<u64>,
    /// The privacy loss.
    pub epsilon: Epsilon,
    /// In the statistic's units.
    pub error: f64,
    /// Which of them was asked for.
    pub asked: Asked,
    wanted: Option<ErrorTarget>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// How many people.
    People,
    /// How much ε.
    Epsilon,
    /// How large an error.
    Error,
}

impl Requirements {
    /// Finds the third quantity.
    pub fn solve(&self, statistic: &Statistic, beta: Beta) -> Result<Solution> {
        if self.n == Some(0) {
            return Err(Error::NoPeople);
        }
        let error_at = |epsilon, n| (statistic.error)(epsilon, n, beta);
        let (n, epsilon, asked) = match (self.error, self.n, self.epsilon) {
            (None, n, Some(epsilon)) if n.is_some() || !statistic.counts_people => {
                (n, epsilon, Asked::Error)
            }
            (Some(wanted), Some(n), None) => {
                let most = match wanted {
                    ErrorTarget::Absolute(error) => error,
                    ErrorTarget::Share(share) => share * (statistic.full)(n),
                };
                let epsilon = epsilon_for_error(most, |epsilon| error_at(epsilon, n))?;
                (Some(n), epsilon, Asked::Epsilon)
            }
            (Some(ErrorTarget::Absolute(most)), None, None) if !statistic.counts_people => {
                let epsilon = epsilon_for_error(most, |epsilon| error_at(epsilon, 1))?;
                (None, epsilon, Asked::Epsilon)
            }
            (Some(ErrorTarget::Absolute(_)), None, Some(_)) if !statistic.counts_people => {
                return Err(Error::ErrorNotShare);
            }
            (Some(wanted), None, Some(epsilon)) => {
                let n = match wanted {
                    ErrorTarget::Absolute(most) => count_for_error(most, |n| error_at(epsilon, n))?,
                    ErrorTarget::Share(share) => {
                        count_for_error(share, |n| Ok(error_at(epsilon, n)? / (statistic.full)(n)))?
                    }
                };
                (Some(n), epsilon, Asked::People)
            }
            _ => return Err(Error::NotTwo),
        };
        let error = error_at(epsilon, n.unwrap_or(1))?;
        Ok(Solution { n, epsilon, error, asked, wanted: self.error })
    }
}

impl Solution {
    /// The error a decade to either side of ε.
    #[must_use]
    pub fn curve(&self, statistic: &Statistic, beta: Beta) -> Vec<(f64, f64)> {
        around(self.epsilon.get(), |epsilon| {
            (statistic.error)(Epsilon::new(epsilon)?, self.n.unwrap_or(1), beta)
        })
    }

    /// One sentence that a statistician understands.
    #[must_use]
    pub fn sentence(&self, statistic: &Statistic, confidence: &str) -> String {
        let subject = &statistic.subject;
        let people = self.n.map(|n| grouped(n as f64));
        let among = people.as_ref().map_or(String::new(), |n| format!(" over {n} people"));
        // What was wanted, where something was; what is had, where the error is the answer.
        let within = match self.wanted {
            Some(ErrorTarget::Share(share)) => {
                format!("{} % of {}", short(100.0 * share), statistic.full_name)
            }
            Some(ErrorTarget::Absolute(error)) => grouped(error),
            None => grouped(self.error),
        };
        let epsilon = short_up(self.epsilon.get());
        let noise = "The error is that of the noise alone.";
        match (self.asked, people) {
            (Asked::People, Some(n)) => format!(
                "For {subject} to be off by at most {within} with {confidence} confidence at \
                 ε = {epsilon}, at least {n} people are needed. {noise}"
            ),
            (Asked::Epsilon, _) => format!(
                "For {subject}{among} to be off by at most {within} with {confidence} confidence, ε must be at least {epsilon}. {noise}"
            ),
            _ => format!(
                "At ε = {epsilon}, {subject}{among} is off by at most {within} with {confidence} confidence. {noise}"
            ),
        }
    }
}

/// The curve a decade to either side of the chosen ε; points that cannot be computed are left out.
pub(crate) fn around(
    epsilon: f64,
    error: impl Fn(f64) -> demure_core::Result<f64>,
) -> Vec<(f64, f64)> {
    let place = |i: i32| epsilon * 10f64.powf(f64::from(i) / 60.0);
    (-60..=60).map(place).filter_map(|e| error(e).ok().map(|y| (e, y))).collect()
}

/// As `short`, but never less than x: what is needed is not rounded away.
#[must_use]
pub fn short_up(x: f64) -> String {
    let text = short(x);
    match text.parse::<f64>() {
        Ok(shown) if shown < x => short(x * (1.0 + 5e-6)),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
