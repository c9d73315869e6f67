//! Decides what may be appended: one decision for each kind of row, based on the newest state and nothing else.

use crate::error::{Error, Fault, Result};
use crate::identity::{Identified, Successor, Unit};
use crate::ledger::Request;
use crate::limit::Limit;
use crate::price::Price;
use crate::purchase::{Answers, Sale};
use crate::question;
use crate::replay::Replay;
use crate::row::{GENESIS, Kind, Row};
use crate::rule::RuleChange;
use crate::totals::{Account, Totals};
use demure_core::event::Event;

/// A request to append to the journal.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// The limit of the policy.
    Limit(Limit),
    /// A debit, and its event as text.
    Reserve(Request, String),
    /// An answer, and its event as text: a debit, or a receipt if it was bought before.
    Purchase(Request, String, Answers),
    /// The end of a reservation.
    Close(Closing),
    /// A rule, and the steward who sets it.
    ChangeRule(String, RuleChange),
    /// The id and secret for a journal that has none, who gave them, and why.
    Identify(String, Identified, String),
    /// A source of a table, its files and its unit, and who records it. Whether the table may have that unit was
    /// decided in the same transaction, for all tables at once.
    Unit(String, Unit),
    /// The ledger that replaces this one.
    Replace(Successor),
}

/// The end of a reservation: an answer, or a cancellation.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) seq: u64,
    pub(crate) who: String,
    pub(crate) key: String,
    /// The price that is refunded.
    pub(crate) refund: Price,
    pub(crate) answer: Option<Vec<u8>>,
}

impl Command {
    /// The row to append after those of `replay`; `None` if there is nothing to write.
    ///
    /// # Guarantee
    /// A row of kind `reserve` or `receive` is returned only if the totals with it are within
    /// every rule in force that it counts against.
    pub(crate) fn decide(self, replay: &Replay, time: i64) -> Result<Option<Row>> {
        match &replay.about().successor {
            // Earlier debits may still be closed.
            Some(successor) if !matches!(self, Self::Close(_)) => {
                return Err(Error::Replaced(successor.clone()));
            }
            _ => {}
        }
        let draft = match self {
            Self::Limit(limit) => limited(replay, &limit),
            Self::Reserve(request, event) => reserved(replay, request, event).map(Some),
            Self::Purchase(request, event, answers) => purchased(replay, request, event, answers),
            Self::Close(closing) => closed(replay, closing).map(Some),
            Self::ChangeRule(by, change) => rule_changed(replay, by, change),
            Self::Identify(by, identity, why) => identified(replay, by, &identity, why),
            Self::Unit(by, unit) => united(replay, by, &unit),
            Self::Replace(Successor { id: key, note: query, by: who }) => {
                replay.begun().map(|_| Some(Row { who, key, query, ..draft(Kind::Replaced) }))
            }
        };
        Ok(draft?.map(|draft| {
            let (last, before) = replay.head();
            Row { dataset: replay.dataset().to_owned(), seq: last + 1, time, before, ..draft }
                .sealed()
        }))
    }
}

/// A row without its position in the chain.
fn draft(kind: Kind) -> Row {
    let empty = String::new;
    Row {
        dataset: empty(),
        seq: 0,
        time: 0,
        kind,
        refers: None,
        who: empty(),
        key: empty(),
        query: empty(),
        event: empty(),
        price: Price::ZERO,
        answer: None,
        before: GENESIS,
        hash: GENESIS,
    }
}

fn limited(replay: &Replay, limit: &Limit) -> Result<Option<Row>> {
    match replay.totals() {
        Some(totals) if !totals.limit.same_currency(limit) => Err(Error::OtherAccounting {
            dataset: replay.dataset().to_owned(),
            stored: Box::new(totals.limit.clone()),
            asked_accounting: limit.accounting,
            asked_neighbours: limit.neighbours,
        }),
        Some(totals) if totals.limit == *limit => Ok(None),
        _ => {
            let (event, price) = (limit.to_string(), limit.most()?);
            Ok(Some(Row { event, price, ..draft(Kind::Limit) }))
        }
    }
}

fn reserved(replay: &Replay, request: Request, text: String) -> Result<Row> {
    let totals = replay.begun()?;
    if let Some(frozen) = totals.frozen() {
        return Err(Error::Frozen(frozen.clone()));
    }
    let accounts = totals.concerned(&request.who);
    let price = allowed(totals, accounts, &request.event)?;
    let Request { who, key, query, .. } = request;
    Ok(Row { who, key, query, event: text, price, ..draft(Kind::Reserve) })
}

/// The price of a debit, if the rules of all these accounts allow it.
fn allowed(totals: &Totals, accounts: Vec<Account>, event: &Event) -> Result<Price> {
    let unpriced = |source| Error::Unpriced { accounting: totals.limit.accounting, source };
    let price = totals.price(event).map_err(unpriced)?;
    match totals.forbidding(accounts, std::iter::once(event)).map_err(unpriced)? {
        Some(account) => Err(over(totals, &account, price)),
        None => Ok(price),
    }
}

fn over(totals: &Totals, account: &Account, asked: Price) -> Error {
    let (which, left) = (account.rule(), totals.left(account).unwrap_or_default());
    Error::OverBudget { accounting: totals.limit.accounting, asked, left, which }
}

