//! The allowed statements. Everything else is refused before it is planned.

use crate::error::engine::syntax;
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::statement::clock::Clock;
use crate::statement::names::Names;
use crate::statement::{columns, limits, literals, rewrite, shown};
use datafusion::common::TableReference;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::Dialect;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};
use std::ops::ControlFlow;

/// Prefix of internal columns; no query may name one.
pub(crate) const RESERVED: &str = "__demure_";

/// The longest text that is parsed.
const LONGEST: usize = 64 * 1024;

/// The largest number of words and signs in a statement. Each can nest at most once, and the planner, which is
/// recursive, has stack space for this many.
const MOST_TOKENS: usize = 6_000;

/// A parsed statement.
pub(crate) enum Statement {
    /// A query to answer.
    Query(Box<Parsed>),
    /// `EXPLAIN PRIVACY`: what a query would cost.
    Explain(Box<Parsed>),
    /// `SET demure.… = …`
    Set { name: String, value: String },
    /// `SHOW demure.…`
    Show { name: String },
}

/// Reads one statement.
pub(crate) fn parse(sql: &str, state: &SessionState, names: &Names) -> Result<Statement> {
    if sql.len() > LONGEST {
        return Err(Refusal::new(
            Rule::Statement,
            "the statement is longer than 64 KiB",
            "ask for less at a time",
        )
        .into());
    }
    let text = uncommented(sql).trim_end().trim_end_matches(';').trim_end();
    let place = |part: &str| began(sql, part);
    if let Some(rest) = after(text, &["explain", "privacy"]) {
        return Ok(Statement::Explain(Box::new(query(rest, place(rest), state, names)?)));
    }
    if let Some(shown) = shown::as_query(text, names)? {
        return Ok(Statement::Query(Box::new(query(&shown, (0, 0), state, names)?)));
    }
    if let Some(rest) = after(text, &["set"]) {
        return set(rest);
    }
    if let Some(rest) = after(text, &["reset"]) {
        return Ok(Statement::Set { name: rest.trim().to_owned(), value: "default".to_owned() });
    }
    if let Some(rest) = after(text, &["show"]) {
        return Ok(Statement::Show { name: rest.trim().to_owned() });
    }
    Ok(Statement::Query(Box::new(query(text, place(text), state, names)?)))
}

/// Names the kind of a statement that is not available.
fn only_select(text: &str) -> String {
    let word: String = text.chars().take_while(|c| c.is_ascii_alphabetic()).take(20).collect();
    format!("{} is not available, only SELECT is", word.to_ascii_uppercase())
}

/// The text without spaces and comments at its beginning.
fn uncommented(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = match rest {
            line if line.starts_with("--") => line.find('\n').map_or("", |end| &line[end..]),
            block if block.starts_with("/*") => {
                // Comments nest, as in PostgreSQL.
                let (mut depth, mut at) = (0usize, 0);
                while let Some(sign) = block.get(at..).filter(|rest| !rest.is_empty()) {
                    match sign {
                        open if open.starts_with("/*") => (depth, at) = (depth + 1, at + 2),
                        close if close.starts_with("*/") => (depth, at) = (depth - 1, at + 2),
                        other => at += other.chars().next().map_or(1, char::len_utf8),
                    }
                    if depth == 0 {
                        break;
                    }
                }
                // One that is not closed is the tokenizer's to complain about.
                if depth > 0 {
                    return rest;
                }
                &block[at..]
            }
            _ => return rest,
        };
        rest = after.trim_start();
    }
}

/// After how many lines of the whole text, and after how many characters of that line, a part of it begins.
fn began(whole: &str, part: &str) -> (u64, u64) {
    let at = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    let before = whole.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() as u64, line.chars().count() as u64)
}

/// The text after these words, if it begins with them.
fn after<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    let mut rest = text;
    for word in words {
        let (head, tail) = rest.trim_start().split_at_checked(word.len())?;
        if !head.eq_ignore_ascii_case(word) || !tail.starts_with(char::is_whitespace) {
            return None;
        }
        rest = tail;
    }
    Some(rest.trim_start())
}

/// Reduces table names to their last part: `public.visits` and `datafusion.public.visits` become `visits`.
///
/// Some of the engine's rules would take one table under two names for two tables, and others for one: an equality of
/// ids could end up between a column and itself.
fn bare(statement: &mut ast::Statement) {
    fn ours<'a>(names: impl Iterator<Item = Option<&'a ast::Ident>>) -> usize {
        let is = |name: &ast::Ident, wanted: &str| match name.quote_style {
            None => name.value.eq_ignore_ascii_case(wanted),
            Some(_) => name.value == wanted,
        };
        match names.take(2).collect::<Vec<_>>()[..] {
            [Some(first), ..] if is(first, "public") => 1,
            [Some(first), Some(second)] if is(first, "datafusion") && is(second, "public") => 2,
            _ => 0,
        }
    }
    let _ = ast::visit_relations_mut(statement, |name: &mut ast::ObjectName| {
        let extra = ours(name.0.iter().map(ast::ObjectNamePart::as_ident));
        if name.0.len() == extra + 1 {
            name.0.drain(..extra);
        }
        ControlFlow::<()>::Continue(())
    });
    let _ = ast::visit_expressions_mut(statement, |expr: &mut ast::Expr| {
        if let ast::Expr::CompoundIdentifier(names) = expr {
            let extra = ours(names.iter().map(Some));
            // At least a table and a column are left.
            if names.len() >= extra + 2 {
                names.drain(..extra);
            }
        }
        ControlFlow::<()>::Continue(())
    });
}

