//! The models that options stand for.

use super::columns::Columns;
use super::find::Models;
use super::hierarchies::Hierarchies;
use super::options::{self, Diversity, Promise, Source, Subset};
use super::order;
use crate::Failure;
use crate::input::whole;
use demure_anonymize::exact::Fraction;
use demure_anonymize::model::{
    ArbitrarySubset, BetaLikeness, DeltaDisclosure, Distance, DistinctDiversity, EntropyDiversity,
    KAnonymity, KMap, LogBase, Model, NaturalCloseness, RecursiveDiversity, SharedSubset,
    TCloseness,
};
use demure_anonymize::publish::verdict::{Note, Worse};
use demure_anonymize::table::Column;

/// Models, and how to read each.
pub(super) struct Promised {
    /// In the order of the options, sensitive column by sensitive column.
    pub(super) models: Models,
    /// As many.
    pub(super) notes: Vec<Note>,
}

impl Promised {
    fn add(&mut self, model: impl Model + 'static, worse: Worse, distance: bool) {
        self.models.push(Box::new(model));
        self.notes.push(Note { worse, distance });
    }
}

/// All that was asked for.
pub(super) fn promised(
    promise: &Promise,
    source: &Source,
    columns: &Columns<'_>,
) -> Result<Promised, Failure> {
    let mut all = Promised { models: Vec::new(), notes: Vec::new() };
    if let Some(k) = promise.k {
        if u64::from(k) > columns.table.rows as u64 {
            return Err(Failure::usage(format!(
                "k must be at most the number of rows, {}",
                columns.table.rows
            )));
        }
        all.add(KAnonymity::new(k.into())?, Worse::Small, false);
    }
    if let Some(k) = promise.k_map {
        if source.population.is_none() {
            return Err(Failure::usage(
                "--k-map is about a population: give its table with --population",
            ));
        }
        // The population's count comes after the sensitive columns.
        all.add(KMap::new(k.into(), columns.sensitive.len())?, Worse::Small, false);
    }
    let needs: [(&str, bool); 4] = [
        ("--l", promise.l.is_some()),
        ("--t", promise.t.is_some()),
        ("--disclosure", promise.disclosure.is_some()),
        ("--likeness", promise.likeness.is_some()),
    ];
    let asked = needs.iter().find(|(_, asked)| *asked);
    if let (Some((option, _)), true) = (asked, columns.sensitive.is_empty()) {
        return Err(Failure::usage(format!(
            "{option} is about sensitive columns: name them with --sensitive"
        )));
    }
    if promise.c.is_some() && (promise.l.is_none() || promise.diversity != Diversity::Recursive) {
        return Err(Failure::usage("--c belongs to --l with --diversity recursive"));
    }
    for (at, column) in columns.sensitive().into_iter().enumerate() {
        diversity(promise, at, &mut all)?;
        closeness(promise, source, columns, column, at, &mut all)?;
        if let Some(text) = &promise.disclosure {
            let delta = fraction("--disclosure", text)?;
            all.add(DeltaDisclosure::new(delta, LogBase::Nats, at)?, Worse::Large, false);
        }
        if let Some(text) = &promise.likeness {
            all.add(
                BetaLikeness::new(fraction("--likeness", text)?, promise.enhanced, at)?,
                Worse::Large,
                false,
            );
        }
    }
    if all.models.is_empty() {
        return Err(Failure::usage(
            "nothing is promised: give at least one of --k, --k-map, --l, --t, --disclosure, --likeness",
        ));
    }
    Ok(all)
}

fn diversity(promise: &Promise, at: usize, all: &mut Promised) -> Result<(), Failure> {
    let Some(text) = &promise.l else { return Ok(()) };
    let count = || whole(text).map_err(|why| Failure::usage(format!("--l {why}")));
    match promise.diversity {
        Diversity::Distinct => all.add(DistinctDiversity::new(count()?, at)?, Worse::Small, false),
        Diversity::Entropy => {
            all.add(EntropyDiversity::new(fraction("--l", text)?, at)?, Worse::Small, false);
        }
        Diversity::Recursive => {
            let c = promise
                .c
                .as_deref()
                .ok_or_else(|| Failure::usage("--diversity recursive needs --c, e.g. --c 3"))?;
            let l = usize::try_from(count()?).unwrap_or(usize::MAX);
            all.add(RecursiveDiversity::new(fraction("--c", c)?, l, at)?, Worse::Large, false);
        }
    }
    Ok(())
}

fn closeness(
    promise: &Promise,
    source: &Source,
    columns: &Columns<'_>,
    column: &Column,
    at: usize,
    all: &mut Promised,
) -> Result<(), Failure> {
    let Some(text) = &promise.t else { return Ok(()) };
    let t = fraction("--t", text)?;
    let distance = distance(promise, source, columns, column)?;
    let Some(n) = promise.n else {
        all.add(TCloseness::new(t, distance, at)?, Worse::Large, true);
        return Ok(());
    };
    if u64::from(n) > columns.table.rows as u64 {
        let rows = columns.table.rows;
        return Err(Failure::usage(format!("n must be at most the number of rows, {rows}")));
    }
    let variational = matches!(distance, Distance::Variational);
    if promise.subset != Subset::Natural && !variational {
        return Err(Failure::usage(
            "--subset any and --subset shared are decided for --distance variational only",
        ));
    }
    match promise.subset {
        Subset::Natural => {
            all.add(NaturalCloseness::new(n.into(), t, distance, at)?, Worse::Large, true);
        }
        Subset::Any => {
            all.add(ArbitrarySubset::new(n.into(), t, at)?, Worse::Large, true);
        }
        Subset::Shared => all.add(SharedSubset::new(n.into(), t, at)?, Worse::Large, true),
    }
    Ok(())
}

fn distance(
    promise: &Promise,
    source: &Source,
    columns: &Columns<'_>,
    column: &Column,
) -> Result<Distance, Failure> {
    Ok(match promise.distance {
        options::Distance::Variational => Distance::Variational,
        options::Distance::L2 => Distance::L2,
        options::Distance::Kl => Distance::KullbackLeibler,
        options::Distance::Ordered => Distance::ordered(&order::of(column, &source.order)?)?,
        options::Distance::Hierarchical => {
            let given = Hierarchies::new(&source.hierarchy, columns.table)?.given(column)?;
            let hierarchy = given.ok_or_else(|| {
                Failure::usage(format!(
                    "--distance hierarchical needs a hierarchy of `{0}`: --hierarchy {0}=FILE",
                    column.name
                ))
            })?;
            Distance::hierarchical(&hierarchy)?
        }
    })
}

/// A number as it is written: 0.2 is one fifth.
fn fraction(option: &str, text: &str) -> Result<Fraction, Failure> {
    Fraction::parse(text).map_err(|_| {
        Failure::usage(format!("{option} must be a number of at least 0, e.g. 0.2, 1/5 or 20%"))
    })
}
