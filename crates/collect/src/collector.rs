//! The collector's side: reports to counts.
//!
//! Reports come in one by one and are counted as they come; memory does not grow with their
//! number but for the tokens (17 to 34 bytes each) and, for texts, the reports themselves. Nothing
//! that comes in is fatal: what is malformed, of another survey, out of the domain, or a
//! repetition is counted and dropped.

use crate::cross::Cross;
use crate::error::{Error, Result};
use crate::kernel::{self, Narrow, Wide};
use crate::randomizer::Randomizer;
use crate::report::{self, Reject, Submission};
use crate::survey::{Attribute, Domain, Survey};
use demure_core::local::Report;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;
use std::io::{BufRead, Read};
use std::sync::Arc;

/// How many reports were not counted, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// Of neither form.
    pub malformed: u64,
    /// Of another version of the form.
    pub version: u64,
    /// Of another survey.
    pub other_survey: u64,
    /// No report that the randomizer could make.
    pub out_of_domain: u64,
    /// A token seen before: a repetition or a replay.
    pub duplicate: u64,
}

impl Rejected {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.malformed + self.version + self.other_survey + self.out_of_domain + self.duplicate
    }

    /// Counts one.
    pub fn add(&mut self, reject: Reject) {
        *match reject {
            Reject::Malformed => &mut self.malformed,
            Reject::Version => &mut self.version,
            Reject::OtherSurvey => &mut self.other_survey,
            Reject::OutOfDomain => &mut self.out_of_domain,
        } += 1;
    }
}

/// `2 malformed, 1 repeated`; empty if all were counted.
impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.malformed, "malformed"),
            (self.version, "of another version"),
            (self.other_survey, "of another survey"),
            (self.out_of_domain, "impossible"),
            (self.duplicate, "repeated"),
        ];
        let some = reasons.into_iter().filter(|(n, _)| *n > 0);
        let some: Vec<String> = some.map(|(n, why)| format!("{n} {why}")).collect();
        f.write_str(&some.join(", "))
    }
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Counted.
    Counted,
    /// Its token was seen before.
    Duplicate,
    /// Dropped.
    Rejected(Reject),
}

/// Counts reports of one survey.
#[derive(Debug)]
pub struct Collector {
    survey: Arc<Survey>,
    tallies: Vec<Tally>,
    tokens: HashSet<u128>,
    people: u64,
    rejected: Rejected,
    cross: Option<Cross>,
}

/// What is kept of one attribute's reports.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) people: u64,
    kept: TallyState,
}

#[derive(Debug)]
enum TallyState {
    /// Supports of each category.
    Counts(Vec<u64>),
    /// As many hashed reports as are worth a pass, and the supports so far.
    Narrow(Vec<Narrow>, Vec<u64>),
    /// The same for more than 2¹⁶ categories.
    Wide(Vec<Wide>, Vec<u64>),
    /// Sums of signs by row.
    Rows(Vec<i64>),
    /// Reports by cell, and by sign.
    Cells(Vec<u64>, [u64; 2]),
    /// Texts: hashed reports by level.
    Levels(Vec<Vec<Wide>>),
}

/// Hashed reports are counted in passes of this many.
const PASS: usize = 1 << 15;

impl Collector {
    /// For a survey.
    #[must_use]
    pub fn new(survey: &Survey) -> Self {
        Self::shared(Arc::new(survey.clone()))
    }

