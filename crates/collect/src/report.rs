//! What a person sends.
//!
//! # Binary form, version 1
//! | bytes | what |
//! |---|---|
//! | 1 | version: 1 |
//! | 8 | the survey's id |
//! | 16 | a one-time token: random, made for this report and nothing else |
//! | 1 | which attribute, if each person answers only one |
//! | | then for each attribute answered: |
//! | 1 | how many characters of the text, if it is a text |
//! | | the randomized content |
//!
//! The content is a bit for each value (unary encoding, subset selection, RAPPOR), or a hash
//! function's two numbers and a bucket, or one number in as few bytes as hold the largest. All
//! numbers are little-endian. A survey's reports all have the same length, whatever the
//! answer.
//!
//! # JSON form, version 1
//! One object a line: `{"version":1,"survey":"<hex>","token":"<hex>","answer":…}`, where the
//! answer is the reported value's name for randomized response, else the content in
//! hexadecimal; an array of those where there are several attributes; and
//! `"attribute":"<name>"` beside it where a person answers only one.
//!
//! # What a report says
//! Its randomized content. The token is drawn independently of everything; the survey's id and,
//! where one is sampled, the attribute do not depend on the answer.

use crate::randomizer::{Randomizer, bytes_below};
use crate::survey::{Domain, Survey, hex, unhex, unhex_all};
use demure_core::local::{HashFunction, Report};
use serde_json::{Map, Value};

/// The version of both forms.
pub const VERSION: u8 = 1;

/// Version, survey and token.
const HEADER: usize = 1 + 8 + 16;

/// One person's report, decoded and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The one-time token.
    pub token: u128,
    /// The randomized answers.
    pub answers: Vec<Answer>,
}

/// One randomized answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which of [`Survey::parts`].
    pub part: usize,
    /// For texts, how many characters less one; else 0.
    pub level: u8,
    /// The content.
    pub report: Report,
}

/// Why a report was not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reject {
    /// It is not of either form, or too long or short.
    Malformed,
    /// It has another version.
    Version,
    /// It is of another survey.
    OtherSurvey,
    /// It is well formed and no report that this survey's randomizer could make.
    OutOfDomain,
}

