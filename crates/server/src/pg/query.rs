//! Statements, at once or prepared: to the curator, and their rows back.

use super::fault::{error, fatal, info};
use super::formality::{Formality, formality};
use super::{Authenticated, parameters, timeout};
use crate::query_service::{Failure, QueryService};
use crate::visit::turn;
use arrow_pg::datatypes::{arrow_schema_to_pg_fields, encode_recordbatch};
use async_trait::async_trait;
use datafusion::arrow::array::{RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use demure_curator::{Outcome, Settings, statements};
use demure_pg_catalog::{Catalogs, encodable, parameter_text, wire_type};
use futures::{Sink, SinkExt, StreamExt, stream};
use pgwire::api::portal::{Format, Portal};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::results::{FieldFormat, FieldInfo, QueryResponse, Response, Tag};
use pgwire::api::stmt::{QueryParser, StoredStatement};
use pgwire::api::store::{Entry, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, Type};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::extendedquery::{
    Bind, BindComplete, Close, CloseComplete, Execute, Parse, ParseComplete,
    TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::response::NoticeResponse;
use std::fmt::Debug;
use std::sync::Arc;

/// Statements of one connection.
pub(super) struct Statements {
    service: Arc<QueryService>,
    catalogs: Arc<Catalogs>,
    preparer: Arc<Preparer>,
    /// The names of the curator's tables.
    tables: Vec<String>,
}

/// What understands statements before they are asked.
pub(super) struct Preparer {
    service: Arc<QueryService>,
    catalogs: Arc<Catalogs>,
}

/// A statement that is understood.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    sql: String,
    /// Its columns.
    schema: SchemaRef,
    asks: Asks,
}

/// Who answers a statement, and what its parameters are.
#[derive(Clone, Debug)]
enum Asks {
    Curator(Vec<DataType>),
    Catalog(Vec<Type>),
}

/// Rows, or that something is done; and what is said beside it.
struct Reply {
    body: ReplyBody,
    notices: Vec<String>,
}

enum ReplyBody {
    Rows(SchemaRef, Vec<RecordBatch>),
    Begun,
    Ended(&'static str),
    Completed(&'static str),
}

impl Reply {
    fn rows(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { body: ReplyBody::Rows(schema, batches), notices: Vec::new() }
    }

    fn done(body: ReplyBody) -> Self {
        Self { body, notices: Vec::new() }
    }

    /// One column of text.
    fn lines(name: &str, lines: impl IntoIterator<Item = String>) -> PgWireResult<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, false)]));
        let column = Arc::new(StringArray::from_iter_values(lines));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]);
        Ok(Self::rows(schema, vec![batch.map_err(|_| error("58000", "a text"))?]))
    }
}

impl Statements {
    pub(super) fn new(service: Arc<QueryService>, catalogs: Arc<Catalogs>) -> Self {
        let preparer =
            Arc::new(Preparer { service: Arc::clone(&service), catalogs: Arc::clone(&catalogs) });
        let tables = service.curator.tables().into_iter().map(|(name, _)| name).collect();
        Self { service, catalogs, preparer, tables }
    }

