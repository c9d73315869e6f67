//! Who falls, by which class, and why.

use super::super::render::Findings;
use super::releases::Release;
use demure_attack::link::{Finding, Learnt, Summary, Target};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Report, Table, grouped, printable};
use serde_json::{Value, json};

/// More classes than this are not listed.
const LISTED: usize = 12;

/// What was found.
pub(super) struct Found {
    pub(super) quasi: Vec<String>,
    pub(super) sensitive: String,
    pub(super) values: Vec<String>,
    pub(super) ruled_out: Vec<usize>,
    /// People alone with their quasi-identifiers in the original.
    pub(super) unique_before: u64,
    pub(super) first: Release,
    pub(super) second: Option<Release>,
    pub(super) people: Vec<Target>,
    pub(super) summary: Summary,
}

/// A class by which people fall.
struct Fallen {
    class: usize,
    finding: Finding,
    people: u64,
    why: String,
}

impl Found {
    pub(super) fn rendered(&self, what: Option<String>) -> Findings {
        let people = self.people.len() as u64;
        let lead = what.unwrap_or_else(|| {
            format!(
                "The attacker knows {} of {} people and looks for them in the published table.",
                self.quasi.join(", "),
                grouped(people as f64)
            )
        });
        let fallen = self.fallen();
        let mut tables = vec![self.findings(), self.worst_case()];
        if !fallen.is_empty() {
            tables.push(self.classes(&fallen));
        }
        Findings {
            report: self.report(&fallen),
            document: Document {
                title: "Linkage: people found in an anonymized table".to_owned(),
                lead,
                tables,
                charts: Vec::new(),
                meaning: self.meaning(),
            },
        }
    }

    fn findings(&self) -> Table {
        let people = self.people.len() as f64;
        let mut rows = Vec::new();
        let mut line = |name: &str, count: u64| {
            rows.push(vec![
                name.to_owned(),
                grouped(count as f64),
                percent(count as f64 / people.max(1.0)),
            ]);
        };
        line("alone with their quasi-identifiers in the original", self.unique_before);
        line("unique: one published row fits", self.summary.count(Finding::Unique));
        line(
            "homogeneous: all rows that fit have one value",
            self.summary.count(Finding::Homogeneous),
        );
        if !self.ruled_out.is_empty() {
            line("known: the other values are ruled out", self.summary.count(Finding::Known));
        }
        if self.second.is_some() {
            line(
                "intersected: one value is in both releases",
                self.summary.count(Finding::Intersected),
            );
        }
        line("open: several values are left", self.summary.count(Finding::Open));
        line("not found: no row fits", self.summary.count(Finding::Unmatched));
        line("learnt for certain, of all", self.summary.certain());
        line("guessed right, the likeliest value of each", self.summary.right);
        line("guessed right by the table's commonest value", self.summary.by_chance);
        Table::of_texts(&["", "people", "share"], rows).numbers_from(1).titled(format!(
            "What is learnt of `{}` ({} classes of at least {} rows)",
            self.sensitive,
            grouped(self.first.histograms.len() as f64),
            self.first.k()
        ))
    }

    fn worst_case(&self) -> Table {
        let people = self.people.len() as f64;
        let line = |values: usize| {
            let count = self.summary.at_worst(values);
            let share = percent(count as f64 / people.max(1.0));
            vec![values.to_string(), grouped(count as f64), share]
        };
        let most = self.summary.learnt.iter().map(|l| l.to_rule_out).max().unwrap_or(0).min(5);
        Table::of_texts(&["values", "people", "share"], (0..=most).map(line)).numbers_from(0).titled("Background knowledge, at worst: whoever can rule out so many values learns so many")
    }

    fn classes(&self, fallen: &[Fallen]) -> Table {
        let line = |f: &Fallen| {
            vec![
                self.class_name(f.class),
                self.size(f.class).to_string(),
                f.people.to_string(),
                f.why.clone(),
            ]
        };
        let title = match fallen.len() > LISTED {
            true => {
                format!("The classes by which people fall (the first {LISTED} of {})", fallen.len())
            }
            false => "The classes by which people fall".to_owned(),
        };
        let head = vec!["class", "rows", "people", "why"];
        Table::of_texts(&head, fallen.iter().take(LISTED).map(line)).titled(title)
    }

    fn size(&self, class: usize) -> u64 {
        self.first.histograms[class].iter().sum()
    }

    fn class_name(&self, class: usize) -> String {
        let labels = self.quasi.iter().zip(&self.first.labels[class]);
        let each: Vec<String> = labels.map(|(name, label)| format!("{name} {label}")).collect();
        printable(&each.join(", "))
    }

