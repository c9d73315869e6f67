//! The budget of one block, and of one row in one group.

use super::Most;
use crate::error::Result;
use crate::policy::Accounting;
use demure_core::event::Event;
use demure_core::mechanism::Budget;
use demure_core::unit::Rho;
use demure_core::unit::{Delta, Epsilon, Neighbours};

/// The budget of a block for all groups together.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub(crate) budget: Budget,
    /// A δ for releases that need one, if there is any.
    pub(crate) delta: Option<Delta>,
    pub(crate) neighbours: Neighbours,
}

impl Share {
    /// The privacy event if all of the budget is spent.
    pub(crate) fn event(&self) -> Event {
        match self.budget {
            Budget::Pure(epsilon) => Event::Pure { epsilon },
            Budget::Concentrated(rho) => Event::Concentrated { rho },
        }
    }

    /// Half of the budget, for one of two releases. It is rounded so that two halves cost at most the whole.
    pub(super) fn half(&self) -> Result<Self> {
        let budget = match self.budget {
            Budget::Pure(epsilon) => Budget::Pure(Epsilon::new(epsilon.get() * 0.5)?),
            Budget::Concentrated(rho) => Budget::Concentrated(Rho::new(rho.get() * 0.5)?),
        };
        Ok(Self { budget, delta: None, ..*self })
    }

    /// One of so many equal parts, which together cost at most the whole.
    pub(super) fn divided(&self, parts: usize) -> Result<Self> {
        if parts == 1 {
            return Ok(*self);
        }
        let budget = match self.budget {
            Budget::Pure(epsilon) => {
                Budget::Pure(Epsilon::new(down(epsilon.get() / parts as f64))?)
            }
            Budget::Concentrated(rho) => {
                Budget::Concentrated(Rho::new(down(rho.get() / parts as f64))?)
            }
        };
        Ok(Self { budget, delta: None, ..*self })
    }

    /// The ε at which the quantile of each group may be drawn, as if a unit were one row.
    ///
    /// # Proof
    /// A unit has at most m rows in each of at most g groups. Its m rows in one group move the rank
    /// error m times as far as one row does, so a quantile drawn at ε/m is ε-DP and has a bounded
    /// range of ε for them, and so is ε²/8-zCDP. Let h = max(q, 1−q), the change of the rank error by
    /// one row added or removed, and 1 its change by one replaced; a quantile calibrated for
    /// *replace* at ε costs hε where a group only gains or only loses rows.
    /// *Add or remove*: g groups change: gε, or gε²/8. *Replace*, one group: ε, or ε²/8. *Replace*, the
    /// old and the new rows sharing t groups: tε + 2(g−t)hε ≤ 2ghε as h ≥ ½, or `(t + 2(g−t)h²)ε²/8 ≤
    /// g·max(1, 2h²)·ε²/8`.
    ///
    /// *Weighted*: the rows of a unit in each group are a vector r with a norm of at most m, and g = 1. *Add or remove*:
    /// `Σr·ε/m ≤ ε`, or `Σr²·ε²/8m² ≤ ε²/8`. *Replace*, r by r′: a group costs `ε/m` times `h·max(r,r′) + (1−h)·min(r,r′)`. In
    /// one group that is at most ε. In several it is at most `h(r+r′)` each, so 2hε; and its square at most
    /// `(h² + (1−h)²)(r² + r′²)`, so `2(h² + (1−h)²)·ε²/8`. ∎
    pub(super) fn per_row(&self, most: Most, single: bool, h: f64) -> Result<Epsilon> {
        let (g, m) = (f64::from(most.groups), f64::from(most.rows));
        let each = match (self.budget, self.neighbours) {
            (Budget::Pure(epsilon), Neighbours::AddRemove) => epsilon.get() / g,
            (Budget::Pure(epsilon), Neighbours::Replace) if single => epsilon.get(),
            (Budget::Pure(epsilon), Neighbours::Replace) => epsilon.get() / (2.0 * g * h),
            (Budget::Concentrated(rho), Neighbours::AddRemove) => (8.0 * rho.get() / g).sqrt(),
            (Budget::Concentrated(rho), Neighbours::Replace) if single => (8.0 * rho.get()).sqrt(),
            (Budget::Concentrated(rho), Neighbours::Replace) => {
                let both = match most.weighted {
                    true => 2.0 * (h * h + (1.0 - h) * (1.0 - h)),
                    false => (2.0 * h * h).max(1.0),
                };
                (8.0 * rho.get() / (g * both)).sqrt()
            }
        };
        Ok(Epsilon::new(down(each / m))?)
    }
}

/// A share of the query's budget. A little is kept back for rounding, so that shares never add up to more than the
/// whole, nor ten queries of 0.1 to more than a budget of 1.
pub(crate) fn part_of(epsilon: Epsilon, accounting: Accounting, share: f64) -> Result<Budget> {
    let share = share * (1.0 - 1e-14);
    Ok(match accounting {
        Accounting::Pure => Budget::Pure(Epsilon::new(epsilon.get() * share)?),
        // ρ = ε²/2: what a pure ε costs as zCDP.
        Accounting::Zcdp => {
            Budget::Concentrated(Rho::new(epsilon.get() * epsilon.get() * 0.5 * share)?)
        }
    })
}

/// Rounds down a little. These quotients only set the amount of noise, and more noise is safe.
pub(super) fn down(x: f64) -> f64 {
    x * (1.0 - 1e-15)
}
