//! A made-up clinic to try things on: patients, their visits of a year, two public tables, the policy, and questions.
//!
//! The shapes are those of real ones: few visits for most and many for some, costs with a long
//! tail, influenza in winter, what comes with age and with smoking.

mod draws;

use draws::Draws;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};

/// The most visits of one patient.
const MOST_VISITS: f64 = 12.0;

/// Code, name, share of the patients.
const REGIONS: [(&str, &str, f64); 6] = [
    ("N", "Northmoor", 0.24),
    ("E", "Eastvale", 0.19),
    ("S", "Southport", 0.22),
    ("W", "Westhill", 0.15),
    ("C", "Castle Town", 0.13),
    ("I", "The Islands", 0.07),
];

struct Disease {
    name: &'static str,
    chapter: &'static str,
    /// How common it is, at 40, not smoking, in spring.
    weight: f64,
    /// What each decade of age, smoking and midwinter multiply that by.
    decade: f64,
    smoking: f64,
    winter: f64,
    /// Its cost: the median, and the spread of its logarithm.
    cost: f64,
    spread: f64,
    /// The probability of staying, and the mean number of nights.
    stays: f64,
    nights: f64,
}

#[rustfmt::skip]
const DISEASES: [Disease; 12] = [
    Disease { name: "flu",           chapter: "infection",   weight: 1.5, decade: 0.95, smoking: 1.1, winter: 5.0, cost: 60.0,   spread: 0.5, stays: 0.01, nights: 3.0 },
    Disease { name: "pneumonia",     chapter: "infection",   weight: 0.3, decade: 1.25, smoking: 1.6, winter: 2.5, cost: 420.0,  spread: 0.7, stays: 0.45, nights: 6.0 },
    Disease { name: "asthma",        chapter: "lung",        weight: 0.9, decade: 0.90, smoking: 1.8, winter: 1.2, cost: 95.0,   spread: 0.5, stays: 0.03, nights: 2.0 },
    Disease { name: "COPD",          chapter: "lung",        weight: 0.2, decade: 1.45, smoking: 4.0, winter: 1.4, cost: 240.0,  spread: 0.6, stays: 0.15, nights: 5.0 },
    Disease { name: "hypertension",  chapter: "circulation", weight: 1.3, decade: 1.30, smoking: 1.3, winter: 1.0, cost: 55.0,   spread: 0.4, stays: 0.00, nights: 1.0 },
    Disease { name: "heart failure", chapter: "circulation", weight: 0.2, decade: 1.55, smoking: 1.7, winter: 1.1, cost: 780.0,  spread: 0.7, stays: 0.50, nights: 7.0 },
    Disease { name: "diabetes",      chapter: "metabolism",  weight: 0.8, decade: 1.25, smoking: 1.2, winter: 1.0, cost: 130.0,  spread: 0.5, stays: 0.04, nights: 4.0 },
    Disease { name: "back pain",     chapter: "muscle",      weight: 1.4, decade: 1.10, smoking: 1.1, winter: 1.0, cost: 85.0,   spread: 0.6, stays: 0.02, nights: 4.0 },
    Disease { name: "fracture",      chapter: "injury",      weight: 0.6, decade: 1.08, smoking: 1.1, winter: 1.3, cost: 650.0,  spread: 0.8, stays: 0.30, nights: 4.0 },
    Disease { name: "migraine",      chapter: "nerves",      weight: 0.7, decade: 0.90, smoking: 1.0, winter: 1.0, cost: 70.0,   spread: 0.4, stays: 0.01, nights: 1.0 },
    Disease { name: "depression",    chapter: "mind",        weight: 0.9, decade: 1.00, smoking: 1.4, winter: 1.3, cost: 110.0,  spread: 0.5, stays: 0.03, nights: 12.0 },
    Disease { name: "appendicitis",  chapter: "digestion",   weight: 0.2, decade: 0.85, smoking: 1.0, winter: 1.0, cost: 900.0,  spread: 0.3, stays: 0.95, nights: 3.0 },
];

