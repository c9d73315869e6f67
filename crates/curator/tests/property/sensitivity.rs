//! For random policies, data and accepted queries: between neighbours, no exact aggregate changes by more than the
//! plan claims, and no accepted query fails on any data. `probes` tests that the checker would notice.

use super::change::{Claim, ClaimCheck};
use super::database::Database;
use super::draw::Draw;
use super::world::World;
use super::{from_environment, grammar};
use crate::aggregate::release;
use crate::bound::Key;
use crate::error::Error;
use crate::statement::settings::Settings;
use demure_core::random::SeededForTests;
use futures::FutureExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Default)]
struct Tally {
    queries: u32,
    accepted: u32,
    not_sql: u32,
    /// Pairs of databases on which something changed.
    moved: u32,
    /// Pairs on which a claim was reached exactly.
    tight: u32,
    broken: Vec<String>,
    refusals: std::collections::BTreeMap<String, u32>,
}

/// One world, some of its neighbours, and some queries on all of them.
async fn world(seed: u64, queries: usize, tally: &mut Tally) {
    let mut draw = Draw(seed);
    let world = World::new(&mut draw);
    if world.shares_a_visit() {
        return; // refused as a whole
    }
    let base = Database::of(&world).await;
    let mut others = Vec::new();
    for _ in 0..2 {
        let other = world.neighbour(&mut draw);
        if !other.shares_a_visit() {
            others.push(Database::of(&other).await);
        }
    }
    for number in 0..queries {
        let sql = grammar::query(&mut draw);
        let place = format!("seed {seed}, query {number}: {sql}\n{}", world.policy);
        let mut settings = Settings::default();
        if draw.percent(20) {
            settings.max_groups = Some(1 + draw.below(4) as u32);
            settings.max_rows = Some(1 + draw.below(4) as u32);
        }
        tally.queries += 1;
        let priced = AssertUnwindSafe(base.priced(&sql, &settings)).catch_unwind().await;
        let priced = match priced {
            Err(_) => {
                tally.broken.push(format!("planning panicked\n{place}"));
                continue;
            }
            Ok(Ok(priced)) => priced,
            Ok(Err(error)) => {
                tally.not_sql += u32::from(matches!(error, Error::Sql(_)));
                let text = error.to_string();
                let line: String =
                    text.lines().next().unwrap_or_default().chars().take(90).collect();
                *tally.refusals.entry(line).or_default() += 1;
                continue;
            }
        };
        tally.accepted += 1;
        let key = |seed| Key::draw(&mut SeededForTests::insecure(seed)).unwrap();
        let mut exacts = Vec::new();
        for (i, (aggregate, quote)) in priced.iter().enumerate() {
            let spec = quote.spec(aggregate);
            match base.exact(aggregate, &spec, key(seed + i as u64)).await {
                Ok(exact) => {
                    let rng = &mut SeededForTests::insecure(seed);
                    let released =
                        catch_unwind(AssertUnwindSafe(|| release(aggregate, quote, &exact, rng)));
                    match released {
                        Ok(Ok(_)) => {}
                        Ok(Err(error)) => {
                            tally.broken.push(format!("release failed: {error}\n{place}"));
                        }
                        Err(_) => tally.broken.push(format!("release panicked\n{place}")),
                    }
                    exacts.push(exact);
                }
                Err(error) => tally.broken.push(format!("failed: {error}\n{place}")),
            }
        }
        if exacts.len() < priced.len() {
            continue;
        }
        for (n, other) in others.iter().enumerate() {
            // Plans again, over the other files: the plan must not depend on the rows.
            let again = other.priced(&sql, &settings).await;
            let again = again.unwrap_or_else(|e| panic!("refused on a neighbour: {e}\n{place}"));
            for (i, ((aggregate, quote), exact)) in again.iter().zip(&exacts).enumerate() {
                let (before, paid) = &priced[i];
                assert_eq!(before.fingerprint(), aggregate.fingerprint(), "{place}");
                assert_eq!(paid.event, quote.event, "{place}");
                let spec = quote.spec(aggregate);
                let exact_there = match other.exact(aggregate, &spec, key(seed + i as u64)).await {
                    Ok(exact) => exact,
                    Err(error) => {
                        tally.broken.push(format!("failed on a neighbour: {error}\n{place}"));
                        continue;
                    }
                };
                let neighbours = other.policy.budget.neighbours;
                let ClaimCheck { broken, most } =
                    Claim { aggregate, quote, neighbours }.check(exact, &exact_there);
                tally.moved += u32::from(most > 0.0);
                tally.tight += u32::from(most > 0.999);
                for what in broken {
                    tally.broken.push(format!("{what} (neighbour {n})\n{place}"));
                }
            }
        }
    }
}

fn run(worlds: std::ops::Range<u64>, queries: usize) -> Tally {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut tally = Tally::default();
    for seed in worlds {
        runtime.block_on(world(seed, queries, &mut tally));
    }
    tally
}

#[test]
fn no_exact_aggregate_changes_by_more_than_its_plan_claims() {
    let worlds = from_environment("DEMURE_PROPERTY_WORLDS", 5) as u64;
    let first = from_environment("DEMURE_PROPERTY_FIRST", 1) as u64;
    let tally = run(first..first + worlds, 12);
    println!(
        "{} queries, {} accepted, {} not SQL; {} pairs changed, {} by all they could",
        tally.queries, tally.accepted, tally.not_sql, tally.moved, tally.tight
    );
    for (line, n) in &tally.refusals {
        println!("{n:5} {line}");
    }
    let shown = tally.broken.iter().take(12).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(tally.broken.is_empty(), "{} claims broken:\n{shown}", tally.broken.len());
    // A test with only refused queries, or with data that never changes, would show nothing.
    assert!(tally.accepted * 2 > tally.queries, "{} of {}", tally.accepted, tally.queries);
    assert!(tally.not_sql * 10 < tally.queries, "{} of {}", tally.not_sql, tally.queries);
    assert!(tally.moved * 4 > tally.accepted, "{} of {}", tally.moved, tally.accepted);
    assert!(tally.tight > 0);
}
