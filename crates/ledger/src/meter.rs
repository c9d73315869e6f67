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
mod tests {
    use super::*;
    use crate::limit::Limit;

    #[test]
    fn it_decides_as_the_cores_filter_does() {
        let texts = [
            "pure(eps=0.1)",
            "pure(eps=0.07, delta=0.0000001)",
            "laplace(b=9)*2",
            "exponential(eps=0.05)",
            "gaussian(sigma=30)",
            "parallel(by=key, laplace(b=20), laplace(b=30))",
            "compose(pure(eps=0.01), pure(eps=0.02, delta=0.00000001))*3",
        ];
        for accounting in [Accounting::Pure, Accounting::Zcdp] {
            for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
                let limit = Limit {
                    accounting,
                    epsilon: Epsilon::new(2.0).unwrap(),
                    delta: Delta::new(1e-6).unwrap(),
                    neighbours,
                };
                let (mut filter, most) = (limit.filter().unwrap(), limit.most().unwrap());
                let mut meter = Meter::new(accounting, neighbours).unwrap();
                let (mut refused, mut admitted, mut state) = (0, 0, 1u64);
                for _ in 0..400 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let event = Event::parse(texts[(state >> 33) as usize % texts.len()]).unwrap();
                    let Ok(admission) = filter.admit(&event) else {
                        assert!(meter.price(&event).is_err() && meter.with(&event).is_err());
                        continue;
                    };
                    let next = meter.with(&event).unwrap().unwrap();
                    assert_eq!(next.within(most), admission == Admission::Admitted);
                    if next.within(most) {
                        (meter, admitted) = (next, admitted + 1);
                    } else {
                        refused += 1;
                    }
                    let spent = meter.spent();
                    assert_eq!(filter.spent(), Some((spent.main, spent.delta)));
                }
                assert!(refused > 10 && admitted > 10, "{refused} {admitted}");
            }
        }
    }
}
