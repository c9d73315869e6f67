//! The most frequent keys themselves, where they are far from changing.

use crate::error::Result;
use crate::explain::promised;
use demure_core::sensitivity::{Distance, Stable, Tally};
use demure_core::unit::{Epsilon, Neighbours};
use demure_report::{Report, short};
use std::collections::BTreeMap;

/// What is asked of a tally.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TallyQuestion {
    /// The most frequent key.
    Mode,
    /// The k most frequent, as a set.
    Top(usize),
    /// The k most frequent, best first.
    Ranking(usize),
}

/// The keys asked for and how far they are from changing; no keys where fewer occur than were asked
/// for. Both are protected. Without public `keys`, any key at all may come to lead.
pub fn leading(
    ask: TallyQuestion,
    counts: BTreeMap<String, u64>,
    keys: Option<&[String]>,
    neighbours: Neighbours,
) -> Result<(Option<Vec<String>>, Distance)> {
    let (names, counts): (Vec<String>, Vec<u64>) = match keys {
        Some(keys) => {
            let count = |key: &String| counts.get(key).copied().unwrap_or(0);
            keys.iter().map(|key| (key.clone(), count(key))).unzip()
        }
        // Keys that nobody has so far come first, so that ties are against all others: a lower bound on the distance.
        None => std::iter::once((String::new(), 0)).chain(counts).unzip(),
    };
    let tally = Tally::votes(&counts, neighbours)?;
    let (chosen, distance) = match ask {
        TallyQuestion::Mode => {
            let (winner, distance) = tally.winner();
            (vec![winner], distance)
        }
        TallyQuestion::Top(k) => tally.top(k),
        TallyQuestion::Ranking(k) => tally.ranking(k),
    };
    let asked = match ask {
        TallyQuestion::Mode => 1,
        TallyQuestion::Top(k) | TallyQuestion::Ranking(k) => k,
    };
    // Fewer keys than were asked for: one row may bring another.
    if keys.is_none() && (chosen.contains(&0) || chosen.len() < asked) {
        return Ok((None, Distance::ToUnstable(0)));
    }
    Ok((Some(chosen.iter().filter_map(|&i| names.get(i).cloned()).collect()), distance))
}

/// What an answer that is released as it is promises, and the lead that it needs.
#[must_use]
pub fn explain(
    answer: &str,
    mechanism: &Stable,
    epsilon: Epsilon,
    neighbours: Neighbours,
) -> Report {
    let (threshold, lead) = (mechanism.threshold(), lead_95(mechanism, epsilon, neighbours));
    let scale = epsilon.get().recip();
    let report = Report::default()
        .field("mechanism", format!("{answer}, released as it is where it is stable"))
        .described("sensitivity", 1, "1 step (of the distance to another answer)")
        .described("scale", scale, format!("{} (of the noise on that distance)", short(scale)))
        .described(
            "threshold",
            threshold,
            format!(
                "{threshold} (it comes back if it takes more rows than about that to change it)"
            ),
        );
    promised(report, mechanism.guarantee(), neighbours).described(
        "error_95",
        lead,
        format!("exact or ⊥; a lead of {lead} rows comes back with 95 % confidence"),
    )
}

/// The lead, in rows, that comes back with probability 0.95: `P[Z > T − d] = 1 − a^(d−T)/(1+a)`, `a = e^−ε`, for a
/// distance d to instability of at least T.
fn lead_95(mechanism: &Stable, epsilon: Epsilon, neighbours: Neighbours) -> u64 {
    let a = (-epsilon.get()).exp();
    let above = ((20.0 / (1.0 + a)).ln() / epsilon.get()).ceil().max(1.0);
    let distance = mechanism.threshold().saturating_add(above as u64);
    let step = match neighbours {
        Neighbours::AddRemove => 1,
        Neighbours::Replace => 2,
    };
    // Against a challenger that wins ties: ⌈lead/step⌉ ≥ distance + 1.
    distance.saturating_mul(step).saturating_add(1)
}

#[cfg(test)]
mod tests;
