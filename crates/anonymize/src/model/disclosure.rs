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
mod tests {
    use super::super::testing::{below, broken_union, check_monotone, class, lecture};
    use super::*;

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    #[test]
    fn all_small_histograms_by_definition() {
        for q in below(&[3, 3, 3]) {
            for c in below(&q).into_iter().filter(|c| c.iter().any(|&x| x > 0)) {
                let (one, table) = (class(&c), class(&q));
                let (m, n) = (one.size as f64, table.size as f64);
                let ratio = |c: &u64, q: &u64| (*c as f64 / m) / (*q as f64 / n);
                let with_mass = || c.iter().zip(&q).filter(|(_, q)| **q > 0);
                // None of these thresholds is a logarithm of a ratio that occurs.
                for text in ["0.3", "0.8", "1.1", "1.9"] {
                    let threshold = fraction(text).to_f64();
                    for (base, scale) in
                        [(LogBase::Nats, 1.0), (LogBase::Bits, std::f64::consts::LN_2)]
                    {
                        let model = DeltaDisclosure::new(fraction(text), base, 0).unwrap();
                        let expected =
                            with_mass().all(|(c, q)| (ratio(c, q).ln() / scale).abs() < threshold);
                        assert_eq!(model.holds(&one, &table), expected, "{text} {c:?} {q:?}");
                        let expected = with_mass()
                            .all(|(c, q)| *c == 0 || (ratio(c, q).ln() / scale).abs() < threshold);
                        assert_eq!(
                            model.occurring_only().holds(&one, &table),
                            expected,
                            "{text} {c:?} {q:?}"
                        );
                    }
                }
                for text in ["0.31", "0.49", "0.77", "1.01"] {
                    let beta = fraction(text).to_f64();
                    let basic = with_mass().all(|(c, q)| ratio(c, q) - 1.0 <= beta);
                    let log =
                        with_mass().all(|(c, q)| ratio(c, q) - 1.0 <= (n / *q as f64).ln() + 1e-12);
                    let model = |enhanced| BetaLikeness::new(fraction(text), enhanced, 0).unwrap();
                    assert_eq!(model(false).holds(&one, &table), basic);
                    assert_eq!(model(true).holds(&one, &table), basic && log, "{text} {c:?} {q:?}");
                }
            }
        }
    }

    #[test]
    fn the_inequality_of_delta_is_strict_and_that_of_beta_is_not() {
        // p/q = 2 and ½ exactly.
        let (one, table) = (class(&[4, 1, 1]), class(&[20, 20, 20]));
        let bits = |text: &str| {
            DeltaDisclosure::new(fraction(text), LogBase::Bits, 0).unwrap().holds(&one, &table)
        };
        assert!(!bits("1") && bits("1.000000000000001"));
        let beta = |text: &str| BetaLikeness::new(fraction(text), false, 0).unwrap();
        assert!(beta("1").holds(&one, &table) && !beta("0.999999999999999").holds(&one, &table));
        assert_eq!(beta("1").measure(&one, &table).unwrap().to_string(), "1");
    }

    #[test]
    fn large_counts_do_not_overflow() {
        let big = 1_u64 << 40;
        // ln(3/2) = 0.405465108108164381…
        let (one, table) = (class(&[big * 3, big]), class(&[big * 4, big * 4]));
        let nats = |text: &str| DeltaDisclosure::new(fraction(text), LogBase::Nats, 0).unwrap();
        assert!(
            nats("0.7").holds(&one, &table) && !nats("0.6931471805599").holds(&one, &table),
            "½ decides: ln 2"
        );
        let beta = BetaLikeness::new(fraction("1/2"), false, 0).unwrap();
        assert!(beta.holds(&one, &table));
        let enhanced = BetaLikeness::new(fraction("1/2"), true, 0).unwrap();
        assert!(enhanced.holds(&one, &table), "½ ≤ ln 2");
        // p = 0.85, q = ½: 0.7 > ln 2 = 0.693.
        let (one, table) = (class(&[big * 17, big * 3]), class(&[big * 20, big * 20]));
        assert!(BetaLikeness::new(fraction("0.7"), false, 0).unwrap().holds(&one, &table));
        assert!(!BetaLikeness::new(fraction("0.7"), true, 0).unwrap().holds(&one, &table));
    }

    #[test]
    fn the_lecture_and_missing_values() {
        let (table, classes) = lecture();
        let model = DeltaDisclosure::new(fraction("2"), LogBase::Bits, 0).unwrap();
        assert!(
            classes.iter().all(|class| !model.holds(class, &table)),
            "each class lacks a value"
        );
        assert_eq!(model.measure(&classes[0], &table), Some(Measure::Infinite));
        let loose = model.occurring_only();
        assert!(classes.iter().all(|class| loose.holds(class, &table)), "largest ratio is 3");
        assert!(
            (loose.measure(&classes[0], &table).unwrap().to_f64() - 3_f64.log2()).abs() < 1e-12
        );
    }

    #[test]
    fn unions_keep_ratios_unless_values_are_left_out() {
        for base in [LogBase::Nats, LogBase::Bits] {
            let model = DeltaDisclosure::new(fraction("0.7"), base, 0).unwrap();
            check_monotone(&model, 3, 2);
            assert!(!model.clone().occurring_only().monotone());
        }
        let loose =
            DeltaDisclosure::new(fraction("0.6"), LogBase::Bits, 0).unwrap().occurring_only();
        assert!(broken_union(&loose, 2, 6).is_some(), "the reason it is not monotone");
        let two = DeltaDisclosure::new(fraction("2"), LogBase::Bits, 0).unwrap().occurring_only();
        let held = |counts: &[u64]| two.holds(&class(counts), &class(&[50, 50]));
        assert!(held(&[3, 0]) && held(&[6, 1]) && !held(&[9, 1]));
        check_monotone(&BetaLikeness::new(fraction("0.5"), false, 0).unwrap(), 3, 2);
        check_monotone(&BetaLikeness::new(fraction("0.9"), true, 0).unwrap(), 3, 2);
    }
}
