//! The budget of one dataset, as the policy declares it.
//!
//! # Guarantee
//! While the totals stay within [`Limit::most`], the whole interaction with
//! the dataset is (ε, δ)-DP under the policy's neighbour relation:
//!
//! - *pure*: Σε ≤ ε and Σδ ≤ δ, by basic composition with a filter.
//! - *zcdp*: ρ is the largest for which ρ-zCDP is (ε, δ/2)-DP; Σρ ≤ ρ, and the
//!   events' own Σδ ≤ δ/2. The two halves add up to δ.
//!
//! Both hold for queries and prices chosen as answers come in (core,
//! `account::filter`).
//!
//! # Special values
//! δ = 0 is pure privacy under pure accounting, and refused under zCDP, which
//! needs a δ to say anything about ε.

use crate::error::{Error, Result};
use crate::price::Price;
use demure_core::account::filter::Filter;
use demure_core::account::zcdp;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};
use std::fmt;

/// How privacy costs are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accounting {
    /// ε and δ add up.
    Pure,
    /// ρ adds up.
    Zcdp,
}

impl fmt::Display for Accounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pure => "pure",
            Self::Zcdp => "zcdp",
        })
    }
}

/// The budget of one dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The accounting.
    pub accounting: Accounting,
    /// The ε of the guarantee.
    pub epsilon: Epsilon,
    /// The δ of the guarantee.
    pub delta: Delta,
    /// The neighbour relation of the guarantee.
    pub neighbours: Neighbours,
}

impl Limit {
    /// A fresh filter of the core with this limit.
    pub fn filter(&self) -> Result<Filter> {
        let most = self.most()?;
        let impossible = |source| Error::ImpossibleLimit { source };
        let failing = Delta::new(most.delta).map_err(impossible)?;
        match self.accounting {
            Accounting::Pure => Ok(Filter::approximate(self.epsilon, failing, self.neighbours)),
            Accounting::Zcdp => {
                let rho = Rho::new(most.main).map_err(impossible)?;
                Ok(Filter::approximate_concentrated(rho, failing, self.neighbours))
            }
        }
    }

    /// What may be spent, in the budget's unit.
    pub fn most(&self) -> Result<Price> {
        match self.accounting {
            Accounting::Pure => {
                Ok(Price { main: self.epsilon.get(), delta: self.delta.get() + 0.0 })
            }
            Accounting::Zcdp => {
                let half = self.half()?;
                let rho = zcdp::for_target(self.epsilon, half)
                    .map_err(|source| Error::ImpossibleLimit { source })?;
                Ok(Price { main: rho.get(), delta: half.get() })
            }
        }
    }

    /// The ε of `spent`, rounded up: the same number for pure accounting; for zCDP the ε of (ε, δ/2)-DP.
    pub fn epsilon_of(&self, spent: Price) -> Result<f64> {
        if self.accounting == Accounting::Pure || spent.main == 0.0 {
            return Ok(spent.main);
        }
        Rho::new(spent.main)
            .and_then(|rho| Ok((rho, Delta::new(self.delta.get() * 0.5)?)))
            .and_then(|(rho, half)| zcdp::epsilon(rho, half))
            .map_err(|source| Error::ImpossibleLimit { source })
    }

    /// Half of δ; exact, except that a δ too small to halve is refused.
    fn half(&self) -> Result<Delta> {
        let half = self.delta.get() * 0.5;
        if half + half != self.delta.get() || half == 0.0 {
            return Err(Error::ZcdpNeedsDelta);
        }
        Delta::new(half).map_err(|source| Error::ImpossibleLimit { source })
    }

    /// Whether totals kept under `other` may continue under this limit.
    pub(crate) fn same_currency(&self, other: &Self) -> bool {
        self.accounting == other.accounting && self.neighbours == other.neighbours
    }

    /// Parses the output of [`Limit`]'s `Display`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix("limit(")?.strip_suffix(')')?;
        let mut fields = inner.split(", ");
        let mut field = |key: &str| fields.next()?.strip_prefix(key)?.strip_prefix('=');
        let accounting = match field("accounting")? {
            "pure" => Accounting::Pure,
            "zcdp" => Accounting::Zcdp,
            _ => return None,
        };
        let epsilon = Epsilon::new(field("eps")?.parse().ok()?).ok()?;
        let delta = Delta::new(field("delta")?.parse().ok()?).ok()?;
        let neighbours = match field("neighbours")? {
            "replace" => Neighbours::Replace,
            "add-remove" => Neighbours::AddRemove,
            _ => return None,
        };
        fields.next().is_none().then_some(Self { accounting, epsilon, delta, neighbours })
    }
}

impl fmt::Display for Limit {
    /// `limit(accounting=zcdp, eps=1, delta=0.000001, neighbours=replace)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accounting, epsilon, delta, neighbours } = self;
        write!(
            f,
            "limit(accounting={accounting}, eps={epsilon}, delta={delta}, neighbours={neighbours})"
        )
    }
}

#[cfg(test)]
mod tests;
