//! Reconstruction by linear programming, as Dinur and Nissim wrote it.
//!
//! Minimize a norm of the errors `A·x − y` over `0 ≤ x ≤ 1`, then round. The interior-point
//! solver factors a system with an n × n block that is dense, each of some fifteen steps: 0.2 s at
//! n = 100, 1.6 s at 200, 6 s at 300, a quarter of a minute at 400, with m = 4n. From m = 2n on, under
//! Gaussian noise, least squares finds as much or a little more, for a hundredth of the time and less. Near
//! m = n the box `0 ≤ x ≤ 1` tells a program more; and from rounded answers, whose errors are all
//! within half a step, the feasibility program finds more at any m.
//!
//! # References
//! Dinur & Nissim 2003 (PODS), Theorem 3; Dwork, McSherry & Talwar 2007 (STOC).

use super::subsets::Subsets;
use crate::error::{Error, Result};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

/// How errors are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Their sum: robust where a few answers are far off.
    Sum,
    /// The largest: Dinur and Nissim's feasibility program, with the least bound that is feasible.
    /// For answers that are *all* within a bound, as rounded ones are.
    Largest,
}

/// The most rows that a program is tried on.
pub const MOST_ROWS: usize = 1000;

/// The x in [0, 1]ⁿ whose errors are least.
pub fn linear_program(subsets: &Subsets, answers: &[f64], norm: Norm) -> Result<Vec<f64>> {
    if answers.len() != subsets.queries() {
        return Err(Error::Mismatch { what: "the answers", of: "the queries" });
    }
    let n = subsets.rows();
    if n > MOST_ROWS {
        return Err(Error::OutOfRange {
            parameter: "the number of rows of a linear program",
            allowed: "at most 1,000; least squares takes more",
        });
    }
    let mut program = Program::default();
    match norm {
        Norm::Sum => sum(subsets, answers, &mut program),
        Norm::Largest => largest(subsets, answers, &mut program),
    }
    program.solve(n)
}

/// `Ax + p − q = y` with p, q ≥ 0, and Σ(p + q) least.
fn sum(subsets: &Subsets, answers: &[f64], program: &mut Program) {
    let (n, m) = (subsets.rows(), subsets.queries());
    for j in 0..n {
        let counted = (0..m).filter(|&q| subsets.counts(q, j)).map(|q| (q, 1.0));
        program.column(0.0, counted.chain([(m + j, -1.0), (m + n + j, 1.0)]));
    }
    for side in [1.0, -1.0] {
        let below = m + 2 * n + if side > 0.0 { 0 } else { m };
        (0..m).for_each(|q| program.column(1.0, [(q, side), (below + q, -1.0)].into_iter()));
    }
    program.right.extend(answers);
    program.equalities = m;
    program.boxed(n);
    program.right.extend(vec![0.0; 2 * m]);
}

/// `−t ≤ Ax − y ≤ t`, and t least.
fn largest(subsets: &Subsets, answers: &[f64], program: &mut Program) {
    let (n, m) = (subsets.rows(), subsets.queries());
    for j in 0..n {
        let counted = |shift: usize, sign: f64| {
            (0..m).filter(move |&q| subsets.counts(q, j)).map(move |q| (shift + q, sign))
        };
        let bounds = [(2 * m + j, -1.0), (2 * m + n + j, 1.0)];
        program.column(0.0, counted(0, 1.0).chain(counted(m, -1.0)).chain(bounds));
    }
    program.column(1.0, (0..2 * m).map(|q| (q, -1.0)));
    program.right.extend(answers);
    program.right.extend(answers.iter().map(|y| -y));
    program.boxed(n);
}

/// Minimize `cost·z` with `right − matrix·z` zero in the first rows and not negative in the others.
#[derive(Default)]
struct Program {
    cost: Vec<f64>,
    starts: Vec<usize>,
    places: Vec<usize>,
    values: Vec<f64>,
    right: Vec<f64>,
    equalities: usize,
}

impl Program {
    /// A variable: its cost, and its entries in ascending rows.
    fn column(&mut self, cost: f64, entries: impl Iterator<Item = (usize, f64)>) {
        self.cost.push(cost);
        self.starts.push(self.places.len());
        for (row, value) in entries {
            self.places.push(row);
            self.values.push(value);
        }
    }

    /// The right-hand sides of 0 ≤ x and x ≤ 1.
    fn boxed(&mut self, n: usize) {
        self.right.extend(vec![0.0; n]);
        self.right.extend(vec![1.0; n]);
    }

    fn solve(mut self, n: usize) -> Result<Vec<f64>> {
        self.starts.push(self.places.len());
        let (rows, columns) = (self.right.len(), self.cost.len());
        let matrix = CscMatrix::new(rows, columns, self.starts, self.places, self.values);
        let none = CscMatrix::zeros((columns, columns));
        let cones = [ZeroConeT(self.equalities), NonnegativeConeT(rows - self.equalities)];
        let unsolved = |status: String| Error::Unsolved { status };
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .build()
            .map_err(|error| unsolved(error.to_string()))?;
        let mut solver =
            DefaultSolver::new(&none, &self.cost, &matrix, &self.right, &cones, settings)
                .map_err(|error| unsolved(error.to_string()))?;
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => {
                Ok(solver.solution.x.iter().take(n).copied().collect())
            }
            status => Err(unsolved(format!("{status:?}"))),
        }
    }
}

#[cfg(test)]
mod tests;