/// Refuses a plan with a table name that [`bare`] would have changed.
pub(crate) fn is_bare(plan: &LogicalPlan) -> Result<()> {
    let mut odd = false;
    // The closure never fails, so neither does the walk.
    let _ = plan.apply_with_subqueries(|node| {
        let qualified = |scan: &TableScan| !matches!(scan.table_name, TableReference::Bare { .. });
        odd |= matches!(node, LogicalPlan::TableScan(scan) if qualified(scan));
        Ok(TreeNodeRecursion::Continue)
    });
    match odd {
        false => Ok(()),
        true => Err(Refusal::new(
            Rule::Statement,
            "a table with its schema",
            "write the table's name alone",
        )
        .into()),
    }
}

fn set(rest: &str) -> Result<Statement> {
    let split = rest.split_once('=').or_else(|| {
        let at = rest.to_ascii_lowercase().find(" to ")?;
        Some((&rest[..at], &rest[at + 4..]))
    });
    let (name, value) = split.ok_or_else(|| {
        Refusal::new(Rule::Setting, "SET without a value", "write SET demure.epsilon = 0.5")
    })?;
    Ok(Statement::Set { name: name.trim().to_owned(), value: value.trim().to_owned() })
}

/// The text with a space between a comparison and the sign of a number after it. PostgreSQL reads `cost>-10` so; the
/// tokenizer would see an operator `>-`.
fn spaced(text: &str) -> String {
    let mut spaced = text.to_owned();
    let Ok(tokens) = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location() else {
        return spaced;
    };
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    // From the end, so that places before stay right.
    for found in tokens.iter().rev() {
        let Token::CustomBinaryOperator(signs) = &found.token else { continue };
        let compared = signs.strip_suffix(['-', '+']).unwrap_or_default();
        if !["<", ">", "<=", ">=", "<>", "="].contains(&compared) {
            continue;
        }
        let (line, column) = (found.span.start.line as usize, found.span.start.column as usize);
        let Some(start) = line.checked_sub(1).and_then(|line| starts.get(line)) else { continue };
        let rest = text.get(*start..).unwrap_or_default();
        let Some((at, _)) = rest.char_indices().nth(column.saturating_sub(1)) else { continue };
        let sign = start + at + compared.len();
        if text.get(start + at..).is_some_and(|rest| rest.starts_with(signs.as_str())) {
            spaced.insert(sign, ' ');
        }
    }
    spaced
}

fn query(text: &str, begins: (u64, u64), state: &SessionState, names: &Names) -> Result<Parsed> {
    let text = &*spaced(text);
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize();
    let tokens = tokens.map_err(|e| {
        let text = format!("{}{}", e.message, e.location);
        Error::Sql(syntax(&ParserError::TokenizerError(text), begins))
    })?;
    let words = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).count();
    if words > MOST_TOKENS {
        return Err(Refusal::new(
            Rule::Statement,
            format!("the statement has more than {MOST_TOKENS} words and signs"),
            "ask for less at a time",
        )
        .into());
    }
    let refuse = |what: &str, remedy: &str| -> Result<Parsed> {
        Err(Refusal::new(Rule::Statement, what, remedy).into())
    };
    for token in &tokens {
        // An alias may be in single quotes.
        if let Token::Word(Word { value, .. }) | Token::SingleQuotedString(value) = token
            && value.to_ascii_lowercase().starts_with(RESERVED)
        {
            return refuse("a name that begins with __demure_", "choose another name");
        }
        let Token::Word(word) = token else { continue };
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("tablesample") {
            return refuse("TABLESAMPLE", "leave it out: sampling is not needed for privacy");
        }
    }
    if words == 0 {
        return Err(Error::Sql("there is no statement; write SELECT …".to_owned()));
    }
    let parsed = state.sql_to_statement(text, &Dialect::PostgreSQL);
    let mut parsed = parsed.map_err(|error| match &error {
        DataFusionError::SQL(error, _) => Error::Sql(syntax(error, begins)),
        other => Error::planning(other),
    })?;
    if let Parsed::Statement(statement) = &mut parsed {
        bare(statement);
        columns::name(statement);
        names.resolve(statement);
        rewrite::statement(statement, Clock::now())?;
        literals::fold(statement);
        limits::statement(statement)?;
    }
    match &parsed {
        Parsed::Statement(statement) => match statement.as_ref() {
            ast::Statement::Query(query) if query.locks.is_empty() => Ok(parsed),
            ast::Statement::Query(_) => refuse("FOR UPDATE", "leave it out: nothing is changed"),
            ast::Statement::Explain { .. } | ast::Statement::ExplainTable { .. } => refuse(
                "EXPLAIN would show statistics of protected tables",
                "write EXPLAIN PRIVACY SELECT …",
            ),
            _ => refuse(
                &only_select(text),
                "write SELECT …, EXPLAIN PRIVACY SELECT … or SET demure.… = …",
            ),
        },
        Parsed::Explain(_) => refuse(
            "EXPLAIN would show statistics of protected tables",
            "write EXPLAIN PRIVACY SELECT …",
        ),
        _ => refuse(
            &only_select(text),
            "write SELECT …, EXPLAIN PRIVACY SELECT … or SET demure.… = …",
        ),
    }
}
