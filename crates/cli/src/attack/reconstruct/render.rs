//! What reconstruction found: tables, the cliff, and where a budget sits.

use super::super::render::Findings;
use super::curator::Budgeted;
use super::{Found, LEVELS, RATIOS};
use demure_attack::bound;
use demure_attack::reconstruct::{Database, Measured, Method, expected};
use demure_core::unit::{Delta, Epsilon};
use demure_report::chart::{Axis, Chart, Mark, Series};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Report, Table, grouped, short};
use serde_json::{Value, json};

impl Found {
    pub(super) fn rendered(&self) -> Findings {
        Findings {
            report: self.report(),
            document: Document {
                title: "Reconstruction: random subsets, and every row solved for".to_owned(),
                lead: format!(
                    "{} made-up people with a secret bit each. The attacker asks {} random subsets how \
                 many have it, and solves for all bits {}. A coin would be right 50 % of the time.",
                    grouped(self.rows as f64),
                    grouped(self.queries as f64),
                    match self.method {
                        Method::LeastSquares => "by least squares",
                        Method::LinearProgram(_) => "by a linear program",
                    }
                ),
                tables: vec![
                    self.noised_table(),
                    self.database_table(),
                    self.queries_table(),
                    self.solver_table(),
                    self.curator_table(),
                ],
                charts: vec![self.cliff(), self.budgets()],
                meaning: self.meaning(),
            },
        }
    }

    fn root(&self) -> f64 {
        (self.rows as f64).sqrt()
    }

    fn noised_table(&self) -> Table {
        let line = |m: &Measured| {
            let sigma = sigma(m);
            vec![short(sigma), short(sigma / self.root()), share(m), theory(m)]
        };
        Table::of_texts(&["σ", "σ/√n", "recovered", "Φ(√(m−n)/(4σ))"], self.noised.iter().map(line))
            .numbers_from(0)
            .titled("Noise of standard deviation σ on every answer")
    }

    fn database_table(&self) -> Table {
        let line = |m: &Measured| {
            vec![name(m.attack.database), percent(m.answered.rate()), share(m), theory(m)]
        };
        Table::of_texts(
            &["what it does", "answered", "recovered", "in theory"],
            self.databases.iter().map(line),
        )
        .numbers_from(1)
        .titled("Databases that do something else")
    }

    fn queries_table(&self) -> Table {
        let mut rows = Vec::new();
        for (level, some) in LEVELS.iter().zip(self.by_queries.chunks(RATIOS.len())) {
            let mut row = vec![short(*level)];
            row.extend(some.iter().map(|m| format!("{} / {}", share(m), theory(m))));
            rows.push(row);
        }
        Table::of_texts(&["σ/√n", "m = 1.25 n", "m = 1.5 n", "m = 2 n", "m = 4 n", "m = 8 n"], rows)
            .numbers_from(0)
            .titled("More queries: recovered / in theory, by σ/√n and m/n")
    }

    fn solver_table(&self) -> Table {
        let line = |(name, m, seconds): &(&'static str, Measured, f64)| {
            vec![(*name).to_owned(), share(m), theory(m), format!("{seconds:.3}")]
        };
        let rows = self.solvers.first().map_or(0, |(_, m, _)| m.attack.rows);
        Table::of_texts(&["by", "recovered", "in theory", "seconds"], self.solvers.iter().map(line))
            .numbers_from(1)
            .titled(format!(
                "Two ways to solve, on the same answers (n = {rows}, m = 4 n, σ = √n/2)"
            ))
    }

    fn curator_table(&self) -> Table {
        let line = |b: &Budgeted| {
            vec![
                short(b.budget.get()),
                short(b.spent),
                short(b.sigma),
                percent(b.subsets.rate()),
                b.expected.map_or("–".to_owned(), percent),
                percent(b.seats.rate()),
                percent(b.most),
            ]
        };
        Table::of_texts(
            &["ε", "spent", "σ", "by subsets", "in theory", "seat by seat", "at most"],
            self.curator.iter().map(line),
        )
        .numbers_from(0)
        .titled(format!(
            "The curator: {} subsets in SQL for one budget, or one sum of each seat for the same",
            grouped(2.0 * self.rows as f64)
        ))
    }

    /// Recovered against noise: the picture that the attack ends with.
    fn cliff(&self) -> Chart {
        let root = self.root();
        let least = root / 64.0;
        let dots = |all: &[Measured]| -> Vec<(f64, f64)> {
            let at = |m: &Measured| (sigma(m), m.recovered.rate());
            all.iter().map(at).filter(|(sigma, _)| sigma.is_finite()).collect()
        };
        let shown = self.curator.iter().filter(|b| b.sigma > least);
        let noises = self.noised.iter().map(sigma);
        let most = shown.map(|b| b.sigma).chain(noises).fold(16.0 * root, f64::max) * 1.5;
        let steps = (0..=200).map(|i| least * (most / least).powf(f64::from(i) / 200.0));
        let curve = steps.filter_map(|s| Some((s, expected(self.rows, self.queries, s)?)));
        let label = |b: &Budgeted| format!("ε {}", short(b.budget.get()));
        let budgets = self.curator.iter().map(|b| (b.sigma, b.subsets.rate())).collect();
        Chart {
            title: format!(
                "Rows recovered, of {}, by the noise on each answer",
                grouped(self.rows as f64)
            ),
            x: Axis::logarithmic(
                "σ, the noise on one answer (no noise: at the left end)",
                least,
                most,
            ),
            y: Axis::linear("recovered", 0.4, 1.0),
            series: vec![
                Series::line("least squares, in theory: Φ(√(m−n)/(4σ))", '·', curve.collect()),
                Series::dots("noise added", 'o', dots(&self.noised)),
                Series::dots("rounded, suppressed or plain", '+', dots(&self.databases)),
                Series::dots("the curator, by its whole budget (m = 2n)", '@', budgets)
                    .labelled(self.curator.iter().map(label).collect()),
            ],
            marks: vec![Mark::Upright(
                root,
                format!("√n = {}", short((10.0 * root).round() / 10.0)),
            )],
            ..Chart::default()
        }
    }

