//! The exact search for a subset that serves every class: branch and bound over the
//! count of each value, for each size.

use super::shared::Part;
use crate::exact::Fraction;

/// What the search ended with.
pub(crate) enum SearchOutcome {
    /// Counts that serve every class.
    Subset(Vec<u64>),
    /// There are none.
    Nothing,
    /// The steps ran out.
    Unknown,
}

/// Tries every size s from n to N.
///
/// For one s, class C is served iff what M is short of it, `Σ max(0, s·c_v − m·x_v)`, is at most
/// `⌊ε·m·s⌋`. Both sum to m·s, so what M has beyond it is the same number. A partial choice is given up once either part, with
/// what the values not yet chosen must add at least, passes the limit for any class.
pub(crate) fn search(
    parts: &[Part<'_>],
    stock: &[u64],
    n: u64,
    epsilon: Fraction,
    steps: u64,
) -> SearchOutcome {
    let rows: u64 = stock.iter().sum();
    if rows >= 1 << 63 {
        // Below this, sums of two products of counts fit 128 bits.
        return SearchOutcome::Unknown;
    }
    let mut steps = steps;
    for size in n..=rows {
        let mut one = Size::new(parts, stock, size, epsilon, steps);
        let found = one.choose(0, size);
        steps = one.steps;
        match found {
            Some(true) => return SearchOutcome::Subset(one.counts),
            Some(false) => {}
            None => return SearchOutcome::Unknown,
        }
    }
    SearchOutcome::Nothing
}

/// One class's state for one size.
struct State<'a> {
    c: &'a [u64],
    m: u128,
    limit: u128,
    short: u128,
    beyond: u128,
    /// The class's rows among values not yet chosen.
    ahead: u128,
}

struct Size<'a> {
    stock: &'a [u64],
    size: u128,
    states: Vec<State<'a>>,
    counts: Vec<u64>,
    /// Stock from value v on.
    ahead: Vec<u64>,
    steps: u64,
}

impl<'a> Size<'a> {
    fn new(parts: &[Part<'a>], stock: &'a [u64], size: u64, epsilon: Fraction, steps: u64) -> Self {
        let states = parts
            .iter()
            .map(|part| {
                let limit = share_of(u128::from(part.m) * u128::from(size), epsilon);
                State {
                    c: part.c,
                    m: part.m.into(),
                    limit,
                    short: 0,
                    beyond: 0,
                    ahead: part.m.into(),
                }
            })
            .collect();
        let mut ahead: Vec<u64> = vec![0; stock.len() + 1];
        for v in (0..stock.len()).rev() {
            ahead[v] = ahead[v + 1] + stock[v];
        }
        Self { stock, size: size.into(), states, counts: vec![0; stock.len()], ahead, steps }
    }

    /// Chooses the counts from value v on, `left` rows in all: whether that can be done, `None` when steps ran out.
    fn choose(&mut self, v: usize, left: u64) -> Option<bool> {
        let Some(&stock) = self.stock.get(v) else { return Some(left == 0) };
        let (mut low, mut high) = (left.saturating_sub(self.ahead[v + 1]), stock.min(left));
        self.spend()?;
        for state in &self.states {
            let wanted = u128::from(state.c[v]) * self.size;
            // short + (wanted − m·x) ≤ limit and beyond + (m·x − wanted) ≤ limit
            let least = (wanted + state.short).saturating_sub(state.limit).div_ceil(state.m);
            let most = (wanted + state.limit - state.beyond) / state.m;
            low = low.max(u64::try_from(least).unwrap_or(u64::MAX));
            high = high.min(u64::try_from(most).unwrap_or(u64::MAX));
        }
        for x in low..=high {
            self.spend()?;
            self.place(v, x, true);
            let open = self.states.iter().all(|state| {
                let (wanted, given) = (state.ahead * self.size, state.m * u128::from(left - x));
                // Nothing subtracts from a part: each must stay within the limit to the end.
                state.short <= state.limit
                    && state.beyond <= state.limit
                    && wanted.saturating_sub(given) <= state.limit - state.short
                    && given.saturating_sub(wanted) <= state.limit - state.beyond
            });
            self.counts[v] = x;
            if open && self.choose(v + 1, left - x)? {
                return Some(true);
            }
            self.place(v, x, false);
        }
        Some(false)
    }

    /// Adds or takes back x rows of value v.
    fn place(&mut self, v: usize, x: u64, add: bool) {
        for state in &mut self.states {
            let (wanted, given) = (u128::from(state.c[v]) * self.size, u128::from(x) * state.m);
            let (short, beyond) = (wanted.saturating_sub(given), given.saturating_sub(wanted));
            if add {
                state.short += short;
                state.beyond += beyond;
                state.ahead -= u128::from(state.c[v]);
            } else {
                state.short -= short;
                state.beyond -= beyond;
                state.ahead += u128::from(state.c[v]);
            }
        }
    }

    fn spend(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(self.states.len() as u64 + 1)?;
        Some(())
    }
}

/// `⌊ε·area⌋`, at most the area; ε's parts are below 2⁶⁴.
fn share_of(area: u128, epsilon: Fraction) -> u128 {
    let (a, b) = (epsilon.numerator(), epsilon.denominator());
    if a >= b {
        return area;
    }
    // area = k·b + r: a·k ≤ area, and a·r < b² ≤ 2¹²⁸.
    a * (area / b) + a * (area % b) / b
}
