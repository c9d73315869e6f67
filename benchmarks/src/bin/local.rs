//! `cargo xtask bench local`: the local model against pure-ldp and multi-freq-ldpy.
//!
//! The same answers, values and ε for all, in one run. Claims:
//! - ≥ 20 × faster to randomize than either (ours draws from a secure generator; theirs do not);
//! - ≥ 250 × faster to estimate exact local hashing at k = 1024, with 60,000 people. Our estimates come with
//!   intervals, which the peers' do not; for few people those are most of the work, so that other
//!   ratios of estimating are printed without a claim;
//! - the mean squared error is no worse: at most 1.15 × the peer's where there are 128 values or more
//!   (of k values and some rounds it is known to a few percent only; of two values hardly at all).
//!   pure-ldp's estimates are unbiased like ours. multi-freq-ldpy gives none that are not cut at 0
//!   and scaled to sum to one: for that comparison the same is done to ours;
//! - ten million reports of k = 1024, with their tokens, are counted and estimated within 1 GB;
//! - `demure collect serve` stores ≥ 20,000 reports a second on loopback, durably: 16 connections, each
//!   sending 100 reports at a time and waiting until they are on disk. One report a request is
//!   measured as well, without a claim.
//!
//! Times are CPU times on both sides, so that other work on the machine counts against nobody.
//! The last two claims are what they are, not ratios: no peer has either.

#![forbid(unsafe_code)]

use demure_bench::demure;
use demure_collect::client::{Client, TrueAnswer, randomize_many};
use demure_collect::collector::Collector;
use demure_collect::estimate::{Estimate, Estimates, Options, estimate};
use demure_collect::randomizer::Mechanism;
use demure_collect::report::{Answer, Submission};
use demure_collect::survey::Survey;
use demure_core::random::SystemRandom;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The argument that makes this program count ten million reports, and say what memory that took.
const MEMORY: &str = "--ten-million";
const ROUNDS: usize = 3;
/// Times over which the error is averaged.
const REPETITIONS: usize = 20;
/// The least CPU seconds of a round: the process's clock ticks every 10 ms.
const LEAST: f64 = 0.5;

fn main() -> ExitCode {
    let met = if std::env::args().nth(1).as_deref() == Some(MEMORY) { memory() } else { run() };
    demure_bench::exit(met)
}

fn run() -> Fallible<bool> {
    let mut met = true;
    println!(
        "{:<28}{:>14}{:>14}{:>11}   ratios",
        "against, mechanism, k", "randomized/s", "estimated/s", "mse"
    );
    for path in std::env::args().skip(1) {
        let document: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let library = document["library"].as_str().unwrap_or_default();
        let scaled = document["consistent"] == true;
        for row in document["rows"].as_array().into_iter().flatten() {
            met &= against(library, scaled, row)?;
        }
    }
    met &= ten_million()?;
    met &= service()?;
    println!("{}", if met { "every claim met" } else { "a claim was NOT met (marked !)" });
    Ok(met)
}

fn survey(mechanism: &str, k: u32, epsilon: f64) -> Fallible<Survey> {
    let values: Vec<String> = (0..k).map(|i| format!("'{i}'")).collect();
    Ok(Survey::parse(&format!(
        "version = 1\nquestion = 'q'\nsalt = '00112233445566778899aabbccddeeff'\nepsilon = {epsilon:?}\n\
         mechanism = '{mechanism}'\nvalues = [{}]",
        values.join(",")
    ))?)
}

/// The same answers as the peers have: small numbers are frequent.
fn answers(k: u32, n: usize) -> Vec<u32> {
    let mut state = 1u64;
    let one = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = state >> 48;
        ((u64::from(k) * draw * draw) >> 32) as u32
    };
    (0..n).map(one).collect()
}

