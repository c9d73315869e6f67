//! Totals in plain arrays, by rung and group: the common case of [`super::weigh`], in which there are few groups and only
//! rows and sums of values are asked for.
//!
//! Totals at every rung are linear in a person's rows ([`Unit::weight`]), so each row is added by itself, and a person's
//! rows need no order.

use super::spec::{Form, Weighing};
use super::spill::{HEAD, Row};
use super::table::NONE;
use super::weigh::What;
use demure_core::mechanism::Unit;

/// The most groups: with 41 rungs and one argument they take 16 MB.
const MOST_GROUPS: usize = 4096;

/// What is kept of an argument.
#[derive(Clone, Copy)]
enum Kept {
    Present,
    Sum,
    Squares,
}

impl Kept {
    /// How many totals that is.
    fn totals(self) -> usize {
        match self {
            Self::Present => 1,
            Self::Sum => 2,
            Self::Squares => 3,
        }
    }
}

/// Totals of some people, for any bound. Protected.
pub(super) struct Dense {
    arguments: Vec<Kept>,
    groups: usize,
    /// How many numbers a group takes: two for each total, what was added and its parts.
    stride: usize,
    /// By rung, then by group. Empty where nobody is on the rung.
    totals: Vec<Vec<u128>>,
    /// How many people are on each rung.
    people: Vec<u128>,
}

impl Dense {
    /// `None` where people, keys or single values are counted, or there are too many groups.
    pub(super) fn new(weighing: &Weighing, forms: &[Form], groups: usize) -> Option<Self> {
        if weighing.people || weighing.most_groups.is_some() || groups > MOST_GROUPS {
            return None;
        }
        let kept = |form: &Form| match form {
            Form::Present => Some(Kept::Present),
            Form::Steps { histogram: false, .. } if weighing.squares => Some(Kept::Squares),
            Form::Steps { histogram: false, .. } => Some(Kept::Sum),
            _ => None,
        };
        let arguments: Vec<Kept> = forms.iter().map(kept).collect::<Option<_>>()?;
        let stride = 2 + 2 * arguments.iter().map(|kept| kept.totals()).sum::<usize>();
        let rungs = weighing.ladder.len() + 1;
        Some(Self {
            arguments,
            groups,
            stride,
            totals: vec![Vec::new(); rungs],
            people: vec![0; rungs],
        })
    }

    /// Adds all rows of a person, in any order.
    pub(super) fn person<const W: usize>(&mut self, rows: &[Row<W>], unit: &Unit) {
        let (stride, weight) = (self.stride, u128::from(unit.weight()));
        self.people[unit.rung()] += 1;
        let totals = &mut self.totals[unit.rung()];
        if totals.is_empty() {
            totals.resize(self.groups * stride, 0);
        }
        for row in rows {
            let at = row[HEAD - 1] as usize * stride;
            let [rows, parts, rest @ ..] = &mut totals[at..at + stride] else { continue };
            *rows += 1;
            *parts += weight;
            let mut rest = rest.as_chunks_mut::<2>().0.iter_mut();
            let mut add = |amount: u128| {
                if let Some([amounts, parts]) = rest.next() {
                    *amounts = amounts.saturating_add(amount);
                    *parts = parts.saturating_add(amount * weight);
                }
            };
            for (kept, &number) in self.arguments.iter().zip(&row[HEAD..]) {
                // Below 2⁶⁴, and weights below 2⁴¹.
                let (present, step) = match number {
                    NONE => (0, 0),
                    number => (1, u128::from(number)),
                };
                add(present);
                if kept.totals() > 1 {
                    add(step);
                }
                if kept.totals() > 2 {
                    add(step * step);
                }
            }
        }
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.totals.iter().map(Vec::len).sum::<usize>() * size_of::<u128>()
    }

    /// Every total that is not 0: of what, in which group, on which rung, what was added and its parts.
    pub(super) fn into_totals(self) -> Vec<(What, u32, usize, u128, u128)> {
        let mut whats = vec![What::Rows];
        for (i, kept) in self.arguments.iter().enumerate() {
            whats.extend(&[What::Present(i), What::Sum(i), What::Squares(i)][..kept.totals()]);
        }
        let mut all = Vec::new();
        for (rung, totals) in self.totals.iter().enumerate() {
            for (group, of_group) in totals.chunks_exact(self.stride).enumerate() {
                for (what, [amount, part]) in whats.iter().zip(of_group.as_chunks().0) {
                    if *amount > 0 {
                        all.push((*what, group as u32, rung, *amount, *part));
                    }
                }
            }
        }
        let people = self.people.iter().enumerate().filter(|(_, people)| **people > 0);
        all.extend(people.map(|(rung, people)| (What::SizesOfRows, 0, rung, *people, 0)));
        all
    }
}
