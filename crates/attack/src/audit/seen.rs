//! Keys told apart one by one, however many there are: by how often each was seen.

/// Keys of some runs, in classes of those that were seen equally often on the left and equally often on
/// the right. For what has more values than cells and fewer than runs: noise of few random bits.
#[derive(Debug)]
pub(super) struct SeenKeys {
    /// Every key, in order, and its class.
    keys: Vec<(u64, usize)>,
    /// How often the keys of a class were seen on each side, those that speak for the left first.
    classes: Vec<[u32; 2]>,
}

/// What a class says for the left.
fn ratio([left, right]: [u32; 2]) -> f64 {
    (f64::from(left) + 0.5) / (f64::from(right) + 0.5)
}

impl SeenKeys {
    /// The keys of both sides; `None` if no key was seen twice, so that none will be seen again.
    pub(super) fn of(left: &[u64], right: &[u64]) -> Option<Self> {
        let side = |keys: &[u64], right: bool| keys.iter().map(move |&k| (k, right)).collect();
        let mut all: Vec<(u64, bool)> = side(left, false);
        all.extend::<Vec<_>>(side(right, true));
        all.sort_unstable();
        let counts = |run: &[(u64, bool)]| {
            let right = run.iter().filter(|(_, right)| *right).count() as u32;
            [run.len() as u32 - right, right]
        };
        let each: Vec<(u64, [u32; 2])> = all
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|run| Some((run.first()?.0, counts(run))))
            .collect();
        if each.len() == all.len() {
            return None;
        }
        let mut classes: Vec<[u32; 2]> = each.iter().map(|(_, counts)| *counts).collect();
        classes.sort_unstable();
        classes.dedup();
        let by_ratio = |a: &[u32; 2], b: &[u32; 2]| ratio(*b).total_cmp(&ratio(*a)).then(a.cmp(b));
        classes.sort_unstable_by(by_ratio);
        let place = |counts| classes.binary_search_by(|class| by_ratio(class, counts)).ok();
        let keys = each.iter().filter_map(|(key, counts)| Some((*key, place(counts)?))).collect();
        Some(Self { keys, classes })
    }

    /// How many of the keys are in each class; the others were not seen before.
    pub(super) fn counts(&self, keys: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; self.classes.len()];
        for key in keys {
            if let Ok(at) = self.keys.binary_search_by_key(key, |(key, _)| *key) {
                counts[self.keys[at].1] += 1;
            }
        }
        counts
    }

    /// The classes that speak for one side, those that do so most first.
    pub(super) fn speaking(&self, left: bool) -> Vec<usize> {
        let speaks = |&class: &usize| {
            let [l, r] = self.classes[class];
            if left { l > r } else { r > l }
        };
        let mut classes: Vec<usize> = (0..self.classes.len()).filter(speaks).collect();
        if !left {
            classes.reverse();
        }
        classes
    }

    /// The keys, in order, that speak for a side at least as much as a class of `other` does.
    pub(super) fn keys_like(&self, other: &Self, class: usize, left: bool) -> Vec<u64> {
        let least = ratio(other.classes[class]);
        let like = |class: usize| {
            let ratio = ratio(self.classes[class]);
            if left { ratio >= least } else { ratio <= least }
        };
        self.keys.iter().filter(|(_, class)| like(*class)).map(|(key, _)| *key).collect()
    }
}

#[cfg(test)]
mod tests;
