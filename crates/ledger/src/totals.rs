//! Which debits count against which limits: the dataset, the period, each analyst, each group.
//!
//! They are all alike: an [`Account`] with its own meter and, if there is a rule, a maximum. A debit is counted in
//! every account that it concerns when it is made: the dataset's, the period's if there is one, the analyst's, and
//! those of the analyst's groups. A received answer counts in the last two only.
//!
//! # Guarantee
//! The meter of an account is the core's filter over the debits and receipts that concern it and have no cancellation,
//! in the order of the journal. So while it is within (ε, δ), what these debits bought is together (ε, δ)-DP: for the
//! dataset, what everyone learnt; for a personal or group limit, what the analyst was shown, or what the group's
//! members were shown while they were members (all of it if answers are [personal](crate::Answers::Personal), and what
//! they bought if they are shared).
//!
//! Analysts without a limit are still counted, so that a limit granted later counts from the beginning of the journal.

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::meter::Meter;
use crate::price::Price;
use crate::rule::{Rule, RuleChange, Subject, Terms};
use demure_core::event::Event;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The number of debits that can be refunded without reading the journal again: more than are under way at once. Each
/// costs a few hundred bytes, and a cancellation costs adding them up.
const REFUNDABLE: usize = 512;

/// Something with a separate total.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Account {
    Dataset,
    /// The period that was opened by the row with this number.
    Period(u64),
    Subject(Subject),
}

impl Account {
    pub(crate) fn rule(&self) -> Rule {
        match self {
            Self::Dataset => Rule::Dataset,
            Self::Period(_) => Rule::Period,
            Self::Subject(subject) => Rule::Subject(subject.to_string()),
        }
    }
}

/// Who froze the budget, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frozen {
    /// The steward.
    pub by: String,
    /// The reason given.
    pub why: String,
}

/// A debit that can be refunded cheaply.
#[derive(Clone, Debug)]
struct Recent {
    seq: u64,
    event: Event,
    /// The accounts in which it counts, and their meters before it.
    before: Vec<(Account, Meter)>,
}

/// The rules in force and the totals that count against them.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    pub(crate) limit: Limit,
    empty: Meter,
    meters: HashMap<Account, Meter>,
    /// The maximum of each account; the dataset's always exists.
    caps: HashMap<Account, Price>,
    period: Option<(u64, Terms)>,
    subject_limits: BTreeMap<Subject, Terms>,
    /// The groups of each analyst.
    groups: BTreeMap<String, BTreeSet<String>>,
    frozen: Option<Frozen>,
    recent: VecDeque<Recent>,
}

impl Totals {
    pub(crate) fn new(limit: Limit) -> Result<Self> {
        let empty = Meter::new(limit.accounting, limit.neighbours)
            .map_err(|source| Error::ImpossibleLimit { source })?;
        let caps = [(Account::Dataset, limit.most()?)].into();
        Ok(Self {
            limit,
            empty,
            meters: HashMap::new(),
            caps,
            period: None,
            subject_limits: BTreeMap::new(),
            groups: BTreeMap::new(),
            frozen: None,
            recent: VecDeque::new(),
        })
    }

    /// Sets another limit with the same accounting.
    pub(crate) fn set_limit(&mut self, limit: Limit) -> Result<()> {
        self.caps.insert(Account::Dataset, limit.most()?);
        self.limit = limit;
        Ok(())
    }

    /// The price of `event` by itself.
    pub(crate) fn price(&self, event: &Event) -> demure_core::Result<Price> {
        self.empty.price(event)
    }

    pub(crate) fn meter(&self, account: &Account) -> &Meter {
        self.meters.get(account).unwrap_or(&self.empty)
    }

    /// What has been spent.
    pub(crate) fn spent(&self, account: &Account) -> Price {
        self.meter(account).spent()
    }

    /// The maximum; `None` without a rule.
    pub(crate) fn most(&self, account: &Account) -> Option<Price> {
        self.caps.get(account).copied()
    }

    /// What can still be bought; `None` without a rule.
    pub(crate) fn left(&self, account: &Account) -> Option<Price> {
        Some(self.most(account)?.left_after(self.spent(account)))
    }

    /// The accounts that a debit of `who` concerns: first their own, which do not depend on what others bought.
    pub(crate) fn concerned(&self, who: &str) -> Vec<Account> {
        let mut accounts = self.personal(who);
        accounts.push(Account::Dataset);
        accounts.extend(self.period.map(|(seq, _)| Account::Period(seq)));
        accounts
    }

    /// The accounts that a receipt of `who` concerns: their own and their groups'.
    pub(crate) fn personal(&self, who: &str) -> Vec<Account> {
        let mut accounts = vec![Account::Subject(Subject::Analyst(who.to_owned()))];
        let groups = self.groups.get(who).into_iter().flatten().cloned();
        accounts.extend(groups.map(|group| Account::Subject(Subject::Group(group))));
        accounts
    }

    /// The account of `who`, or of one of their groups, that allows nothing at all.
    pub(crate) fn denying(&self, who: &str) -> Option<Account> {
        self.personal(who).into_iter().find(|account| match account {
            Account::Subject(subject) => self.subject_limits.get(subject) == Some(&Terms::Nothing),
            Account::Dataset | Account::Period(_) => false,
        })
    }

