//! Randomized response by any of its parameters; estimates from answers, and how many answers they need.

use crate::Choices;
use crate::error::{Error, Result};
use crate::explain::{five_percent, promised};
use crate::solve::around;
use demure_core::mechanism::{ErrorBound, Guarantee, Response, Target};
use demure_core::unit::{Beta, Epsilon, Neighbours};
use demure_report::{Report, short};

/// How often the truth is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chance {
    /// The truth with this probability, else a fair coin: for yes or no.
    Alpha(f64),
    /// The truth with this probability above one half: for yes or no.
    Gamma(f64),
    /// As often as this ε allows.
    Epsilon(f64),
    /// The truth with this probability, else any other answer.
    Truth(f64),
}

impl Chance {
    /// The mechanism for so many answers to choose from.
    pub fn response(self, categories: u32) -> Result<Response> {
        let within = |parameter: &'static str, x: f64, most: f64| match x > 0.0 && x < most {
            true => Ok(x),
            false => Err(Error::NotBetween { parameter, most }),
        };
        if categories != 2 && matches!(self, Self::Alpha(_) | Self::Gamma(_)) {
            return Err(Error::YesOrNo);
        }
        Ok(match self {
            Self::Alpha(alpha) => Response::alpha(within("alpha", alpha, 1.0)?)?,
            Self::Gamma(gamma) => Response::gamma(within("gamma", gamma, 0.5)?)?,
            Self::Epsilon(epsilon) => Response::with_epsilon(categories, Epsilon::new(epsilon)?)?,
            Self::Truth(truth) => match truth * f64::from(categories) > 1.0 && truth < 1.0 {
                true => Response::truthful(categories, truth)?,
                false => return Err(Error::WrongTruth),
            },
        })
    }
}

/// What the mechanism does, without its promise.
#[must_use]
pub fn describe(response: &Response) -> Report {
    let report = Report::default()
        .field("mechanism", "randomized response")
        .field("categories", response.categories())
        .described("sensitivity", 1, "1 answer, whatever it was and becomes")
        .described("truth", response.p(), format!("told with probability {}", short(response.p())));
    // The noise of one answer, where it is largest: at a share of 0 or 1.
    let noise = |share| response.variance(share, 1, Target::Respondents);
    let scale = noise(0.0).max(noise(1.0)).sqrt();
    let text = format!("{} (standard deviation of one answer's noise)", short(scale));
    yes_or_no(report, response).described("scale", scale, text)
}

/// α and γ, where there are two answers.
#[must_use]
pub fn yes_or_no(report: Report, response: &Response) -> Report {
    match response.categories() {
        2 => report.field("alpha", response.gap()).field("gamma", 0.5 * response.gap()),
        _ => report,
    }
}

/// What the mechanism promises, and the error of an estimate from n answers, or the factor in front of 1/√n.
pub fn explain(response: &Response, n: Option<u64>) -> Result<Report> {
    let error = response.error(n.unwrap_or(1), ErrorBound::Hoeffding, five_percent()?)?;
    let text = match n {
        Some(n) => format!(
            "± {} on a share estimated from {n} answers, with 95 % confidence",
            short(error)
        ),
        None => format!(
            "± {}/√n on a share estimated from n answers, with 95 % confidence",
            short(error)
        ),
    };
    Ok(promised(describe(response), response.guarantee(), Neighbours::Replace)
        .hidden("n", n.unwrap_or(1))
        .described("error_95", error, text))
}

/// Whose share is estimated.
pub const TARGETS: Choices<Target> = &[
    ("population", "Of a population that the answers are a random sample of", Target::Population),
    ("respondents", "Of those who answered", Target::Respondents),
];

/// A share, from answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Unbiased; may lie outside 0 to 1.
    pub share: f64,
    /// Its standard deviation.
    pub standard_error: f64,
    /// What holds the truth with the confidence asked for.
    pub interval: (f64, f64),
    /// How the interval was found.
    pub method: &'static str,
}

/// Estimates how many of `n` truly say yes if `yes` answers say so.
pub fn estimate(
    response: &Response,
    yes: u64,
    n: u64,
    target: Target,
    beta: Beta,
) -> Result<Estimate> {
    if yes > n {
        return Err(Error::YesAboveAll);
    }
    let share = response.estimate(yes, n)?;
    let variance = response.variance(share.clamp(0.0, 1.0), n, target);
    // The exact interval is for the population; the normal one serves both.
    let (interval, method) = match target {
        Target::Population => (response.exact_interval(yes, n, beta)?, "Clopper–Pearson, exact"),
        Target::Respondents => {
            (response.normal_interval(yes, n, target, beta)?, "normal approximation")
        }
    };
    Ok(Estimate { share, standard_error: variance.sqrt(), interval, method })
}

/// Two of privacy, n and error; the third is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// How often the truth is told.
    pub chance: Option<Chance>,
    /// How many people answer.
    pub n: Option<u64>,
    /// The error of the estimated share.
    pub error: Option<f64>,
    /// How many answers there are to choose from.
    pub categories: u32,
}

/// What is known by one bound.
#[derive(Clone, Copy, Debug)]
pub struct ResponseSolution {
    /// People.
    pub n: u64,
    /// The mechanism.
    pub response: Response,
    /// Its ε.
    pub epsilon: f64,
    /// The error of the estimate.
    pub error: f64,
}

impl Question {
    /// The third quantity, by this bound.
    pub fn solve(&self, bound: ErrorBound, beta: Beta) -> Result<ResponseSolution> {
        if self.n == Some(0) {
            return Err(Error::NoPeople);
        }
        let (n, response) = match (self.chance, self.n, self.error) {
            (Some(chance), None, Some(error)) => {
                let response = chance.response(self.categories)?;
                (response.people_for_error(error, bound, beta)?, response)
            }
            (Some(chance), Some(n), None) => (n, chance.response(self.categories)?),
            (None, Some(n), Some(error)) => {
                let epsilon = Response::epsilon_for_error(self.categories, n, error, bound, beta)?;
                (n, Response::with_epsilon(self.categories, epsilon)?)
            }
            _ => return Err(Error::NotTwoOfResponse),
        };
        let Guarantee::Pure(epsilon) = response.guarantee() else {
            return Err(Error::NoResponse);
        };
        let error = response.error(n, bound, beta)?;
        Ok(ResponseSolution { n, response, epsilon: epsilon.get(), error })
    }
}

impl ResponseSolution {
    /// The error by Hoeffding's inequality a decade to either side of ε.
    #[must_use]
    pub fn curve(&self, beta: Beta) -> Vec<(f64, f64)> {
        let categories = self.response.categories();
        around(self.epsilon, |epsilon| {
            let response = Response::with_epsilon(categories, Epsilon::new(epsilon)?)?;
            response.error(self.n, ErrorBound::Hoeffding, beta)
        })
    }
}

#[cfg(test)]
mod tests;