impl Submission {
    /// The binary form.
    #[must_use]
    pub fn to_bytes(&self, survey: &Survey) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + 16);
        out.push(VERSION);
        out.extend(survey.id());
        out.extend(self.token.to_le_bytes());
        if survey.samples() {
            out.extend(self.answers.first().map(|a| a.part as u8));
        }
        for answer in &self.answers {
            let part = &survey.parts()[answer.part];
            if matches!(part.domain, Domain::Text { .. }) {
                out.push(answer.level);
            }
            encode(&part.randomizer, &answer.report, &mut out);
        }
        out
    }

    /// Reads and checks the binary form.
    pub fn from_bytes(survey: &Survey, bytes: &[u8]) -> Result<Self, Reject> {
        let (header, mut rest) = bytes.split_at_checked(HEADER).ok_or(Reject::Malformed)?;
        if header[0] != VERSION {
            return Err(Reject::Version);
        }
        if header[1..9] != survey.id() {
            return Err(Reject::OtherSurvey);
        }
        let token = le(&header[9..25]);
        let mut answers = Vec::with_capacity(1);
        if survey.samples() {
            let (&part, after) = rest.split_first().ok_or(Reject::Malformed)?;
            rest = after;
            answers.push(answer(survey, usize::from(part), &mut rest)?);
        } else {
            for part in 0..survey.parts().len() {
                answers.push(answer(survey, part, &mut rest)?);
            }
        }
        if rest.is_empty() { Ok(Self { token, answers }) } else { Err(Reject::Malformed) }
    }

    /// The JSON form, without a line's end.
    #[must_use]
    pub fn to_json(&self, survey: &Survey) -> String {
        let mut object = Map::new();
        object.insert("version".into(), VERSION.into());
        object.insert("survey".into(), hex(&survey.id()).into());
        object.insert("token".into(), hex(&self.token.to_le_bytes()).into());
        let mut contents: Vec<Value> = self.answers.iter().map(|a| content(survey, a)).collect();
        if survey.samples()
            && let Some(answer) = self.answers.first()
        {
            object.insert("attribute".into(), survey.parts()[answer.part].name.clone().into());
        }
        let single = survey.samples() || survey.parts().len() == 1;
        let value = if single { contents.pop().unwrap_or(Value::Null) } else { contents.into() };
        object.insert("answer".into(), value);
        Value::from(object).to_string()
    }

    /// Reads and checks the JSON form.
    pub fn from_json(survey: &Survey, line: &str) -> Result<Self, Reject> {
        let value: Value = serde_json::from_str(line).map_err(|_| Reject::Malformed)?;
        let object = value.as_object().ok_or(Reject::Malformed)?;
        let known = ["version", "survey", "token", "attribute", "answer"];
        if object.keys().any(|key| !known.contains(&key.as_str())) {
            return Err(Reject::Malformed);
        }
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        if object.get("version").and_then(Value::as_u64) != Some(u64::from(VERSION)) {
            return Err(Reject::Version);
        }
        if text("survey").and_then(unhex::<8>) != Some(survey.id()) {
            return Err(Reject::OtherSurvey);
        }
        let token = text("token").and_then(unhex::<16>).ok_or(Reject::Malformed)?;
        let given = object.get("answer").ok_or(Reject::Malformed)?;
        let mut answers = Vec::with_capacity(1);
        if survey.samples() {
            let name = text("attribute").ok_or(Reject::Malformed)?;
            let part = survey.attribute(name).map_err(|_| Reject::OutOfDomain)?;
            answers.push(read_content(survey, part, given)?);
        } else if survey.parts().len() == 1 {
            answers.push(read_content(survey, 0, given)?);
        } else {
            let list = given.as_array().ok_or(Reject::Malformed)?;
            if list.len() != survey.parts().len() {
                return Err(Reject::Malformed);
            }
            for (part, value) in list.iter().enumerate() {
                answers.push(read_content(survey, part, value)?);
            }
        }
        Ok(Self { token: u128::from_le_bytes(token), answers })
    }
}

/// The number of bytes of every report of a survey, in binary; the longest, if an attribute is
/// sampled.
#[must_use]
pub fn length(survey: &Survey) -> usize {
    let of = |part: &crate::survey::Attribute| {
        part.randomizer.report_bytes() + usize::from(matches!(part.domain, Domain::Text { .. }))
    };
    let parts = survey.parts().iter().map(of);
    HEADER + if survey.samples() { 1 + parts.max().unwrap_or(0) } else { parts.sum() }
}

fn content(survey: &Survey, answer: &Answer) -> Value {
    let part = &survey.parts()[answer.part];
    match (&part.domain, &answer.report) {
        (Domain::Categories(values), Report::Category(c)) => values[*c as usize].clone().into(),
        (domain, report) => {
            let mut bytes = Vec::new();
            if matches!(domain, Domain::Text { .. }) {
                bytes.push(answer.level);
            }
            encode(&part.randomizer, report, &mut bytes);
            hex(&bytes).into()
        }
    }
}

fn read_content(survey: &Survey, part: usize, value: &Value) -> Result<Answer, Reject> {
    let text = value.as_str().ok_or(Reject::Malformed)?;
    let attribute = &survey.parts()[part];
    if let Randomizer::Response(_) = attribute.randomizer {
        let place = attribute.place(text).ok_or(Reject::OutOfDomain)?;
        return Ok(Answer { part, level: 0, report: Report::Category(place) });
    }
    let bytes = unhex_all(text).ok_or(Reject::Malformed)?;
    let mut rest = bytes.as_slice();
    let answer = answer(survey, part, &mut rest)?;
    if rest.is_empty() { Ok(answer) } else { Err(Reject::Malformed) }
}