const POLICY: &str = r#"# A policy: what may be asked of this clinic, and how much all answers may tell about anyone.
# The patients are made up; `demure demo` wrote them.

[budget]
# The privacy loss ε of all answers together, for ever, and the probability δ that it fails.
epsilon = 3.0
delta = 1e-6
# How costs add up: "pure", or "zcdp", which affords more queries.
accounting = "pure"
# What is protected: that someone is in the data at all.
neighbours = "add-remove"
# The ε of a query that does not say.
per_query = 0.5

[tables.patients]
source = "patients.csv"
unit = "id"
max_rows_per_group = 1           # one row a patient, so nothing has to be learnt
[tables.patients.columns]
# What can be, from what is known of the world and not from the data. A value that is not on
# a list, or not of its type, counts as missing; one beyond its bounds is clamped.
id = { type = "integer", nullable = false }
age = { type = "integer", bounds = [0, 110], nullable = false }
sex = { values = ["f", "m"], nullable = false }
region = { values = [REGIONS], nullable = false }
smoker = { type = "boolean", nullable = false }

[tables.visits]
source = "visits.csv"
unit = "patient_id"              # a patient's visits are protected together
# Every visit counts. How many of one patient count in full is learnt with each answer;
# patients with more count with a smaller weight.
contributions = "auto"
[tables.visits.columns]
patient_id = { type = "integer", nullable = false }
day = { type = "date" }
disease = { values = [DISEASES], nullable = false }
cost = { bounds = [0, 3000], grid = 0.01 }
nights = { type = "integer", bounds = [0, 30], nullable = false }
visit_id = { hidden = true }

[tables.regions]
source = "regions.csv"
public = true                    # nobody's data: no noise, no cost
key = "code"

[tables.diseases]
source = "diseases.csv"
public = true
key = "name"
"#;

/// A question about the clinic.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// In words.
    pub asks: &'static str,
    /// In SQL.
    pub sql: &'static str,
    /// The ε to pay.
    pub epsilon: f64,
    /// Whether its answer is best seen as bars.
    pub chart: bool,
}

/// Questions that the clinic's budget affords, in this order.
pub const QUESTIONS: [Question; 5] = [
    Question {
        asks: "How many patients smoke?",
        sql: "SELECT COUNT(*) AS smokers FROM patients WHERE smoker",
        epsilon: 0.1,
        chart: false,
    },
    Question {
        asks: "What does a visit cost on average, by disease?",
        sql: "SELECT disease, AVG(cost) AS mean_cost FROM visits\n\
              GROUP BY disease ORDER BY mean_cost DESC",
        epsilon: 0.5,
        chart: true,
    },
    Question {
        asks: "And the median? Half of all visits cost less than …",
        sql: "SELECT MEDIAN(cost) AS median_cost FROM visits",
        epsilon: 0.3,
        chart: false,
    },
    Question {
        asks: "What is the most common disease in January?",
        sql: "SELECT MODE(disease) AS most_common FROM visits\n\
              WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-01-31'",
        epsilon: 0.1,
        chart: false,
    },
    Question {
        asks: "Where do the flu patients live? (two protected tables and a public one)",
        sql: "SELECT r.name AS region, COUNT(*) AS flu_visits\n\
              FROM visits v\n\
              JOIN patients p ON p.id = v.patient_id\n\
              JOIN regions r ON r.code = p.region\n\
              WHERE v.disease = 'flu' GROUP BY r.name ORDER BY flu_visits DESC",
        epsilon: 0.5,
        chart: false,
    },
];

/// A question that it does not afford after them.
pub const REFUSED: Question = Question {
    asks: "Now everything again, ten times as exactly?",
    sql: "SELECT disease, AVG(cost) AS mean_cost FROM visits GROUP BY disease",
    epsilon: 5.0,
    chart: false,
};

