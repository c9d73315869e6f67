//! The missing one of n, ε and error, for a statistic whose error is known.

use crate::Failure;
use crate::input::{Confidence, Relation, number, whole};
use demure_core::unit::{Beta, Epsilon, Neighbours};
use demure_core::utility::{count_for_error, epsilon_for_error};
use demure_report::chart::Chart;
use demure_report::{Report, grouped, short, wrapped};
use std::io::Write;
use std::str::FromStr;

/// An error as it is wanted: `10` in the statistic's units, `1%` of the whole.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Absolute(f64),
    Share(f64),
}

impl FromStr for Wanted {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = "must be a finite number greater than 0, e.g. 10, or a share, e.g. 1%";
        let (digits, share) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent, true),
            None => (text, false),
        };
        match number(digits) {
            Ok(x) if x.is_finite() && x > 0.0 && share => Ok(Self::Share(x / 100.0)),
            Ok(x) if x.is_finite() && x > 0.0 => Ok(Self::Absolute(x)),
            _ => Err(allowed),
        }
    }
}

/// Options of every plan of noise: two of the first three.
#[derive(clap::Args)]
pub(super) struct Given {
    /// The error allowed: 10, or 1%
    #[arg(long, allow_hyphen_values = true)]
    error: Option<Wanted>,

    /// How many people
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: Option<u64>,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// Which datasets count as neighbours
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    #[command(flatten)]
    show: Show,
}

/// How sure, and how shown.
#[derive(clap::Args)]
pub(super) struct Show {
    /// How sure the error is to hold
    #[arg(long, default_value = "0.95", allow_hyphen_values = true)]
    pub(super) confidence: Confidence,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// Draw no plot
    #[arg(long)]
    no_plot: bool,
}

impl Show {
    /// Prints the sentence, the fields and the plot, or one JSON object.
    pub(super) fn print(
        &self,
        sentence: &str,
        fields: &Report,
        curve: &Chart,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        if self.json {
            return Ok(fields.print(true, out)?);
        }
        writeln!(out, "{}\n", wrapped(sentence, 80, "")).map_err(Failure::writing)?;
        fields.print(false, out)?;
        if !self.no_plot {
            write!(out, "\n{}", curve.text()).map_err(Failure::writing)?;
        }
        Ok(())
    }
}

/// What a plan needs to know of a statistic.
pub(super) struct Statistic<'a> {
    /// `a count`, `the mean of values between 0 and 100`.
    pub(super) subject: String,
    /// How the error is bounded.
    pub(super) method: String,
    /// The error, in the statistic's units, of n people at ε, except with probability β.
    pub(super) error: &'a dyn Fn(Epsilon, u64, Beta) -> demure_core::Result<f64>,
    /// Whether that error depends on n.
    pub(super) counts_people: bool,
    /// What 100 % is for n people, and its name.
    pub(super) full: &'a dyn Fn(u64) -> f64,
    pub(super) full_name: &'static str,
}

/// Two quantities given and the third found.
struct Solution {
    n: Option<u64>,
    epsilon: Epsilon,
    error: f64,
    asked: Asked,
}

enum Asked {
    People,
    Epsilon,
    Error,
}

impl Given {
    pub(super) fn neighbours(&self) -> Neighbours {
        self.neighbours.into()
    }

    /// Finds the third quantity and prints it.
    pub(super) fn run(
        &self,
        statistic: &Statistic<'_>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let beta = self.show.confidence.beta()?;
        let solution = self.solve(statistic, beta)?;
        let Solution { n, epsilon, error, .. } = solution;
        let report = Report::default()
            .described("n", n, n.map_or("any number of people".to_owned(), |n| grouped(n as f64)))
            .field("epsilon", epsilon.get())
            .described("error", error, format!("± {}", grouped(error)));
        let report = match n.map(|n| error / (statistic.full)(n)) {
            Some(share) => {
                let text = format!("{} % of {}", short(100.0 * share), statistic.full_name);
                report.described("share", share, text)
            }
            None => report,
        };
        let report = report
            .field("confidence", self.show.confidence.get())
            .field("neighbours", self.neighbours().to_string())
            .field("method", statistic.method.as_str());
        let points = around(epsilon.get(), |e| {
            Epsilon::new(e).and_then(|e| (statistic.error)(e, n.unwrap_or(1), beta)).ok()
        });
        let chosen = (epsilon.get(), error);
        let curve = Chart::curve(points, chosen, ("ε", "error"));
        self.show.print(&self.sentence(statistic, &solution), &report, &curve, out)
    }