/// One row of a peer, and ours.
fn against(library: &str, scaled: bool, row: &serde_json::Value) -> Fallible<bool> {
    let number = |field: &str| row[field].as_f64().ok_or("a peer's row lacks a number");
    let mechanism = row["mechanism"].as_str().unwrap_or_default();
    let (k, epsilon, n) = (number("k")? as u32, number("epsilon")?, number("n")? as usize);
    let survey = survey(mechanism, k, epsilon)?;
    let randomizer = survey.parts()[0].randomizer;
    let people = answers(k, n);
    let options = Options::usual()?;
    let mut truth = vec![0.0; k as usize];
    people.iter().for_each(|value| truth[*value as usize] += 1.0 / n as f64);

    let mut rng = SystemRandom::new()?;
    let randomize = rate(n, || {
        black_box(randomize_many(&randomizer, &people, &mut rng)?);
        Ok(())
    })?;
    let mut mse = 0.0;
    let mut reports = Vec::new();
    for _ in 0..REPETITIONS {
        reports = submissions(&randomizer, &people, &mut rng)?;
        mse += error(&count(&survey, &reports, &options)?, &truth, scaled) / REPETITIONS as f64;
    }
    let counted = rate(n, || {
        black_box(count(&survey, &reports, &options)?);
        Ok(())
    })?;

    let mut notes = String::new();
    let mut met = true;
    let mut claim = |holds: bool, text: String| {
        notes += &format!("{text}{}; ", if holds { "" } else { " !" });
        met &= holds;
    };
    let faster = randomize / number("randomize")?;
    claim(faster >= 20.0, format!("randomize {faster:.0} × (≥ 20)"));
    let faster = counted / number("estimate")?;
    if mechanism == Mechanism::Hashing.name() && k == 1024 {
        claim(faster >= 250.0, format!("estimate {faster:.0} × (≥ 250)"));
    } else {
        claim(true, format!("estimate {faster:.0} ×"));
    }
    let worse = mse / number("mse")?;
    match k {
        128.. => claim(worse <= 1.15, format!("error {worse:.2} × (≤ 1.15)")),
        _ => claim(true, format!("error {worse:.2} ×")),
    }
    println!(
        "{:<28}{randomize:>14.3e}{counted:>14.3e}{mse:>11.3e}   {notes}",
        format!("{library}, {mechanism}, {k}")
    );
    Ok(met)
}

fn submissions(
    randomizer: &demure_collect::randomizer::Randomizer,
    people: &[u32],
    rng: &mut SystemRandom,
) -> Fallible<Vec<Submission>> {
    let reports = randomize_many(randomizer, people, rng)?;
    let one = |report| Submission { token: 0, answers: vec![Answer { part: 0, level: 0, report }] };
    Ok(reports.into_iter().map(one).collect())
}

/// Counts and estimates, with intervals.
fn count(survey: &Survey, reports: &[Submission], options: &Options) -> Fallible<Estimates> {
    let mut collector = Collector::new(survey);
    reports.iter().for_each(|report| collector.add_unique(report));
    Ok(estimate(&mut collector, options)?)
}

/// The mean squared error over the values; if asked for, of the estimates cut at 0 and scaled.
fn error(found: &Estimates, truth: &[f64], scaled: bool) -> f64 {
    let [Estimate::Frequencies(found)] = found.estimates.as_slice() else { return f64::NAN };
    let mut estimates: Vec<f64> = found.rows.iter().map(|row| row.estimate).collect();
    if scaled {
        estimates.iter_mut().for_each(|x| *x = x.max(0.0));
        let sum: f64 = estimates.iter().sum();
        estimates.iter_mut().for_each(|x| *x /= sum);
    }
    let squares = estimates.iter().zip(truth).map(|(x, t)| (x - t).powi(2));
    squares.sum::<f64>() / truth.len() as f64
}

/// CPU seconds of this process so far, all threads; wall-clock time where the system does not tell.
fn cpu(begun: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|field| field.parse::<f64>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => (user + system) / 100.0,
        _ => begun.elapsed().as_secs_f64(),
    }
}

/// Things a CPU second, n of which a call does: the median of some rounds.
fn rate(n: usize, mut call: impl FnMut() -> Fallible<()>) -> Fallible<f64> {
    let begun = Instant::now();
    let mut seen = Vec::new();
    call()?;
    for _ in 0..ROUNDS {
        let (start, mut calls) = (cpu(begun), 0);
        while cpu(begun) - start < LEAST {
            // As many as make the look at the clock cheap.
            for _ in 0..1 + 100_000 / n {
                call()?;
                calls += 1;
            }
        }
        seen.push((calls * n) as f64 / (cpu(begun) - start));
    }
    seen.sort_by(f64::total_cmp);
    Ok(seen[ROUNDS / 2])
}

/// Ten million reports, in a process of its own: the peak of its memory is theirs.
fn ten_million() -> Fallible<bool> {
    let done = Command::new(std::env::current_exe()?).arg(MEMORY).status()?;
    Ok(done.success())
}

