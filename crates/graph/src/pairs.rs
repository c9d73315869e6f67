//! The best pairs of vertices in two respects at once.

/// Points `(a, b)` none of which is at least as large as another in both coordinates, a falling and b rising.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    points: Vec<(u64, u64)>,
}

impl Frontier {
    pub(crate) fn points(&self) -> &[(u64, u64)] {
        &self.points
    }

    /// The largest b among the points with at least this a.
    pub(crate) fn best(&self, a: u64) -> Option<u64> {
        let with = self.points.partition_point(|&(x, _)| x >= a);
        with.checked_sub(1).map(|last| self.points[last].1)
    }

    pub(crate) fn covers(&self, (a, b): (u64, u64)) -> bool {
        self.best(a).is_some_and(|best| best >= b)
    }

    pub(crate) fn insert(&mut self, point: (u64, u64)) {
        if self.covers(point) {
            return;
        }
        self.points.retain(|&(a, b)| a > point.0 || b > point.1);
        let place = self.points.partition_point(|&(a, _)| a > point.0);
        self.points.insert(place, point);
    }
}

#[cfg(test)]
mod tests;
