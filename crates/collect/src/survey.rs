//! A survey: what is asked, of what domain, at what ε, randomized how.
//!
//! Clients and collector share one TOML file:
//!
//! ```toml
//! version = 1
//! question = "Have you ever cheated in an exam?"
//! values = ["yes", "no"]
//! alpha = 0.5                  # or gamma, or epsilon
//! mechanism = "auto"
//! salt = "00112233445566778899aabbccddeeff"
//! ```
//!
//! A number has `range = [low, high]` instead of `values`, and `statistic = "mean"` or
//! `"distribution"` (with `bins`). A text of an unknown domain has `length` (in bytes) and may have an
//! `alphabet`. Several attributes are `[[attribute]]` tables with a `name`, and `budget`
//! says how ε is shared: `"sample"` (each person answers one, at all of ε), `"split"` (each
//! answers all, at ε/d) or `"joint"` (all categories as one).
//! Repeated collection is `mechanism = "rappor"` with `epsilon` for ever and
//! `first_epsilon` for one report.

use crate::error::{Error, Result};
use crate::randomizer::{Mechanism, Randomizer, choose};
use demure_core::local::{Hybrid, LocalHash, Rappor, Response, Sign, Window};
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use demure_core::unit::Epsilon;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// The most values of one attribute.
const MOST_VALUES: usize = 1 << 20;
/// The most attributes.
const MOST_ATTRIBUTES: usize = 256;
/// The longest text, in bytes.
pub const MOST_LENGTH: u32 = 64;

/// How the privacy was stated: the number that is published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Privacy {
    /// ε itself.
    Epsilon(f64),
    /// Truth with probability ½ + γ (yes or no).
    Gamma(f64),
    /// Truth with probability α, else a fair coin (yes or no).
    Alpha(f64),
}

impl Privacy {
    /// ε, rounded up.
    pub fn epsilon(self) -> Result<Epsilon> {
        let of = |response: Response| match response.guarantee() {
            demure_core::mechanism::Guarantee::Pure(epsilon) => Ok(epsilon),
            _ => Err(Error::Survey { field: "privacy", allowed: "pure" }),
        };
        match self {
            Self::Epsilon(x) => Ok(Epsilon::new(x)?),
            Self::Gamma(x) => of(Response::gamma(x)?),
            Self::Alpha(x) => of(Response::alpha(x)?),
        }
    }
}

/// How several attributes share ε.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Budget {
    /// Each person answers one attribute, drawn at random, at all of ε.
    Sample,
    /// Each person answers every attribute, at ε/d each.
    Split,
    /// Each person answers all categories as one, at ε.
    Joint,
}

/// What an attribute's values can be.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// One of these.
    Categories(Vec<String>),
    /// A number between these; others are clamped.
    Number {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
    },
    /// A text of at most so many bytes, of these characters.
    Text {
        /// Bytes; longer texts are cut.
        length: u32,
        /// The bytes that a text may have; all if empty.
        alphabet: Vec<u8>,
    },
}

/// How an answer looks, for those who have to write one.
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Categories(values) if values.len() <= 12 => f.write_str(&values.join(" | ")),
            Self::Categories(values) => write!(f, "one of {} values", values.len()),
            Self::Number { low, high } => write!(f, "a number from {low} to {high}"),
            Self::Text { length, .. } => write!(f, "a text of at most {length} bytes"),
        }
    }
}

/// One thing that is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name: a column of the answers, if there are several.
    pub name: String,
    /// What it can be.
    pub domain: Domain,
    /// What the file says of the mechanism, `None` for `auto`.
    pub asked: Option<Mechanism>,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// It, with its parameters.
    pub randomizer: Randomizer,
    /// Why that one.
    pub why: String,
    /// The values' places.
    places: HashMap<String, u32>,
}

impl Attribute {
    /// A value's place among the categories.
    #[must_use]
    pub fn place(&self, value: &str) -> Option<u32> {
        self.places.get(value).copied()
    }
}

