//! What every class must satisfy, and the models that stand for it.

use super::{Choices, Columns, Hierarchies, Mistake, Source, order};
use crate::error::Result;
use crate::exact::Fraction;
use crate::model::{
    ArbitrarySubset, BetaLikeness, DeltaDisclosure, Distance, DistinctDiversity, EntropyDiversity,
    KAnonymity, KMap, LogBase, Model, NaturalCloseness, RecursiveDiversity, SharedSubset,
    TCloseness,
};
use crate::publish::verdict::{Note, Worse};
use crate::table::Column;

/// What is promised of every class, and of each sensitive column in it.
#[derive(Clone, Debug, Default)]
pub struct Promise {
    /// k-anonymity: at least so many rows.
    pub k: Option<u32>,
    /// k-map: looks like at least so many rows of the population.
    pub k_map: Option<u32>,
    /// l-diversity, as it is written: a whole number, or for [`Diversity::Entropy`] a fraction.
    pub l: Option<String>,
    /// How values are counted for l-diversity.
    pub diversity: Diversity,
    /// The c of recursive (c,l)-diversity.
    pub c: Option<Fraction>,
    /// t-closeness: the farthest from the table's distribution.
    pub t: Option<Fraction>,
    /// How far two distributions are apart.
    pub distance: DistanceKind,
    /// (n,t)-closeness: t-close to some set of at least n rows.
    pub n: Option<u32>,
    /// Which sets count for that.
    pub subset: Subset,
    /// δ-disclosure, in natural logarithms.
    pub disclosure: Option<Fraction>,
    /// β-likeness.
    pub likeness: Option<Fraction>,
    /// Enhanced β-likeness.
    pub enhanced: bool,
}

/// How values are counted for l-diversity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Diversity {
    /// How many there are.
    #[default]
    Distinct,
    /// The exponential of their entropy.
    Entropy,
    /// The most frequent is rarer than c times the l-th and all after it.
    Recursive,
}

impl Diversity {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("distinct", "How many there are", Self::Distinct),
        ("entropy", "The exponential of their entropy", Self::Entropy),
        (
            "recursive",
            "The most frequent is rarer than c times the l-th and all after it",
            Self::Recursive,
        ),
    ];
}

/// How far two distributions are apart, before columns are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DistanceKind {
    /// Half the sum of the differences.
    #[default]
    Variational,
    /// The Euclidean distance.
    L2,
    /// The Kullback–Leibler divergence, in bits.
    Kl,
    /// The earth mover's, along an order of the values.
    Ordered,
    /// The earth mover's, in the column's hierarchy.
    Hierarchical,
}

impl DistanceKind {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("variational", "Half the sum of the differences", Self::Variational),
        ("l2", "The Euclidean distance", Self::L2),
        ("kl", "The Kullback–Leibler divergence, in bits", Self::Kl),
        ("ordered", "The earth mover's, along an order of the values", Self::Ordered),
        ("hierarchical", "The earth mover's, in the column's hierarchy", Self::Hierarchical),
    ];
}

/// Which sets of rows a class may hide in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Subset {
    /// Classes of coarser releases that contain the class.
    #[default]
    Natural,
    /// Any rows, chosen anew for every class.
    Any,
    /// Any rows, the same for every class.
    Shared,
}

impl Subset {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("natural", "Classes of coarser releases that contain the class", Self::Natural),
        ("any", "Any rows, chosen anew for every class", Self::Any),
        ("shared", "Any rows, the same for every class", Self::Shared),
    ];
}

/// Models, and how to read each.
#[derive(Default)]
pub struct Promised {
    /// In the order of the promise, sensitive column by sensitive column.
    pub models: Vec<Box<dyn Model>>,
    /// As many.
    pub notes: Vec<Note>,
}

impl Promised {
    fn add(&mut self, model: impl Model + 'static, worse: Worse, distance: bool) {
        self.models.push(Box::new(model));
        self.notes.push(Note { worse, distance });
    }
}

