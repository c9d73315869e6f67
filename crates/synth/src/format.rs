//! A saved model as text: a line for each thing, numbers separated by blanks, floats so that they come back bit by bit.
//!
//! The first line names the version. A reader refuses other versions, and checks everything else, so a file that was
//! changed by hand is an error or another valid model.

use crate::budget::Price;
use crate::error::{Error, Result};
use crate::estimate::{Bend, Estimate, Factor};
use crate::model::Model;
use crate::profile::Profile;
use crate::rules::{Rule, Rules};
use crate::schema::{Column, MOST_COLUMNS, Schema};
use crate::view::Level;
use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};
use std::fmt::Write;
use std::num::NonZeroU32;
use std::str::FromStr;

const HEADING: &str = "demure synthetic model 1";
/// Log potentials beyond this are no result of a fit.
const LARGEST_LOG: f64 = 1e9;

impl Model {
    /// The model as text, for [`Model::from_text`]. It holds released and public numbers only.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADING}\n");
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        match self.price.guarantee() {
            Guarantee::Approximate(epsilon, delta) => {
                writeln!(out, "epsilon {} delta {}", epsilon.get(), delta.get())?;
            }
            Guarantee::Concentrated(rho) => writeln!(out, "rho {}", rho.get())?,
            // `Price::new` takes no other.
            _ => writeln!(out, "unknown")?,
        }
        writeln!(out, "neighbours {}", self.price.neighbours())?;
        writeln!(out, "rows-per-unit {}", self.price.rows())?;
        writeln!(out, "rows {}", self.total)?;
        writeln!(out, "columns {}", self.schema.columns().len())?;
        let columns = self.schema.columns().iter().zip(&self.estimate.profiles);
        for ((column, profile), resolution) in columns.zip(&self.estimate.resolution) {
            let order = if column.is_ordered() { "ordered" } else { "categorical" };
            let null = if column.is_nullable() { "null" } else { "whole" };
            writeln!(out, "column {order} {null} {} {}", column.codes(), escaped(column.name()))?;
            writeln!(out, "shares{}", floats(&profile.shares))?;
            writeln!(out, "levels {} resolution {resolution}", profile.levels.len())?;
            for level in &profile.levels {
                writeln!(out, "level {}{}", level.bins, list(&level.bin_of))?;
            }
        }
        writeln!(out, "rules {}", self.rules.all().len())?;
        for rule in self.rules.all() {
            writeln!(out, "rule {}", rule.forbidden.len())?;
            for (column, mask) in &rule.forbidden {
                let codes = (0..mask.len()).filter(|&code| mask[code]).collect::<Vec<_>>();
                writeln!(out, "forbid {column}{}", list(&codes))?;
            }
        }
        writeln!(out, "factors {}", self.estimate.factors.len())?;
        for factor in &self.estimate.factors {
            writeln!(out, "of{}", list(&factor.columns))?;
            writeln!(out, "at{}", list(&factor.levels))?;
            writeln!(out, "log{}", floats(&factor.log))?;
        }
        writeln!(out, "bends {}", self.estimate.bends.len())?;
        for bend in &self.estimate.bends {
            writeln!(out, "of{}", list(&bend.columns))?;
            writeln!(out, "at{}", list(&bend.levels))?;
            writeln!(out, "ratio{}", floats(&bend.ratio))?;
        }
        writeln!(out, "end")
    }

    /// Reads a model that [`Model::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Self> {
        let mut reader = Reader { lines: text.lines().enumerate(), line: 0 };
        if reader.next() != Some(HEADING) {
            return reader.expected("`demure synthetic model 1`");
        }
        let price = price(&mut reader)?;
        let total: f64 = reader.one("rows")?;
        if !total.is_finite() {
            return reader.expected("a finite number of rows");
        }
        let width: usize = reader.one("columns")?;
        if !(1..=MOST_COLUMNS).contains(&width) {
            return reader.expected("between 1 and 1000 columns");
        }
        let (mut columns, mut profiles, mut resolution) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..width {
            columns.push(column(&mut reader)?);
            let (profile, level) = profile(&mut reader, columns[columns.len() - 1].codes())?;
            profiles.push(profile);
            resolution.push(level);
        }
        let schema = Schema::new(columns)?;
        let rules = rules(&mut reader, &schema)?;
        let count: usize = reader.one("factors")?;
        let mut factors = Vec::new();
        for _ in 0..count {
            factors.push(factor(&mut reader, &profiles, &resolution)?);
        }
        let count: usize = reader.one("bends")?;
        let mut bends = Vec::new();
        for _ in 0..count {
            bends.push(bend(&mut reader, &profiles)?);
        }
        if reader.next() != Some("end") {
            return reader.expected("`end`");
        }
        let estimate = Estimate::assemble(total.max(1.0), profiles, resolution, factors, bends)?;
        Ok(Self { schema, price, estimate, rules, total })
    }
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        let _ = write!(text, " {item}");
        text
    })
}

