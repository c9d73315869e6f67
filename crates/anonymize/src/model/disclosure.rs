//! Models of ratios: δ-disclosure privacy and β-likeness. Where a distance sums
//! over all values, these bound what is learnt about each one.

use super::closeness::check_threshold;
use super::{Counts, Measure, Model, Pair, counts};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::exact::fraction::product;
use crate::exact::{Fraction, LogSum};
use std::cmp::Ordering;

/// In what δ is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogBase {
    /// Natural logarithms.
    Nats,
    /// Logarithms to base 2, as ARX has them.
    Bits,
}

/// δ-disclosure privacy: `|log(p_v/q_v)| < δ` for every class and every value v of
/// the table, strictly (Brickell and Shmatikov 2008).
///
/// Decided exactly: see [`LogSum`].
///
/// # Guarantee
/// Finding the class multiplies the probability of no value by more than
/// `e^δ` or less than `e^−δ`, seen from the whole table's distribution.
///
/// # What it does not promise
/// Anything about observers with other knowledge than Q.
///
/// # Special values
/// A value the class lacks has p = 0 and log −∞: the class fails. ARX looks at the
/// values that occur in the class only; [`DeltaDisclosure::occurring_only`] does the same.
///
/// # Monotone
/// Yes: a union's p_v/q_v is a mixture of its parts'. With `occurring_only`, no: in a table of equal
/// shares and with δ = 2 bits, 3×0 passes and so does 6×0, 1×1; their union has p₁ = q₁/5 and does not.
#[derive(Clone, Debug)]
pub struct DeltaDisclosure {
    delta: Fraction,
    base: LogBase,
    column: usize,
    occurring_only: bool,
}

impl DeltaDisclosure {
    /// δ above 0, both its parts below 2⁶⁴.
    pub fn new(delta: Fraction, base: LogBase, column: usize) -> Result<Self> {
        check_threshold("delta", delta)?;
        if delta == Fraction::ZERO {
            return Err(Error::OutOfRange { parameter: "delta", allowed: "above 0" });
        }
        Ok(Self { delta, base, column, occurring_only: false })
    }

    /// Looks only at values that occur in the class.
    #[must_use]
    pub fn occurring_only(mut self) -> Self {
        self.occurring_only = true;
        self
    }

    /// With δ = a/b: `b·|ln(c·N) − ln(q·m)| < a·(1 or ln 2)`.
    fn value_holds(&self, c: u64, q: u64, pair: Pair<'_>) -> bool {
        if q == 0 {
            return true;
        }
        if c == 0 {
            return self.occurring_only;
        }
        let (a, b) = (self.delta.numerator(), self.delta.denominator());
        let ratio = |first: u64, second: u64| {
            let mut sum = LogSum::new();
            sum.add(first, b);
            sum.add(second, b);
            sum
        };
        let below = |small: LogSum, mut large: LogSum| {
            match self.base {
                LogBase::Bits => large.add(2, a),
                LogBase::Nats if large.add_units(a).is_none() => return false,
                LogBase::Nats => {}
            }
            small.compare(&large) == Ordering::Less
        };
        let (class, reference) = (ratio(c, pair.n), ratio(q, pair.m));
        below(class.clone(), reference.clone()) && below(reference, class)
    }
}

impl Model for DeltaDisclosure {
    fn holds(&self, class: &Class, table: &Class) -> bool {
        counts(class, table, self.column)
            .satisfy(|pair| pair.each().all(|(c, q)| self.value_holds(c, q, pair)))
    }

    fn monotone(&self) -> bool {
        !self.occurring_only
    }

    fn name(&self) -> String {
        let unit = if self.base == LogBase::Bits { "bits" } else { "nats" };
        let which = if self.occurring_only { ", occurring values only" } else { "" };
        format!("{}-disclosure privacy ({unit}{which})", self.delta)
    }

    /// The largest `|log(p_v/q_v)|`.
    fn measure(&self, class: &Class, table: &Class) -> Option<Measure> {
        let Counts::Both(pair) = counts(class, table, self.column) else { return None };
        let mut worst = 0.0_f64;
        for (c, q) in pair.each().filter(|(_, q)| *q > 0) {
            if c > 0 {
                let ratio = (c as f64 / pair.m as f64) / (q as f64 / pair.n as f64);
                let log = if self.base == LogBase::Bits { ratio.log2() } else { ratio.ln() };
                worst = worst.max(log.abs());
            } else if !self.occurring_only {
                return Some(Measure::Infinite);
            }
        }
        Some(Measure::Near(worst))
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }
}

/// β-likeness: for every value with p_v > q_v, `(p_v − q_v)/q_v ≤ β` (basic), and also
/// `≤ −ln q_v` (enhanced) (Cao and Karras 2012).
///
/// Decided exactly: the first in integers, the second by [`LogSum`].
///
/// # Guarantee
/// Finding the class multiplies the probability of no value by more than 1 + β. The enhanced
/// form also keeps frequent values from becoming certain: p_v ≤ q_v·(1 − ln q_v) < 1.
///
/// # What it does not promise
/// Anything about values that become *less* likely: that a person surely does not
/// have a value may be disclosed.
///
/// # Monotone
/// Yes: a union's p_v is a mixture of its parts', and the bound on p_v depends on Q alone.
#[derive(Clone, Debug)]
pub struct BetaLikeness {
    beta: Fraction,
    enhanced: bool,
    column: usize,
}

impl BetaLikeness {
    /// β above 0, both its parts below 2⁶⁴.
    pub fn new(beta: Fraction, enhanced: bool, column: usize) -> Result<Self> {
        check_threshold("beta", beta)?;
        if beta == Fraction::ZERO {
            return Err(Error::OutOfRange { parameter: "beta", allowed: "above 0" });
        }
        Ok(Self { beta, enhanced, column })
    }

    /// With β = a/b: `b·(cN − qm) ≤ a·qm`, and `cN − qm ≤ qm·(ln N − ln q)`.
    fn value_holds(&self, c: u64, q: u64, pair: Pair<'_>) -> bool {
        let (class, reference) = pair.crossed(c, q);
        let Some(gain) = class.checked_sub(reference).filter(|&gain| gain > 0) else { return true };
        if product(gain, self.beta.denominator()) > product(reference, self.beta.numerator()) {
            return false;
        }
        if !self.enhanced {
            return true;
        }
        let (mut left, mut right) = (LogSum::new(), LogSum::new());
        left.add(q, reference);
        right.add(pair.n, reference);
        left.add_units(gain).is_some() && left.compare(&right) != Ordering::Greater
    }
}

impl Model for BetaLikeness {
    fn holds(&self, class: &Class, table: &Class) -> bool {
        counts(class, table, self.column)
            .satisfy(|pair| pair.each().all(|(c, q)| self.value_holds(c, q, pair)))
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("{} {}-likeness", if self.enhanced { "enhanced" } else { "basic" }, self.beta)
    }

    /// The largest `(p_v − q_v)/q_v`, or 0.
    fn measure(&self, class: &Class, table: &Class) -> Option<Measure> {
        let Counts::Both(pair) = counts(class, table, self.column) else { return None };
        let gain = |(c, q): (u64, u64)| {
            let (class, reference) = pair.crossed(c, q);
            Fraction::new(class.saturating_sub(reference), reference)
        };
        pair.each().filter_map(gain).max().map(Measure::Exact)
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }
}

#[cfg(test)]
mod tests;