    async fn reply(
        &self,
        authenticated: &Authenticated,
        sql: &str,
        values: &[ScalarValue],
    ) -> PgWireResult<Reply> {
        still(&self.service, authenticated)?;
        match timeout::asks(sql) {
            Some(timeout::Asks::Show) => {
                return Reply::lines(
                    "statement_timeout",
                    [timeout::shown(authenticated.timeout.get())],
                );
            }
            Some(timeout::Asks::Set(limit)) => {
                authenticated.timeout.set(limit);
                return Ok(Reply::done(ReplyBody::Completed("SET")));
            }
            Some(timeout::Asks::Reset) => {
                authenticated.timeout.reset();
                return Ok(Reply::done(ReplyBody::Completed("RESET")));
            }
            Some(timeout::Asks::Nonsense(value)) => {
                let what = format!("invalid value for \"statement_timeout\": \"{value}\"");
                return Err(error("22023", what));
            }
            None => {}
        }
        match formality(sql) {
            Some(Formality::Begin) => return Ok(Reply::done(ReplyBody::Begun)),
            Some(Formality::End(word)) => return Ok(Reply::done(ReplyBody::Ended(word))),
            Some(Formality::Nothing(word)) => return Ok(Reply::done(ReplyBody::Completed(word))),
            Some(Formality::Deallocate(_)) => {
                return Ok(Reply::done(ReplyBody::Completed("DEALLOCATE")));
            }
            Some(Formality::Reset(all)) => {
                *authenticated.session.lock().await.settings_mut() = Settings::default();
                authenticated.timeout.reset();
                return Ok(Reply::done(ReplyBody::Completed(if all {
                    "DISCARD ALL"
                } else {
                    "RESET"
                })));
            }
            None => {}
        }
        if values.is_empty()
            && let Some(reply) = self.catalog(authenticated, sql, &[]).await?
        {
            return Ok(reply);
        }
        let mut session = authenticated.session.lock().await;
        let within = authenticated.timeout.get().unwrap_or(self.service.limits.statement_time);
        let asked = self.service.ask_within(&mut session, sql, values, within).await;
        match asked.map_err(|failure| self.service.told(failure, authenticated.role))? {
            Outcome::Answer(answer) => {
                let mut notices = vec![answer.cost_in_words()];
                notices.extend(answer.notes.iter().cloned());
                let answer = *answer;
                Ok(Reply { body: ReplyBody::Rows(answer.schema, answer.batches), notices })
            }
            Outcome::Explanation(explanation) => {
                let lines = explanation.lines().into_iter();
                Reply::lines("explanation", lines.map(|(name, text)| format!("{name:15} {text}")))
            }
            Outcome::Setting(..)
                if sql.trim_start().get(..4).is_none_or(|w| !w.eq_ignore_ascii_case("show")) =>
            {
                Ok(Reply::done(ReplyBody::Completed("SET")))
            }
            Outcome::Setting(name, value) => Reply::lines(&name, [value]),
            _ => Err(error("0A000", "this cannot be shown here")),
        }
    }
}

impl Statements {
    /// Whether a statement names a table of the policy and nothing of `pg_catalog`: then the catalog, which would start
    /// a thread, is not asked. psql's `\d t` names `pg_class`, so it is.
    fn about_tables(&self, sql: &str) -> bool {
        let sql = sql.to_ascii_lowercase();
        let named = |name: &String| sql.contains(&name.to_ascii_lowercase());
        !sql.contains("pg_") && !sql.contains("information_schema") && self.tables.iter().any(named)
    }

    /// What the schema alone answers, without the curator.
    async fn catalog(
        &self,
        authenticated: &Authenticated,
        sql: &str,
        values: &[Option<String>],
    ) -> PgWireResult<Option<Reply>> {
        if self.about_tables(sql) {
            return Ok(None);
        }
        // Its own place before the turn that it has in common with all statements: those that wait
        // for one keep nobody else from running.
        let answered = async {
            let held = (self.catalogs.place().await, turn(&self.service.running).await);
            Ok(authenticated.catalog.answer_holding(sql, values, held).await)
        };
        let within = self.service.limits.statement_time;
        let answered = tokio::time::timeout(within, timed(&self.service, authenticated, answered));
        let answered = answered.await.unwrap_or_else(|_| Err(Failure::TimedOut(within).into()))?;
        match answered {
            None => Ok(None),
            Some(Ok((schema, batches))) => {
                let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
                if rows > self.service.limits.rows {
                    return Err(error("54000", "the answer has too many rows"));
                }
                Ok(Some(Reply::rows(schema, batches)))
            }
            Some(Err(text)) => Err(error("42601", text)),
        }
    }
}

/// Another password, or an account that was disabled, ends the connection.
fn still(service: &QueryService, authenticated: &Authenticated) -> PgWireResult<()> {
    let still = service.users.still(&authenticated.name, authenticated.mark);
    still.map(drop).map_err(|_| fatal("28000", "the account is gone, or has another password"))
}

/// Waits no longer than the session says for what reads no rows; what goes wrong inside is shown to stewards
/// only.
async fn timed<T>(
    service: &QueryService,
    authenticated: &Authenticated,
    work: impl Future<Output = Result<T, Failure>>,
) -> PgWireResult<T> {
    let outcome = match authenticated.timeout.get() {
        Some(within) if within < service.limits.statement_time => {
            tokio::time::timeout(within, work).await.unwrap_or_else(|_| {
                let late = Failure::TimedOut(within);
                service.metrics.asked(within, Some(&late));
                Err(late)
            })
        }
        _ => work.await,
    };
    outcome.map_err(|failure| service.told(failure, authenticated.role).into())
}

