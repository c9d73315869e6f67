//! What has been spent and what is left: of the dataset, the period and each limit, and for one analyst.

use crate::error::{Error, Fault, Result};
use crate::limit::{Accounting, Limit};
use crate::price::{Price, subtract_down};
use crate::rule::{Rule, Subject, Terms};
use crate::totals::{Account, Frozen, Totals};

/// What has been spent and what is left of the dataset's budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// The limit in force.
    pub limit: Limit,
    /// Σε or Σρ, and Σδ of the events themselves; rounded up.
    pub spent: Price,
    /// What may still be spent, in the same unit; rounded down, so that one event of exactly this price is within the
    /// limit. 0 if the limit has been lowered below what was spent.
    pub left: Price,
    /// The ε of `spent.main`: the same number, or for zCDP the ε of (ε, δ/2)-DP; rounded up. Its δ is
    /// [`Balance::spent_delta`].
    pub spent_epsilon: f64,
    /// `left.main`; for zCDP the limit's ε minus `spent_epsilon`, rounded down. Under zCDP more than this can be
    /// bought, because ρ adds up and its ε does not.
    pub left_epsilon: f64,
    /// The δ that goes with `spent_epsilon`: that of the events themselves and, under zCDP, half of the limit's as
    /// soon as anything is spent; rounded up.
    pub spent_delta: f64,
}

/// The complete state of a ledger's budget.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Balances {
    /// The balance over everyone.
    pub dataset: Balance,
    /// The period in force, over everyone since it was opened.
    pub period: Option<Share>,
    /// The limits of analysts, then those of groups.
    pub limits: Vec<SubjectLimit>,
    /// The groups that have members, sorted by name.
    pub groups: Vec<Group>,
    /// Who froze the budget and why, if nothing can be reserved.
    pub frozen: Option<Frozen>,
}

impl Balances {
    /// Whether `who`, or one of their groups, is denied everything.
    #[must_use]
    pub fn denies(&self, who: &str) -> bool {
        let within = |name: &str| {
            let group = self.groups.iter().find(|group| group.name == name);
            group.is_some_and(|group| group.members.iter().any(|member| member == who))
        };
        let denying = self.limits.iter().filter(|limit| limit.share.epsilon == 0.0);
        denying.into_iter().any(|limit| limit.subject == who || within(&limit.subject))
    }
}

/// The limit of an analyst or a group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubjectLimit {
    /// An analyst, or `@group`.
    pub subject: String,
    /// The limit, and what is left of it.
    pub share: Share,
}

/// A group and its members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The name, with its `@`.
    pub name: String,
    /// The members, sorted by name.
    pub members: Vec<String>,
}

/// A part of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Share {
    /// The ε of the rule; 0 if it allows nothing.
    pub epsilon: f64,
    /// The δ of the rule.
    pub delta: f64,
    /// What ε and δ allow, in the dataset's unit of accounting.
    pub most: Price,
    /// What was spent under the rule; rounded up.
    pub spent: Price,
    /// What is left of it; rounded down, like [`Balance::left`].
    pub left: Price,
}

/// What one analyst may still spend.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnalystBalance {
    /// What this analyst was charged in all, for answers bought and received; rounded up.
    pub spent: Price,
    /// The least that any rule leaves, in each amount: one event of this price is within all of them. 0 while frozen.
    pub left: Price,
    /// The rule that leaves least.
    pub which: Rule,
    /// Who froze the budget and why, if nothing can be reserved.
    pub frozen: Option<Frozen>,
}

/// The dataset's own balance.
pub(crate) fn dataset(totals: &Totals) -> Result<Balance> {
    let (limit, spent) = (totals.limit.clone(), totals.spent(&Account::Dataset));
    let most = limit.most()?;
    let spent_epsilon = limit.epsilon_of(spent)?;
    let spent_delta = match limit.accounting {
        Accounting::Zcdp if spent != Price::ZERO => {
            // Half of the limit, and at most half: their sum is at most the limit.
            let sum = most.delta + spent.delta;
            let rounded = if spent.delta == 0.0 { sum } else { sum.next_up() };
            if spent.within(most) { rounded.min(limit.delta.get()) } else { rounded }
        }
        _ => spent.delta,
    };
    let left = most.left_after(spent);
    let left_epsilon = match limit.accounting {
        Accounting::Pure => left.main,
        Accounting::Zcdp => subtract_down(limit.epsilon.get(), spent_epsilon),
    };
    Ok(Balance { limit, spent, left, spent_epsilon, left_epsilon, spent_delta })
}

/// The complete state.
pub(crate) fn all(totals: &Totals) -> Result<Balances> {
    let limit = |(subject, terms): (&Subject, Terms)| SubjectLimit {
        subject: subject.to_string(),
        share: share(totals, &Account::Subject(subject.clone()), terms),
    };
    let group = |(name, members): (&str, Vec<&str>)| Group {
        name: format!("@{name}"),
        members: members.into_iter().map(str::to_owned).collect(),
    };
    Ok(Balances {
        dataset: dataset(totals)?,
        period: totals.period().map(|(account, terms)| share(totals, &account, terms)),
        limits: totals.subject_limits().map(limit).collect(),
        groups: totals.members().into_iter().map(group).collect(),
        frozen: totals.frozen().cloned(),
    })
}

fn share(totals: &Totals, account: &Account, terms: Terms) -> Share {
    let (epsilon, delta) = terms.numbers();
    let (most, spent) = (totals.most(account).unwrap_or_default(), totals.spent(account));
    Share { epsilon, delta, most, spent, left: most.left_after(spent) }
}

/// What `who` may still spend.
pub(crate) fn analyst_balance(totals: &Totals, who: &str) -> Result<AnalystBalance> {
    let lefts = totals.concerned(who).into_iter().filter_map(|account| {
        let left = totals.left(&account)?;
        Some((left, account.rule()))
    });
    let tightest = lefts.reduce(|(least, which), (left, other)| {
        let which = if left.main < least.main { other } else { which };
        let (main, delta) = (least.main.min(left.main), least.delta.min(left.delta));
        (Price { main, delta }, which)
    });
    // The dataset always has a limit.
    let (left, which) = tightest.ok_or(Error::Broken { seq: 0, fault: Fault::NoLimit })?;
    let frozen = totals.frozen().cloned();
    let left = if frozen.is_some() { Price::ZERO } else { left };
    let spent = totals.spent(&Account::Subject(Subject::Analyst(who.to_owned())));
    Ok(AnalystBalance { spent, left, which, frozen })
}
