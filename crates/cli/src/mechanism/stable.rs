//! What `mode` and `top-k` share: the answer itself, without noise, where it is far from changing.

use super::output::{Common, promised};
use crate::Failure;
use crate::input::{Counts, Words, number};
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{Distance, Stable, Tally};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::{Report, short};
use serde_json::Value;
use std::cell::Cell;
use std::io::Write;

/// Options of a stable answer about keys.
#[derive(clap::Args)]
pub(super) struct Votes {
    #[command(flatten)]
    counts: Counts,

    /// All keys there can be, if they are public: a tie goes to the earlier one
    #[arg(long, value_name = "A,B,…")]
    keys: Option<Words>,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    delta: f64,

    #[command(flatten)]
    common: Common,
}

/// What is asked of a tally.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    /// The most frequent key.
    Mode,
    /// The k most frequent, as a set.
    Top(usize),
    /// The k most frequent, best first.
    Ranking(usize),
}

impl Votes {
    pub(super) fn run(
        &self,
        name: &'static str,
        ask: Ask,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::positive(self.delta)?);
        let neighbours = self.common.neighbours();
        let mechanism = Stable::new(epsilon, delta)?;
        let (threshold, lead) = (mechanism.threshold(), lead_95(&mechanism, epsilon, neighbours));
        let scale = epsilon.get().recip();
        let report = Report::default()
            .field("mechanism", format!("{name}, released as it is where it is stable"))
            .described("sensitivity", 1, "1 step (of the distance to another answer)")
            .described("scale", scale, format!("{} (of the noise on that distance)", short(scale)))
            .described(
                "threshold",
                threshold,
                format!(
                    "{threshold} (it comes back if it takes more rows than about that to change it)"
                ),
            );
        let report = promised(report, mechanism.guarantee(), neighbours).described(
            "error_95",
            lead,
            format!("exact or ⊥; a lead of {lead} rows comes back with 95 % confidence"),
        );
        let (answer, distance) = self.answer(ask)?;
        let missing = Cell::new(false);
        let json = self.common.output.json;
        let draw = |rng: &mut SystemRandom| {
            let drawn = mechanism.release(answer.clone(), distance, rng)?.into_value();
            Ok(drawn.filter(|answer| !answer.is_null()).unwrap_or_else(|| {
                missing.set(true);
                if json { Value::Null } else { Value::from("⊥") }
            }))
        };
        self.common.output.finish(&report, draw, out)?;
        if missing.get() {
            out.flush().map_err(Failure::writing)?;
            return Err(Failure::Unsatisfied(
                "no answer (⊥): too few rows may be enough to change it; that is an answer too, and cost as much\n\
                 hint: a larger --epsilon or --delta asks for a smaller lead; --explain says how large"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The answer, and how far it is from changing. Protected.
    fn answer(&self, ask: Ask) -> Result<(Value, Distance), Failure> {
        let counted = self.counts.read(self.common.explain())?;
        let (names, counts): (Vec<String>, Vec<u64>) = match &self.keys {
            Some(Words(keys)) => {
                let count = |key: &String| counted.get(key).copied().unwrap_or(0);
                keys.iter().map(|key| (key.clone(), count(key))).unzip()
            }
            // Keys that nobody has so far come first, so that ties are against all others: a lower bound on the distance.
            None => std::iter::once((String::new(), 0)).chain(counted).unzip(),
        };
        let tally = Tally::votes(&counts, self.common.neighbours())?;
        let (chosen, distance) = match ask {
            Ask::Mode => {
                let (winner, distance) = tally.winner();
                (vec![winner], distance)
            }
            Ask::Top(k) => tally.top(k),
            Ask::Ranking(k) => tally.ranking(k),
        };
        // Fewer keys than were asked for: one row may bring another.
        let newcomer = self.keys.is_none() && chosen.contains(&0);
        let asked = match ask {
            Ask::Mode => 1,
            Ask::Top(k) | Ask::Ranking(k) => k,
        };
        if newcomer || chosen.len() < asked && self.keys.is_none() {
            return Ok((Value::Null, Distance::ToUnstable(0)));
        }
        let named = chosen.iter().filter_map(|&i| names.get(i).cloned());
        Ok(match ask {
            Ask::Mode => (named.map(Value::from).next().unwrap_or(Value::Null), distance),
            _ => (Value::from(named.collect::<Vec<_>>()), distance),
        })
    }
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