/// Who is connected; nobody's statements are looked at.
fn authenticated<C: ClientInfo>(client: &C) -> PgWireResult<Arc<Authenticated>> {
    let authenticated = client.session_extensions().get::<Authenticated>();
    authenticated.ok_or_else(|| fatal("28000", "nobody has signed in"))
}

/// Forgets the prepared statements that `sql` says are not needed any more, if it says so.
fn forget<C>(client: &C, authenticated: &Authenticated, sql: &str)
where
    C: ClientPortalStore,
    C::PortalStore: PortalStore,
{
    let names = match formality(sql) {
        Some(Formality::Deallocate(Some(name))) => {
            authenticated.names.closed_statement(Some(&name));
            [name].into()
        }
        Some(Formality::Deallocate(None) | Formality::Reset(true)) => {
            authenticated.names.closed_all()
        }
        _ => return,
    };
    names.iter().for_each(|name| client.portal_store().rm_statement(name));
}

fn respond(done: ReplyBody, format: &Format) -> PgWireResult<Response> {
    let (schema, batches) = match done {
        ReplyBody::Rows(schema, batches) => (schema, batches),
        ReplyBody::Begun => return Ok(Response::TransactionStart(Tag::new("BEGIN"))),
        ReplyBody::Ended(word) => return Ok(Response::TransactionEnd(Tag::new(word))),
        ReplyBody::Completed(word) => return Ok(Response::Execution(Tag::new(word))),
    };
    let fields = Arc::new(fields(&schema, format)?);
    let rows = batches.into_iter().flat_map({
        let fields = Arc::clone(&fields);
        move |batch| {
            let binary = |column: usize| fields[column].format() == FieldFormat::Binary;
            encode_recordbatch(Arc::clone(&fields), encodable(&batch, binary))
        }
    });
    Ok(Response::Query(QueryResponse::new(fields, stream::iter(rows).boxed())))
}

/// The columns as a client is told of them.
fn fields(schema: &Schema, format: &Format) -> PgWireResult<Vec<FieldInfo>> {
    // A list of formats has one for each column, or the client is mistaken.
    if let Format::Individual(formats) = format
        && formats.len() != schema.fields().len()
    {
        return Err(error("08P01", "as many formats as columns are needed"));
    }
    let told = arrow_schema_to_pg_fields(schema, format, None)?;
    let each = told.into_iter().zip(schema.fields()).enumerate();
    Ok(each
        .map(|(i, (told, field))| match wire_type(field) {
            Some(named) => {
                FieldInfo::new(field.name().clone(), None, None, named, format.format_for(i))
            }
            None => told,
        })
        .collect())
}

async fn notice<C>(client: &mut C, notices: Vec<String>) -> PgWireResult<()>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    for text in notices {
        let notice = NoticeResponse::from(info("NOTICE", "00000", text, None));
        client.feed(PgWireBackendMessage::NoticeResponse(notice)).await?;
    }
    Ok(())
}

#[async_trait]
impl SimpleQueryHandler for Statements {
    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let authenticated = authenticated(client)?;
        let mut responses = Vec::new();
        for statement in statements(query) {
            forget(client, &authenticated, statement);
            match self.reply(&authenticated, statement, &[]).await {
                Ok(reply) => {
                    notice(client, reply.notices).await?;
                    responses.push(respond(reply.body, &Format::UnifiedText)?);
                }
                Err(error) if responses.is_empty() => return Err(error),
                // What was answered before is sent; nothing after it is asked.
                Err(error) => {
                    responses.push(Response::Error(Box::new(error.into())));
                    break;
                }
            }
        }
        if responses.is_empty() {
            responses.push(Response::EmptyQuery);
        }
        Ok(responses)
    }
}

#[async_trait]
impl QueryParser for Preparer {
    type Statement = Prepared;