/// Takes one answer from the front.
fn answer(survey: &Survey, part: usize, rest: &mut &[u8]) -> Result<Answer, Reject> {
    let attribute = survey.parts().get(part).ok_or(Reject::OutOfDomain)?;
    let mut level = 0;
    if let Domain::Text { length, .. } = attribute.domain {
        level = take(rest, 1)?[0];
        if u32::from(level) >= length {
            return Err(Reject::OutOfDomain);
        }
    }
    let bytes = take(rest, attribute.randomizer.report_bytes())?;
    let report = decode(&attribute.randomizer, bytes).ok_or(Reject::OutOfDomain)?;
    Ok(Answer { part, level, report })
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Reject> {
    let (taken, left) = rest.split_at_checked(count).ok_or(Reject::Malformed)?;
    *rest = left;
    Ok(taken)
}

fn le(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// Appends the content: exactly [`Randomizer::report_bytes`].
fn encode(randomizer: &Randomizer, report: &Report, out: &mut Vec<u8>) {
    let mut put = |number: u64, bytes: usize| out.extend(&number.to_le_bytes()[..bytes]);
    match report {
        Report::Bits(words) => {
            let mut left = randomizer.report_bytes();
            for word in words {
                put(*word, left.min(8));
                left = left.saturating_sub(8);
            }
        }
        Report::Hashed(hash, bucket) => {
            let each = match randomizer {
                Randomizer::Hash(r) | Randomizer::Prefix(r) if r.is_narrow() => 4,
                _ => 8,
            };
            put(hash.multiplier, each);
            put(hash.offset, each);
            put(u64::from(*bucket), randomizer.report_bytes() - 2 * each);
        }
        one => {
            let number = match *one {
                Report::Category(c) => u64::from(c),
                Report::Row(row, sign) => u64::from(row) << 1 | u64::from(sign),
                Report::Sign(sign) => u64::from(sign),
                Report::Cell(cell) if matches!(randomizer, Randomizer::Hybrid(_)) => {
                    2 + u64::from(cell)
                }
                Report::Cell(cell) => u64::from(cell),
                _ => 0,
            };
            put(number, bytes_below(randomizer.outcomes()));
        }
    }
}

/// The report, if the randomizer could have made it.
fn decode(randomizer: &Randomizer, bytes: &[u8]) -> Option<Report> {
    match randomizer {
        Randomizer::Unary(_) | Randomizer::Subset(_) | Randomizer::Rappor(_) => {
            let words: Vec<u64> = bytes.chunks(8).map(|chunk| le(chunk) as u64).collect();
            let ones: u32 = words.iter().map(|w| w.count_ones()).sum();
            let spare = randomizer.categories()? % 64;
            let beyond = spare > 0 && words.last()? >> spare != 0;
            let size = match randomizer {
                Randomizer::Subset(r) => ones == r.size(),
                _ => true,
            };
            (size && !beyond).then_some(Report::Bits(words))
        }
        Randomizer::Hash(r) | Randomizer::Prefix(r) => {
            let each = if r.is_narrow() { 4 } else { 8 };
            let multiplier = le(&bytes[..each]) as u64;
            let offset = le(&bytes[each..2 * each]) as u64;
            let bucket = le(&bytes[2 * each..]) as u32;
            let hash = HashFunction { multiplier, offset };
            (bucket < r.buckets()).then_some(Report::Hashed(hash, bucket))
        }
        one => {
            let number = le(bytes) as u64;
            if number >= one.outcomes() {
                return None;
            }
            Some(match one {
                Randomizer::Response(_) => Report::Category(number as u32),
                Randomizer::Hadamard(_) => Report::Row((number >> 1) as u32, number & 1 == 1),
                Randomizer::Sign(_) => Report::Sign(number == 1),
                Randomizer::Hybrid(_) if number < 2 => Report::Sign(number == 1),
                Randomizer::Hybrid(_) => Report::Cell(number as u32 - 2),
                _ => Report::Cell(number as u32),
            })
        }
    }
}

#[cfg(test)]
mod tests;
