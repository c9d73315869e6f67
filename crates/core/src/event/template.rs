//! An event with one unknown, `?`, for calibration.

use super::Event;
use super::parse::{ParseError, parse};

/// Which way the cost moves as the unknown grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The cost falls: `b`, `sigma`, the population `n` of a sample.
    Falls,
    /// The cost rises: `eps`, `delta`, `rho`, `q`, `m`, repetitions.
    Rises,
}

/// The text of an event with one unknown, `?`, such as `poisson(q=0.01, gaussian(sigma=?))*1000`.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    text: String,
    direction: Direction,
    whole: bool,
}

impl Template {
    /// Parses a template. The grammar is that of [`Event::parse`], with exactly one number replaced by `?`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let refuse = |at: usize, expected| {
            let position = text[..at].chars().count() + 1;
            Err(ParseError::Unexpected { position, expected })
        };
        let Some(at) = text.find('?') else {
            return refuse(text.len(), "one unknown, written `?`");
        };
        if let Some(second) = text[at + 1..].find('?') {
            return refuse(at + 1 + second, "a number: only one unknown is allowed");
        }
        let before = text[..at].trim_end();
        let (direction, whole) = if before.ends_with('*') {
            (Direction::Rises, true)
        } else {
            let key = before.trim_end_matches('=').trim_end();
            match key.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("") {
                "b" | "sigma" => (Direction::Falls, false),
                "n" => (Direction::Falls, true),
                "eps" | "delta" | "rho" | "q" => (Direction::Rises, false),
                "m" => (Direction::Rises, true),
                _ => {
                    return refuse(
                        at,
                        "a number here; `?` may stand for b, sigma, eps, delta, rho, q, n, m or a number of repetitions",
                    );
                }
            }
        };
        let template = Self { text: text.to_owned(), direction, whole };
        // Some value must work, or the text is wrong elsewhere.
        match [0.5, 1e-6, 1e6, 1e12].into_iter().find(|&x| template.fill(x).is_ok()) {
            Some(_) => Ok(template),
            None => template.fill(1.0).map(|_| template),
        }
    }

    /// The event with a number in place of `?`.
    pub fn fill(&self, value: f64) -> Result<Event, ParseError> {
        parse(&self.text, Some(value))
    }

    /// Which way the cost moves as the unknown grows.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether the unknown is a whole number.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}

#[cfg(test)]
mod tests;
