//! The loop of local hashing: for every value, how many reports hash it to their bucket.
//!
//! A report (a, b, y) supports v iff `a·v + b` falls in the interval of sums of bucket y
//! ([`demure_core::local::LocalHash::sums`]): `(a·v + b − low) mod 2^w < width`. Walking v upwards,
//! that is one addition and one comparison for each pair of a report and a value, in lanes
//! that the compiler turns into vector instructions. It is exact: no pool of hash functions.

use std::num::NonZero;

/// A report for values below 2¹⁶: the step a, the start b − low, and the width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    pub(crate) step: u32,
    pub(crate) start: u32,
    pub(crate) width: u32,
}

/// A report for keys of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    pub(crate) step: u64,
    pub(crate) start: u64,
    pub(crate) width: u64,
}

/// Values in a vector, and reports in a pass over the counts: with four of each, all that the
/// inner loop touches fits the sixteen registers that every x86-64 machine has.
const LANES: usize = 4;
const REPORTS: usize = 4;

/// Adds to `counts[v]` the number of reports that support v.
pub(crate) fn narrow(reports: &[Narrow], counts: &mut [u64]) {
    in_threads(reports, counts, |reports, counts| {
        let mut tally = vec![[0i32; LANES]; counts.len().div_ceil(LANES)];
        // A report that supports nothing, as no sum is below 0, makes the last four whole.
        let none = Narrow { step: 0, start: 0, width: 0 };
        for four in reports.chunks(REPORTS) {
            let mut each = [none; REPORTS];
            each[..four.len()].copy_from_slice(four);
            pass(&each, &mut tally);
        }
        for (count, add) in counts.iter_mut().zip(tally.as_flattened()) {
            *count += add.unsigned_abs() as u64;
        }
    });
}

/// One pass over the counts. Sums are kept less 2³¹, where the order of unsigned numbers is that of
/// signed ones, which is what vector comparisons know.
#[inline]
fn pass(reports: &[Narrow; REPORTS], tally: &mut [[i32; LANES]]) {
    const BIAS: u32 = 1 << 31;
    let mut sums = [[0i32; LANES]; REPORTS];
    let (mut steps, mut widths) = ([0i32; REPORTS], [0i32; REPORTS]);
    for (r, report) in reports.iter().enumerate() {
        for (v, sum) in sums[r].iter_mut().enumerate() {
            let start = report.start.wrapping_add(report.step.wrapping_mul(v as u32));
            *sum = start.wrapping_sub(BIAS) as i32;
        }
        steps[r] = report.step.wrapping_mul(LANES as u32) as i32;
        widths[r] = report.width.wrapping_sub(BIAS) as i32;
    }
    for tile in tally {
        for r in 0..REPORTS {
            for v in 0..LANES {
                // A comparison gives a mask of ones, which is −1: counts go down from 0.
                tile[v] = tile[v].wrapping_add(-i32::from(sums[r][v] < widths[r]));
                sums[r][v] = sums[r][v].wrapping_add(steps[r]);
            }
        }
    }
}

/// Adds to `counts[i]` the number of reports that support `keys[i]`.
pub(crate) fn wide(reports: &[Wide], keys: &[u32], counts: &mut [u64]) {
    in_threads(reports, counts, |reports, counts| {
        for report in reports {
            for (count, &key) in counts.iter_mut().zip(keys) {
                let sum = report.step.wrapping_mul(u64::from(key)).wrapping_add(report.start);
                *count += u64::from(sum < report.width);
            }
        }
    });
}

/// Shares the reports among the machine's threads, and adds up their counts.
fn in_threads<R: Sync>(reports: &[R], counts: &mut [u64], work: impl Fn(&[R], &mut [u64]) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    // A thread costs some tens of microseconds: for little work, none is started.
    let enough = (reports.len() * counts.len()) >> 20;
    let threads = threads.min(enough).max(1);
    if threads == 1 {
        return work(reports, counts);
    }
    let share = reports.len().div_ceil(threads);
    let size = counts.len();
    let parts: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let run = |part| {
            let work = &work;
            scope.spawn(move || {
                let mut own = vec![0; size];
                work(part, &mut own);
                own
            })
        };
        let running: Vec<_> = reports.chunks(share).map(run).collect();
        running
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(own) => own,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    for part in parts {
        for (count, add) in counts.iter_mut().zip(part) {
            *count += add;
        }
    }
}

/// The Walsh–Hadamard transform in place: `out[v] = Σ_j H[j,v]·in[j]`, for a power of two.
pub(crate) fn hadamard(values: &mut [i64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_exact_mut(2 * half) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests;