/// A survey, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    question: String,
    attributes: Vec<Attribute>,
    /// What is randomized: the attributes, or with a joint budget one attribute for all.
    parts: Vec<Attribute>,
    budget: Budget,
    privacy: Privacy,
    first: Option<f64>,
    epsilon: Epsilon,
    salt: [u8; 16],
    id: [u8; 8],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    question: String,
    epsilon: Option<f64>,
    gamma: Option<f64>,
    alpha: Option<f64>,
    first_epsilon: Option<f64>,
    budget: Option<Budget>,
    salt: String,
    #[serde(default)]
    attribute: Vec<RawAttribute>,
    values: Option<Vec<String>>,
    range: Option<[f64; 2]>,
    statistic: Option<String>,
    bins: Option<u32>,
    length: Option<u32>,
    alphabet: Option<String>,
    mechanism: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAttribute {
    name: String,
    values: Option<Vec<String>>,
    range: Option<[f64; 2]>,
    statistic: Option<String>,
    bins: Option<u32>,
    length: Option<u32>,
    alphabet: Option<String>,
    mechanism: Option<String>,
}

fn wrong<T>(field: &'static str, allowed: &'static str) -> Result<T> {
    Err(Error::Survey { field, allowed })
}

/// What `collect init` writes.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The question.
    pub question: String,
    /// How the privacy is stated.
    pub privacy: Privacy,
    /// What is asked.
    pub domain: DraftDomain,
    /// `auto`, or a mechanism's name.
    pub mechanism: String,
}

/// The domain of a draft.
#[derive(Clone, Debug)]
pub enum DraftDomain {
    /// One of these.
    Values(Vec<String>),
    /// A number, for its mean.
    Mean(f64, f64),
    /// A number, for its distribution over so many bins.
    Distribution(f64, f64, u32),
    /// A text of at most so many bytes.
    Text(u32),
}

/// The text of a new survey's file, with a fresh salt. It has been read back and is valid.
pub fn init(draft: &Draft, rng: &mut dyn Randomness) -> Result<String> {
    if draft.mechanism == "rappor" {
        return Err(Error::Unanswerable {
            what: "noise that is remembered needs a second ε",
            remedy: "init with --mechanism optimised-unary, then write mechanism = \"rappor\" and \
                     first_epsilon = … into the file",
        });
    }
    let mut salt = String::new();
    for _ in 0..4 {
        salt += &format!("{:08x}", uniform_below(1 << 32, rng)?);
    }
    let mut head = format!("version = 1\nquestion = {}\n", quoted(&draft.question));
    head += &match &draft.domain {
        DraftDomain::Values(values) => {
            let list: Vec<String> = values.iter().map(|v| quoted(v)).collect();
            format!("values = [{}]\n", list.join(", "))
        }
        DraftDomain::Mean(low, high) => {
            format!("range = [{low:?}, {high:?}]\nstatistic = \"mean\"\n")
        }
        DraftDomain::Distribution(low, high, bins) => {
            format!("range = [{low:?}, {high:?}]\nstatistic = \"distribution\"\nbins = {bins}\n")
        }
        DraftDomain::Text(length) => format!("length = {length}\n"),
    };
    head += &match draft.privacy {
        Privacy::Epsilon(x) => format!("epsilon = {x:?}\n"),
        Privacy::Gamma(x) => format!("gamma = {x:?}\n"),
        Privacy::Alpha(x) => format!("alpha = {x:?}\n"),
    };
    let text = |mechanism: &str, why: &str| {
        format!("{head}{why}mechanism = {}\nsalt = \"{salt}\"\n", quoted(mechanism))
    };
    let survey = Survey::parse(&text(&draft.mechanism, ""))?;
    if draft.mechanism != "auto" {
        return Ok(text(&draft.mechanism, ""));
    }
    // What was chosen is written down: another version might choose another.
    let chosen = &survey.parts()[0];
    Ok(text(chosen.mechanism.name(), &format!("# {}\n", chosen.why)))
}

/// A TOML basic string: JSON's escapes are TOML's, but for DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

