//! Mondrian and local recoding against what they promise, on random tables; and
//! the measures of utility and risk against sums over single rows.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use demure_anonymize::check::{Claim, check, check_within};
use demure_anonymize::class::{Class, Histogram};
use demure_anonymize::exact::Fraction;
use demure_anonymize::hierarchy::{Hierarchy, Level};
use demure_anonymize::local::{Start, local_recoding};
use demure_anonymize::model::{
    Distance, DistinctDiversity, KAnonymity, Model, NaturalCloseness, TCloseness,
};
use demure_anonymize::mondrian::mondrian;
use demure_anonymize::partition::{Options, Partition, Progress};
use demure_anonymize::recoding::{Attribute, Cell, Recoding, SUPPRESSED, Scale};
use demure_anonymize::risk::{Threshold, before, population_sizes, risk};
use demure_anonymize::table::{Column, Table};
use demure_anonymize::utility::{Queries, loss, query_error, utility};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// One thread, nothing suppressed.
const ONE: Options<'_> =
    Options { threads: 1, suppress: 0, time: None, cancel: None, progress: None };

fn with(threads: usize) -> Options<'static> {
    Options { threads, ..ONE }
}

/// A generator that is good enough for test tables.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Columns `age` (numbers), `town` (12 leaves), `job` (3 leaves), `illness`.
fn random_table(seed: u64, rows: usize) -> Table {
    let mut dice = Dice(seed);
    let mut columns: Vec<Column> = ["age", "town", "job", "illness"]
        .map(|name| Column { name: name.to_owned(), ..Column::default() })
        .into();
    for _ in 0..rows {
        let skewed = dice.below(12).min(dice.below(12));
        let row = [dice.below(40) + 20, skewed, dice.below(3), dice.below(4)];
        for (column, value) in columns.iter_mut().zip(row) {
            let text = value.to_string();
            let at = column.values.iter().position(|v| *v == text).unwrap_or_else(|| {
                column.values.push(text);
                column.values.len() - 1
            });
            column.codes.push(at as u32);
        }
    }
    Table { columns, rows }
}

/// The value, then the value divided by each step, then `*`.
fn by_steps(column: &Column, leaves: u64, steps: &[u64]) -> Hierarchy {
    let mut levels = Vec::new();
    for step in [1].iter().chain(steps) {
        let group =
            column.values.iter().map(|v| (v.parse::<u64>().unwrap() / step) as u32).collect();
        let groups = leaves.div_ceil(*step);
        let under = |g: u64| (leaves - g * step).min(*step);
        levels.push(Level {
            labels: (0..groups).map(|g| format!("{step}x{g}")).collect(),
            group,
            leaves: (0..groups).map(under).collect(),
        });
    }
    let group = vec![0; column.values.len()];
    levels.push(Level { labels: vec!["*".to_owned()], group, leaves: vec![leaves] });
    Hierarchy { levels }
}

fn hierarchies(table: &Table) -> [Hierarchy; 3] {
    [
        by_steps(&table.columns[0], 60, &[5, 20]),
        by_steps(&table.columns[1], 12, &[2, 6]),
        by_steps(&table.columns[2], 3, &[]),
    ]
}

fn attributes<'a>(
    table: &'a Table,
    trees: &'a [Hierarchy; 3],
    numeric: bool,
) -> Vec<Attribute<'a>> {
    let tree = |at: usize| Attribute::hierarchy(&table.columns[at], &trees[at]).unwrap();
    let age = if numeric { Attribute::numeric(&table.columns[0]).unwrap() } else { tree(0) };
    vec![age, tree(1), tree(2)]
}

fn fraction(numerator: u128, denominator: u128) -> Fraction {
    Fraction::new(numerator, denominator).unwrap()
}

fn model_lists() -> Vec<Vec<Box<dyn Model>>> {
    let k = || Box::new(KAnonymity::new(3).unwrap()) as Box<dyn Model>;
    let l = Box::new(DistinctDiversity::new(3, 0).unwrap());
    let t = Box::new(TCloseness::new(fraction(3, 10), Distance::Variational, 0).unwrap());
    let n = Box::new(NaturalCloseness::new(20, fraction(1, 4), Distance::Variational, 0).unwrap());
    vec![vec![k()], vec![k(), l], vec![k(), t], vec![k(), n]]
}

