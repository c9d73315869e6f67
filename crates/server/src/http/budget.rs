//! What is spent and left: `/api/budget`.

use super::caller::Caller;
use super::problem::Problem;
use super::{App, apart};
use crate::json::price;
use crate::users::Role;
use axum::Json;
use axum::extract::State;
use demure_curator::policy::odds;
use demure_ledger::{Accounting, AnalystBalance, Balances, Share};
use serde_json::{Value, json};
use std::sync::Arc;

fn share(share: &Share, concentrated: bool) -> Value {
    json!({
        "epsilon": share.epsilon,
        "delta": share.delta,
        "most": price(&share.most, concentrated),
        "spent": price(&share.spent, concentrated),
        "left": price(&share.left, concentrated),
    })
}

/// The dataset's balance and the caller's; for stewards, everyone's.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
) -> Result<Json<Value>, Problem> {
    let (service, name) = (Arc::clone(&app.service), user.name.clone());
    let read = apart(move || {
        let ledger = service.curator.ledger();
        Ok::<_, demure_ledger::Error>((ledger.balances()?, ledger.balance_for(&name)?))
    });
    let (all, analyst): (Balances, AnalystBalance) = read.await??;
    let balance = &all.dataset;
    let concentrated = balance.limit.accounting == Accounting::Zcdp;
    let policy = &app.service.curator.policy().budget;
    let own = all.limits.iter().find(|limit| limit.subject == user.name);
    let frozen = all.frozen.as_ref().map(|by| json!({ "by": by.by, "why": by.why }));
    let mut object = json!({
        "dataset": {
            "name": app.service.name,
            "accounting": balance.limit.accounting.to_string(),
            "neighbours": balance.limit.neighbours.to_string(),
            "epsilon": balance.limit.epsilon.get(),
            "delta": balance.limit.delta.get(),
            "per_query": policy.per_query.get(),
            "odds": odds(policy.epsilon, policy.neighbours),
            "spent": price(&balance.spent, concentrated),
            "left": price(&balance.left, concentrated),
            "spent_epsilon": balance.spent_epsilon,
            "left_epsilon": balance.left_epsilon,
            "spent_delta": balance.spent_delta,
        },
        "you": {
            "name": user.name,
            "role": user.role.name(),
            "spent": price(&analyst.spent, concentrated),
            "left": price(&analyst.left, concentrated),
            "bound_by": analyst.which.to_string(),
            "limit": own.map(|limit| share(&limit.share, concentrated)),
        },
        "frozen": frozen,
    });
    if user.role == Role::Steward {
        object["period"] = json!(all.period.as_ref().map(|period| share(period, concentrated)));
        object["limits"] = all
            .limits
            .iter()
            .map(|limit| {
                let mut object = share(&limit.share, concentrated);
                object["subject"] = json!(limit.subject);
                object
            })
            .collect();
        let groups = all.groups.iter();
        object["groups"] =
            groups.map(|group| json!({ "name": group.name, "members": group.members })).collect();
    }
    Ok(Json(object))
}
