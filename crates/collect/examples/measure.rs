//! Times of the local model: `cargo run --release -p demure-collect --example measure`.
//!
//! CPU and wall time for each report, client and server, at ε = 1; the estimation of ten
//! million reports, with the peak of memory; and durable reports a second.
#![expect(clippy::unwrap_used, reason = "a measurement has nobody to tell")]

use demure_collect::client::{Client, TrueAnswer, randomize_many};
use demure_collect::collector::Collector;
use demure_collect::estimate::{Options, estimate};
use demure_collect::randomizer::{CATEGORICAL, Mechanism};
use demure_collect::report::{Answer, Submission};
use demure_collect::store::Store;
use demure_collect::survey::Survey;
use demure_core::random::SystemRandom;
use std::time::Instant;

fn survey(mechanism: Mechanism, k: u32) -> Survey {
    let values: Vec<String> = (0..k).map(|i| format!("'{i}'")).collect();
    Survey::parse(&format!(
        "version = 1\nquestion = 'q'\nsalt = '00112233445566778899aabbccddeeff'\nepsilon = 1.0\n\
         mechanism = '{mechanism}'\nvalues = [{}]",
        values.join(",")
    ))
    .unwrap()
}

/// A line of /proc/self/status, in megabytes; 0 where there is none.
fn megabytes(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|l| l.strip_prefix(line));
    let digits = found.map(|l| l.chars().filter(char::is_ascii_digit).collect::<String>());
    digits.and_then(|d| d.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// CPU seconds of this thread so far, to the nanosecond; 0 where the system does not tell.
fn own_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = stat.split_whitespace().next().and_then(|f| f.parse::<f64>().ok());
    first.unwrap_or(0.0) * 1e-9
}

/// CPU seconds of all threads so far, to 10 ms; 0 where the system does not tell.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn main() {
    let mut rng = SystemRandom::new().unwrap();
    println!("mechanism        k     client us  server us  (CPU for a report)");
    for k in [2u32, 128, 1024] {
        for mechanism in CATEGORICAL {
            let survey = survey(mechanism, k);
            let randomizer = survey.parts()[0].randomizer;
            let n = 1_000_000u32 / (1 + k / 400);
            let values: Vec<u32> = (0..n).map(|i| i % k).collect();
            // The clock ticks every few milliseconds: half a second at least.
            let (start, mut made) = (own_cpu(), 0usize);
            while own_cpu() - start < 0.5 && made < 100_000_000 {
                for part in values.chunks(4_096) {
                    std::hint::black_box(randomize_many(&randomizer, part, &mut rng).unwrap());
                }
                made += values.len();
            }
            let client = (own_cpu() - start) / made as f64 * 1e6;
            let reports = randomize_many(&randomizer, &values, &mut rng).unwrap();
            let submissions: Vec<Submission> = reports
                .into_iter()
                .map(|report| Submission {
                    token: 0,
                    answers: vec![Answer { part: 0, level: 0, report }],
                })
                .collect();
            let start = cpu();
            let mut collector = Collector::new(&survey);
            for submission in &submissions {
                collector.add_unique(submission);
            }
            estimate(&mut collector, &Options::usual().unwrap()).unwrap();
            let server = (cpu() - start) / f64::from(n) * 1e6;
            println!("{:<16} {k:<5} {client:>9.4}  {server:>9.4}", mechanism.name());
        }
    }

    // Whole reports, tokens and all, through the client's and the collector's front doors.
    let hashing = survey(Mechanism::Hashing, 1024);
    let client = Client::new(&hashing);
    let n = 10_000_000u32;
    let (mut made, mut counted) = (0.0, 0.0);
    let (mut made_cpu, mut start_cpu) = (0.0, cpu());
    let first_cpu = start_cpu;
    let mut collector = Collector::new(&hashing);
    let mut block = Vec::new();
    for i in 0..n / 10_000 {
        block.clear();
        let start = Instant::now();
        for j in 0..10_000 {
            let given = [TrueAnswer::Category((i + j) % 1024)];
            block.push(client.randomize(&given, &mut rng).unwrap().to_bytes(&hashing));
        }
        made += start.elapsed().as_secs_f64();
        made_cpu += cpu() - start_cpu;
        let start = Instant::now();
        for bytes in &block {
            collector.add_bytes(bytes);
        }
        counted += start.elapsed().as_secs_f64();
        start_cpu = cpu();
    }
    let start = Instant::now();
    let found = estimate(&mut collector, &Options::usual().unwrap()).unwrap();
    counted += start.elapsed().as_secs_f64();
    println!(
        "10 M reports by local hashing, k 1024: made in {made:.1} s ({made_cpu:.1} s of CPU), \
         estimated in {counted:.1} s ({:.1} s of CPU; {} counted), peak {} MB",
        cpu() - first_cpu - made_cpu,
        found.people,
        megabytes("VmHWM:")
    );
    drop(collector);

    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let path = std::path::Path::new(&directory).join("measure.store");
    drop(std::fs::remove_file(&path));
    let store = Store::open(&path, &hashing, &mut rng).unwrap();
    for threads in [8usize, 64, 256] {
        let each = 32_768 / threads;
        let reports: Vec<Vec<Vec<u8>>> = (0..threads)
            .map(|_| {
                let one = |_| {
                    client
                        .randomize(&[TrueAnswer::Category(3)], &mut rng)
                        .unwrap()
                        .to_bytes(&hashing)
                };
                (0..each).map(one).collect()
            })
            .collect();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for own in &reports {
                let store = &store;
                scope.spawn(move || own.iter().for_each(|r| assert!(store.append(r).is_ok())));
            }
        });
        let rate = (threads * each) as f64 / start.elapsed().as_secs_f64();
        println!("{threads} threads, waiting for each report: {rate:.0} durable reports a second");
    }
    let reports: Vec<Vec<u8>> = (0..200_000)
        .map(|_| client.randomize(&[TrueAnswer::Category(3)], &mut rng).unwrap().to_bytes(&hashing))
        .collect();
    let (sender, receiver) = std::sync::mpsc::channel();
    let start = Instant::now();
    for report in &reports {
        let sender = sender.clone();
        store.submit(report, move |r| sender.send(r.is_ok()).unwrap());
    }
    drop(sender);
    assert_eq!(receiver.iter().filter(|ok| *ok).count(), reports.len());
    let rate = reports.len() as f64 / start.elapsed().as_secs_f64();
    println!("submitted without waiting: {rate:.0} durable reports a second");
    store.close().unwrap();
    drop(std::fs::remove_file(&path));
}
