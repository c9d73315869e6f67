//! The axes of a chart.

use crate::number::{tick, time};
use std::time::{Duration, SystemTime};

/// An axis of a chart: its name, its ends, and how values lie between them.
#[derive(Clone)]
pub struct Axis {
    /// The quantity that it measures.
    pub name: String,
    low: f64,
    high: f64,
    scale: Scale,
}

#[derive(Clone, PartialEq)]
enum Scale {
    Linear,
    /// Equal steps are equal factors. 0 and less is drawn at the lower end.
    Logarithmic,
    /// Groups side by side: group i is at i.
    Names(Vec<String>),
    /// Seconds since 1970.
    Time,
}

impl Default for Axis {
    fn default() -> Self {
        Self::linear("", 0.0, 1.0)
    }
}

impl Axis {
    /// Equal steps.
    #[must_use]
    pub fn linear(name: impl Into<String>, low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { name: name.into(), low, high, scale: Scale::Linear }
    }

    /// Equal steps from 0 up to a round number that is at least `highest`.
    #[must_use]
    pub fn from_zero(name: impl Into<String>, highest: f64) -> Self {
        Self::linear(name, 0.0, ceiling(highest))
    }

    /// Equal factors between two positive ends.
    #[must_use]
    pub fn logarithmic(name: impl Into<String>, low: f64, high: f64) -> Self {
        // A flat curve is drawn in the middle.
        let (low, high) = match high > low * (1.0 + 1e-9) {
            true => (low, high),
            false => (low * 0.6, low / 0.6),
        };
        Self { name: name.into(), low, high, scale: Scale::Logarithmic }
    }

    /// Equal factors, with a range that contains all positive `values`.
    #[must_use]
    pub fn around(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let positive = values.into_iter().filter(|x| *x > 0.0 && x.is_finite());
        let ends = positive.fold(None, |ends: Option<(f64, f64)>, x| {
            Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
        });
        let (low, high) = ends.unwrap_or((1.0, 1.0));
        Self::logarithmic(name, low, high)
    }

    /// Groups side by side; group i is at i. A group without a name has no label.
    #[must_use]
    pub fn names(name: impl Into<String>, groups: Vec<String>) -> Self {
        let high = groups.len().max(1) as f64 - 0.5;
        Self { name: name.into(), low: -0.5, high, scale: Scale::Names(groups) }
    }

    /// From one moment to another; values are [`seconds`].
    #[must_use]
    pub fn time(name: impl Into<String>, first: SystemTime, last: SystemTime) -> Self {
        Self { scale: Scale::Time, ..Self::linear(name, seconds(first), seconds(last)) }
    }

    pub(crate) fn is_logarithmic(&self) -> bool {
        self.scale == Scale::Logarithmic
    }

    /// The number of groups side by side.
    pub(super) fn groups(&self) -> usize {
        if let Scale::Names(names) = &self.scale { names.len() } else { 0 }
    }

    /// The name of the group at `value`.
    pub(super) fn group(&self, value: f64) -> &str {
        let Scale::Names(names) = &self.scale else { return "" };
        names.get(value as usize).map_or("", String::as_str)
    }

    /// The position of a value, from 0 at the lower end to 1 at the upper.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Logarithmic if value <= self.low => 0.0,
            Scale::Logarithmic => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            _ => (value - self.low) / (self.high - self.low),
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether a value can be drawn.
    pub(crate) fn shows(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        let low = self.is_logarithmic() || value >= self.low - slack;
        value.is_finite() && value <= self.high + slack && low
    }

    /// At most `most` round values with their labels; all groups that have names.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let texts = |values: Vec<f64>| values.into_iter().map(|x| (x, tick(x))).collect();
        match &self.scale {
            Scale::Linear => texts(self.steps(most)),
            Scale::Logarithmic => texts(self.decades(most)),
            Scale::Names(names) => {
                let all = (0..).map(f64::from).zip(names.iter().cloned());
                all.filter(|(_, name)| !name.is_empty()).collect()
            }
            Scale::Time => [self.low, self.high]
                .map(|s| (s, time(SystemTime::UNIX_EPOCH + Duration::from_secs_f64(s.max(0.0)))))
                .to_vec(),
        }
    }

    /// Multiples of the smallest of 1, 2, 5 times a power of ten for which there are at most `most`.
    fn steps(&self, most: usize) -> Vec<f64> {
        let wide = (self.high - self.low) / most.saturating_sub(1).max(1) as f64;
        let power = wide.log10().floor();
        let fits = |digit: &f64| digit * 10f64.powf(power) >= wide * (1.0 - 1e-9);
        let digit = [1.0, 2.0, 5.0].into_iter().find(fits).unwrap_or(10.0);
        let step = digit * 10f64.powf(power);
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        (first as i64..=last as i64).map(|i| times_ten(i as f64 * digit, power as i32)).collect()
    }

    /// The finest set of 1, 2, 5 or powers of ten that fits; the ends if not even two do.
    fn decades(&self, most: usize) -> Vec<f64> {
        let (from, to) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let inside = |x: &f64| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(x);
        let set = |step: i32, digits: &[f64]| -> Vec<f64> {
            let powers = (from..=to).filter(|power| power % step == 0);
            let all = powers.flat_map(|power| digits.iter().map(move |d| times_ten(*d, power)));
            all.filter(inside).collect()
        };
        let all: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let finest = [(1, &all[..]), (1, &[1.0, 2.0, 5.0]), (1, &[1.0, 3.0]), (1, &[1.0])];
        let coarser = (2..400).map(|step| (step, &[1.0][..]));
        let mut sets = finest.into_iter().chain(coarser).map(|(step, digits)| set(step, digits));
        match sets.find(|ticks| ticks.len() <= most) {
            Some(ticks) if ticks.len() >= 2 => ticks,
            _ => vec![self.low, self.high],
        }
    }
}

/// A time as a number for a time axis.
#[must_use]
pub fn seconds(at: SystemTime) -> f64 {
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// `digit·10^power`, as the float nearest to the decimal.
fn times_ten(digit: f64, power: i32) -> f64 {
    format!("{digit}e{power}").parse().unwrap_or(f64::NAN)
}

/// The least of 1, 2, 4, 5, 8, 10 × a power of ten that is at least `x`.
fn ceiling(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    let steps = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0];
    steps.into_iter().map(|s| s * power).find(|top| *top >= x).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests;