/// The kind of row for a purchase: a debit or a receipt; `None` if the answer is free.
fn due(replay: &Replay, request: &Request, answers: Answers) -> Option<Kind> {
    let sales = replay.sales();
    if sales.shown(&request.who, &request.key).is_some() {
        return None;
    }
    match (sales.sold(&request.key), answers) {
        (Some(_), Answers::Shared) => None,
        (Some(_), Answers::Personal) => Some(Kind::Receive),
        (None, _) => Some(Kind::Reserve),
    }
}

fn purchased(
    replay: &Replay,
    request: Request,
    text: String,
    answers: Answers,
) -> Result<Option<Row>> {
    let totals = replay.begun()?;
    if let Some(account) = totals.denying(&request.who) {
        let unpriced = |source| Error::Unpriced { accounting: totals.limit.accounting, source };
        let asked = totals.price(&request.event).map_err(unpriced)?;
        return Err(over(totals, &account, asked));
    }
    match (due(replay, &request, answers), replay.sales().sold(&request.key)) {
        (None, _) => Ok(None),
        (Some(Kind::Receive), Some(sale)) => received(totals, sale, request, text).map(Some),
        (Some(_), _) => reserved(replay, request, text).map(Some),
    }
}

/// Rewrites the error of a refused purchase of several answers: it reports the cost of all of them and the rule that
/// does not allow all of them, as of `replay` before the first, rather than the one answer that was too much.
///
/// # Guarantee
/// Under [`Answers::Personal`] the error does not depend on which of the answers others have bought. The reported
/// price is that of all answers that the analyst has not been shown, and rules are checked with all of them.
pub(crate) fn in_all(error: Error, replay: &Replay, commands: &[Command]) -> Error {
    let Error::OverBudget { .. } = &error else { return error };
    let Ok(totals) = replay.begun() else { return error };
    let mut due_ones: Vec<&Request> = Vec::new();
    for command in commands {
        let Command::Purchase(request, _, answers) = command else { return error };
        due_ones.extend(due(replay, request, *answers).map(|_| request));
    }
    let Some(first) = due_ones.first() else { return error };
    let mut asked = Price::ZERO;
    for request in &due_ones {
        let Ok(price) = totals.price(&request.event) else { return error };
        asked.main += price.main;
        asked.delta += price.delta;
    }
    let events = due_ones.iter().map(|request| &request.event);
    let accounts =
        totals.denying(&first.who).map_or_else(|| totals.concerned(&first.who), |one| vec![one]);
    match totals.forbidding(accounts, events) {
        Ok(Some(account)) => over(totals, &account, asked),
        _ => error,
    }
}

fn received(totals: &Totals, sale: &Sale, request: Request, text: String) -> Result<Row> {
    if let Some(frozen) = totals.frozen() {
        return Err(Error::Frozen(frozen.clone()));
    }
    if !sale.is_of(&text) {
        return Err(Error::Broken { seq: sale.reservation, fault: Fault::Receipt });
    }
    allowed(totals, totals.personal(&request.who), &request.event)?;
    let Request { who, key, query, .. } = request;
    // The canonical text is in the row that bought it.
    let query = question::alone(&query).to_owned();
    Ok(Row { who, key, query, event: text, price: sale.price, ..draft(Kind::Receive) })
}

fn rule_changed(replay: &Replay, who: String, change: RuleChange) -> Result<Option<Row>> {
    let totals = replay.begun()?;
    if !totals.is_news(&change) {
        return Ok(None);
    }
    let most = match &change {
        RuleChange::Limit(_, terms) | RuleChange::Period(terms) => terms.most(&totals.limit)?,
        RuleChange::Member(..) | RuleChange::Freeze(_) | RuleChange::Unfreeze(_) => None,
    };
    let (kind, price) = (change.kind(), most.unwrap_or_default());
    let (key, event, query) = change.texts();
    Ok(Some(Row { who, key, query, event, price, ..draft(kind) }))
}

fn identified(
    replay: &Replay,
    who: String,
    identity: &Identified,
    query: String,
) -> Result<Option<Row>> {
    replay.begun()?;
    if replay.identity().is_some() {
        return Ok(None);
    }
    let (key, answer) = (identity.id.to_string(), Some(identity.secret.bytes().to_vec()));
    let event = identity.name.clone();
    Ok(Some(Row { who, key, query, event, answer, ..draft(Kind::Identity) }))
}

fn united(replay: &Replay, who: String, unit: &Unit) -> Result<Option<Row>> {
    replay.begun()?;
    let about = replay.about();
    let Some(source) = unit.sources.first() else { return Ok(None) };
    let files = Some(about.new_files(&unit.table, &unit.files)).filter(|new| !new.is_empty());
    if about.has(&unit.table, source) && files.is_none() {
        return Ok(None);
    }
    let (key, event, query) = (unit.table.clone(), unit.unit.clone(), source.clone());
    Ok(Some(Row { who, key, query, event, answer: files, ..draft(Kind::Unit) }))
}

fn closed(replay: &Replay, closing: Closing) -> Result<Row> {
    let Closing { seq, who, key, refund, answer } = closing;
    if !replay.is_open(seq) {
        return Err(Error::Broken { seq, fault: Fault::Orphan });
    }
    let kind = if answer.is_some() { Kind::Settle } else { Kind::Cancel };
    Ok(Row { refers: Some(seq), who, key, price: refund, answer, ..draft(kind) })
}
