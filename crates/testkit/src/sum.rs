//! Compensated summation.

/// The sum of `terms` by Neumaier's variant of Kahan's algorithm.
///
/// For terms of one sign the relative error is about 2⁻⁵² however many there are. An
/// infinite term gives an infinite sum, a NaN gives NaN.
pub(crate) fn compensated(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        // The low-order bits that `next` could not hold come from the smaller operand.
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    // Past an infinity the lost bits are ∞ − ∞ and mean nothing.
    if sum.is_finite() { sum + lost } else { sum }
}

#[cfg(test)]
mod tests {
    use super::compensated;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        assert_eq!(compensated([1.0, 1e100, 1.0, -1e100]), 2.0);
        let tenth = compensated(std::iter::repeat_n(0.1, 1_000_000));
        assert!((tenth - 100_000.0).abs() < 1e-10);
    }

    #[test]
    fn passes_infinity_and_nan_on() {
        assert_eq!(compensated([1.0, f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(compensated([1.0, f64::NAN]).is_nan());
    }
}