fn memory() -> Fallible<bool> {
    const REPORTS: u32 = 10_000_000;
    let survey = survey(Mechanism::Hashing.name(), 1024, 1.0)?;
    let client = Client::new(&survey);
    let mut rng = SystemRandom::new()?;
    let mut collector = Collector::new(&survey);
    let begun = Instant::now();
    for i in 0..REPORTS {
        let report = client.randomize(&[TrueAnswer::Category(i % 1024)], &mut rng)?;
        collector.add_bytes(&report.to_bytes(&survey));
    }
    let found = estimate(&mut collector, &Options::usual()?)?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: Option<u64> = peak.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let Some(kilobytes) = peak else {
        println!("10 M reports: this system does not tell the peak of memory");
        return Ok(true);
    };
    let met = kilobytes <= 1_000_000 && found.people == u64::from(REPORTS);
    println!(
        "{:<28}{:>14}   made, counted and estimated in {:.1} s; {} MB (≤ 1,000){}",
        "10 M reports, k 1024",
        found.people,
        begun.elapsed().as_secs_f64(),
        kilobytes / 1000,
        if met { "" } else { " !" }
    );
    Ok(met)
}

/// The service, from outside.
fn service() -> Fallible<bool> {
    let demure = demure().map_err(|e| e.to_string())?;
    let folder = std::env::temp_dir().join(format!("demure-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let met = loopback(&demure, &folder);
    std::fs::remove_dir_all(&folder)?;
    met
}

fn loopback(demure: &Path, folder: &Path) -> Fallible<bool> {
    const SURVEY: &str = "version = 1\nquestion = 'q'\nsalt = '00112233445566778899aabbccddeeff'\n\
                          epsilon = 1.0\nmechanism = 'response'\nvalues = ['yes', 'no']\n";
    let file = folder.join("bench.toml");
    std::fs::write(&file, SURVEY)?;
    let survey = Survey::parse(SURVEY)?;
    let mut child = Command::new(demure)
        .args(["collect", "serve", "--http", "127.0.0.1:0", "--json"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let measured = child.stdout.take().ok_or("no output").map_err(Into::into).and_then(|out| {
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let told: serde_json::Value = serde_json::from_str(&line)?;
        let page = told["page"].as_str().ok_or("it did not say where it listens")?;
        let address = page.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let batches = durable(&address, &survey, 16, 100, 200)?;
        let single = durable(&address, &survey, 64, 1, 500)?;
        Ok::<_, Box<dyn Error + Send + Sync>>((batches, single))
    });
    child.kill()?;
    child.wait()?;
    let (batches, single) = measured?;
    let met = batches >= 20_000.0;
    println!(
        "{:<28}{batches:>14.0}   durable reports a second, 100 a request (≥ 20,000){}",
        "collect serve, loopback",
        if met { "" } else { " !" }
    );
    println!("{:<28}{single:>14.0}   durable reports a second, 1 a request", "");
    Ok(met)
}

/// Durable reports a second: `connections` at once send `requests` of `each` reports, and wait for
/// every answer.
fn durable(
    address: &str,
    survey: &Survey,
    connections: usize,
    each: usize,
    requests: usize,
) -> Fallible<f64> {
    let client = Client::new(survey);
    let mut rng = SystemRandom::new()?;
    // Made before the clock starts: the clients share the service's cores.
    let mut bodies = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut own = Vec::with_capacity(requests);
        for _ in 0..requests {
            let mut body = Vec::new();
            for _ in 0..each {
                body.extend(
                    client.randomize(&[TrueAnswer::Category(1)], &mut rng)?.to_bytes(survey),
                );
            }
            let head = format!(
                "POST /reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\n\
                 content-length: {}\r\n\r\n",
                body.len()
            );
            own.push([head.as_bytes(), &body].concat());
        }
        bodies.push(own);
    }
    let begun = Instant::now();
    let stored = std::thread::scope(|scope| {
        let threads: Vec<_> =
            bodies.iter().map(|own| scope.spawn(move || send(address, own))).collect();
        let joined = threads.into_iter().map(|t| t.join().map_err(|_| "a client failed")?);
        joined.sum::<Fallible<u64>>()
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    if stored != (connections * each * requests) as u64 {
        return Err("the service did not acknowledge all reports".into());
    }
    Ok(stored as f64 / seconds)
}

/// Sends requests over one connection; how many reports were acknowledged as stored.
fn send(address: &str, requests: &[Vec<u8>]) -> Fallible<u64> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let (mut stored, mut line) = (0, String::new());
    for request in requests {
        stream.get_mut().write_all(request)?;
        let mut length = 0usize;
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Err("the service hung up".into());
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let told: serde_json::Value = serde_json::from_slice(&body)?;
        stored += told["stored"].as_u64().unwrap_or(0);
    }
    Ok(stored)
}
