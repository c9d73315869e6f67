//! Prints the table of `docs/graphs.md`: the median relative error of the number of triangles, by method and ε, and how long the profile takes.
//!
//! `cargo run --release -p demure-graph --example table -- [--draws 200] a.txt b.txt.gz …`

use demure_core::mechanism::Guarantee;
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{SmoothNoise, Smoothness, Statistic};
use demure_core::unit::{Delta, Epsilon};
use demure_graph::{Error, Method, Triangles, read};
use std::path::Path;
use std::time::Instant;

const DELTA: f64 = 1e-6;
const REPEATS: usize = 25;

fn main() -> Result<(), Error> {
    let mut rng = SystemRandom::new()?;
    let mut arguments = std::env::args().skip(1).peekable();
    let mut draws = 200;
    if arguments.next_if(|a| a == "--draws").is_some() {
        draws = arguments.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0).unwrap_or(draws);
    }
    for path in arguments {
        let started = Instant::now();
        let graph = read::open(Path::new(&path), None)?;
        let read = started.elapsed();
        let best = |work: &dyn Fn()| {
            let times = (0..REPEATS).map(|_| {
                let started = Instant::now();
                work();
                started.elapsed()
            });
            times.min().unwrap_or_default()
        };
        let count = best(&|| {
            std::hint::black_box(Triangles::count_only(&graph));
        });
        let both = best(&|| drop(std::hint::black_box(Triangles::of(&graph))));
        let triangles = Triangles::of(&graph)?;
        println!(
            "\n{path}: {} vertices, {} edges, {} triangles, local sensitivity {}",
            graph.vertices(),
            graph.edges(),
            triangles.count(),
            triangles.at_distance(0)
        );
        println!(
            "read {read:.1?}, count {count:.2?}, count and profile {both:.2?} ({:.2} times)",
            both.as_secs_f64() / count.as_secs_f64()
        );
        println!("| method | ε = 0.1 | 0.5 | 1 |\n|---|---|---|---|");
        let rows: [(&str, Method, f64); 9] = [
            ("naive", Method::Naive, 0.0),
            ("smooth, Cauchy", Method::Auto, 0.0),
            ("smooth, Laplace-Pareto", Method::Smooth { t: None }, 0.0),
            ("smooth, Laplace-log-normal, ρ = ε²/2", Method::Smooth { t: None }, -1.0),
            ("smooth, Laplace, δ = 10⁻⁶", Method::Smooth { t: None }, DELTA),
            ("propose-test-release, δ = 10⁻⁶", Method::Propose { bound: None }, DELTA),
            ("private bound, δ = 10⁻⁶", Method::PrivateBound, DELTA),
            ("classic ladder", Method::ClassicLadder, 0.0),
            ("ladder with a floor", Method::Ladder, 0.0),
        ];
        for (name, method, delta) in rows {
            let mut cells = vec![];
            for epsilon in [0.1, 0.5, 1.0] {
                let epsilon = Epsilon::new(epsilon)?;
                let budget = if delta > 0.0 {
                    Guarantee::Approximate(epsilon, Delta::new(delta)?)
                } else if delta < 0.0 {
                    Guarantee::Concentrated(epsilon.to_rho()?)
                } else {
                    Guarantee::Pure(epsilon)
                };
                // Cauchy as in the literature: t = ε/6, s = ε(1 − 1/6).
                let cauchy =
                    SmoothNoise::student(epsilon, 1, Smoothness::new(epsilon.get() / 6.0)?)?;
                let mut errors = Vec::with_capacity(draws);
                for _ in 0..draws {
                    let answer = if method == Method::Auto {
                        Some(cauchy.release(&triangles, &mut rng)?.into_value())
                    } else {
                        method.release(&triangles, budget, &mut rng)?.into_value()
                    };
                    let truth = triangles.count() as f64;
                    errors.push(answer.map_or(1.0, |a| (a - truth).abs() / truth));
                }
                errors.sort_by(f64::total_cmp);
                cells.push(format!("{:.3} %", 100.0 * errors[draws / 2]));
            }
            println!("| {name} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}
