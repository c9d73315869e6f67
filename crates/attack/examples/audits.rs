//! Every audit once, as the tables of docs/audit.md: `cargo run -p demure-attack --example audits -- [samples] [seed]`.
//!
//! It is seeded; 0 samples stands for each mechanism's usual number.

use demure_attack::audit::{Claim, FAMILY_WISE, Plan, Runs, Verdict, examine, gallery, library};
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};

fn main() -> demure_core::Result<()> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap_or(1));
    let samples = words.next().unwrap_or(0);
    let seed = words.next().unwrap_or(1);
    let acquit = library::all(Epsilon::new(1.0)?, Delta::new(0.01)?)?;
    let convict = gallery::all()?;
    for (subjects, broken) in [(acquit, false), (convict, true)] {
        println!(
            "| mechanism | claimed ε | δ | ε at least | verdict | telling event | runs a side |"
        );
        println!("|---|---|---|---|---|---|---|");
        for (i, subject) in subjects.iter().enumerate() {
            let seeds = [2 * i as u64 + 1000 * seed, 2 * i as u64 + 1 + 1000 * seed];
            let mut runs =
                Runs::new(subject, seeds.map(|s| Box::new(SeededForTests::insecure(s)) as Box<_>));
            let samples = if samples > 0 { samples } else { subject.runs };
            let plan = Plan { samples, error: FAMILY_WISE };
            let found = examine(&mut runs, subject.claim, plan, &mut |_, _| {})?;
            let Claim { epsilon, delta } = subject.claim;
            let event = found.event.to_string();
            println!(
                "| {} | {} | {delta} | {:.3} | {} | {} | {} |",
                subject.name,
                epsilon.unwrap_or_default(),
                found.epsilon_lower,
                found.verdict(),
                event.split(", or ").next().unwrap_or_default(),
                found.runs
            );
            if (found.verdict() == Verdict::Violated) != broken {
                eprintln!("not as it should be: {}", subject.name);
            }
        }
    }
    Ok(())
}
