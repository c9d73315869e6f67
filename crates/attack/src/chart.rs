//! What attacks on the curator found, as charts: measured points beside what the closed forms expect and the bounds allow.

use crate::average::{Averaged, expected_error};
use crate::bound;
use crate::curator::{average, difference, membership, reconstruct};
use crate::reconstruct::{Measured, expected};
use demure_core::unit::{Delta, Epsilon};
use demure_report::chart::{Axis, Chart, Mark, Series, factors};
use demure_report::{grouped, short};

type Points = Vec<(f64, f64)>;

/// Steps of a curve.
const STEPS: u32 = 200;

/// The most often that a guess is right, by the ε between two.
fn at_most(low: f64, high: f64) -> Series {
    let most = |x: f64| Some((x, bound::guess(Epsilon::new(x).ok()?, Delta::ZERO)));
    let curve = factors(low, high, STEPS).filter_map(most).collect();
    Series::line("at most: e^ε/(1+e^ε)", '·', curve)
}

/// The least and the largest of some positive numbers.
fn ends(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    (numbers.clone().fold(f64::MAX, f64::min), numbers.fold(0.0, f64::max))
}

impl difference::DifferenceOutcome {
    /// How often the attacker is right, by ε; only where there is something to compare.
    #[must_use]
    pub fn chart(&self) -> Option<Chart> {
        let (low, high) = ends(self.rows.iter().map(|row| row.epsilon.get()));
        if self.rows.len() < 3 || high <= low {
            return None;
        }
        let points = |y: &dyn Fn(&difference::Row) -> Option<f64>| -> Points {
            self.rows.iter().filter_map(|row| Some((row.epsilon.get(), y(row)?))).collect()
        };
        let curator = points(&|row| Some(row.curator.rate()));
        let two = points(&|row| row.naive.map(|(share, _)| share.rate()));
        Some(Chart {
            title: "How often the attacker is right".to_owned(),
            x: Axis::logarithmic("ε of one answer", low, high),
            y: Axis::linear("right", 0.4, 1.0),
            series: vec![
                at_most(low, high),
                Series::dots("the curator, one answer", 'o', curator),
                Series::dots("two Laplace answers, subtracted (2ε spent)", 'x', two),
                Series::dots("exact answers", '#', points(&|_| Some(self.exact.rate()))),
            ],
            ..Chart::default()
        })
    }
}

impl average::AverageOutcome {
    /// The error of the mean, by the number of questions.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let points = |all: &[Averaged]| -> Points {
            all.iter().map(|a| (a.asked as f64, a.error)).collect()
        };
        let all = [&self.fresh, &self.same, &self.varied];
        let errors = all.into_iter().flatten().map(|a| a.error).filter(|error| *error > 0.0);
        let (low, high) = ends(errors);
        let most = self.fresh.last().map_or(2.0, |a| a.asked as f64).max(2.0);
        let theory = |k: f64| (k, expected_error(self.laplace, 1) / k.sqrt());
        let other = "the curator, other words, until the budget ends";
        Chart {
            title: "The error of the mean of k answers".to_owned(),
            x: Axis::logarithmic("k, questions asked", 1.0, most),
            y: Axis::logarithmic("error", low / 1.5, high * 1.5),
            series: vec![
                Series::line("√2·b/√k", '·', factors(1.0, most, STEPS).map(theory).collect()),
                Series::dots("fresh noise each time", 'o', points(&self.fresh)),
                Series::dots("the curator, the same words (free)", '#', points(&self.same)),
                Series::dots(other, 'x', points(&self.varied)),
            ],
            marks: match self.answers > 1.0 && self.answers < most {
                true => vec![Mark::Upright(self.answers, "budget gone".to_owned())],
                false => Vec::new(),
            },
            ..Chart::default()
        }
    }
}

impl membership::MembershipOutcome {
    /// The area by the number of attributes, and true against false alarms for the most attributes.
    #[must_use]
    pub fn charts(&self) -> Vec<Chart> {
        vec![self.areas(), self.alarms()]
    }

    /// The points of every publisher: exact averages first, then the budgets in their order.
    fn dots(&self, points: impl Fn(Option<Epsilon>) -> Points) -> Vec<Series> {
        let mut all: Vec<Option<Epsilon>> = Vec::new();
        for row in &self.rows {
            if !all.contains(&row.epsilon) {
                all.push(row.epsilon);
            }
        }
        let glyphs = ['#', 'o', 'x', '+', '@', '%'].into_iter().cycle();
        let series = |(who, glyph)| Series::dots(membership::publisher(who), glyph, points(who));
        all.into_iter().zip(glyphs).map(series).collect()
    }