impl Survey {
    /// Reads and checks a survey's file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&std::fs::read_to_string(path).map_err(Error::io("cannot read", path))?)
    }

    /// Checks the text of a survey's file.
    pub fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).map_err(|e| Error::Syntax(e.to_string()))?;
        if file.version != 1 {
            return wrong("version", "1");
        }
        let privacy = match (file.epsilon, file.gamma, file.alpha) {
            (Some(x), None, None) => Privacy::Epsilon(x),
            (None, Some(x), None) => Privacy::Gamma(x),
            (None, None, Some(x)) => Privacy::Alpha(x),
            _ => return wrong("privacy", "stated once: epsilon, gamma or alpha"),
        };
        let epsilon = privacy.epsilon()?;
        let salt =
            unhex::<16>(&file.salt).map_or_else(|| wrong("salt", "32 hexadecimal digits"), Ok)?;
        let single = RawAttribute {
            name: "answer".to_owned(),
            values: file.values,
            range: file.range,
            statistic: file.statistic,
            bins: file.bins,
            length: file.length,
            alphabet: file.alphabet,
            mechanism: file.mechanism,
        };
        let top = single.values.is_some() || single.range.is_some() || single.length.is_some();
        let raw = match (top, file.attribute.is_empty()) {
            (true, true) => vec![single],
            (false, false) if single.mechanism.is_none() => file.attribute,
            _ => {
                return wrong(
                    "what is asked",
                    "either values, range or length, or [[attribute]] tables",
                );
            }
        };
        if raw.len() > MOST_ATTRIBUTES {
            return wrong("attributes", "at most 256");
        }
        let mut names: Vec<&str> = raw.iter().map(|a| a.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|w| w[0] == w[1]) || names.contains(&"") {
            return wrong("the names of attributes", "different and not empty");
        }
        if raw.len() > 1 && file.budget.is_none() {
            return wrong("budget", "sample, split or joint where there are several attributes");
        }
        let budget = file.budget.unwrap_or(Budget::Split);
        let yes_no = raw.len() == 1 && raw[0].values.as_ref().is_some_and(|v| v.len() == 2);
        if !yes_no && !matches!(privacy, Privacy::Epsilon(_)) {
            return wrong(
                "gamma and alpha",
                "for a single yes-or-no question; state epsilon instead",
            );
        }
        // Of one question, γ and α give the coin itself, not the one of a rounded ε.
        let coin = match privacy {
            Privacy::Gamma(x) => Some(Response::gamma(x)?),
            Privacy::Alpha(x) => Some(Response::alpha(x)?),
            Privacy::Epsilon(_) => None,
        };
        let share = match budget {
            // Each attribute's ε is rounded down so that the sum is at most ε.
            Budget::Split if raw.len() > 1 => {
                Epsilon::new((epsilon.get() / raw.len() as f64).next_down() * (1.0 - 1e-15))?
            }
            _ => epsilon,
        };
        let attributes: Vec<Attribute> = raw
            .into_iter()
            .map(|a| attribute(a, share, file.first_epsilon, coin))
            .collect::<Result<_>>()?;
        // A person who draws another attribute each time has in the end told all of them.
        let remembers = |a: &Attribute| a.mechanism == Mechanism::Rappor;
        if budget == Budget::Sample && attributes.len() > 1 && attributes.iter().any(remembers) {
            return wrong("budget", "split where an attribute is collected repeatedly (rappor)");
        }
        let parts = if budget == Budget::Joint && attributes.len() > 1 {
            vec![joint(&attributes, epsilon)?]
        } else {
            attributes.clone()
        };
        let mut survey = Self {
            question: file.question,
            attributes,
            parts,
            budget,
            privacy,
            first: file.first_epsilon,
            epsilon,
            salt,
            id: [0; 8],
        };
        let digest = Sha256::digest(survey.canonical());
        survey.id.copy_from_slice(&digest[..8]);
        Ok(survey)
    }

    /// All that changes the meaning of a report, in one form whatever the file's layout.
    fn canonical(&self) -> String {
        let part = |a: &Attribute| {
            let domain = match &a.domain {
                Domain::Categories(values) => json!({ "values": values }),
                Domain::Number { low, high } => json!({ "range": [low.to_bits(), high.to_bits()] }),
                Domain::Text { length, alphabet } => {
                    json!({ "length": length, "alphabet": alphabet })
                }
            };
            // The parameters too: two builds that computed them differently must not mix.
            let shape = a.randomizer.shape();
            json!({ "name": a.name, "domain": domain, "mechanism": a.mechanism.name(), "shape": shape })
        };
        let budget = match self.budget {
            Budget::Sample => "sample",
            Budget::Split => "split",
            Budget::Joint => "joint",
        };
        json!({
            "demure survey": 1,
            "question": self.question,
            "budget": budget,
            "epsilon": self.epsilon.get().to_bits(),
            "first": self.first.map(f64::to_bits),
            "salt": hex(&self.salt),
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// The question.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// What is asked.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// What is randomized: the attributes, or with a joint budget one for all.
    #[must_use]
    pub fn parts(&self) -> &[Attribute] {
        &self.parts
    }

    /// How the attributes share ε.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Whether each person answers one attribute only.
    #[must_use]
    pub fn samples(&self) -> bool {
        self.budget == Budget::Sample && self.parts.len() > 1
    }

    /// What one person's report promises: ε-local DP. For repeated collection (`rappor`),
    /// what all of one person's reports of one value promise together.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// How the file states it.
    #[must_use]
    pub fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// The salt: what makes two surveys with the same question different.
    #[must_use]
    pub fn salt(&self) -> &[u8; 16] {
        &self.salt
    }

    /// The first 8 bytes of a hash of all that changes the meaning of a report.
    #[must_use]
    pub fn id(&self) -> [u8; 8] {
        self.id
    }

    /// The same in hexadecimal digits, as reports have it.
    #[must_use]
    pub fn id_text(&self) -> String {
        hex(&self.id)
    }

    /// The number of the attribute of that name.
    pub fn attribute(&self, name: &str) -> Result<usize> {
        self.attributes.iter().position(|a| a.name == name).ok_or_else(|| Error::Unknown {
            what: "attribute",
            known: self.attributes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

fn attribute(
    raw: RawAttribute,
    epsilon: Epsilon,
    first: Option<f64>,
    coin: Option<Response>,
) -> Result<Attribute> {
    let asked = match raw.mechanism.as_deref() {
        None | Some("auto") => None,
        Some(name) => match Mechanism::named(name) {
            Some(mechanism) => Some(mechanism),
            None => return wrong("mechanism", "auto or one of those in docs/collect.md"),
        },
    };
    let stated = |m: Mechanism| format!("{m}: the survey asks for it");
    if first.is_some() && asked != Some(Mechanism::Rappor) {
        return wrong("first_epsilon", "for mechanism = \"rappor\" only");
    }
    let (domain, mechanism, randomizer, why) = match (raw.values, raw.range, raw.length) {
        (Some(values), None, None) => {
            if raw.statistic.is_some() || raw.bins.is_some() || raw.alphabet.is_some() {
                return wrong("statistic, bins and alphabet", "for numbers or texts only");
            }
            if !(2..=MOST_VALUES).contains(&values.len()) {
                return wrong("values", "at least 2 and at most 2^20");
            }
            let mut sorted: Vec<&str> = values.iter().map(String::as_str).collect();
            sorted.sort_unstable();
            if sorted.windows(2).any(|w| w[0] == w[1]) {
                return wrong("values", "different");
            }
            let k = values.len() as u32;
            let (mechanism, randomizer, why) = match (asked, coin) {
                (Some(Mechanism::Rappor), _) => {
                    let Some(first) = first else {
                        return wrong("first_epsilon", "given for mechanism = \"rappor\"");
                    };
                    let rappor = Rappor::new(k, epsilon, Epsilon::new(first)?)?;
                    (Mechanism::Rappor, Randomizer::Rappor(rappor), stated(Mechanism::Rappor))
                }
                (None | Some(Mechanism::Response), Some(coin)) => {
                    let why = "response: gamma and alpha are its coins".to_owned();
                    (Mechanism::Response, Randomizer::Response(coin), why)
                }
                (Some(mechanism), _) => {
                    (mechanism, Randomizer::categorical(mechanism, k, epsilon)?, stated(mechanism))
                }
                (None, None) => {
                    let choice = choose(k, epsilon, None)?;
                    (choice.mechanism, choice.randomizer, choice.why)
                }
            };
            (Domain::Categories(values), mechanism, randomizer, why)
        }
        (None, Some([low, high]), None) => {
            if !(low < high && low.is_finite() && high.is_finite() && (high - low).is_finite()) {
                return wrong("range", "two finite numbers, the lower first");
            }
            let (mechanism, randomizer) =
                number(raw.statistic.as_deref(), raw.bins, asked, epsilon)?;
            let why = match asked {
                Some(mechanism) => stated(mechanism),
                None => format!("{mechanism}: the least worst-case error"),
            };
            (Domain::Number { low, high }, mechanism, randomizer, why)
        }
        (None, None, Some(length)) => {
            if !(1..=MOST_LENGTH).contains(&length) || asked.is_some_and(|m| m != Mechanism::Prefix)
            {
                return wrong("length", "between 1 and 64, with mechanism \"prefix\" or \"auto\"");
            }
            let mut alphabet = raw.alphabet.unwrap_or_default().into_bytes();
            alphabet.sort_unstable();
            alphabet.dedup();
            let hash = LocalHash::new(u32::MAX, epsilon)?;
            let why = "prefix: the domain is not known".to_owned();
            (Domain::Text { length, alphabet }, Mechanism::Prefix, Randomizer::Prefix(hash), why)
        }
        _ => return wrong("an attribute", "given one of values, range and length"),
    };
    let places = match &domain {
        Domain::Categories(values) => values.iter().cloned().zip(0..).collect(),
        _ => HashMap::new(),
    };
    Ok(Attribute { name: raw.name, domain, asked, mechanism, randomizer, why, places })
}

fn number(
    statistic: Option<&str>,
    bins: Option<u32>,
    asked: Option<Mechanism>,
    epsilon: Epsilon,
) -> Result<(Mechanism, Randomizer)> {
    let mechanism = match (statistic, asked) {
        (Some("mean") | None, None) => Mechanism::Hybrid,
        (Some("distribution"), None | Some(Mechanism::SquareWave)) => Mechanism::SquareWave,
        (None, Some(mechanism @ Mechanism::SquareWave)) => mechanism,
        (
            Some("mean") | None,
            Some(mechanism @ (Mechanism::Sign | Mechanism::Piecewise | Mechanism::Hybrid)),
        ) => mechanism,
        _ => {
            return wrong(
                "statistic and mechanism",
                "\"mean\" with sign, piecewise or hybrid, or \"distribution\" with square-wave",
            );
        }
    };
    let randomizer = match mechanism {
        Mechanism::SquareWave => {
            Randomizer::SquareWave(Window::square_wave(bins.unwrap_or(64), epsilon)?)
        }
        _ if bins.is_some() => return wrong("bins", "for a distribution only"),
        Mechanism::Sign => Randomizer::Sign(Sign::new(epsilon)?),
        Mechanism::Piecewise => Randomizer::Piecewise(Window::piecewise(epsilon)?),
        _ => Randomizer::Hybrid(Hybrid::new(epsilon)?),
    };
    Ok((mechanism, randomizer))
}

/// One attribute of all combinations, the last varying fastest.
fn joint(attributes: &[Attribute], epsilon: Epsilon) -> Result<Attribute> {
    let mut names = vec![String::new()];
    let mut asked = None;
    for attribute in attributes {
        let Domain::Categories(values) = &attribute.domain else {
            return wrong("a joint budget", "for categories only");
        };
        if names.len().saturating_mul(values.len()) > MOST_VALUES {
            return wrong("a joint budget", "for at most 2^20 combinations");
        }
        asked = asked.or(attribute.asked);
        if attribute.asked == Some(Mechanism::Rappor) {
            return wrong("mechanism", "one for a single report where the budget is joint");
        }
        let join = |a: &String, b: &String| {
            if a.is_empty() { b.clone() } else { format!("{a}, {b}") }
        };
        names = names.iter().flat_map(|a| values.iter().map(move |b| join(a, b))).collect();
    }
    let raw = RawAttribute {
        name: attributes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", "),
        mechanism: asked.map(|m| m.name().to_owned()),
        values: Some(names),
        ..RawAttribute::default()
    };
    attribute(raw, epsilon, None, None)
}

/// N bytes from twice as many hexadecimal digits.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let bytes = unhex_all(text)?;
    bytes.try_into().ok()
}

/// Bytes from hexadecimal digits.
pub(crate) fn unhex_all(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

#[cfg(test)]
mod tests;
