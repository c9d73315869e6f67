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
mod tests;