/// With exponents: a share of 10⁻³⁰⁰ would be 300 zeros otherwise. The shortest digits that come back bit by bit.
fn floats(items: &[f64]) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        let _ = write!(text, " {item:e}");
        text
    })
}

/// A name on one line.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => name.push('\n'),
                Some('r') => name.push('\r'),
                Some(other) => name.push(other),
                None => {}
            },
            (letter, false) => name.push(letter),
        }
    }
    name
}

/// Reads line by line.
struct Reader<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    line: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (number, line) = self.lines.next()?;
        self.line = number + 1;
        Some(line)
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T> {
        Err(Error::Format { line: self.line.max(1), expected })
    }

    /// The rest of the next line, which begins with `word`.
    fn after(&mut self, word: &'static str) -> Result<&'a str> {
        match self.next().and_then(|line| line.strip_prefix(word)) {
            Some(rest) => Ok(rest.trim_start()),
            None => self.expected(word),
        }
    }

    /// The one number after `word`.
    fn one<T: FromStr>(&mut self, word: &'static str) -> Result<T> {
        let rest = self.after(word)?;
        rest.parse().or_else(|_| self.expected(word))
    }

    /// All numbers after `word`.
    fn all<T: FromStr>(&mut self, word: &'static str) -> Result<Vec<T>> {
        let rest = self.after(word)?;
        let numbers: std::result::Result<Vec<T>, _> =
            rest.split_ascii_whitespace().map(str::parse).collect();
        numbers.or_else(|_| self.expected(word))
    }
}

fn price(reader: &mut Reader<'_>) -> Result<Price> {
    let line = reader.next().unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    let guarantee = match words[..] {
        ["epsilon", epsilon, "delta", delta] => {
            Guarantee::Approximate(Epsilon::new(number(epsilon))?, Delta::new(number(delta))?)
        }
        ["rho", rho] => Guarantee::Concentrated(Rho::new(number(rho))?),
        _ => return reader.expected("`epsilon … delta …` or `rho …`"),
    };
    let neighbours = match reader.after("neighbours")? {
        "add-remove" => Neighbours::AddRemove,
        "replace" => Neighbours::Replace,
        _ => return reader.expected("`add-remove` or `replace`"),
    };
    let rows: NonZeroU32 = reader.one("rows-per-unit")?;
    Ok(Price::new(guarantee, neighbours)?.rows_per_unit(rows))
}

fn column(reader: &mut Reader<'_>) -> Result<Column> {
    let rest = reader.after("column")?;
    let words: Vec<&str> = rest.splitn(4, ' ').collect();
    let [order, null, codes, name] = words[..] else {
        return reader.expected("`column`, its kind, its number of codes and its name");
    };
    let Ok(codes) = codes.parse::<usize>() else {
        return reader.expected("a number of codes");
    };
    let name = unescaped(name);
    let column = match order {
        "ordered" => Column::ordered(name, codes)?,
        "categorical" => Column::categorical(name, codes)?,
        _ => return reader.expected("`ordered` or `categorical`"),
    };
    match null {
        "null" => Ok(column.nullable()),
        "whole" => Ok(column),
        _ => reader.expected("`null` or `whole`"),
    }
}

