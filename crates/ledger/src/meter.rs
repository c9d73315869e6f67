//! Running totals: the core's filter does all the arithmetic.
//!
//! The limit may be lowered below what is already spent, and the journal must still be replayed then. So the filter
//! that adds up is as wide as its types allow, and its total is compared with the limit in one place,
//! [`Meter::within`]. That decides exactly as a filter with that limit would (a test compares them).

use crate::limit::Accounting;
use crate::price::Price;
use demure_core::account::filter::{Admission, Filter};
use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};

/// What has been spent, rounded up.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    filter: Filter,
}

impl Meter {
    /// A meter with nothing spent.
    pub(crate) fn new(accounting: Accounting, neighbours: Neighbours) -> demure_core::Result<Self> {
        let failing = Delta::new(1f64.next_down())?;
        let filter = match accounting {
            Accounting::Pure => Filter::approximate(Epsilon::new(f64::MAX)?, failing, neighbours),
            Accounting::Zcdp => {
                Filter::approximate_concentrated(Rho::new(f64::MAX)?, failing, neighbours)
            }
        };
        Ok(Self { filter })
    }

    /// The price of `event` by itself.
    pub(crate) fn price(&self, event: &Event) -> demure_core::Result<Price> {
        let (main, delta) = self.filter.price(event)?;
        // −0 and 0 are stored, and so hashed, in the same way.
        Ok(Price { main: main + 0.0, delta: delta + 0.0 })
    }

    /// The totals with `event`; `None` if they overflow.
    pub(crate) fn with(&self, event: &Event) -> demure_core::Result<Option<Self>> {
        let mut filter = self.filter.clone();
        Ok(match filter.admit(event)? {
            Admission::Admitted => Some(Self { filter }),
            Admission::Refused => None,
        })
    }

    /// The totals.
    pub(crate) fn spent(&self) -> Price {
        // A filter without totals is one from which nothing may be bought.
        let (main, delta) = self.filter.spent().unwrap_or((f64::INFINITY, f64::INFINITY));
        Price { main, delta }
    }

    /// Whether the totals are at most `most`.
    pub(crate) fn within(&self, most: Price) -> bool {
        self.spent().within(most)
    }
}

#[cfg(test)]
mod tests;
