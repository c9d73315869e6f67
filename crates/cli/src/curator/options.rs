//! The settings of a query, as options.

use super::{Conversation, user};
use crate::Failure;
use demure_ledger::Anchor;
use std::path::PathBuf;

/// Which policy, and what is set for the query.
#[derive(clap::Args)]
pub(crate) struct SessionOptions {
    /// The policy: a TOML file that says what may be asked
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,
    #[command(flatten)]
    pub(crate) settings: QuerySettings,
    /// Who asks, as the ledger notes it; by default the user's name
    #[arg(long = "as", value_name = "NAME")]
    who: Option<String>,
    #[command(flatten)]
    head: ExpectHead,
}

/// What was noted of the ledger elsewhere.
#[derive(clap::Args)]
pub(crate) struct ExpectHead {
    /// Go on only if the ledger holds this entry, as `demure budget anchor` printed it
    #[arg(long, value_name = "HEAD", value_parser = anchor)]
    expect_head: Option<Anchor>,
}

impl ExpectHead {
    pub(crate) fn anchor(&self) -> Option<&Anchor> {
        self.expect_head.as_ref()
    }
}

fn anchor(text: &str) -> Result<Anchor, String> {
    let anchor = Anchor::parse(text.trim());
    anchor.ok_or_else(|| "a head is a number, a colon and 64 hexadecimal digits".to_owned())
}

/// Settings; what is not given is the policy's.
#[derive(clap::Args)]
pub(crate) struct QuerySettings {
    /// The privacy loss to pay; by default the policy's per_query
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The δ to pay where group keys are not public
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,
    /// Instead of ε: pay the least that keeps every 95 % error within this
    #[arg(long, value_name = "X", allow_hyphen_values = true, conflicts_with = "epsilon")]
    error_at_most: Option<String>,
    /// How many groups of one person count
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_groups: Option<String>,
    /// How many rows of one person count in a group
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_rows_per_group: Option<String>,
}

impl SessionOptions {
    /// Opens the policy and sets what was given.
    pub(crate) fn open(&self) -> Result<Conversation, Failure> {
        let who = self.who.clone().unwrap_or_else(user);
        let mut conversation = Conversation::open(&self.policy, &who, &self.head)?;
        self.settings.apply(&mut conversation)?;
        Ok(conversation)
    }
}

impl QuerySettings {
    fn apply(&self, conversation: &mut Conversation) -> Result<(), Failure> {
        let given = [
            ("epsilon", &self.epsilon),
            ("delta", &self.delta),
            ("error-at-most", &self.error_at_most),
            ("max-groups", &self.max_groups),
            ("max-rows-per-group", &self.max_rows_per_group),
        ];
        given.into_iter().try_for_each(|(option, value)| conversation.set(option, value.as_deref()))
    }
}