/// A profile and the resolution of its column.
fn profile(reader: &mut Reader<'_>, codes: usize) -> Result<(Profile, usize)> {
    let shares: Vec<f64> = reader.all("shares")?;
    let sum: f64 = shares.iter().sum();
    if shares.len() != codes
        || !shares.iter().all(|share| *share >= 0.0)
        || !(0.5..2.0).contains(&sum)
    {
        return reader.expected("a share for each code, 1 in all");
    }
    let rest = reader.after("levels")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let (Some(Ok(count)), Some(Ok(resolution))) = (
        words.first().map(|word| word.parse::<usize>()),
        words.get(2).map(|word| word.parse::<usize>()),
    ) else {
        return reader.expected("`levels … resolution …`");
    };
    let mut levels: Vec<Level> = Vec::new();
    for _ in 0..count.min(64) {
        let numbers: Vec<u32> = reader.all("level")?;
        let Some((&bins, bin_of)) = numbers.split_first() else {
            return reader.expected("the number of bins and the bin of each code");
        };
        let bins = (bins as usize).min(codes);
        let bin_of: Vec<u16> =
            bin_of.iter().map(|&bin| u16::try_from(bin).unwrap_or(u16::MAX)).collect();
        let mut used = vec![false; bins];
        bin_of.iter().for_each(|&bin| {
            if let Some(used) = used.get_mut(usize::from(bin)) {
                *used = true;
            }
        });
        let inside = bin_of.iter().all(|&bin| usize::from(bin) < bins);
        if bin_of.len() != codes || !inside || used.contains(&false) {
            return reader.expected("a bin for each code, and no empty bin");
        }
        let level = Level { bins, bin_of: bin_of.into() };
        let nested = levels.last().is_none_or(|coarser| {
            let map = level.down_to(coarser);
            level
                .bin_of
                .iter()
                .zip(coarser.bin_of.iter())
                .all(|(mine, theirs)| map[usize::from(*mine)] == *theirs)
        });
        if !nested {
            return reader.expected("levels that are nested, coarsest first");
        }
        levels.push(level);
    }
    if levels.last() != Some(&Level::full(codes)) || resolution >= levels.len() {
        return reader.expected("a last level with all codes, and a resolution below their number");
    }
    Ok((Profile { shares, levels }, resolution))
}

fn rules(reader: &mut Reader<'_>, schema: &Schema) -> Result<Rules> {
    let count: usize = reader.one("rules")?;
    let mut rules = Vec::new();
    for _ in 0..count {
        let parts: usize = reader.one("rule")?;
        let mut forbidden = Vec::new();
        for _ in 0..parts {
            let numbers: Vec<usize> = reader.all("forbid")?;
            let Some((&column, codes)) = numbers.split_first() else {
                return reader.expected("a column and its codes");
            };
            forbidden.push((column, schema.mask(column, codes)?));
        }
        rules.push(Rule::of(forbidden)?);
    }
    Ok(Rules::new(rules, schema.columns().len()))
}

/// Columns, levels and how many cells they have.
fn place(reader: &mut Reader<'_>, profiles: &[Profile]) -> Result<(Vec<usize>, Vec<usize>, usize)> {
    let columns: Vec<usize> = reader.all("of")?;
    let levels: Vec<usize> = reader.all("at")?;
    let rising = columns.windows(2).all(|two| two[0] < two[1]);
    if columns.len() != levels.len() || !(1..=2).contains(&columns.len()) || !rising {
        return reader.expected("one or two columns, and a level of each");
    }
    let mut cells = 1;
    for (&column, &level) in columns.iter().zip(&levels) {
        match profiles.get(column).and_then(|profile| profile.levels.get(level)) {
            Some(level) => cells *= level.bins,
            None => return reader.expected("columns and levels that there are"),
        }
    }
    Ok((columns, levels, cells))
}

fn factor(reader: &mut Reader<'_>, profiles: &[Profile], resolution: &[usize]) -> Result<Factor> {
    let (columns, levels, cells) = place(reader, profiles)?;
    if columns.iter().zip(&levels).any(|(&column, &level)| level > resolution[column]) {
        return reader.expected("levels within the resolution");
    }
    let log: Vec<f64> = reader.all("log")?;
    let valid = |log: &f64| *log == f64::NEG_INFINITY || log.abs() <= LARGEST_LOG;
    if log.len() != cells || !log.iter().all(valid) {
        return reader.expected("a log potential for each cell");
    }
    Ok(Factor { columns, levels, log })
}

fn bend(reader: &mut Reader<'_>, profiles: &[Profile]) -> Result<Bend> {
    let (columns, levels, cells) = place(reader, profiles)?;
    let ratio: Vec<f64> = reader.all("ratio")?;
    let valid = ratio.iter().all(|ratio| (1e-3..=1e3).contains(ratio));
    let (&[a, b], &[x, y]) = (&columns[..], &levels[..]) else {
        return reader.expected("two columns");
    };
    if ratio.len() != cells || !valid {
        return reader.expected("a ratio for each cell");
    }
    Ok(Bend { columns: [a, b], levels: [x, y], ratio })
}
