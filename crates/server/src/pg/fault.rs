//! Errors as PostgreSQL's clients read them: a code, a sentence, a hint.

use crate::query_service::Failure;
use pgwire::error::{ErrorInfo, PgWireError};

/// An error that leaves the connection as it is.
pub(super) fn error(code: &str, message: impl Into<String>) -> PgWireError {
    PgWireError::UserError(Box::new(info("ERROR", code, message, None)))
}

/// An error that ends the connection.
pub(super) fn fatal(code: &str, message: impl Into<String>) -> PgWireError {
    PgWireError::UserError(Box::new(info("FATAL", code, message, None)))
}

pub(super) fn info(
    severity: &str,
    code: &str,
    message: impl Into<String>,
    hint: Option<&str>,
) -> ErrorInfo {
    let mut info = ErrorInfo::new(severity.to_owned(), code.to_owned(), message.into());
    info.hint = hint.map(str::to_owned);
    info
}

impl From<Failure> for PgWireError {
    fn from(failure: Failure) -> Self {
        let code = match &failure {
            Failure::Refused { .. } => "0A000",  // feature not supported
            Failure::Budget { .. } => "53400",   // configuration limit exceeded
            Failure::TooOften { .. } => "53000", // insufficient resources
            Failure::Sql(_) => "42601",          // syntax error
            Failure::TimedOut(_) => "57014",     // query canceled
            Failure::TooLarge(_) => "54000",     // program limit exceeded
            Failure::Failed(_) => "58000",       // system error
        };
        let hint = failure.hint().map(str::to_owned);
        Self::UserError(Box::new(info("ERROR", code, failure.to_string(), hint.as_deref())))
    }
}