/// Writes the clinic into a folder and returns the path of its policy.
pub fn make(folder: &Path, patients: u32, seed: u64) -> Result<PathBuf> {
    let mut draws = Draws::new(seed);
    let open =
        |name: &str| File::create(folder.join(name)).map(|f| BufWriter::with_capacity(1 << 18, f));
    let mut people = open("patients.csv")?;
    let mut visits = open("visits.csv")?;
    writeln!(people, "id,age,sex,region,smoker")?;
    writeln!(visits, "visit_id,patient_id,day,disease,cost,nights")?;
    let shares = REGIONS.map(|(_, _, share)| share);
    let mut visit_id = 0_u64;
    for id in 1..=patients {
        let age = age(&mut draws);
        let sex = if draws.chance(0.51) { "f" } else { "m" };
        let region = REGIONS[draws.weighted(&shares)].0;
        let smoker = age >= 15 && draws.chance(if age < 65 { 0.24 } else { 0.11 });
        writeln!(people, "{id},{age},{sex},{region},{smoker}")?;
        let expected = 1.3 + f64::from(age) / 28.0 + if smoker { 0.8 } else { 0.0 };
        let count = draws.exponential(expected).floor().min(MOST_VISITS) as u32;
        for _ in 0..count {
            visit_id += 1;
            visit(visit_id, id, (age, smoker), &mut draws, &mut visits)?;
        }
    }
    people.flush()?;
    visits.flush()?;

    let mut regions = String::from("code,name\n");
    for (code, name, _) in REGIONS {
        // Writing to a String does not fail.
        let _ = writeln!(regions, "{code},{name}");
    }
    let mut diseases = String::from("name,chapter\n");
    for disease in &DISEASES {
        let _ = writeln!(diseases, "{},{}", disease.name, disease.chapter);
    }
    let list = |names: Vec<&str>| {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        quoted.join(", ")
    };
    let names: Vec<String> =
        DISEASES.chunks(6).map(|c| list(c.iter().map(|d| d.name).collect())).collect();
    let policy = POLICY
        .replace("[REGIONS]", &format!("[{}]", list(REGIONS.map(|(code, _, _)| code).to_vec())))
        .replace("[DISEASES]", &format!("[{}]", names.join(", ")));
    std::fs::write(folder.join("regions.csv"), regions)?;
    std::fs::write(folder.join("diseases.csv"), diseases)?;
    let path = folder.join("clinic.toml");
    std::fs::write(&path, policy)?;
    Ok(path)
}

/// As many of each year up to about 65, then fewer and fewer.
fn age(draws: &mut Draws) -> u32 {
    let age =
        if draws.chance(0.79) { draws.uniform() * 65.0 } else { 65.0 + draws.exponential(10.0) };
    age.min(104.0) as u32
}

fn visit(
    visit_id: u64,
    patient: u32,
    (age, smoker): (u32, bool),
    draws: &mut Draws,
    out: &mut impl Write,
) -> Result<()> {
    let day = (draws.uniform() * 366.0) as u32;
    // 1 in the middle of January, 0 from April to October.
    let cold = (std::f64::consts::TAU * (f64::from(day) - 15.0) / 366.0).cos().max(0.0).powi(2);
    let decades = f64::from(age) / 10.0 - 4.0;
    let weights = DISEASES.each_ref().map(|disease| {
        let smoking = if smoker { disease.smoking } else { 1.0 };
        disease.weight
            * disease.decade.powf(decades)
            * smoking
            * (1.0 + (disease.winter - 1.0) * cold)
    });
    let disease = &DISEASES[draws.weighted(&weights)];
    let stays = draws.chance(disease.stays);
    let nights =
        if stays { (1.0 + draws.exponential(disease.nights - 0.5)).min(60.0).floor() } else { 0.0 };
    let cost = disease.cost * (disease.spread * draws.normal()).exp() * (1.0 + 0.25 * nights);
    let (month, day) = date(day);
    writeln!(
        out,
        "{visit_id},{patient},2024-{month:02}-{day:02},{},{cost:.2},{nights}",
        disease.name
    )
}

/// The month and day of the nth day of 2024, counted from 0.
fn date(mut day: u32) -> (u32, u32) {
    const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (month, length) in (1..).zip(LENGTHS) {
        if day < length {
            return (month, day + 1);
        }
        day -= length;
    }
    (12, 31)
}

#[cfg(test)]
mod tests;
