//! The person's side: answers to reports.

use crate::error::{Error, Result};
use crate::heavy;
use crate::randomizer::Randomizer;
use crate::report::{Answer, Submission};
use crate::survey::{Attribute, Budget, Domain, Survey, hex, unhex_all};
use demure_core::local::{self, Permanent, Report};
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::io::{Read, Write};

/// One true answer. It never leaves the client but through a randomizer.
#[derive(Clone)]
pub enum TrueAnswer {
    /// The place among the values.
    Category(u32),
    /// A number.
    Number(f64),
    /// A text.
    Text(Vec<u8>),
}

impl std::fmt::Debug for TrueAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TrueAnswer(secret)")
    }
}

/// Randomizes for one survey.
#[derive(Debug)]
pub struct Client<'s> {
    survey: &'s Survey,
}

impl<'s> Client<'s> {
    /// For a survey.
    #[must_use]
    pub fn new(survey: &'s Survey) -> Self {
        Self { survey }
    }

    /// Reads a true answer to an attribute; `None` if it is not of the domain.
    #[must_use]
    pub fn read(&self, attribute: usize, text: &str) -> Option<TrueAnswer> {
        match &self.survey.attributes()[attribute].domain {
            Domain::Categories(_) => {
                self.survey.attributes()[attribute].place(text.trim()).map(TrueAnswer::Category)
            }
            Domain::Number { .. } => {
                text.trim().parse::<f64>().ok().filter(|x| !x.is_nan()).map(TrueAnswer::Number)
            }
            Domain::Text { alphabet, .. } => {
                let bytes = text.trim().as_bytes();
                let known = |b: &u8| *b != 0 && (alphabet.is_empty() || alphabet.contains(b));
                (!bytes.is_empty() && bytes.iter().all(known))
                    .then(|| TrueAnswer::Text(bytes.to_vec()))
            }
        }
    }

    /// One person's report: one answer for each attribute.
    pub fn randomize(&self, given: &[TrueAnswer], rng: &mut dyn Randomness) -> Result<Submission> {
        self.with_memory(given, None, rng)
    }

    /// One person's report in a repeated collection, with the noise she remembers. Refused if an
    /// attribute has a mechanism that does not remember: its ε would be spent each time.
    pub fn randomize_again(
        &self,
        given: &[TrueAnswer],
        memory: &mut Memory,
        rng: &mut dyn Randomness,
    ) -> Result<Submission> {
        let forgets = |a: &Attribute| !matches!(a.randomizer, Randomizer::Rappor(_));
        if self.survey.parts().iter().any(forgets) {
            return Err(Error::Unanswerable {
                what: "this survey's noise is not remembered, so every report costs its ε again",
                remedy: "use mechanism = \"rappor\" for repeated collection",
            });
        }
        self.with_memory(given, Some(memory), rng)
    }

    fn with_memory(
        &self,
        given: &[TrueAnswer],
        mut memory: Option<&mut Memory>,
        rng: &mut dyn Randomness,
    ) -> Result<Submission> {
        let survey = self.survey;
        if given.len() != survey.attributes().len() {
            return Err(Error::Unanswerable {
                what: "the survey asks for another number of answers",
                remedy: "give one answer for each attribute",
            });
        }
        let token = local::token(rng.bits()?)?;
        let mut answers = Vec::with_capacity(1);
        if survey.samples() {
            let part = uniform_below(survey.parts().len() as u64, rng)? as usize;
            answers.push(self.one(part, &given[part], memory, rng)?);
        } else if survey.budget() == Budget::Joint && survey.attributes().len() > 1 {
            let mut place = 0;
            for (attribute, given) in survey.attributes().iter().zip(given) {
                let (Domain::Categories(values), TrueAnswer::Category(c)) =
                    (&attribute.domain, given)
                else {
                    return Err(mismatch());
                };
                if *c as usize >= values.len() {
                    return Err(mismatch());
                }
                place = place * values.len() as u32 + c;
            }
            answers.push(self.one(0, &TrueAnswer::Category(place), memory, rng)?);
        } else {
            for (part, given) in given.iter().enumerate() {
                answers.push(self.one(part, given, memory.as_deref_mut(), rng)?);
            }
        }
        Ok(Submission { token, answers })
    }

