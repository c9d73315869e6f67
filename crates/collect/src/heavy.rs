//! The frequent texts of an unknown domain: prefix by prefix.
//!
//! Each person draws a level ℓ at random (independently of the text) and reports, through local
//! hashing, the first ℓ+1 bytes of her text (padded with zeros). The collector starts with all
//! texts of one byte, keeps those that are surely frequent among the reports of level 0, extends them by
//! one byte, looks at the reports of level 1, and so on.
//!
//! A person reports once, at ε. Nothing is sent of a text but one hashed prefix.
//! A prefix is at least as frequent as any text that has it, so a text that is frequent
//! enough to be seen at every level is found.

use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::kernel;
use crate::plan::z_quantile;
use crate::randomizer::Randomizer;
use crate::survey::Domain;
use demure_core::unit::Beta;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The number that stands for a prefix: 32 bits of a hash with the survey's salt.
///
/// Two prefixes share one with probability 2⁻³²; then their frequencies are added up.
pub(crate) fn key(salt: &[u8; 16], level: u8, text: &[u8]) -> u32 {
    let mut hash = Sha256::new();
    hash.update(salt);
    hash.update([level]);
    for i in 0..=usize::from(level) {
        hash.update([text.get(i).copied().unwrap_or(0)]);
    }
    let digest = hash.finalize();
    // Below 2³²−1, the number of categories of the randomizer.
    u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]).min(u32::MAX - 1)
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// The most prefixes to keep at each level, and texts to return.
    pub most: usize,
    /// The probability that any prefix is kept which nobody has, and that any interval fails.
    pub beta: Beta,
}

/// A frequent text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Its share of people; unbiased.
    pub estimate: f64,
    /// The standard error.
    pub sd: f64,
    /// The interval's lower end, in [0, 1].
    pub lower: f64,
    /// The interval's upper end, in [0, 1].
    pub upper: f64,
}

/// The frequent texts.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequentTexts {
    /// The attribute.
    pub name: String,
    /// How many reported it.
    pub people: u64,
    /// The most frequent first.
    pub texts: Vec<Text>,
    /// The frequency that a text needed at the last level to be kept.
    pub threshold: f64,
}

/// Finds the frequent texts of a part of the survey.
///
/// A candidate is kept if its estimate is more than z standard errors above 0, with z for all candidates
/// of all levels together at β/2; the returned texts' intervals hold together at β/2.
pub fn find(
    collector: &mut Collector,
    part: usize,
    wanted: &SearchOptions,
) -> Result<FrequentTexts> {
    let survey = Arc::clone(collector.survey());
    let attribute = &survey.parts()[part];
    let (Domain::Text { length, alphabet }, Randomizer::Prefix(hash)) =
        (&attribute.domain, &attribute.randomizer)
    else {
        return Err(Error::Unanswerable {
            what: "this attribute is not a text",
            remedy: "ask for its frequencies",
        });
    };
    let support = hash.support()?;
    let mut letters: Vec<u8> =
        if alphabet.is_empty() { (1..=255).collect() } else { alphabet.clone() };
    letters.insert(0, 0);
    let levels = *length as usize;
    let mut kept: Vec<Vec<u8>> = vec![Vec::new()];
    let mut texts = Vec::new();
    let mut threshold = 0.0;
    let people = collector.tally(part).people;
    for level in 0..levels {
        let mut candidates: Vec<Vec<u8>> = Vec::new();
        for prefix in &kept {
            let ended = prefix.last() == Some(&0);
            // An empty text is no answer; after its end a text has only zeros.
            let next = if ended { &letters[..1] } else { &letters[usize::from(level == 0)..] };
            candidates.extend(next.iter().map(|b| [prefix.as_slice(), &[*b]].concat()));
        }
        let salt = survey.salt();
        let keys: Vec<u32> = candidates.iter().map(|c| key(salt, level as u8, c)).collect();
        let reports = &collector.tally(part).levels()[level];
        let n = reports.len() as u64;
        if n == 0 || candidates.is_empty() {
            kept.clear();
            break;
        }
        let mut counts = vec![0; keys.len()];
        kernel::wide(reports, &keys, &mut counts);
        let z = z_quantile(0.5 * wanted.beta.get() / (levels * candidates.len()) as f64);
        let noise = (support.noise(0.0) / n as f64).sqrt();
        threshold = z * noise;
        let mut found: Vec<(f64, Vec<u8>)> = Vec::new();
        for (candidate, &count) in candidates.into_iter().zip(&counts) {
            let estimate = support.estimate(count, n)?;
            if estimate > threshold {
                found.push((estimate, candidate));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(wanted.most);
        if level + 1 == levels {
            // They were chosen by these same estimates: the intervals hold for all candidates.
            let z = z_quantile(0.25 * wanted.beta.get() / keys.len() as f64);
            texts = found
                .iter()
                .map(|(estimate, bytes)| {
                    let target = demure_core::local::Target::Population;
                    let sd = support.variance(estimate.clamp(0.0, 1.0), n, target).sqrt();
                    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
                    Text {
                        text: String::from_utf8_lossy(&bytes[..end]).into_owned(),
                        estimate: *estimate,
                        sd,
                        lower: (estimate - z * sd).clamp(0.0, 1.0),
                        upper: (estimate + z * sd).clamp(0.0, 1.0),
                    }
                })
                .collect();
        }
        kept = found.into_iter().map(|(_, bytes)| bytes).collect();
    }
    Ok(FrequentTexts { name: attribute.name.clone(), people, texts, threshold })
}