    fn solve(&self, statistic: &Statistic<'_>, beta: Beta) -> Result<Solution, Failure> {
        let epsilon = self.epsilon.map(Epsilon::new).transpose()?;
        if self.n == Some(0) {
            return Err(Failure::usage("n must be a whole number of at least 1"));
        }
        let error_at = |epsilon, n| (statistic.error)(epsilon, n, beta);
        match (self.error, self.n, epsilon) {
            (None, n, Some(epsilon)) if n.is_some() || !statistic.counts_people => {
                let error = error_at(epsilon, n.unwrap_or(1))?;
                Ok(Solution { n, epsilon, error, asked: Asked::Error })
            }
            (Some(wanted), Some(n), None) => {
                let most = match wanted {
                    Wanted::Absolute(error) => error,
                    Wanted::Share(share) => share * (statistic.full)(n),
                };
                let epsilon = epsilon_for_error(most, |epsilon| error_at(epsilon, n))?;
                let error = error_at(epsilon, n)?;
                Ok(Solution { n: Some(n), epsilon, error, asked: Asked::Epsilon })
            }
            (Some(Wanted::Absolute(most)), None, None) if !statistic.counts_people => {
                let epsilon = epsilon_for_error(most, |epsilon| error_at(epsilon, 1))?;
                let error = error_at(epsilon, 1)?;
                Ok(Solution { n: None, epsilon, error, asked: Asked::Epsilon })
            }
            (Some(Wanted::Absolute(_)), None, Some(_)) if !statistic.counts_people => {
                Err(Failure::usage(
                    "error must be a share, e.g. 1%, to ask for n: in absolute terms the noise is \
                     the same for any number of people",
                ))
            }
            (Some(wanted), None, Some(epsilon)) => {
                let n = match wanted {
                    Wanted::Absolute(most) => count_for_error(most, |n| error_at(epsilon, n))?,
                    Wanted::Share(share) => {
                        count_for_error(share, |n| Ok(error_at(epsilon, n)? / (statistic.full)(n)))?
                    }
                };
                let error = error_at(epsilon, n)?;
                Ok(Solution { n: Some(n), epsilon, error, asked: Asked::People })
            }
            _ => Err(Failure::usage(
                "give two of --error, --n and --epsilon; the third is the answer",
            )),
        }
    }

    /// One sentence that a statistician understands.
    fn sentence(&self, statistic: &Statistic<'_>, found: &Solution) -> String {
        let (subject, percent) = (&statistic.subject, self.show.confidence.percent());
        let people = found.n.map(|n| grouped(n as f64));
        let among = people.as_ref().map_or(String::new(), |n| format!(" over {n} people"));
        // What was wanted, where something was; what is had, where the error is the answer.
        let within = match self.error {
            Some(Wanted::Share(share)) => {
                format!("{} % of {}", short(100.0 * share), statistic.full_name)
            }
            Some(Wanted::Absolute(error)) => grouped(error),
            None => grouped(found.error),
        };
        let epsilon = short_up(found.epsilon.get());
        let noise = "The error is that of the noise alone.";
        match (&found.asked, people) {
            (Asked::People, Some(n)) => format!(
                "For {subject} to be off by at most {within} with {percent} confidence at \
                 ε = {epsilon}, at least {n} people are needed. {noise}"
            ),
            (Asked::Epsilon, _) => format!(
                "For {subject}{among} to be off by at most {within} with {percent} confidence, ε must be at least {epsilon}. {noise}"
            ),
            _ => format!(
                "At ε = {epsilon}, {subject}{among} is off by at most {within} with {percent} confidence. {noise}"
            ),
        }
    }
}

/// The curve a decade to either side of the chosen ε.
pub(super) fn around(epsilon: f64, error: impl Fn(f64) -> Option<f64>) -> Vec<(f64, f64)> {
    let place = |i: i32| epsilon * 10f64.powf(f64::from(i) / 60.0);
    (-60..=60).map(place).filter_map(|e| error(e).map(|y| (e, y))).collect()
}

/// As `short`, but never less than x: what is needed is not rounded away.
pub(super) fn short_up(x: f64) -> String {
    let text = short(x);
    match text.parse::<f64>() {
        Ok(shown) if shown < x => short(x * (1.0 + 5e-6)),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_as_amounts_or_shares() {
        assert!(matches!("10".parse(), Ok(Wanted::Absolute(x)) if x == 10.0));
        assert!(matches!("1%".parse(), Ok(Wanted::Share(x)) if x == 0.01));
        assert!(matches!("1.5 %".parse(), Ok(Wanted::Share(x)) if x == 0.015));
        for bad in ["0", "-1", "nan", "inf", "%", "x%", ""] {
            assert!(bad.parse::<Wanted>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_needed_is_not_rounded_away() {
        for x in [0.123_456_78, 1.0, 1.000_000_1, 73.777_77, 1e-9, 0.299_573_2] {
            let shown: f64 = short_up(x).parse().unwrap();
            assert!(shown >= x && shown < x * 1.001, "{x} {shown}");
        }
    }
}