fn class_of_rows(rows: &[usize], sensitive: &Column) -> Class {
    let mut counts = vec![0; sensitive.values.len()];
    rows.iter().for_each(|&r| counts[sensitive.codes[r] as usize] += 1);
    Class { size: rows.len() as u64, sensitive: vec![Histogram { counts }] }
}

fn above(partition: &Partition, class: usize, sensitive: &Column) -> Vec<Class> {
    partition.ancestors(class).map(|node| partition.class(node, &[sensitive])).collect()
}

fn holds(models: &[Box<dyn Model>], class: &Class, above: &[Class], table: &Class) -> bool {
    models.iter().all(|m| m.holds_among(class, &mut above.iter(), table))
}

/// Every row in a class whose cells cover it, every class satisfying the models, no
/// two classes alike in print; a checker that sees only the print agrees.
fn verify(
    table: &Table,
    attributes: &[Attribute<'_>],
    models: &[Box<dyn Model>],
    partition: &Partition,
) {
    let sensitive = &table.columns[3];
    let release = &partition.recoding;
    let whole = class_of_rows(&(0..table.rows).collect::<Vec<_>>(), sensitive);
    for class in 0..release.sizes.len() {
        let rows: Vec<usize> =
            (0..table.rows).filter(|&r| release.class_of[r] as usize == class).collect();
        assert_eq!(rows.len() as u64, release.sizes[class]);
        for (attribute, &cell) in attributes.iter().zip(release.cells_of(class)) {
            assert!(rows.iter().all(|&r| attribute.covers(cell, attribute.column.codes[r])));
        }
        let above = above(partition, class, sensitive);
        assert!(above.last().is_none_or(|root| *root == whole));
        assert!(above.windows(2).all(|pair| pair[0].size < pair[1].size));
        assert!(holds(models, &class_of_rows(&rows, sensitive), &above, &whole));
    }
    let published = release.publish(table, attributes);
    let quasi = ["age", "town", "job"];
    let claim = Claim {
        published: &published,
        original: Some(table),
        quasi: &quasi,
        sensitive: &["illness"],
        population: None,
    };
    let natural = |row: usize| above(partition, release.class_of[row] as usize, sensitive);
    let report = check_within(&claim, models, &natural).unwrap();
    assert!(report.holds());
    let stars = report.suppressed; // a class of `*` only reads as suppressed
    let starred = |class: &usize| {
        let cells = release.cells_of(*class).iter().zip(attributes);
        cells.into_iter().all(|(cell, attribute)| attribute.label(*cell) == "*")
    };
    let starred = (0..release.sizes.len()).filter(starred).count();
    assert_eq!(report.classes.len() + starred, release.sizes.len());
    assert_eq!(report.classes.iter().map(|c| c.class.size).sum::<u64>() + stars, table.rows as u64);
}

#[test]
fn mondrian_keeps_its_promises_on_random_tables() {
    for seed in 0..40 {
        let table = random_table(seed, 20 + 4 * seed as usize);
        let trees = hierarchies(&table);
        for numeric in [false, true] {
            let attributes = attributes(&table, &trees, numeric);
            for models in model_lists() {
                let sensitive = &table.columns[3];
                let Some(partition) = mondrian(&attributes, &[sensitive], &models, &ONE).unwrap()
                else {
                    let whole = class_of_rows(&(0..table.rows).collect::<Vec<_>>(), sensitive);
                    assert!(!holds(&models, &whole, &[], &whole));
                    continue;
                };
                assert_eq!(partition.recoding.suppressed(), 0);
                verify(&table, &attributes, &models, &partition);
                strict_and_maximal(&table, &attributes, &models, &partition);
            }
        }
    }
}

/// Rows alike are in one class; and no class can be cut by the cuts Mondrian has.
fn strict_and_maximal(
    table: &Table,
    attributes: &[Attribute<'_>],
    models: &[Box<dyn Model>],
    partition: &Partition,
) {
    let sensitive = &table.columns[3];
    let whole = class_of_rows(&(0..table.rows).collect::<Vec<_>>(), sensitive);
    let release = &partition.recoding;
    let alike =
        |a: usize, b: usize| attributes.iter().all(|x| x.column.codes[a] == x.column.codes[b]);
    for a in 0..table.rows {
        for b in 0..a {
            assert!(!alike(a, b) || release.class_of[a] == release.class_of[b]);
        }
    }
    for class in 0..release.sizes.len() {
        let rows: Vec<usize> =
            (0..table.rows).filter(|&r| release.class_of[r] as usize == class).collect();
        let mut above = above(partition, class, sensitive);
        above.push(class_of_rows(&rows, sensitive));
        for (attribute, &cell) in attributes.iter().zip(release.cells_of(class)) {
            for parts in cuts(attribute, cell, &rows) {
                let passes = parts
                    .iter()
                    .all(|part| holds(models, &class_of_rows(part, sensitive), &above, &whole));
                assert!(parts.len() < 2 || !passes);
            }
        }
    }
}

fn cuts(attribute: &Attribute<'_>, cell: Cell, rows: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let codes = &attribute.column.codes;
    let parts = |key: &dyn Fn(usize) -> u32| {
        let mut keys: Vec<u32> = rows.iter().map(|&r| key(r)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.iter()
            .map(|k| rows.iter().copied().filter(|&r| key(r) == *k).collect())
            .collect::<Vec<_>>()
    };
    match (&attribute.scale, cell) {
        (Scale::Tree(tree), Cell::Group { level, .. }) if level > 0 => {
            vec![parts(&|r| tree.levels[level as usize - 1].group[codes[r] as usize])]
        }
        (Scale::Ordered { rank, .. }, _) => {
            let of = |r: usize| rank[codes[r] as usize];
            let mut ranks: Vec<u32> = rows.iter().map(|&r| of(r)).collect();
            ranks.sort_unstable();
            let median = ranks[ranks.len() / 2];
            vec![parts(&|r| u32::from(of(r) < median)), parts(&|r| u32::from(of(r) <= median))]
        }
        _ => Vec::new(),
    }
}

#[test]
fn local_recoding_keeps_its_promises_and_never_loses_to_its_start() {
    for seed in 0..40 {
        let table = random_table(seed, 20 + 4 * seed as usize);
        let trees = hierarchies(&table);
        let levels = [[1, 1, 0], [0, 2, 1], [0, 0, 0]];
        let starts = [Start::Whole, Start::Peeled]
            .into_iter()
            .chain(levels.iter().map(|l| Start::Levels(l)));
        for start in starts {
            let attributes = attributes(&table, &trees, start == Start::Whole);
            for models in model_lists() {
                let sensitive = [&table.columns[3]];
                let Some(partition) =
                    local_recoding(&attributes, &sensitive, &models, start, &ONE).unwrap()
                else {
                    continue;
                };
                verify(&table, &attributes, &models, &partition);
                let whole = class_of_rows(&(0..table.rows).collect::<Vec<_>>(), sensitive[0]);
                if let Start::Levels(levels) = start {
                    let full = Recoding::full_domain(&attributes, levels).unwrap();
                    let classes = full.classes(&sensitive);
                    let full = full.suppress(|c| !holds(&models, &classes[c], &[], &whole));
                    if full.suppressed() == 0 {
                        let better = loss(&attributes, &partition.recoding);
                        assert!(better <= loss(&attributes, &full) + 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_suppressed_is_within_the_limit_and_the_rest_keeps_the_promises() {
    let mut used = 0;
    for seed in 0..30 {
        let table = random_table(seed, 40 + 8 * seed as usize);
        let trees = hierarchies(&table);
        for (numeric, suppress) in [(false, 6), (true, 6), (false, 30), (true, 1)] {
            let attributes = attributes(&table, &trees, numeric);
            let sensitive = [&table.columns[3]];
            for models in model_lists() {
                let options = Options { suppress, ..ONE };
                let start = if numeric { Start::Whole } else { Start::Peeled };
                let both = [
                    mondrian(&attributes, &sensitive, &models, &options).unwrap(),
                    local_recoding(&attributes, &sensitive, &models, start, &options).unwrap(),
                ];
                for partition in both.into_iter().flatten() {
                    let release = &partition.recoding;
                    assert!(release.suppressed() <= suppress);
                    let lost = release.class_of.iter().filter(|&&c| c == SUPPRESSED).count();
                    assert_eq!(release.suppressed(), lost as u64);
                    used += usize::from(lost > 0);
                    verify(&table, &attributes, &models, &partition);
                }
            }
        }
    }
    assert!(used > 100, "{used}");
}

#[test] // at once, and after every number of parts
fn stopped_it_leaves_a_release_that_keeps_the_promises() {
    let table = random_table(3, 400);
    let trees = hierarchies(&table);
    for numeric in [false, true] {
        let attributes = attributes(&table, &trees, numeric);
        let sensitive = [&table.columns[3]];
        let start = if numeric { Start::Whole } else { Start::Peeled };
        for models in model_lists().iter().take(3) {
            let mut classes = Vec::new();
            for after in 0..12 {
                let cancel = AtomicBool::new(after == 0);
                let count = |progress: Progress| {
                    assert!(progress.settled <= progress.rows);
                    cancel.fetch_or(progress.classes >= after, Relaxed);
                };
                let options = Options { cancel: Some(&cancel), progress: Some(&count), ..ONE };
                let local = local_recoding(&attributes, &sensitive, models, start, &options);
                cancel.store(after == 0, Relaxed);
                let both = [mondrian(&attributes, &sensitive, models, &options), local];
                for partition in both.into_iter().filter_map(Result::unwrap) {
                    assert!(partition.stopped || after > 2);
                    verify(&table, &attributes, models, &partition);
                    classes.push(partition.recoding.sizes.len());
                }
            }
            assert!(classes.is_empty() || classes[0] == 1, "{classes:?}");
        }
    }
}

#[test]
fn threads_leave_no_trace() {
    let table = random_table(9, 9000);
    let trees = hierarchies(&table);
    let attributes = attributes(&table, &trees, true);
    let models = &model_lists()[1];
    let sensitive = [&table.columns[3]];
    let run = |threads| mondrian(&attributes, &sensitive, models, &with(threads)).unwrap().unwrap();
    assert_eq!(run(1), run(3));
    let run = |threads| {
        local_recoding(&attributes, &sensitive, models, Start::Whole, &with(threads))
            .unwrap()
            .unwrap()
    };
    assert_eq!(run(1), run(4));
    let run = |threads| {
        let options = Options { suppress: 90, ..with(threads) };
        mondrian(&attributes, &sensitive, models, &options).unwrap().unwrap()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn utility_agrees_with_sums_over_single_rows() {
    for seed in 0..20 {
        let table = random_table(seed, 60);
        let trees = hierarchies(&table);
        let attributes = attributes(&table, &trees, false);
        let levels = [seed as usize % 4, seed as usize % 3, seed as usize % 2];
        let full = Recoding::full_domain(&attributes, &levels).unwrap();
        let sizes = full.sizes.clone();
        let release = full.suppress(|class| sizes[class] < 2);
        let measured = utility(&attributes, &release);
        let rows = table.rows as f64;
        let (mut product, mut coarse, mut bits) = (1.0, 0.0, 0.0);
        for ((attribute, tree), &level) in attributes.iter().zip(&trees).zip(&levels) {
            let (codes, size) = (&attribute.column.codes, tree.leaf_count() as f64);
            let mut shares = 0.0;
            for row in 0..table.rows {
                let hidden = release.class_of[row] == u32::MAX;
                let at = if hidden { tree.height() } else { level };
                let group = |r: usize| tree.levels[at].group[codes[r] as usize];
                shares += tree.levels[at].leaves[group(row) as usize] as f64 / size;
                coarse += at as f64 / tree.height() as f64;
                let same = (0..table.rows).filter(|&r| codes[r] == codes[row]).count() as f64;
                let under = (0..table.rows).filter(|&r| group(r) == group(row)).count() as f64;
                bits -= (same / under).log2();
            }
            product *= (1.0 + (shares - rows / size) / (rows - rows / size)).powf(1.0 / 3.0);
        }
        let exact = loss(&attributes, &release);
        assert!((exact - (product - 1.0)).abs() < 1e-12);
        assert!(measured.loss <= exact + 1e-15 && exact - measured.loss < 2e-10);
        assert!((measured.precision - (1.0 - coarse / (3.0 * rows))).abs() < 1e-12);
        assert!((measured.entropy - bits).abs() < 1e-9);
        let square: u128 = (0..table.rows)
            .map(|r| match release.class_of[r] {
                u32::MAX => table.rows as u128,
                c => u128::from(release.sizes[c as usize]),
            })
            .sum();
        assert_eq!(measured.discernibility, square);
        let groups = measured.classes + u64::from(measured.suppressed > 0);
        assert!((measured.average_class_size - rows / groups as f64).abs() < 1e-12);
    }
}

#[test]
fn nothing_generalized_loses_nothing_and_everything_suppressed_loses_all() {
    let table = random_table(3, 80);
    let trees = hierarchies(&table);
    let attributes = attributes(&table, &trees, false);
    let exact = Recoding::full_domain(&attributes, &[0, 0, 0]).unwrap();
    let queries = Queries { count: 50, attributes: 2, keep: 0.3, seed: 7 };
    let best = utility(&attributes, &exact);
    assert_eq!((best.loss, best.precision), (0.0, 1.0));
    assert!(best.entropy < 1e-9);
    assert!(query_error(&attributes, &exact, &queries).unwrap().worst < 1e-12);
    let nothing = exact.suppress(|_| true);
    let worst = utility(&attributes, &nothing);
    assert!((worst.loss - 1.0).abs() < 1e-12 && worst.precision.abs() < 1e-12);
    assert!((worst.entropy_share - 1.0).abs() < 1e-12);
    assert_eq!(worst.discernibility, 80 * 80);
    let error = query_error(&attributes, &nothing, &queries).unwrap();
    assert!(error.mean > 0.0);
    assert_eq!(error, query_error(&attributes, &nothing, &queries).unwrap());
    assert!(query_error(&attributes, &nothing, &Queries { keep: 0.0, ..queries }).is_err());
    assert!(query_error(&attributes, &nothing, &Queries { count: 0, ..queries }).is_err());
}

#[test]
fn risk_before_and_after_and_against_a_population() {
    let population = random_table(5, 300);
    let mut table = population.clone();
    table.rows = 100;
    table.columns.iter_mut().for_each(|c| c.codes.truncate(100));
    let trees = hierarchies(&table);
    let attributes = attributes(&table, &trees, false);
    let release = Recoding::full_domain(&attributes, &[2, 2, 0]).unwrap();
    let around = population_sizes(&attributes, &release, &population).unwrap();
    for (class, &around) in around.iter().enumerate() {
        let covers = |r: usize| {
            let cells = attributes.iter().zip(release.cells_of(class)).zip(&population.columns);
            cells.into_iter().all(|((a, &cell), c)| a.covers(cell, c.codes[r]))
        };
        assert_eq!(around, (0..300).filter(|&r| covers(r)).count() as u64);
    }
    let fifth = Threshold::new(1, 5).unwrap();
    let after = risk(&release, Some(&around), fifth).unwrap();
    assert!(after.journalist.highest() <= after.prosecutor.highest());
    assert!(after.marketer <= after.prosecutor.average);
    let raw: Vec<&Column> = table.columns[..3].iter().collect();
    let raw = before(&raw, fifth).unwrap();
    assert!(raw.prosecutor.average > after.prosecutor.average && raw.unique >= after.unique);
}

#[test]
fn impossible_input_is_refused() {
    let table = random_table(1, 30);
    let trees = hierarchies(&table);
    let good = attributes(&table, &trees, false);
    let models = &model_lists()[0];
    assert!(mondrian(&[], &[], models, &ONE).is_err());
    let short = Column { codes: vec![0], ..table.columns[3].clone() };
    assert!(mondrian(&good, &[&short], models, &ONE).is_err());
    assert!(mondrian(&good, &[], &model_lists()[1], &ONE).is_err());
    let large: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(31).unwrap())];
    assert!(mondrian(&good, &[], &large, &ONE).unwrap().is_none());
    assert!(local_recoding(&good, &[], models, Start::Levels(&[0, 0]), &ONE).is_err());
    assert!(local_recoding(&good, &[], models, Start::Levels(&[0, 0, 9]), &ONE).is_err());
    assert!(Attribute::hierarchy(&table.columns[0], &trees[1]).is_err());
    let texts = Column { name: "x".into(), values: vec!["secret".into()], codes: vec![0] };
    let message = Attribute::numeric(&texts).unwrap_err().to_string();
    assert!(!message.contains("secret"));
    assert!(Attribute::ordered(&texts, &["a", "a"]).is_err());
    let message = Attribute::ordered(&texts, &["a"]).unwrap_err().to_string();
    assert!(!message.contains("secret") && message.contains("1 rows"));
    let quasi = ["age"];
    let claim = Claim {
        published: &table,
        original: None,
        quasi: &quasi,
        sensitive: &[],
        population: None,
    };
    assert!(check(&claim, &[]).is_err());
}

#[test] // every ancestor in the lattice and in the tree, by brute force
fn the_nearest_natural_superset_is_found() {
    use demure_anonymize::superset::{in_lattice, in_partition};
    let mut served = 0;
    for seed in 0..12 {
        let table = random_table(seed, 60 + 5 * seed as usize);
        let trees = hierarchies(&table);
        let attributes = attributes(&table, &trees, false);
        let sensitive = &table.columns[3];
        let whole = class_of_rows(&(0..table.rows).collect::<Vec<_>>(), sensitive);
        let t = Fraction::new(1, 4).unwrap();
        let model = NaturalCloseness::new(20, t, Distance::Variational, 0).unwrap();
        let levels = [seed as usize % 3, 1, seed as usize % 2];
        let full = Recoding::full_domain(&attributes, &levels).unwrap();
        let sizes = full.sizes.clone();
        let release = full.suppress(|class| sizes[class] < 3);
        let found = in_lattice(&attributes, &[sensitive], &levels, &release, &model).unwrap();
        for (class, found) in found.iter().enumerate() {
            let row = release.class_of.iter().position(|&c| c as usize == class).unwrap();
            let rows_at = |levels: &[usize]| -> Vec<usize> {
                let full = Recoding::full_domain(&attributes, levels).unwrap();
                (0..table.rows).filter(|&r| full.class_of[r] == full.class_of[row]).collect()
            };
            let own = class_of_rows(&rows_at(&levels), sensitive);
            let mut best: Option<f64> = None;
            for a in levels[0]..=trees[0].height() {
                for b in levels[1]..=trees[1].height() {
                    for c in levels[2]..=trees[2].height() {
                        let above = class_of_rows(&rows_at(&[a, b, c]), sensitive);
                        let witness = model.witness(&own, &mut [&above].into_iter(), &whole);
                        let near = witness.map(|witness| witness.measure.to_f64());
                        best = best.into_iter().chain(near).min_by(f64::total_cmp);
                    }
                }
            }
            assert_eq!(found.as_ref().map(|found| found.witness.measure.to_f64()), best);
            let Some(found) = found else { continue };
            served += usize::from(!found.levels.is_empty());
            if !found.levels.is_empty() {
                let named = class_of_rows(&rows_at(&found.levels), sensitive);
                assert_eq!(named.sensitive[0].counts, found.witness.counts);
            }
            let verified = model.verify(&own, &found.witness.counts, &whole);
            assert_eq!(verified, Some((true, found.witness.measure)));
        }
        let models: Vec<Box<dyn Model>> = vec![Box::new(model.clone())];
        let partition = mondrian(&attributes, &[sensitive], &models, &ONE).unwrap();
        let Some(partition) = partition else { continue };
        let found = in_partition(&partition, &[sensitive], &model);
        assert_eq!(found.len(), partition.leaf.len());
        for (class, found) in found.iter().enumerate() {
            let found = found.as_ref().unwrap();
            let above = above(&partition, class, sensitive);
            if found.cuts > 0 {
                assert_eq!(above[found.cuts - 1].sensitive[0].counts, found.witness.counts);
            }
            assert!(found.witness.rows() >= 20 && found.witness.measure.to_f64() <= 0.25);
        }
    }
    assert!(served > 20, "{served}");
}