impl Promise {
    /// The models of everything that is promised.
    pub fn models(&self, source: &Source, columns: &Columns<'_>) -> Result<Promised> {
        let mut all = Promised::default();
        if let Some(k) = self.k {
            within_rows("k", k, columns)?;
            all.add(KAnonymity::new(k.into())?, Worse::Small, false);
        }
        if let Some(k) = self.k_map {
            if source.population.is_none() {
                return Err(Mistake::NoPopulation.into());
            }
            // The population's count comes after the sensitive columns.
            all.add(KMap::new(k.into(), columns.sensitive.len())?, Worse::Small, false);
        }
        let needs: [(&str, bool); 4] = [
            ("--l", self.l.is_some()),
            ("--t", self.t.is_some()),
            ("--disclosure", self.disclosure.is_some()),
            ("--likeness", self.likeness.is_some()),
        ];
        let asked = needs.iter().find(|(_, asked)| *asked);
        if let (Some((option, _)), true) = (asked, columns.sensitive.is_empty()) {
            return Err(Mistake::NoSensitive { option }.into());
        }
        if self.c.is_some() && (self.l.is_none() || self.diversity != Diversity::Recursive) {
            return Err(Mistake::IdleC.into());
        }
        for (at, column) in columns.sensitive().into_iter().enumerate() {
            self.add_diversity(at, &mut all)?;
            self.add_closeness(source, columns, column, at, &mut all)?;
            if let Some(delta) = self.disclosure {
                all.add(DeltaDisclosure::new(delta, LogBase::Nats, at)?, Worse::Large, false);
            }
            if let Some(beta) = self.likeness {
                all.add(BetaLikeness::new(beta, self.enhanced, at)?, Worse::Large, false);
            }
        }
        if all.models.is_empty() {
            return Err(Mistake::NoPromise.into());
        }
        Ok(all)
    }

    fn add_diversity(&self, at: usize, all: &mut Promised) -> Result<()> {
        let Some(text) = &self.l else { return Ok(()) };
        let count = || -> Result<u64> {
            let digits: String = text.trim().chars().filter(|c| !"_,".contains(*c)).collect();
            let wrong = Mistake::WrongL { must: "a whole number of at least 0" };
            Ok(digits.parse().map_err(|_| wrong)?)
        };
        match self.diversity {
            Diversity::Distinct => {
                all.add(DistinctDiversity::new(count()?, at)?, Worse::Small, false);
            }
            Diversity::Entropy => {
                let must = "a number of at least 0, e.g. 0.2, 1/5 or 20%";
                let l = Fraction::parse(text).map_err(|_| Mistake::WrongL { must })?;
                all.add(EntropyDiversity::new(l, at)?, Worse::Small, false);
            }
            Diversity::Recursive => {
                let c = self.c.ok_or(Mistake::NoC)?;
                let l = usize::try_from(count()?).unwrap_or(usize::MAX);
                all.add(RecursiveDiversity::new(c, l, at)?, Worse::Large, false);
            }
        }
        Ok(())
    }

    fn add_closeness(
        &self,
        source: &Source,
        columns: &Columns<'_>,
        column: &Column,
        at: usize,
        all: &mut Promised,
    ) -> Result<()> {
        let Some(t) = self.t else { return Ok(()) };
        let distance = self.distance(source, columns, column)?;
        let Some(n) = self.n else {
            all.add(TCloseness::new(t, distance, at)?, Worse::Large, true);
            return Ok(());
        };
        within_rows("n", n, columns)?;
        if self.subset != Subset::Natural && !matches!(distance, Distance::Variational) {
            return Err(Mistake::VariationalOnly.into());
        }
        match self.subset {
            Subset::Natural => {
                all.add(NaturalCloseness::new(n.into(), t, distance, at)?, Worse::Large, true);
            }
            Subset::Any => all.add(ArbitrarySubset::new(n.into(), t, at)?, Worse::Large, true),
            Subset::Shared => all.add(SharedSubset::new(n.into(), t, at)?, Worse::Large, true),
        }
        Ok(())
    }

    fn distance(
        &self,
        source: &Source,
        columns: &Columns<'_>,
        column: &Column,
    ) -> Result<Distance> {
        Ok(match self.distance {
            DistanceKind::Variational => Distance::Variational,
            DistanceKind::L2 => Distance::L2,
            DistanceKind::Kl => Distance::KullbackLeibler,
            DistanceKind::Ordered => Distance::ordered(&order::of(column, &source.orders)?)?,
            DistanceKind::Hierarchical => {
                let given = Hierarchies::new(&source.hierarchies, columns.table)?.given(column)?;
                let missing = || Mistake::NoHierarchy { column: column.name.clone() };
                Distance::hierarchical(&given.ok_or_else(missing)?)?
            }
        })
    }
}

fn within_rows(parameter: &'static str, number: u32, columns: &Columns<'_>) -> Result<()> {
    let rows = columns.table.rows;
    match u64::from(number) > rows as u64 {
        true => Err(Mistake::MoreThanRows { parameter, rows }.into()),
        false => Ok(()),
    }
}
