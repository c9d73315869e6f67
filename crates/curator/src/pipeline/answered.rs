//! The last stage: the rest of the plan over released tables.

use super::collected::{CollectedRows, collected};
use super::gate::{Gate, Reads};
use super::{Asked, Asker, Part, Quoted, least};
use crate::answer::Answer;
use crate::answer::explain::advice;
use crate::answer::intervals::{CHOSEN, with_intervals};
use crate::answer::lasting::changing;
use crate::curator::Curator;
use crate::error::{Error, Result};
use crate::tables::catalog::PUBLIC_MEMORY;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use demure_ledger::{Ledger, Price};
use std::sync::Arc;

impl Quoted {
    /// Answers a question, and says whether its answer is always the same.
    pub(crate) async fn answered(
        self,
        asker: Asker<'_>,
        gate: &Arc<dyn Gate>,
        asked: &Asked,
    ) -> Result<(Answer, bool)> {
        let Self { after, mut parts } = self;
        let curator = asker.curator;
        let to_buy = || parts.iter().filter(|part| part.is_to_buy());
        if to_buy().next().is_some() {
            least::check(to_buy().map(|part| &part.quote), &curator.policy.budget)?;
            curator.catalog.verify_unchanged()?;
            gate.admit(Reads::of(to_buy().map(|part| &part.aggregate), &curator.policy))?;
        }
        for part in parts.iter_mut().filter(|part| part.is_to_buy()) {
            part.find_key(curator)?;
        }
        let parts: Vec<Arc<Part>> = parts.into_iter().map(Arc::new).collect();
        let repeated = !parts.is_empty() && parts.iter().all(|part| part.is_known());
        let (tables, price) = asker.obtain(gate, &parts, asked).await?;
        let (mut columns, mut notes) = (Vec::new(), Vec::new());
        for (part, released) in parts.iter().zip(tables) {
            let weights = part.quote.weights(&released);
            columns.extend(part.quote.columns_at(&part.aggregate, &weights)?);
            notes.extend(part.quote.learnt_in_words(&weights));
            notes.extend(part.aggregate.left_out_in_words());
            notes.extend(part.aggregate.not_read_in_words());
            notes.extend(part.aggregate.totals_in_words().filter(|note| !notes.contains(note)));
            if let (Some(selection), 0) = (&part.quote.selection, released.batch().num_rows()) {
                notes.push(format!("no key came back: {}", selection.needs()?));
            }
            part.table.fill(&released).map_err(|e| Error::after(&e))?;
        }
        let (after, chosen) = match asker.settings.intervals {
            true => with_intervals(after).map_err(|e| Error::after(&e))?,
            false => (after, false),
        };
        notes.extend(chosen.then(|| CHOSEN.to_owned()));
        let lasting = matches!(changing(&after), Ok(None));
        let (schema, held) = post_process(curator, after).await?;
        let bought = parts.iter().find(|part| !part.is_known());
        if let Some(epsilon) = bought.and_then(|part| part.asked(asker))
            && !(0.1..=5.0).contains(&epsilon.get())
        {
            notes.push(advice(epsilon, curator.policy.budget.neighbours));
        }
        let bought = !parts.is_empty();
        let balance = curator.at_the_ledger(Ledger::balance).await?;
        // The ledger's words are for a question that was not paid for.
        let balance = balance.map_err(|error| match price == Price::ZERO {
            true => error.into(),
            false => curator.incidents.record(&error.to_string()),
        })?;
        let CollectedRows { batches, .. } = held;
        let answer = Answer { schema, batches, price, balance, repeated, columns, notes };
        Ok((answer, bought && lasting))
    }
}

/// Runs everything above the cut: an ordinary query over released and public tables.
pub(super) async fn post_process(
    curator: &Curator,
    plan: LogicalPlan,
) -> Result<(SchemaRef, CollectedRows)> {
    let mut state: SessionState = curator.catalog.public_state();
    // One partition: rows keep the order of the public keys unless the query asks for another.
    state.config_mut().options_mut().execution.target_partitions = 1;
    let frame = DataFrame::new(state, plan);
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let held = collected(frame, PUBLIC_MEMORY).await;
    Ok((schema, held.map_err(|e| Error::after(&e))?))
}
