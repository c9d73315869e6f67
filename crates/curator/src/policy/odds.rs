//! ε and δ in plain words: what an attacker's odds can become.
//!
//! For every set S of results and neighbours x, x′: `P[M(x) ∈ S] ≤ e^ε·P[M(x′) ∈ S]`. So by
//! Bayes the odds of "present" against "absent" (add or remove), or of somebody's having these values against those
//! (replace), grow by at most a factor of e^ε, and
//! even odds become at most e^ε : 1, which is a probability of `e^ε/(1 + e^ε)`.

use demure_core::unit::{Delta, Epsilon, Neighbours};

/// Beyond it a guarantee is of little comfort.
const WEAK: f64 = 10.0;
/// From it on, δ is a risk of its own.
const CARELESS: f64 = 1e-2;
/// The ε of a usual query.
const USUAL: (f64, f64) = (0.1, 5.0);

/// What ε promises, in plain words. The factor is rounded up.
///
/// ```text
/// whatever is released, nobody's presence changes the odds of it by more than a factor of
/// 2.72: a guess that was 50:50 becomes at most about 73:27
/// ```
#[must_use]
pub fn odds(epsilon: Epsilon, neighbours: Neighbours) -> String {
    let (factor, even) = words(epsilon.get());
    let whose = match neighbours {
        Neighbours::AddRemove => "nobody's presence changes",
        Neighbours::Replace => "nobody's values change",
    };
    format!(
        "whatever is released, {whose} the odds of it by more than a factor of {factor}: a guess \
         that was 50:50 becomes at most about {even}"
    )
}

/// e^ε, rounded up, and what it makes of even odds.
fn words(epsilon: f64) -> (String, String) {
    let factor = epsilon.exp();
    if factor > 1e6 {
        // Rounded up; an exponent too long to read says no more than a shorter one.
        let exponent = (epsilon / std::f64::consts::LN_10).ceil();
        let power =
            if exponent < 1e6 { format!("10^{exponent}") } else { "10^1000000 and more".into() };
        return (power.clone(), format!("{power}:1, a certainty"));
    }
    let percent = 100.0 * factor / (1.0 + factor);
    let even = match percent {
        percent if percent < 51.0 => {
            let up = (percent * 10.0).ceil() / 10.0;
            format!("{up:.1}:{:.1}", 100.0 - up)
        }
        percent if percent < 98.5 => format!("{:.0}:{:.0}", percent, 100.0 - percent),
        _ => format!("{}:1", factor.ceil()),
    };
    let factor = match factor {
        factor if factor < 100.0 => format!("{:.2}", (factor * 100.0).ceil() / 100.0),
        factor => factor.ceil().to_string(),
    };
    (factor, even)
}

/// A warning if the whole budget promises little.
pub(super) fn of_epsilon(epsilon: Epsilon, neighbours: Neighbours) -> Option<String> {
    (epsilon.get() > WEAK).then(|| {
        let odds = odds(epsilon, neighbours);
        format!("`epsilon` = {epsilon} promises little: {odds}; few go beyond {WEAK}")
    })
}

/// A warning if δ alone can expose people.
pub(super) fn of_delta(delta: Delta) -> Option<String> {
    (delta.get() >= CARELESS).then(|| {
        format!(
            "`delta` = {delta} promises little: with that probability the bound on the odds may \
             not hold at all, as if {delta} of all people could be published outright; write far \
             less than 1 in the number of people, e.g. `delta = 1e-6`"
        )
    })
}

/// A warning if a usual query would be noise, or would give too much away.
pub(super) fn of_query(per_query: Epsilon, neighbours: Neighbours) -> Option<String> {
    let (least, most) = USUAL;
    match per_query.get() {
        epsilon if epsilon < least => {
            let off = (1.0 / epsilon).floor();
            let off = match off {
                off if off < 1e15 => off.to_string(),
                off if off.is_finite() => format!("{off:e}"),
                _ => "more than can be written".to_owned(),
            };
            let per_query = match epsilon {
                epsilon if epsilon < 1e-6 => format!("{epsilon:e}"),
                epsilon => epsilon.to_string(),
            };
            Some(format!(
                "a query that does not say gets `per_query` = {per_query}, so little that even a \
                 count is off by {off} on average; usual are {least} to {most}"
            ))
        }
        epsilon if epsilon > most => Some(format!(
            "a query that does not say gets `per_query` = {per_query}, which is much for one: {}; \
             usual are {least} to {most}",
            odds(per_query, neighbours)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_is_told_as_a_factor_and_as_a_guess() {
        for (epsilon, factor, even) in [
            (1e-9, "1.01", "50.1:49.9"),
            (0.01, "1.02", "50.3:49.7"),
            (0.1, "1.11", "52:48"),
            (1.0, "2.72", "73:27"),
            (2.0, "7.39", "88:12"),
            (4.0, "54.60", "98:2"),
            (5.0, "149", "149:1"),
            (10.0, "22027", "22027:1"),
            (20.0, "10^9", "10^9:1, a certainty"),
            (1e300, "10^1000000 and more", "10^1000000 and more:1, a certainty"),
        ] {
            assert_eq!(words(epsilon), (factor.to_owned(), even.to_owned()), "{epsilon}");
        }
        assert_eq!(
            odds(Epsilon::new(1.0).unwrap(), Neighbours::AddRemove),
            "whatever is released, nobody's presence changes the odds of it by more than a factor \
             of 2.72: a guess that was 50:50 becomes at most about 73:27"
        );
        let values = odds(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
        assert!(values.starts_with("whatever is released, nobody's values change the odds"));
    }

    #[test]
    fn the_usual_needs_no_warning() {
        let epsilon = |value| Epsilon::new(value).unwrap();
        let delta = |value| Delta::new(value).unwrap();
        let of_epsilon = |epsilon| of_epsilon(epsilon, Neighbours::AddRemove);
        let of_query = |epsilon| of_query(epsilon, Neighbours::Replace);
        assert_eq!(of_epsilon(epsilon(10.0)), None);
        assert!(of_epsilon(epsilon(10.1)).unwrap().contains("24344"));
        assert_eq!(of_delta(delta(0.0099)), None);
        assert!(of_delta(delta(0.01)).unwrap().contains("1e-6"));
        assert_eq!((of_query(epsilon(0.1)), of_query(epsilon(5.0))), (None, None));
        assert!(of_query(epsilon(0.05)).unwrap().contains("off by 20 on average"));
        assert!(of_query(epsilon(5e-324)).unwrap().contains("off by"));
        assert!(of_query(epsilon(6.0)).unwrap().contains("404:1"));
    }
}