    fn areas(&self) -> Chart {
        let (low, high) = ends(self.rows.iter().map(|row| row.attributes as f64));
        let points = |who: Option<Epsilon>, y: fn(&membership::Row) -> f64| -> Points {
            let same = self.rows.iter().filter(|row| row.epsilon == who);
            same.map(|row| (row.attributes as f64, y(row))).collect()
        };
        let theory = points(None, |row| row.expected);
        let mut series = vec![Series::line("exactly, in theory: Φ(√(d/n)/√2)", '·', theory)];
        series.extend(self.dots(|who| points(who, |row| row.scores.area())));
        Chart {
            title: "How well members are told from outsiders".to_owned(),
            x: Axis::logarithmic("attributes published", low / 1.2, high * 1.2),
            y: Axis::linear("area", 0.4, 1.0),
            series,
            ..Chart::default()
        }
    }

    fn alarms(&self) -> Chart {
        let most = self.rows.iter().map(|row| row.attributes).max().unwrap_or(0);
        let budgets = self.rows.iter().filter_map(|row| row.epsilon);
        let mut series = Vec::new();
        if let Some(least) = budgets.min_by(|a, b| a.get().total_cmp(&b.get())) {
            let curve = (0..=60).map(|i| f64::from(i) / 60.0);
            let curve = curve.map(|f| (f, bound::true_alarms(least, Delta::ZERO, f))).collect();
            series.push(Series::line(format!("at most, for ε {}", short(least.get())), '·', curve));
        }
        series.extend(self.dots(|who| {
            let same = self.rows.iter().find(|row| row.epsilon == who && row.attributes == most);
            same.map_or(Vec::new(), |row| row.scores.curve(20))
        }));
        Chart {
            title: format!("True against false alarms, {} attributes", grouped(most as f64)),
            x: Axis::linear("false alarms", 0.0, 1.0),
            y: Axis::linear("true alarms", 0.0, 1.0),
            series,
            ..Chart::default()
        }
    }
}

impl reconstruct::ReconstructionOutcome {
    /// The rows recovered by the noise on each answer, and by the curator's budget.
    #[must_use]
    pub fn charts(&self) -> Vec<Chart> {
        vec![self.cliff(), self.budgets()]
    }

    /// The picture that the attack ends with.
    fn cliff(&self) -> Chart {
        let root = (self.rows as f64).sqrt();
        let least = root / 64.0;
        // Where errors are noise.
        let dots = |all: &[Measured]| -> Points {
            let at = |m: &Measured| Some((m.sigma()?, m.recovered.rate()));
            all.iter().filter_map(at).collect()
        };
        let shown = self.curator.iter().map(|b| b.sigma).filter(|sigma| *sigma > least);
        let noises = self.noised.iter().filter_map(Measured::sigma);
        let most = shown.chain(noises).fold(16.0 * root, f64::max) * 1.5;
        let curve = factors(least, most, STEPS)
            .filter_map(|sigma| Some((sigma, expected(self.rows, self.queries, sigma)?)));
        let budgets = self.curator.iter().map(|b| (b.sigma, b.subsets.rate())).collect();
        let labels = self.curator.iter().map(|b| format!("ε {}", short(b.budget.get())));
        let rows = grouped(self.rows as f64);
        let noise = "σ, the noise on one answer (no noise: at the left end)";
        let mark = format!("√n = {}", short((10.0 * root).round() / 10.0));
        Chart {
            title: format!("Rows recovered, of {rows}, by the noise on each answer"),
            x: Axis::logarithmic(noise, least, most),
            y: Axis::linear("recovered", 0.4, 1.0),
            series: vec![
                Series::line("least squares, in theory: Φ(√(m−n)/(4σ))", '·', curve.collect()),
                Series::dots("noise added", 'o', dots(&self.noised)),
                Series::dots("rounded, suppressed or plain", '+', dots(&self.databases)),
                Series::dots("the curator, by its whole budget (m = 2n)", '@', budgets)
                    .labelled(labels.collect()),
            ],
            marks: vec![Mark::Upright(root, mark)],
            ..Chart::default()
        }
    }

    /// By the attack of the books, and by the best there is.
    fn budgets(&self) -> Chart {
        let (low, high) = ends(self.curator.iter().map(|b| b.budget.get()));
        let (low, high) = (low / 1.5, high * 1.5);
        let points = |y: fn(&reconstruct::Budgeted) -> f64| -> Points {
            self.curator.iter().map(|b| (b.budget.get(), y(b))).collect()
        };
        Chart {
            title: "Rows recovered from the curator, by its whole budget".to_owned(),
            x: Axis::logarithmic("ε of everything together", low, high),
            y: Axis::linear("recovered", 0.4, 1.0),
            series: vec![
                at_most(low, high),
                Series::dots("one sum of each seat", 'x', points(|b| b.seats.rate())),
                Series::dots("random subsets", 'o', points(|b| b.subsets.rate())),
            ],
            ..Chart::default()
        }
    }
}
