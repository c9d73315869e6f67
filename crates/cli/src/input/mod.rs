//! What users type, turned into what the core takes.
//!
//! Parsers here never repeat what they could not read: it may be protected. Their
//! errors complete a sentence that starts with the option's name (see `usage.rs`).

mod column;
mod counts;
#[cfg(test)]
mod tests;

pub(crate) use column::{Column, Data};
pub(crate) use counts::Counts;

use crate::Failure;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use demure_core::unit::{Beta, Neighbours};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Which datasets count as neighbours.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Relation {
    /// One unit present or absent
    AddRemove,
    /// One unit's data changed; how many there are is public
    Replace,
}

impl From<Relation> for Neighbours {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemove,
            Relation::Replace => Self::Replace,
        }
    }
}

/// Reads one of a library's choices (its name, what it means, the choice) by its name.
pub(crate) fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [(&'static str, &'static str, T)],
) -> ValueParser {
    let shown = all.iter().map(|(name, meaning, _)| PossibleValue::new(*name).help(*meaning));
    PossibleValuesParser::new(shown)
        .try_map(move |typed: String| {
            let found = all.iter().find(|(name, _, _)| *name == typed);
            found.map(|(_, _, choice)| *choice).ok_or("is not one of the choices")
        })
        .into()
}

/// A number: `10`, `-2.5`, `1e-6`. What range it must be in is the core's to say,
/// so `nan` and `inf` are read.
pub(crate) fn number(text: &str) -> Result<f64, &'static str> {
    text.trim().parse().map_err(|_| "must be a number, e.g. 10, -2.5 or 1e-6")
}

/// A whole number that is not negative; commas and underscores may group its digits.
pub(crate) fn whole(text: &str) -> Result<u64, &'static str> {
    let digits: String = text.trim().chars().filter(|c| !matches!(c, '_' | ',')).collect();
    digits.parse().map_err(|_| "must be a whole number of at least 0")
}

/// A whole number from 1 to 2³² − 1.
pub(crate) fn positive(text: &str) -> Result<u32, &'static str> {
    let allowed = "must be a whole number from 1 to 4,294,967,295";
    match text.trim().parse() {
        Ok(0) | Err(_) => Err(allowed),
        Ok(number) => Ok(number),
    }
}

/// A probability that a statement holds, like 0.95 or 95%; its complement is the core's β.
#[derive(Clone, Copy)]
pub(crate) struct Confidence(f64);

impl Confidence {
    /// The number itself.
    pub(crate) fn get(self) -> f64 {
        self.0
    }

    /// 1 − confidence.
    pub(crate) fn beta(self) -> Result<Beta, Failure> {
        Ok(Beta::new(1.0 - self.0)?)
    }

    /// `95 %`.
    pub(crate) fn percent(self) -> String {
        format!("{} %", demure_report::short(self.0 * 100.0))
    }
}

impl FromStr for Confidence {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let confidence = match text.trim().strip_suffix('%') {
            Some(percent) => number(percent).map(|p| p / 100.0),
            None => number(text),
        };
        match confidence {
            // 1 − c must not round to 0.
            Ok(c) if c > 0.0 && 1.0 - c > 0.0 => Ok(Self(c)),
            _ => Err("must be a number strictly between 0 and 1, e.g. 0.95"),
        }
    }
}

/// Public bounds of a value, as they are: the core decides whether they will do.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Bounds {
    /// From the lower to the higher.
    pub(crate) fn range(self) -> RangeInclusive<f64> {
        self.low..=self.high
    }
}

impl FromStr for Bounds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "must be low,high: two finite numbers, the lower first, e.g. 0,100";
        let (low, high) = text.split_once(',').ok_or(wrong)?;
        let (low, high) = (number(low).map_err(|_| wrong)?, number(high).map_err(|_| wrong)?);
        if low.is_finite() && high.is_finite() && low < high {
            Ok(Self { low, high })
        } else {
            Err(wrong)
        }
    }
}

/// `name=number,name=number,…`, in the order given, each name once.
#[derive(Clone)]
pub(crate) struct Pairs<T>(pub(crate) Vec<(String, T)>);

/// A number that may stand behind a name.
pub(crate) trait Named: Sized {
    /// Reads it, or says what it should be.
    fn read(text: &str) -> Result<Self, &'static str>;
}

impl Named for f64 {
    fn read(text: &str) -> Result<Self, &'static str> {
        text.trim().parse().map_err(|_| "a number")
    }
}

impl Named for u64 {
    fn read(text: &str) -> Result<Self, &'static str> {
        text.trim().parse().map_err(|_| "a whole number of at least 0")
    }
}

impl<T: Named> FromStr for Pairs<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut pairs: Vec<(String, T)> = Vec::new();
        let items = text.split(',').map(str::trim).filter(|_| !text.trim().is_empty());
        for (i, item) in (1..).zip(items) {
            let (name, number) = item.rsplit_once('=').ok_or_else(|| {
                format!("must be name=number,name=number,…, e.g. Flu=28,HIV=5; item {i} is not")
            })?;
            let name = name.trim();
            if name.is_empty() {
                return Err(format!("must have a name for every number; item {i} has none"));
            }
            let number = T::read(number)
                .map_err(|kind| format!("must have {kind} behind every name; item {i} has not"))?;
            if pairs.iter().any(|(other, _)| other == name) {
                return Err(format!("must name everything once; item {i} comes a second time"));
            }
            pairs.push((name.to_owned(), number));
        }
        if pairs.is_empty() {
            return Err("must hold at least one name=number, e.g. Flu=28,HIV=5".to_owned());
        }
        Ok(Self(pairs))
    }
}

/// Words separated by commas, each once.
#[derive(Clone)]
pub(crate) struct Words(pub(crate) Vec<String>);

impl FromStr for Words {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<String> = text.split(',').map(|word| word.trim().to_owned()).collect();
        let twice = (1..words.len()).any(|i| words[..i].contains(&words[i]));
        if twice || words.iter().any(String::is_empty) {
            return Err("must be different words separated by commas, e.g. a,b,c".to_owned());
        }
        Ok(Self(words))
    }
}