    fn one(
        &self,
        part: usize,
        given: &TrueAnswer,
        memory: Option<&mut Memory>,
        rng: &mut dyn Randomness,
    ) -> Result<Answer> {
        let attribute = &self.survey.parts()[part];
        let mut level = 0;
        let report = match (&attribute.domain, given, &attribute.randomizer) {
            (Domain::Categories(_), TrueAnswer::Category(c), Randomizer::Rappor(rappor)) => {
                let Some(memory) = memory else {
                    return Err(attribute
                        .randomizer
                        .category(*c, rng.bits()?)
                        .err()
                        .unwrap_or_else(mismatch));
                };
                let kept = match memory.0.get(&(part, *c)) {
                    Some(kept) => kept.clone(),
                    None => {
                        let kept = rappor.permanent(*c, rng.bits()?)?.into_value();
                        memory.0.insert((part, *c), kept.clone());
                        kept
                    }
                };
                rappor.report(&kept, rng.bits()?)?
            }
            (Domain::Categories(_), TrueAnswer::Category(c), r) => r.category(*c, rng.bits()?)?,
            (Domain::Number { low, high }, TrueAnswer::Number(x), r) => {
                r.number((x.clamp(*low, *high) - low) / (high - low), rng.bits()?)?
            }
            (Domain::Text { length, .. }, TrueAnswer::Text(text), Randomizer::Prefix(hash)) => {
                level = uniform_below(u64::from(*length), rng)? as u8;
                let key = heavy::key(self.survey.salt(), level, text);
                hash.randomize(key, rng.bits()?)?
            }
            _ => return Err(mismatch()),
        };
        Ok(Answer { part, level, report: report.into_value() })
    }
}

fn mismatch() -> Error {
    Error::Unanswerable {
        what: "an answer is not of the kind that its attribute asks for",
        remedy: "read answers with Client::read",
    }
}

/// A person's permanent noise, by attribute and value: to be kept secret and kept for ever.
///
/// Each value that is in it has cost ε∞. To lose it is to start again, at another ε∞.
#[derive(Clone, Default)]
pub struct Memory(HashMap<(usize, u32), Permanent>);

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory(secret)")
    }
}

impl Memory {
    /// How many values have been reported: all reports together are that many times ε∞.
    #[must_use]
    pub fn values(&self) -> usize {
        self.0.len()
    }

    /// To be written to the person's own file.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_by_key(|(key, _)| **key);
        let object: Map<String, Value> = entries
            .into_iter()
            .map(|((part, value), kept)| {
                let bytes: Vec<u8> = kept.words().iter().flat_map(|w| w.to_le_bytes()).collect();
                (format!("{part}.{value}"), hex(&bytes).into())
            })
            .collect();
        Value::from(object).to_string()
    }

    /// What was written.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = || Error::Syntax("a memory must be what Memory::to_json wrote".to_owned());
        let value: Value = serde_json::from_str(text).map_err(|_| bad())?;
        let mut memory = HashMap::new();
        for (key, value) in value.as_object().ok_or_else(bad)? {
            let (part, category) = key.split_once('.').ok_or_else(bad)?;
            let key = (part.parse().map_err(|_| bad())?, category.parse().map_err(|_| bad())?);
            let bytes = value.as_str().and_then(unhex_all).ok_or_else(bad)?;
            let words = bytes
                .chunks_exact(8)
                .map(|c| c.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
            memory.insert(key, Permanent::restored(words.collect()));
        }
        Ok(Self(memory))
    }
}

/// What `collect randomize` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Randomized {
    /// Reports written.
    pub reports: u64,
    /// Rows that hold no answer of the domain; nothing was written for them.
    pub skipped: u64,
    /// The first of those, by number: from 1, without header and empty lines.
    pub skipped_rows: Vec<u64>,
}

/// How many rows are named.
const NAMED: usize = 20;

