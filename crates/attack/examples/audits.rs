//! Every audit once, as a table: `cargo run --release -p demure-attack --example audits -- [samples] [seed]`.

use demure_attack::audit::{Claim, FAMILY_WISE, Plan, Runs, Verdict, examine, gallery, library};
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};
use std::time::Instant;

fn main() -> demure_core::Result<()> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap_or(1));
    let samples = words.next().unwrap_or(0);
    let seed = words.next().unwrap_or(1);
    let acquit = library::all(Epsilon::new(1.0)?, Delta::new(0.01)?)?;
    let convict = gallery::all()?;
    for (subjects, broken) in [(acquit, false), (convict, true)] {
        println!("| mechanism | claimed ε | δ | ε at least | verdict | event | runs a side | s |");
        println!("|---|---|---|---|---|---|---|---|");
        for (i, subject) in subjects.iter().enumerate() {
            let begun = Instant::now();
            let seeds = [2 * i as u64 + 1000 * seed, 2 * i as u64 + 1 + 1000 * seed];
            let mut runs =
                Runs::new(subject, seeds.map(|s| Box::new(SeededForTests::insecure(s)) as Box<_>));
            let samples = if samples > 0 { samples } else { subject.runs };
            let plan = Plan { samples, error: FAMILY_WISE };
            let found = examine(&mut runs, subject.claim, plan, &mut |_, _| {})?;
            let Claim { epsilon, delta } = subject.claim;
            println!(
                "| {} | {} | {delta} | {:.3} | {} | {}; {} | {} | {:.1} |",
                subject.name,
                epsilon.unwrap_or_default(),
                found.epsilon_lower,
                found.verdict(),
                found.event,
                found.pair,
                found.runs,
                begun.elapsed().as_secs_f64()
            );
            if (found.verdict() == Verdict::Violated) != broken {
                eprintln!("!!! {}", subject.name);
            }
        }
    }
    Ok(())
}