    /// For a survey that others hold too.
    #[must_use]
    pub fn shared(survey: Arc<Survey>) -> Self {
        let tallies = survey.parts().iter().map(|part| {
            let categories = part.randomizer.categories().unwrap_or(0) as usize;
            let kept = match (&part.randomizer, &part.domain) {
                (Randomizer::Prefix(_), Domain::Text { length, .. }) => {
                    TallyState::Levels(vec![Vec::new(); *length as usize])
                }
                (Randomizer::Hash(r), _) if r.is_narrow() => {
                    TallyState::Narrow(Vec::new(), vec![0; categories])
                }
                (Randomizer::Hash(_), _) => TallyState::Wide(Vec::new(), vec![0; categories]),
                (Randomizer::Hadamard(r), _) => TallyState::Rows(vec![0; r.rows() as usize]),
                (Randomizer::Piecewise(w) | Randomizer::SquareWave(w), _) => {
                    TallyState::Cells(vec![0; w.cells() as usize], [0; 2])
                }
                (Randomizer::Hybrid(h), _) => {
                    let cells = h.parts().1.map_or(0, |(_, w)| w.cells());
                    TallyState::Cells(vec![0; cells as usize], [0; 2])
                }
                (Randomizer::Sign(_), _) => TallyState::Cells(Vec::new(), [0; 2]),
                _ => TallyState::Counts(vec![0; categories]),
            };
            Tally { people: 0, kept }
        });
        let tallies = tallies.collect();
        Self {
            survey,
            tallies,
            tokens: HashSet::new(),
            people: 0,
            rejected: Rejected::default(),
            cross: None,
        }
    }

    /// Also counts what a table of two attributes needs.
    pub fn with_cross(mut self, first: &str, second: &str) -> Result<Self> {
        self.cross = Some(Cross::new(&self.survey, first, second)?);
        Ok(self)
    }

    /// The survey.
    #[must_use]
    pub fn survey(&self) -> &Arc<Survey> {
        &self.survey
    }

    /// How many reports were counted.
    #[must_use]
    pub fn people(&self) -> u64 {
        self.people
    }

    /// How many were not.
    #[must_use]
    pub fn rejected(&self) -> Rejected {
        self.rejected
    }

    /// Counts a report in binary.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Outcome {
        self.add_read(Submission::from_bytes(&self.survey, bytes))
    }

    /// Counts a report in JSON.
    pub fn add_json(&mut self, line: &str) -> Outcome {
        self.add_read(Submission::from_json(&self.survey, line))
    }

    /// Counts a report that was read and checked.
    pub fn add(&mut self, submission: &Submission) -> Outcome {
        if !self.tokens.insert(submission.token) {
            self.rejected.duplicate += 1;
            return Outcome::Duplicate;
        }
        self.count(submission);
        Outcome::Counted
    }

    /// Counts a report whose token was checked elsewhere: by the store, or by a shuffler that
    /// removed it.
    pub fn add_unique(&mut self, submission: &Submission) {
        self.count(submission);
    }

    fn add_read(&mut self, read: std::result::Result<Submission, Reject>) -> Outcome {
        match read {
            Ok(submission) => self.add(&submission),
            Err(reject) => {
                self.rejected.add(reject);
                Outcome::Rejected(reject)
            }
        }
    }

    fn count(&mut self, submission: &Submission) {
        self.people += 1;
        if let Some(cross) = &mut self.cross {
            cross.add(&self.survey, submission);
        }
        for answer in &submission.answers {
            let randomizer = &self.survey.parts()[answer.part].randomizer;
            self.tallies[answer.part].add(randomizer, answer.level, &answer.report);
        }
    }

    /// Counts a stream of reports in JSON, one a line. Empty lines are passed over; a line that is not
    /// UTF-8, or longer than any report of this survey could be, is malformed.
    pub fn add_lines(&mut self, mut lines: impl BufRead) -> Result<()> {
        let failed = |source| Error::Stream { what: "the reports cannot be read", source };
        let longest = longest_line(&self.survey);
        let mut line = Vec::new();
        loop {
            line.clear();
            let most = longest + 1;
            let read = lines.by_ref().take(most).read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 {
                return Ok(());
            }
            if read as u64 == most && line.last() != Some(&b'\n') {
                self.rejected.malformed += 1;
                lines.skip_until(b'\n').map_err(failed)?;
                continue;
            }
            match std::str::from_utf8(&line) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => {
                    self.add_json(text);
                }
                Err(_) => self.rejected.malformed += 1,
            }
        }
    }

    pub(crate) fn cross(&self) -> Option<&Cross> {
        self.cross.as_ref()
    }

    /// The counts of a part of the survey.
    pub(crate) fn tally(&mut self, part: usize) -> &mut Tally {
        &mut self.tallies[part]
    }
}