    /// Recovered against the budget, by the attack of the books and by the best there is.
    fn budgets(&self) -> Chart {
        let xs = || self.curator.iter().map(|b| b.budget.get());
        let (low, high) = (xs().fold(f64::MAX, f64::min) / 1.5, xs().fold(0.0, f64::max) * 1.5);
        let steps = (0..=200).map(|i| low * (high / low).powf(f64::from(i) / 200.0));
        let curve =
            steps.filter_map(|x| Some((x, bound::guess(Epsilon::new(x).ok()?, Delta::ZERO))));
        let points = |y: fn(&Budgeted) -> f64| -> Vec<(f64, f64)> {
            self.curator.iter().map(|b| (b.budget.get(), y(b))).collect()
        };
        Chart {
            title: "Rows recovered from the curator, by its whole budget".to_owned(),
            x: Axis::logarithmic("ε of everything together", low, high),
            y: Axis::linear("recovered", 0.4, 1.0),
            series: vec![
                Series::line("at most: e^ε/(1+e^ε)", '·', curve.collect()),
                Series::dots("one sum of each seat", 'x', points(|b| b.seats.rate())),
                Series::dots("random subsets", 'o', points(|b| b.subsets.rate())),
            ],
            ..Chart::default()
        }
    }

    fn meaning(&self) -> Vec<String> {
        let mut text = vec![
            "The cliff: below noise of √n/8 all rows come back, above some √n hardly any more than a \
             coin gives. Rounding is noise of a third of its step, and suppressing small counts is none: \
             both fall. Asking more moves the cliff outwards as √m, for free, unless somebody counts."
                .to_owned(),
        ];
        // The budget that is nearest to 1, which is a usual one.
        let usual = |a: &&Budgeted, b: &&Budgeted| {
            let from_one = |b: &Budgeted| b.budget.get().ln().abs();
            from_one(a).total_cmp(&from_one(b))
        };
        if let Some(worst) = self.curator.iter().min_by(usual) {
            text.push(format!(
                "The curator counts: at ε {} for everything together, {} subsets get noise of {} each, \
                 {} times √n, and give {} of the rows. Seat by seat, one sum for each person, the \
                 same budget gives {}; on average no attack, of any kind, recovers more of such bits than {}.",
                short(worst.budget.get()),
                grouped(worst.queries as f64),
                short(worst.sigma.round()),
                short((worst.sigma / self.root()).round()),
                percent(worst.subsets.rate()),
                percent(worst.seats.rate()),
                percent(worst.most),
            ));
        }
        text
    }

    fn report(&self) -> Report {
        let object = |m: &Measured| -> Value {
            json!({
                "database": name(m.attack.database), "sigma": m.attack.database.sigma(m.attack.rows),
                "rows": m.attack.rows, "queries": m.attack.queries,
                "answered": m.answered.rate(), "recovered": m.recovered.rate(),
                "bits": m.recovered.trials, "expected": m.expected,
            })
        };
        let all = |some: &[Measured]| some.iter().map(object).collect::<Vec<_>>();
        let solved = |(name, m, seconds): &(&'static str, Measured, f64)| -> Value {
            json!({"by": name, "rows": m.attack.rows, "recovered": m.recovered.rate(), "seconds": seconds})
        };
        let budgeted = |b: &Budgeted| -> Value {
            json!({
                "budget": b.budget.get(), "spent": b.spent, "queries": b.queries, "sigma": b.sigma,
                "recovered": b.subsets.rate(), "expected": b.expected,
                "recovered_seat_by_seat": b.seats.rate(), "bound": b.most,
            })
        };
        Report::default()
            .field("attack", "reconstruct")
            .field("rows", self.rows)
            .field("queries", self.queries)
            .field("noised", all(&self.noised))
            .field("databases", all(&self.databases))
            .field("by_queries", all(&self.by_queries))
            .field("solvers", self.solvers.iter().map(solved).collect::<Vec<_>>())
            .field("curator", self.curator.iter().map(budgeted).collect::<Vec<_>>())
    }
}

/// The noise of its answers, where their error is noise.
fn sigma(m: &Measured) -> f64 {
    m.attack.database.sigma(m.attack.rows).unwrap_or(f64::NAN)
}

fn share(m: &Measured) -> String {
    percent(m.recovered.rate())
}

fn theory(m: &Measured) -> String {
    m.expected.map_or("–".to_owned(), percent)
}

fn name(database: Database) -> String {
    match database {
        Database::Plain => "plain".to_owned(),
        Database::Noised { sigma } => format!("noise of {}", short(sigma)),
        Database::Rounding { step } => format!("rounds to multiples of {step}"),
        Database::Threshold { least } => format!("suppresses counts below {least}"),
    }
}