/// `collect randomize`: a CSV of answers, one person a line, to reports in JSON, one a line. The
/// first line is a header if it has the attributes' names (in any order, among other columns);
/// without a header the columns are the attributes.
pub fn randomize_csv(
    survey: &Survey,
    answers: impl Read,
    mut reports: impl Write,
    rng: &mut dyn Randomness,
) -> Result<Randomized> {
    let client = Client::new(survey);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(answers);
    let mut columns: Vec<usize> = (0..survey.attributes().len()).collect();
    let mut done = Randomized::default();
    let mut record = csv::ByteRecord::new();
    let mut first = true;
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                let source = std::io::Error::other(error.to_string());
                return Err(Error::Stream { what: "the answers cannot be read", source });
            }
        }
        let cell = |i: usize| record.get(i).and_then(|b| std::str::from_utf8(b).ok());
        if std::mem::take(&mut first) {
            let find =
                |a: &Attribute| (0..record.len()).find(|&i| cell(i) == Some(a.name.as_str()));
            let found: Option<Vec<usize>> = survey.attributes().iter().map(find).collect();
            if let Some(found) = found {
                columns = found;
                continue;
            }
        }
        let read = |(attribute, &column): (usize, &usize)| client.read(attribute, cell(column)?);
        let given: Option<Vec<TrueAnswer>> = columns.iter().enumerate().map(read).collect();
        let Some(given) = given else {
            done.skipped += 1;
            if done.skipped_rows.len() < NAMED {
                done.skipped_rows.push(done.reports + done.skipped);
            }
            continue;
        };
        let report = client.randomize(&given, rng)?;
        writeln!(reports, "{}", report.to_json(survey))
            .map_err(|source| Error::Stream { what: "the reports cannot be written", source })?;
        done.reports += 1;
    }
    Ok(done)
}

/// `collect randomize --memory`: the one answer of a CSV, with or without a header, to a report with the noise that
/// its person remembers. Keep the memory before the report is shown: else a crash between the two would
/// cost ε again.
pub fn randomize_one(
    survey: &Survey,
    answers: impl Read,
    memory: &mut Memory,
    rng: &mut dyn Randomness,
) -> Result<Submission> {
    let client = Client::new(survey);
    let given = one_answer(&client, answers).ok_or(Error::Unanswerable {
        what: "with a memory the answers must be one person's: one line, of the survey's values",
        remedy: "every person has a memory file of her own",
    })?;
    client.randomize_again(&given, memory, rng)
}

fn one_answer(client: &Client<'_>, answers: impl Read) -> Option<Vec<TrueAnswer>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(answers);
    let records: Vec<csv::StringRecord> =
        reader.records().collect::<std::result::Result<_, _>>().ok()?;
    let attributes = client.survey.attributes();
    let names = || attributes.iter().map(|a| a.name.as_str());
    let header = |r: &csv::StringRecord| names().all(|name| r.iter().any(|cell| cell == name));
    let (columns, answer): (Vec<Option<usize>>, _) = match records.as_slice() {
        [first, answer] if header(first) => {
            (names().map(|name| first.iter().position(|cell| cell == name)).collect(), answer)
        }
        [answer] => ((0..attributes.len()).map(Some).collect(), answer),
        _ => return None,
    };
    let cells = columns.into_iter().enumerate();
    cells.map(|(attribute, column)| client.read(attribute, answer.get(column?)?)).collect()
}

/// Randomizes many people's categories in one go: the fast path for one attribute of categories.
pub fn randomize_many(
    randomizer: &Randomizer,
    values: &[u32],
    rng: &mut dyn Randomness,
) -> Result<Vec<Report>> {
    let bits = rng.bits()?;
    let mut reports = Vec::with_capacity(values.len());
    if let Randomizer::Response(response) = randomizer {
        // The cheapest of all: worth a loop without a choice in it.
        for &value in values {
            reports.push(response.randomize(value, bits)?.into_value());
        }
        return Ok(reports);
    }
    for &value in values {
        reports.push(randomizer.category(value, bits)?.into_value());
    }
    Ok(reports)
}

#[cfg(test)]
mod tests;