/// More bytes than a line with a report can have: content in hexadecimal or by name (each
/// character escaped), and room for spaces.
fn longest_line(survey: &Survey) -> u64 {
    let name = |part: &Attribute| match &part.domain {
        Domain::Categories(values) => values.iter().map(String::len).max().unwrap_or(0),
        _ => 0,
    };
    let names: usize = survey.parts().iter().map(|part| name(part) + part.name.len()).sum();
    (1 << 16) + 4 * report::length(survey) as u64 + 12 * names as u64
}

impl Tally {
    fn add(&mut self, randomizer: &Randomizer, level: u8, report: &Report) {
        self.people += 1;
        match (&mut self.kept, report) {
            (TallyState::Counts(counts), Report::Category(c)) => counts[*c as usize] += 1,
            (TallyState::Counts(counts), Report::Bits(words)) => {
                for (word, counts) in words.iter().zip(counts.chunks_mut(64)) {
                    let mut left = *word;
                    while left != 0 {
                        counts[left.trailing_zeros() as usize] += 1;
                        left &= left - 1;
                    }
                }
            }
            (TallyState::Rows(rows), Report::Row(row, sign)) => {
                rows[*row as usize] += if *sign { 1 } else { -1 };
            }
            (TallyState::Cells(cells, _), Report::Cell(cell)) => cells[*cell as usize] += 1,
            (TallyState::Cells(_, signs), Report::Sign(sign)) => signs[usize::from(*sign)] += 1,
            (kept, Report::Hashed(hash, bucket)) => {
                let (Randomizer::Hash(r) | Randomizer::Prefix(r)) = randomizer else { return };
                let (low, width) = r.sums(*bucket);
                let wide =
                    Wide { step: hash.multiplier, start: hash.offset.wrapping_sub(low), width };
                match kept {
                    TallyState::Narrow(pending, _) => pending.push(Narrow {
                        step: wide.step as u32,
                        start: wide.start as u32,
                        width: width as u32,
                    }),
                    TallyState::Wide(pending, _) => pending.push(wide),
                    TallyState::Levels(levels) => levels[usize::from(level)].push(wide),
                    _ => {}
                }
                if let TallyState::Narrow(pending, _) = kept
                    && pending.len() >= PASS
                {
                    self.flush();
                } else if let TallyState::Wide(pending, _) = kept
                    && pending.len() >= PASS
                {
                    self.flush();
                }
            }
            _ => {}
        }
    }

    fn flush(&mut self) {
        match &mut self.kept {
            TallyState::Narrow(pending, counts) => {
                kernel::narrow(pending, counts);
                pending.clear();
            }
            TallyState::Wide(pending, counts) => {
                let keys: Vec<u32> = (0..counts.len() as u32).collect();
                kernel::wide(pending, &keys, counts);
                pending.clear();
            }
            _ => {}
        }
    }

    /// How many reports support each category.
    pub(crate) fn supports(&mut self, categories: usize) -> Vec<u64> {
        self.flush();
        match &self.kept {
            TallyState::Counts(counts)
            | TallyState::Narrow(_, counts)
            | TallyState::Wide(_, counts) => counts.clone(),
            TallyState::Rows(rows) => {
                let mut sums = rows.clone();
                kernel::hadamard(&mut sums);
                // Support less opposition is the sum; together they are all.
                let all = self.people as i64;
                sums[..categories].iter().map(|sum| ((all + sum) / 2) as u64).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reports by cell, and by sign.
    pub(crate) fn cells(&self) -> (&[u64], [u64; 2]) {
        match &self.kept {
            TallyState::Cells(cells, signs) => (cells, *signs),
            _ => (&[], [0; 2]),
        }
    }

    /// Texts' reports by level.
    pub(crate) fn levels(&self) -> &[Vec<Wide>] {
        match &self.kept {
            TallyState::Levels(levels) => levels,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests;
