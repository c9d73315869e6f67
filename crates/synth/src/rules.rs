//! Public constraints: combinations of codes that no synthetic row has.
//!
//! Rules are public knowledge ("nobody under 15 is married"). They are not learnt from the table, and cost nothing.

use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::schema::Schema;

/// Steps of the search for a row that all rules allow.
const MOST_STEPS: usize = 200_000;

/// Codes of several columns that no row has together.
///
/// ```
/// use demure_synth::{Column, Rule, Schema};
///
/// let schema = Schema::new(vec![Column::ordered("age", 100)?, Column::categorical("married", 2)?])?;
/// let children: Vec<usize> = (0..15).collect();
/// let no_married_child = Rule::forbid(&schema, &[("age", &children), ("married", &[1])])?;
/// let adults_only = Rule::only(&schema, "age", &(18..100).collect::<Vec<_>>())?;
/// # Ok::<(), demure_synth::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Columns in order, each once, with the codes that it forbids together.
    pub(crate) forbidden: Vec<(usize, Vec<bool>)>,
}

impl Rule {
    /// No row has one of the codes of each of these columns.
    pub fn forbid(schema: &Schema, together: &[(&str, &[usize])]) -> Result<Self> {
        let mut forbidden = Vec::with_capacity(together.len());
        for (name, codes) in together {
            let column = schema.position(name)?;
            forbidden.push((column, schema.mask(column, codes)?));
        }
        Self::of(forbidden)
    }

    /// Every row has one of these codes in this column.
    pub fn only(schema: &Schema, column: &str, codes: &[usize]) -> Result<Self> {
        let column = schema.position(column)?;
        let mask = schema.mask(column, codes)?.iter().map(|allowed| !allowed).collect();
        Self::of(vec![(column, mask)])
    }

    pub(crate) fn of(mut forbidden: Vec<(usize, Vec<bool>)>) -> Result<Self> {
        forbidden.sort_by_key(|(column, _)| *column);
        let twice = forbidden.windows(2).any(|two| two[0].0 == two[1].0);
        if forbidden.is_empty() || twice {
            return Err(Error::Shape {
                what: "a rule names no column, or one column twice",
                remedy: "name each column once, with all of its codes",
            });
        }
        Ok(Self { forbidden })
    }

    fn forbids(&self, row: impl Fn(usize) -> u16) -> bool {
        self.forbidden.iter().all(|(column, mask)| mask[usize::from(row(*column))])
    }
}

/// All rules of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// For each column, the rules about it and others.
    about: Vec<Vec<usize>>,
}

impl Rules {
    pub(crate) fn new(rules: Vec<Rule>, columns: usize) -> Self {
        let mut about = vec![Vec::new(); columns];
        for (number, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.forbidden.len() > 1)
        {
            rule.forbidden.iter().for_each(|(column, _)| about[*column].push(number));
        }
        Self { rules, about }
    }

    pub(crate) fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether some rule is about several columns.
    pub(crate) fn combine(&self) -> bool {
        self.about.iter().any(|rules| !rules.is_empty())
    }

    /// Whether a rule is about this column and others.
    pub(crate) fn concern(&self, column: usize) -> bool {
        !self.about[column].is_empty()
    }

    /// Which codes of a column no rule forbids by themselves.
    pub(crate) fn allowed(&self, column: usize, codes: usize) -> Vec<bool> {
        let mut allowed = vec![true; codes];
        for rule in &self.rules {
            if let [(only, mask)] = &rule.forbidden[..]
                && *only == column
            {
                allowed.iter_mut().zip(mask).for_each(|(ok, forbidden)| *ok &= !forbidden);
            }
        }
        allowed
    }

    /// A rule about several columns that forbids the row.
    pub(crate) fn broken(&self, row: impl Fn(usize) -> u16 + Copy) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.forbidden.len() > 1 && rule.forbids(row))
    }

    /// Whether no rule about `column` and others forbids the row.
    pub(crate) fn allow(&self, column: usize, row: impl Fn(usize) -> u16 + Copy) -> bool {
        self.about[column].iter().all(|&number| !self.rules[number].forbids(row))
    }

    /// The forbidden pairs of codes of two columns, as masks.
    pub(crate) fn of_pair(&self, a: usize, b: usize) -> impl Iterator<Item = (&[bool], &[bool])> {
        self.rules.iter().filter_map(move |rule| match &rule.forbidden[..] {
            [(x, first), (y, second)] if (*x, *y) == (a, b) => Some((&first[..], &second[..])),
            _ => None,
        })
    }

    /// A row that all rules allow: depth first, likely codes first.
    pub(crate) fn some_row(&self, profiles: &[Profile]) -> Result<Vec<u16>> {
        let mut row: Vec<u16> = Vec::with_capacity(profiles.len());
        let choices: Vec<Vec<u16>> =
            profiles.iter().map(|profile| by_share(&profile.shares)).collect();
        // next[i]: which choice to try next for column i.
        let mut next = vec![0usize];
        let mut steps = 0;
        while row.len() < profiles.len() {
            let column = row.len();
            let Some(&code) = choices[column].get(next[column]) else {
                next.pop();
                if row.pop().is_none() {
                    return Err(Error::Unsatisfiable);
                }
                continue;
            };
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Error::Unsatisfiable);
            }
            next[column] += 1;
            row.push(code);
            // Only rules whose columns all have codes by now.
            let complete = |rule: &&usize| {
                self.rules[**rule].forbidden.last().is_some_and(|(last, _)| *last == column)
            };
            let broken = self.about[column]
                .iter()
                .filter(complete)
                .any(|&rule| self.rules[rule].forbids(|column| row[column]));
            if broken {
                row.pop();
            } else {
                next.push(0);
            }
        }
        Ok(row)
    }
}

/// The codes that may occur, by falling share.
fn by_share(shares: &[f64]) -> Vec<u16> {
    let mut codes: Vec<usize> = (0..shares.len()).filter(|&code| shares[code] > 0.0).collect();
    codes.sort_by(|&x, &y| shares[y].total_cmp(&shares[x]).then(x.cmp(&y)));
    codes.into_iter().map(|code| code as u16).collect()
}

#[cfg(test)]
mod tests;