    /// The classes whose people fall, those with most people first.
    fn fallen(&self) -> Vec<Fallen> {
        let mut all: Vec<Fallen> = Vec::new();
        for (person, learnt) in self.people.iter().zip(&self.summary.learnt) {
            let Some(class) = person.classes.first().copied() else { continue };
            if !learnt.finding.learnt() {
                continue;
            }
            // By two releases, people of one class may fall in several ways.
            let why = self.why(person, learnt);
            match all.iter_mut().find(|fallen| fallen.class == class && fallen.why == why) {
                Some(fallen) => fallen.people += 1,
                None => all.push(Fallen { class, finding: learnt.finding, people: 1, why }),
            }
        }
        all.sort_by_key(|fallen| (std::cmp::Reverse(fallen.people), fallen.class, fallen.finding));
        all
    }

    fn why(&self, person: &Target, learnt: &Learnt) -> String {
        let value = learnt.guess.and_then(|v| self.values.get(v)).map_or("", String::as_str);
        let value = printable(value);
        let others = learnt.to_rule_out + 1;
        match learnt.finding {
            Finding::Unique => format!("one row fits, and it says {value}"),
            Finding::Homogeneous => format!("all {} rows that fit say {value}", learnt.candidates),
            Finding::Known => format!("of {others} values all but {value} are ruled out"),
            Finding::Intersected => {
                let label = |release: &Release| {
                    let class = person.second.first()?;
                    Some(printable(&release.labels.get(*class)?.join(", ")))
                };
                let other = self.second.as_ref().and_then(label).unwrap_or_default();
                format!("of {others} values only {value} is also in the other release, in {other}")
            }
            Finding::Open | Finding::Unmatched => String::new(),
        }
    }

    fn meaning(&self) -> Vec<String> {
        let (people, certain) = (self.people.len() as f64, self.summary.certain());
        let mut text = Vec::new();
        let k = self.first.k();
        if certain > 0 && k > 1 {
            text.push(format!(
                "Every class has {k} rows or more, and still {} people ({}) are learnt for certain: \
                 k-anonymity hides which row is whose, not what the rows say.",
                grouped(certain as f64),
                percent(certain as f64 / people)
            ));
        }
        let second = self.summary.count(Finding::Intersected);
        if second > 0 {
            text.push(format!(
                "{} of them fall by two releases together, each of which keeps its own promise: \
                 anonymity does not compose. Publish once, or under one budget.",
                grouped(second as f64)
            ));
        }
        let unmatched = self.summary.count(Finding::Unmatched);
        if self.first.idle > 0 || unmatched > 0 {
            text.push(format!(
                "{} labels of the release stand for nobody, and {} people fit no row: if columns were \
                 made coarser in words, say how with --hierarchy column=FILE.",
                self.first.idle, unmatched
            ));
        }
        text.push(
            "Certain means: if the published rows are truthful and the person is in the table. \
             `demure anonymize` can promise l-diversity or t-closeness, which bound what a class says; \
             only a budget bounds what all releases say together."
                .to_owned(),
        );
        text
    }

    fn report(&self, fallen: &[Fallen]) -> Report {
        let count = |finding| self.summary.count(finding);
        let class = |f: &Fallen| -> Value {
            json!({
                "class": self.first.labels[f.class], "rows": self.size(f.class), "people": f.people,
                "finding": name(f.finding), "why": f.why,
            })
        };
        let worst: Vec<u64> = (0..=5).map(|r| self.summary.at_worst(r)).collect();
        Report::default()
            .field("attack", "link")
            .field("people", self.people.len())
            .field("published_rows", self.first.rows)
            .field("classes", self.first.histograms.len())
            .field("k", self.first.k())
            .field("unique_in_original", self.unique_before)
            .field("unique", count(Finding::Unique))
            .field("homogeneous", count(Finding::Homogeneous))
            .field("known", count(Finding::Known))
            .field("intersected", count(Finding::Intersected))
            .field("open", count(Finding::Open))
            .field("unmatched", count(Finding::Unmatched))
            .field("certain", self.summary.certain())
            .field("guessed_right", self.summary.right)
            .field("guessed_right_by_chance", self.summary.by_chance)
            .field("learnt_by_values_ruled_out", worst)
            .field("fallen", fallen.iter().map(class).collect::<Vec<_>>())
    }
}

fn name(finding: Finding) -> &'static str {
    match finding {
        Finding::Unique => "unique",
        Finding::Homogeneous => "homogeneous",
        Finding::Known => "known",
        Finding::Intersected => "intersected",
        Finding::Open => "open",
        Finding::Unmatched => "unmatched",
    }
}
