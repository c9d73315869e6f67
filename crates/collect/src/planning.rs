//! `collect plan`: what is to be planned, from options and a survey, solved by every method, with the curve around it.

use crate::error::{Error, Result};
use crate::plan::{Aim, METHODS, Method, Plan, Point, curve_of_epsilon, curve_of_people, plan};
use crate::randomizer::Mechanism;
use crate::survey::{Privacy, Survey};
use demure_core::unit::{Beta, Epsilon};

/// Points of a curve.
const POINTS: u32 = 25;

/// What is planned, as far as it is given. A survey gives what is left out.
#[derive(Clone, Debug)]
pub struct Question {
    /// The survey.
    pub survey: Option<Survey>,
    /// How private a report is.
    pub privacy: Option<Privacy>,
    /// How many people answer.
    pub people: Option<u64>,
    /// The error of an estimated share.
    pub error: Option<f64>,
    /// The number of values; 2 unless a survey says otherwise.
    pub values: Option<u32>,
    /// The mechanism's name, or `auto`.
    pub mechanism: Option<String>,
    /// One less the confidence.
    pub beta: Beta,
    /// Whether the errors of all values are to hold together.
    pub together: bool,
    /// The share that is expected; the worst unless given.
    pub frequency: Option<f64>,
    /// How the error is bounded.
    pub method: Method,
}

/// Which of the three was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// The people.
    People,
    /// The error.
    Error,
    /// ε.
    Epsilon,
}

/// A plan, and what to compare it with.
#[derive(Clone, Debug)]
pub struct Solved {
    /// What was planned for.
    pub aim: Aim,
    /// The plan.
    pub plan: Plan,
    /// What was to be found.
    pub sought: Sought,
    /// The same by every method; `None` where a method does not reach what is asked for.
    pub by_method: [(Method, Option<Plan>); 4],
    /// The errors around the plan: along the people at its ε, or along ε for its people.
    pub curve: Vec<Point>,
}

impl Sought {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::People => "n",
            Self::Error => "error",
            Self::Epsilon => "epsilon",
        }
    }

    /// What a plan says of it.
    #[must_use]
    pub fn of(self, plan: &Plan) -> f64 {
        match self {
            Self::People => plan.people as f64,
            Self::Error => plan.error,
            Self::Epsilon => plan.epsilon,
        }
    }
}

impl Question {
    /// Finds what is not given.
    pub fn solve(&self) -> Result<Solved> {
        let (aim, epsilon) = self.aim()?;
        if self.people == Some(0) {
            return out_of_range("n", "a whole number of at least 1");
        }
        let sought = match (epsilon, self.people, self.error) {
            (Some(_), None, Some(_)) => Sought::People,
            (Some(_), Some(_), None) => Sought::Error,
            (None, Some(_), Some(_)) => Sought::Epsilon,
            _ => {
                return Err(Error::Unanswerable {
                    what: "give two of privacy (gamma, alpha or epsilon), n and the error",
                    remedy: "the one left out is the answer",
                });
            }
        };
        let by = |method| plan(&aim, epsilon, self.people, self.error, method);
        let found = by(self.method)?;
        let by_method = METHODS.map(|method| match method == self.method {
            true => (method, Some(found.clone())),
            false => (method, by(method).ok()),
        });
        let curve = curve(&aim, &found, epsilon)?;
        Ok(Solved { aim, plan: found, sought, by_method, curve })
    }

    /// What is planned for, and at which ε, if that is known.
    fn aim(&self) -> Result<(Aim, Option<Epsilon>)> {
        let part = self.survey.as_ref().map(|survey| &survey.parts()[0]);
        let categories = match (self.values, part) {
            (Some(k), _) => k,
            (None, Some(part)) => part.randomizer.categories().ok_or(Error::Unanswerable {
                what: "a plan is for surveys that ask for one of several values",
                remedy: "for a number, `demure collect simulate` shows the error",
            })?,
            (None, None) => 2,
        };
        if categories < 2 {
            return out_of_range("values", "a whole number of at least 2");
        }
        let mechanism = match (self.mechanism.as_deref(), part) {
            (Some("auto"), _) => None,
            (Some(name), _) => match Mechanism::named(name) {
                Some(mechanism) => Some(mechanism),
                None => {
                    return out_of_range("mechanism", "auto or one of those in docs/collect.md");
                }
            },
            // Remembered noise has two ε, which a plan does not tell apart: the best for one report.
            (None, part) => part.map(|p| p.mechanism).filter(|m| *m != Mechanism::Rappor),
        };
        if categories != 2 && matches!(self.privacy, Some(Privacy::Gamma(_) | Privacy::Alpha(_))) {
            return Err(Error::Unanswerable {
                what: "gamma and alpha must be for two values",
                remedy: "state the privacy as an epsilon (--epsilon)",
            });
        }
        let own = match (self.people, self.error) {
            (Some(_), Some(_)) => None,
            _ => self.survey.as_ref().map(Survey::epsilon),
        };
        let epsilon = match self.privacy {
            Some(privacy) => Some(privacy.epsilon()?),
            None => own,
        };
        let (beta, all, frequency) = (self.beta, self.together, self.frequency);
        Ok((Aim { categories, mechanism, beta, all, frequency }, epsilon))
    }
}

fn curve(aim: &Aim, found: &Plan, epsilon: Option<Epsilon>) -> Result<Vec<Point>> {
    match epsilon {
        Some(epsilon) => {
            let from = (found.people / 10).max(1);
            curve_of_people(aim, epsilon, from, found.people.saturating_mul(10).max(10), POINTS)
        }
        None => {
            let at = |x: f64| Epsilon::new(x.clamp(1e-6, 30.0));
            let (from, to) = (at(found.epsilon / 4.0)?, at(found.epsilon * 4.0)?);
            curve_of_epsilon(aim, found.people, from, to, POINTS)
        }
    }
}

fn out_of_range<T>(parameter: &'static str, allowed: &'static str) -> Result<T> {
    Err(demure_core::Error::OutOfRange { parameter, allowed }.into())
}

#[cfg(test)]
mod tests;
