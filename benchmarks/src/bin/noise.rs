//! `cargo xtask bench noise`: exact noise against plain floats and against OpenDP.
//!
//! Claims, as ratios within this run:
//! - exact discrete Laplace ≥ 0.5 × a plain float Laplace on the same ChaCha12, at
//!   scales 1, 100 and 10⁶;
//! - exact discrete Gaussian ≥ 0.2 × `rand_distr`'s Normal on the same ChaCha12;
//! - both ≥ 100 × OpenDP's wheel (its fastest way, whole vectors).

#![forbid(unsafe_code)]

use chacha20::ChaCha12Rng;
use demure_bench::{Contestant, rates};
use demure_core::random::SystemRandom;
use demure_core::sample::{
    DiscreteGaussian, DiscreteLaplace, RoundedGaussian, RoundedGumbel, RoundedLaplace, Scale,
};
use demure_core::unit::Grid;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

const BATCH: usize = 1 << 14;
const ROUNDS: usize = 11;
const LEAST: Duration = Duration::from_millis(60);
const SCALES: [f64; 3] = [1.0, 100.0, 1e6];

fn main() -> ExitCode {
    demure_bench::exit(run())
}

fn run() -> Result<bool, Box<dyn Error>> {
    let peers = peers()?;
    let mut met = true;
    println!("{:<28}{:>12}   ratios", "noise", "samples/s");
    for scale in SCALES {
        met &= laplace(scale, &peers)?;
    }
    for scale in SCALES {
        met &= gaussian(scale, &peers)?;
    }
    others()?;
    println!("{}", if met { "every claim met" } else { "a claim was NOT met (marked !)" });
    Ok(met)
}

/// OpenDP's samples per second.
struct Peer {
    noise: String,
    scale: f64,
    per_second: f64,
}

/// What the files given as arguments say of it.
fn peers() -> Result<Vec<Peer>, Box<dyn Error>> {
    let mut rates = Vec::new();
    for path in std::env::args().skip(1) {
        let document: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        for row in document["rates"].as_array().into_iter().flatten() {
            if row["call"] == "vector" {
                rates.push(Peer {
                    noise: row["noise"].as_str().unwrap_or_default().to_owned(),
                    scale: row["scale"].as_f64().unwrap_or_default(),
                    per_second: row["per_second"].as_f64().unwrap_or_default(),
                });
            }
        }
    }
    Ok(rates)
}

fn laplace(scale: f64, peers: &[Peer]) -> Result<bool, Box<dyn Error>> {
    let (mut floats, mut integers) = (vec![0.0; BATCH], vec![0i128; BATCH]);
    let mut plain = ChaCha12Rng::from_seed([1; 32]);
    let mut secure = SystemRandom::new()?;
    let noise = DiscreteLaplace::new(&Scale::new(scale)?)?;
    let mut contestants = [
        Contestant {
            name: "float Laplace",
            batch: BATCH,
            run: Box::new(|| {
                for value in &mut floats {
                    let u = plain.random::<f64>() - 0.5;
                    *value = -scale * u.signum() * (1.0 - 2.0 * u.abs()).ln();
                }
                black_box(&floats);
            }),
        },
        Contestant {
            name: "exact Laplace",
            batch: BATCH,
            run: Box::new(|| {
                black_box(noise.fill(&mut integers, &mut secure)).ok();
                black_box(&integers);
            }),
        },
    ];
    let rates = rates(&mut contestants, ROUNDS, LEAST);
    Ok(report("discrete Laplace", "float Laplace", scale, &rates, 0.5, ("laplace", peers)))
}

fn gaussian(scale: f64, peers: &[Peer]) -> Result<bool, Box<dyn Error>> {
    let (mut floats, mut integers) = (vec![0.0; BATCH], vec![0i128; BATCH]);
    let mut plain = ChaCha12Rng::from_seed([1; 32]);
    let mut secure = SystemRandom::new()?;
    let normal = Normal::new(0.0, scale)?;
    let noise = DiscreteGaussian::new(&Scale::new(scale)?)?;
    let mut contestants = [
        Contestant {
            name: "rand_distr Normal",
            batch: BATCH,
            run: Box::new(|| {
                for value in &mut floats {
                    *value = normal.sample(&mut plain);
                }
                black_box(&floats);
            }),
        },
        Contestant {
            name: "exact Gaussian",
            batch: BATCH,
            run: Box::new(|| {
                black_box(noise.fill(&mut integers, &mut secure)).ok();
                black_box(&integers);
            }),
        },
    ];
    let rates = rates(&mut contestants, ROUNDS, LEAST);
    Ok(report("discrete Gaussian", "rand_distr", scale, &rates, 0.2, ("gaussian", peers)))
}

/// Prints one row; whether both claims are met.
fn report(
    name: &str,
    rival: &str,
    scale: f64,
    rates: &[f64],
    least: f64,
    (noise, peers): (&str, &[Peer]),
) -> bool {
    let [plain, exact] = rates else { return false };
    let mark = |met: bool| if met { "" } else { " !" };
    let ratio = exact / plain;
    let mut met = ratio >= least;
    let mut line = format!("{ratio:.2} × {rival} (≥ {least}){}", mark(met));
    let peer = peers.iter().find(|peer| peer.noise == noise && peer.scale == scale);
    if let Some(Peer { per_second, .. }) = peer {
        let ratio = exact / per_second;
        met &= ratio >= 100.0;
        line += &format!("   {ratio:.0} × OpenDP (≥ 100){}", mark(ratio >= 100.0));
    }
    println!("{:<28}{exact:>12.3e}   {line}", format!("{name}, scale {scale}"));
    met
}

/// Samplers without a claim, for the record.
fn others() -> Result<(), Box<dyn Error>> {
    let scale = Scale::new(1e6)?;
    let (laplace, gaussian, gumbel) = (
        RoundedLaplace::new(&scale, Grid::ONE)?,
        RoundedGaussian::new(&scale, Grid::ONE)?,
        RoundedGumbel::new(&scale, Grid::ONE)?,
    );
    let (mut a, mut b, mut c) = (vec![0; BATCH], vec![0; BATCH], vec![0; BATCH]);
    let (mut r, mut s, mut t) = (SystemRandom::new()?, SystemRandom::new()?, SystemRandom::new()?);
    let mut contestants = [
        Contestant {
            name: "rounded Laplace",
            batch: BATCH,
            run: Box::new(|| {
                black_box(laplace.fill(&mut a, &mut r)).ok();
            }),
        },
        Contestant {
            name: "rounded Gaussian",
            batch: BATCH,
            run: Box::new(|| {
                black_box(gaussian.fill(&mut b, &mut s)).ok();
            }),
        },
        Contestant {
            name: "rounded Gumbel",
            batch: BATCH,
            run: Box::new(|| {
                black_box(gumbel.fill(&mut c, &mut t)).ok();
            }),
        },
    ];
    let rates = rates(&mut contestants, 3, LEAST);
    for (contestant, rate) in contestants.iter().zip(rates) {
        println!("{:<28}{rate:>12.3e}", contestant.name);
    }
    Ok(())
}