    async fn parse_sql<C>(
        &self,
        client: &C,
        sql: &str,
        _types: &[Option<Type>],
    ) -> PgWireResult<Option<Prepared>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        let authenticated = authenticated(client)?;
        let [sql] = statements(sql)[..] else {
            return Err(error("42601", "a prepared statement is one statement"));
        };
        let sql = sql.to_owned();
        still(&self.service, &authenticated)?;
        let known = match timeout::asks(&sql) {
            Some(timeout::Asks::Show) => {
                Some(Schema::new(vec![Field::new("statement_timeout", DataType::Utf8, false)]))
            }
            Some(_) => Some(Schema::empty()),
            None => formality(&sql).map(|_| Schema::empty()),
        };
        if let Some(schema) = known {
            let (schema, asks) = (Arc::new(schema), Asks::Curator(Vec::new()));
            return Ok(Some(Prepared { sql, schema, asks }));
        }
        let described = async {
            let held = (self.catalogs.place().await, turn(&self.service.running).await);
            Ok(authenticated.catalog.describe_holding(&sql, held).await)
        };
        let within = self.service.limits.statement_time;
        let described =
            tokio::time::timeout(within, timed(&self.service, &authenticated, described));
        let described =
            described.await.unwrap_or_else(|_| Err(Failure::TimedOut(within).into()))?;
        Ok(Some(match described {
            Some(Ok(told)) => {
                Prepared { sql, schema: told.schema, asks: Asks::Catalog(told.parameters) }
            }
            Some(Err(text)) => return Err(error("42601", text)),
            None => {
                let session = authenticated.session.lock().await;
                let told =
                    timed(&self.service, &authenticated, self.service.describe(&session, &sql))
                        .await?;
                Prepared { sql, schema: told.schema, asks: Asks::Curator(told.parameters) }
            }
        }))
    }

    fn get_parameter_types(&self, statement: &Prepared) -> PgWireResult<Vec<Type>> {
        Ok(match &statement.asks {
            Asks::Curator(types) => types.iter().map(parameters::told).collect(),
            Asks::Catalog(types) => types.clone(),
        })
    }

    fn get_result_schema(
        &self,
        statement: &Prepared,
        format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        fields(&statement.schema, format.unwrap_or(&Format::UnifiedText))
    }
}

#[async_trait]
impl ExtendedQueryHandler for Statements {
    type Statement = Prepared;
    type QueryParser = Preparer;

    fn query_parser(&self) -> Arc<Preparer> {
        Arc::clone(&self.preparer)
    }

    async fn on_parse<C>(&self, client: &mut C, message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        authenticated(client)?.names.statement(message.name.as_deref())?;
        let statement = StoredStatement::parse(client, &message, self.query_parser()).await?;
        match statement {
            Some(statement) => client.portal_store().put_statement(Arc::new(statement)),
            None => {
                let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
                client.portal_store().put_empty_statement(name);
            }
        }
        client.send(PgWireBackendMessage::ParseComplete(ParseComplete::new())).await?;
        Ok(())
    }

    async fn on_bind<C>(&self, client: &mut C, message: Bind) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if let Some(oldest) = authenticated(client)?.names.portal(message.portal_name.as_deref())? {
            client.portal_store().rm_portal(&oldest);
        }
        let name = message.statement_name.as_deref().unwrap_or(DEFAULT_NAME);
        match client.portal_store().get_statement(name) {
            Some(Entry::Value(statement)) => {
                let portal = Portal::try_new(&message, statement)?;
                client.portal_store().put_portal(Arc::new(portal));
            }
            Some(Entry::Empty) if message.parameters.is_empty() => {
                let name = message.portal_name.as_deref().unwrap_or(DEFAULT_NAME);
                client.portal_store().put_empty_portal(name);
            }
            Some(Entry::Empty) => return Err(error("08P01", "0 parameters are needed")),
            None => return Err(error("26000", "no statement of this name is prepared")),
        }
        client.send(PgWireBackendMessage::BindComplete(BindComplete::new())).await?;
        Ok(())
    }

    async fn on_close<C>(&self, client: &mut C, message: Close) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref();
        match message.target_type {
            TARGET_TYPE_BYTE_STATEMENT => {
                authenticated(client)?.names.closed_statement(name);
                client.portal_store().rm_statement(name.unwrap_or(DEFAULT_NAME));
            }
            TARGET_TYPE_BYTE_PORTAL => {
                client.portal_store().rm_portal(name.unwrap_or(DEFAULT_NAME));
            }
            _ => return Err(error("08P01", "a statement or a portal can be closed")),
        }
        client.send(PgWireBackendMessage::CloseComplete(CloseComplete::new())).await?;
        Ok(())
    }

    async fn on_execute<C>(&self, client: &mut C, mut message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // The wire makes room for as many rows as are asked for: so not for more than there can be.
        if usize::try_from(message.max_rows).is_ok_and(|rows| rows > 10_000) || message.max_rows < 0
        {
            message.max_rows = 0;
        }
        self._on_execute(client, message).await
    }

    async fn do_query<C>(
        &self,
        client: &mut C,
        portal: &Portal<Prepared>,
        _max_rows: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let authenticated = authenticated(client)?;
        let prepared = &portal.statement.statement;
        forget(client, &authenticated, &prepared.sql);
        let reply = match &prepared.asks {
            Asks::Curator(wanted) => {
                let values = values(portal, wanted)?;
                self.reply(&authenticated, &prepared.sql, &values).await?
            }
            Asks::Catalog(types) => {
                let values = texts(portal, types)?;
                let reply = self.catalog(&authenticated, &prepared.sql, &values).await?;
                reply.ok_or_else(|| error("0A000", "the catalog has changed; prepare again"))?
            }
        };
        notice(client, reply.notices).await?;
        let done = match reply.body {
            ReplyBody::Rows(schema, batches) => as_described(prepared, schema, batches)?,
            other => other,
        };
        respond(done, &portal.result_column_format)
    }
}