    /// The first of `accounts` whose rule does not allow these events, one after the other; `None` if all do.
    pub(crate) fn forbidding<'a>(
        &self,
        accounts: Vec<Account>,
        events: impl Iterator<Item = &'a Event> + Clone,
    ) -> demure_core::Result<Option<Account>> {
        for account in accounts {
            let Some(most) = self.most(&account) else { continue };
            let mut meter = self.meter(&account).clone();
            for event in events.clone() {
                match meter.with(event)? {
                    Some(next) if next.within(most) => meter = next,
                    _ => return Ok(Some(account)),
                }
            }
        }
        Ok(None)
    }

    /// Counts a debit or a receipt in `accounts`, and returns whether every rule allows it; `None` if a total
    /// overflows, and then the totals must not be used any more.
    pub(crate) fn add(
        &mut self,
        seq: u64,
        accounts: Vec<Account>,
        event: Event,
    ) -> demure_core::Result<Option<bool>> {
        let (mut before, mut allowed) = (Vec::new(), self.frozen.is_none());
        for account in accounts {
            let meter = self.meter(&account).clone();
            let Some(next) = meter.with(&event)? else { return Ok(None) };
            allowed &= self.most(&account).is_none_or(|most| next.within(most));
            self.meters.insert(account.clone(), next);
            before.push((account, meter));
        }
        if self.recent.len() == REFUNDABLE {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent { seq, event, before });
        Ok(Some(allowed))
    }

    /// Refunds a debit in every account in which it counts; false if it is too far back, and then the totals must not
    /// be used any more.
    ///
    /// # Guarantee
    /// The totals are those of a journal without the debit.
    /// # Proof
    /// Each account is reset to its state before the debit, and what came after is added in the same order. A period
    /// that has ended since is gone. ∎
    pub(crate) fn take_back(&mut self, seq: u64) -> demure_core::Result<bool> {
        let found = self.recent.iter().position(|recent| recent.seq == seq);
        let Some((at, gone)) = found.and_then(|at| Some((at, self.recent.remove(at)?))) else {
            return Ok(false);
        };
        for (account, mut meter) in gone.before {
            for later in self.recent.iter_mut().skip(at) {
                let same = later.before.iter_mut().find(|(other, _)| *other == account);
                if let Some((_, before)) = same {
                    *before = meter.clone();
                    match meter.with(&later.event)? {
                        Some(next) => meter = next,
                        None => return Ok(false),
                    }
                }
            }
            if let Some(current) = self.meters.get_mut(&account) {
                *current = meter;
            }
        }
        Ok(true)
    }

    /// Whether the rule would change anything.
    pub(crate) fn is_news(&self, change: &RuleChange) -> bool {
        match change {
            RuleChange::Limit(subject, terms) => {
                self.subject_limits.get(subject).copied().unwrap_or(Terms::None) != *terms
            }
            RuleChange::Member(analyst, group, joins) => {
                self.groups.get(analyst).is_some_and(|groups| groups.contains(group)) != *joins
            }
            // The same period again is a new one, from zero.
            RuleChange::Period(terms) => self.period.is_some() || *terms != Terms::None,
            RuleChange::Freeze(_) => true,
            RuleChange::Unfreeze(_) => self.frozen.is_some(),
        }
    }

    /// Applies a rule, as the row `seq` of the steward `by`.
    pub(crate) fn change_rule(&mut self, seq: u64, by: &str, change: RuleChange) -> Result<()> {
        match change {
            RuleChange::Limit(subject, terms) => {
                self.cap(Account::Subject(subject.clone()), terms)?;
                match terms {
                    Terms::None => self.subject_limits.remove(&subject),
                    _ => self.subject_limits.insert(subject, terms),
                };
            }
            RuleChange::Member(analyst, group, true) => {
                self.groups.entry(analyst).or_default().insert(group);
            }
            RuleChange::Member(analyst, group, false) => {
                if let Some(groups) = self.groups.get_mut(&analyst) {
                    groups.remove(&group);
                }
            }
            RuleChange::Period(terms) => {
                if let Some((old, _)) = self.period.take() {
                    self.caps.remove(&Account::Period(old));
                    self.meters.remove(&Account::Period(old));
                }
                self.cap(Account::Period(seq), terms)?;
                self.period = (terms != Terms::None).then_some((seq, terms));
            }
            RuleChange::Freeze(why) => self.frozen = Some(Frozen { by: by.to_owned(), why }),
            RuleChange::Unfreeze(_) => self.frozen = None,
        }
        Ok(())
    }

    fn cap(&mut self, account: Account, terms: Terms) -> Result<()> {
        match terms.most(&self.limit)? {
            Some(most) => self.caps.insert(account, most),
            None => self.caps.remove(&account),
        };
        Ok(())
    }

    pub(crate) fn period(&self) -> Option<(Account, Terms)> {
        self.period.map(|(seq, terms)| (Account::Period(seq), terms))
    }

    pub(crate) fn subject_limits(&self) -> impl Iterator<Item = (&Subject, Terms)> {
        self.subject_limits.iter().map(|(subject, terms)| (subject, *terms))
    }

    /// The members of each group that has any.
    pub(crate) fn members(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (analyst, groups) in &self.groups {
            for group in groups {
                members.entry(group).or_default().push(analyst);
            }
        }
        members
    }

    pub(crate) fn frozen(&self) -> Option<&Frozen> {
        self.frozen.as_ref()
    }

    /// Whether all totals and all rules are the same.
    pub(crate) fn same(&self, other: &Self) -> bool {
        // A meter that went back to zero equals a missing one.
        let in_other =
            |one: &Self, two: &Self| one.meters.keys().all(|key| one.spent(key) == two.spent(key));
        in_other(self, other)
            && in_other(other, self)
            && (&self.limit, &self.caps, self.period) == (&other.limit, &other.caps, other.period)
            && (&self.subject_limits, &self.groups, &self.frozen)
                == (&other.subject_limits, &other.groups, &other.frozen)
    }
}

#[cfg(test)]
mod tests;
