//! Counts of what happened, for Prometheus. Nothing here depends on a protected row but the time
//! that answers took until they left, on schedule, which is in coarse buckets.

use crate::query_service::Failure;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Upper ends of the buckets of time, in milliseconds.
const BUCKETS: [u64; 8] = [5, 20, 50, 200, 1_000, 5_000, 20_000, 60_000];

/// What has happened since the server began.
#[derive(Debug, Default)]
pub struct Metrics {
    statements: AtomicU64,
    bought: AtomicU64,
    repeated: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    timed_out: AtomicU64,
    denied: AtomicU64,
    connections: AtomicI64,
    buckets: [AtomicU64; BUCKETS.len()],
    milliseconds: AtomicU64,
}

impl Metrics {
    pub(crate) fn answered(&self, repeated: bool) {
        add(if repeated { &self.repeated } else { &self.bought });
    }

    pub(crate) fn asked(&self, took: Duration, failure: Option<&Failure>) {
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        add(&self.statements);
        self.milliseconds.fetch_add(took, Ordering::Relaxed);
        // Each bucket counts what is below its end.
        BUCKETS
            .iter()
            .zip(&self.buckets)
            .filter(|(end, _)| took <= **end)
            .for_each(|(_, b)| add(b));
        match failure {
            None => {}
            Some(
                Failure::Refused { .. }
                | Failure::Budget { .. }
                | Failure::TooOften { .. }
                | Failure::Sql(_)
                | Failure::TooLarge(_),
            ) => {
                add(&self.refused);
            }
            Some(Failure::TimedOut(_)) => add(&self.timed_out),
            Some(_) => add(&self.failed),
        }
    }

    pub(crate) fn denied(&self) {
        add(&self.denied);
    }

    /// So many connections more.
    pub(crate) fn connected(&self, by: i64) {
        self.connections.fetch_add(by, Ordering::Relaxed);
    }

    /// In Prometheus' text form; `left` is what the budget has left, in its currency.
    #[must_use]
    pub fn text(&self, spent: f64, left: f64) -> String {
        let mut text = String::new();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut one = |name: &str, kind: &str, help: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "# HELP demure_{name} {help}\n# TYPE demure_{name} {kind}\ndemure_{name} {value}"
            );
        };
        let counters = [
            ("statements_total", "Statements that were handled.", &self.statements),
            ("answers_bought_total", "Answers that cost something.", &self.bought),
            ("answers_repeated_total", "Answers that had been bought before.", &self.repeated),
            ("refused_total", "Statements that were refused.", &self.refused),
            ("failed_total", "Statements that failed.", &self.failed),
            ("timed_out_total", "Statements that took too long.", &self.timed_out),
            ("denied_total", "Sign-ins that failed.", &self.denied),
        ];
        for (name, help, counter) in counters {
            one(name, "counter", help, read(counter).to_string());
        }
        let open = self.connections.load(Ordering::Relaxed).to_string();
        one("connections", "gauge", "Open connections of the PostgreSQL wire.", open);
        one(
            "budget_spent",
            "gauge",
            "What has been spent, in the policy's currency.",
            spent.to_string(),
        );
        one("budget_left", "gauge", "What is left, in the policy's currency.", left.to_string());
        let _ = writeln!(text, "# HELP demure_statement_seconds Time to an answer.");
        let _ = writeln!(text, "# TYPE demure_statement_seconds histogram");
        for (end, bucket) in BUCKETS.iter().zip(&self.buckets) {
            let end = *end as f64 / 1000.0;
            let _ =
                writeln!(text, "demure_statement_seconds_bucket{{le=\"{end}\"}} {}", read(bucket));
        }
        let (all, sum) = (read(&self.statements), read(&self.milliseconds) as f64 / 1000.0);
        let _ = writeln!(text, "demure_statement_seconds_bucket{{le=\"+Inf\"}} {all}");
        let _ = writeln!(
            text,
            "demure_statement_seconds_sum {sum}\ndemure_statement_seconds_count {all}"
        );
        text
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