/// As many values, with as many formats, as the statement has parameters.
fn counted(portal: &Portal<Prepared>, wanted: usize) -> PgWireResult<()> {
    let formats = match &portal.parameter_format {
        Format::Individual(formats) => formats.len(),
        _ => portal.parameters.len(),
    };
    match portal.parameters.len() == wanted && formats == wanted {
        true => Ok(()),
        false => Err(error("08P01", format!("{wanted} parameters are needed"))),
    }
}

/// The type that the client said a parameter has, if it said one.
fn stated(portal: &Portal<Prepared>, i: usize) -> Option<Type> {
    let stated = portal.statement.parameter_types.get(i).cloned().flatten();
    stated.filter(|t| t.oid() != 0 && *t != Type::UNKNOWN)
}

/// The values of a portal's parameters for the catalog, as text.
fn texts(portal: &Portal<Prepared>, types: &[Type]) -> PgWireResult<Vec<Option<String>>> {
    counted(portal, types.len())?;
    let each = portal.parameters.iter().zip(types).enumerate();
    each.map(|(i, (bytes, told))| {
        let Some(bytes) = bytes else { return Ok(None) };
        let text = if portal.parameter_format.is_binary(i) {
            let oid = stated(portal, i).unwrap_or_else(|| told.clone()).oid();
            parameter_text(oid, bytes)
        } else {
            String::from_utf8(bytes.to_vec()).map_err(|_| "a text that is not UTF-8".to_owned())
        };
        text.map(Some).map_err(|text| error("22P02", text))
    })
    .collect()
}

/// The values of a portal's parameters for the curator.
fn values(portal: &Portal<Prepared>, wanted: &[DataType]) -> PgWireResult<Vec<ScalarValue>> {
    counted(portal, wanted.len())?;
    let each = portal.parameters.iter().zip(wanted).enumerate();
    each.map(|(i, (bytes, wanted))| {
        let stated = stated(portal, i).unwrap_or_else(|| parameters::told(wanted));
        parameters::value(bytes.as_deref(), portal.parameter_format.is_binary(i), &stated, wanted)
    })
    .collect()
}

/// The rows with the columns that the client was told of before.
fn as_described(
    prepared: &Prepared,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PgWireResult<ReplyBody> {
    let told = &prepared.schema;
    let types = |schema: &Schema| -> Vec<DataType> {
        schema.fields().iter().map(|field| field.data_type().clone()).collect()
    };
    if types(told) == types(&schema) {
        return Ok(ReplyBody::Rows(schema, batches));
    }
    let changed = || error("0A000", "the columns are not those that were described; prepare again");
    if told.fields().len() != schema.fields().len() {
        return Err(changed());
    }
    let recast = batches.into_iter().map(|batch| {
        let columns = batch.columns().iter().zip(told.fields());
        let columns = columns.map(|(column, field)| cast(column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|_| changed())?;
        RecordBatch::try_new(Arc::clone(told), columns).map_err(|_| changed())
    });
    Ok(ReplyBody::Rows(Arc::clone(told), recast.collect::<PgWireResult<_>>()?))
}
