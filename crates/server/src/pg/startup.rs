//! Being let in: SCRAM-SHA-256, bound to the TLS channel where there is one.
//!
//! # Guarantee
//! [`Authenticated`] is kept with a connection after a proof that fits, and by nothing else; every
//! handler of statements asks for it. Whatever goes wrong before is fatal. Whether a name is
//! locked is decided when its proof is judged, not when the exchange begins.

use super::fault::fatal;
use super::frame::is_sasl_opening;
use super::names::Names;
use super::timeout::Timeout;
use super::{Authenticated, Shared};
use crate::places::Place;
use crate::query_service::QueryService;
use crate::scram::{Channel, Exchange, base64};
use crate::users::{self, Mark, User, Users, random};
use async_trait::async_trait;
use bytes::Bytes;
use demure_pg_catalog::{Catalog, Catalogs, SERVER_VERSION};
use futures::{Sink, SinkExt};
use pgwire::api::auth::{
    DefaultServerParameterProvider, StartupHandler, finish_authentication, protocol_negotiation,
    save_startup_parameters_to_metadata,
};
use pgwire::api::{
    ClientInfo, ConnectionManager, METADATA_DATABASE, METADATA_USER, PgWireConnectionState,
    PidSecretKeyGenerator, RandomPidSecretKeyGenerator,
};
use pgwire::error::{ErrorInfo, PgWireError, PgWireResult};
use pgwire::messages::startup::{Authentication, PasswordMessageFamily};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use tokio::sync::Mutex;

const PLAIN: &str = "SCRAM-SHA-256";
const BOUND: &str = "SCRAM-SHA-256-PLUS";

/// The startup of one connection.
pub(super) struct Startup {
    service: Arc<QueryService>,
    binding: Option<Arc<[u8]>>,
    manager: Arc<ConnectionManager>,
    catalogs: Arc<Catalogs>,
    place: Arc<Place>,
    step: Mutex<Step>,
}

enum Step {
    Begin,
    /// Mechanisms were offered.
    Offered,
    /// The server's nonce and salt were sent.
    Challenged(Box<Exchange>),
    Done,
}

impl Startup {
    pub(super) fn new(shared: &Shared, place: Arc<Place>) -> Self {
        Self {
            service: Arc::clone(&shared.service),
            binding: shared.encryption.tls().and_then(|tls| tls.binding.clone()),
            manager: Arc::clone(&shared.manager),
            catalogs: Arc::clone(&shared.catalogs),
            place,
            step: Mutex::new(Step::Begin),
        }
    }

    /// The binding, where the client could use it.
    fn binding(&self, client: &impl ClientInfo) -> Option<&Arc<[u8]>> {
        self.binding.as_ref().filter(|_| client.is_secure())
    }

    async fn next<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let mut step = self.step.lock().await;
        match (std::mem::replace(&mut *step, Step::Done), message) {
            (Step::Begin, PgWireFrontendMessage::Startup(startup)) => {
                protocol_negotiation(client, &startup).await?;
                save_startup_parameters_to_metadata(client, &startup);
                client.set_state(PgWireConnectionState::AuthenticationInProgress);
                let bound = self.binding(client).map(|_| BOUND.to_owned());
                let offered = bound.into_iter().chain([PLAIN.to_owned()]).collect();
                say(client, Authentication::SASL(offered)).await?;
                *step = Step::Offered;
            }
            (Step::Offered, PgWireFrontendMessage::PasswordMessageFamily(message)) => {
                let (exchange, first) = self.challenge(client, message).await?;
                say(client, Authentication::SASLContinue(first.into())).await?;
                *step = Step::Challenged(Box::new(exchange));
            }
            (Step::Challenged(exchange), PgWireFrontendMessage::PasswordMessageFamily(message)) => {
                let proof = message.into_sasl_response()?;
                let (user, mark, last) = self.judged(client, *exchange, proof.data).await?;
                self.check_database(client)?;
                if !self.place.belongs_to(&user.name) {
                    let what = "this account has as many connections as it may";
                    return Err(fatal("53300", what));
                }
                say(client, Authentication::SASLFinal(last.into())).await?;
                self.enter(client, user, mark).await?;
            }
            _ => return Err(fatal("08P01", "this message does not belong here")),
        }
        Ok(())
    }

    async fn challenge(
        &self,
        client: &impl ClientInfo,
        message: PasswordMessageFamily,
    ) -> PgWireResult<(Exchange, String)> {
        if let PasswordMessageFamily::Raw(body) = &message
            && !is_sasl_opening(body)
        {
            return Err(fatal("08P01", "the message is malformed"));
        }
        let first = message.into_sasl_initial_response()?;
        let binding = self.binding(client);
        let channel = match (first.auth_method.as_str(), binding) {
            (BOUND, Some(binding)) => Channel::Bound(binding),
            (PLAIN, Some(_)) => Channel::Unbound,
            (PLAIN, None) => Channel::Plain,
            _ => return Err(fatal("28000", "this kind of authentication was not offered")),
        };
        let (name, from) = (name_of(client), client.socket_addr().ip());
        self.service.users.may_try(&name, Some(from)).map_err(|error| self.throttled(&error))?;
        let verifier = self.apart(move |users| users.verifier(&name)).await?;
        let verifier = verifier.map_err(|_| unreadable())?;
        let nonce = base64::encode(&random().map_err(|_| unreadable())?);
        let data = first.data.unwrap_or_default();
        Exchange::begin(&data, verifier, channel, &nonce)
            .map_err(|refused| fatal("28000", refused.to_string()))
    }

    /// Who was let in, and the server's own proof.
    async fn judged(
        &self,
        client: &impl ClientInfo,
        exchange: Exchange,
        proof: Bytes,
    ) -> PgWireResult<(User, Mark, String)> {
        let (name, address) = (name_of(client), client.socket_addr().ip());
        let claimed = name.clone();
        let key = exchange.stored_key();
        let last = exchange.finish(&proof).ok();
        let proved = last.is_some();
        let judge = move |users: &Users| {
            let from = address.to_string();
            users.judge(&claimed, proved.then_some(&key), &from, Some(address))
        };
        match (self.apart(judge).await?, last) {
            (Ok((user, mark)), Some(last)) => Ok((user, mark, last)),
            (Err(users::Error::Denied) | Ok(_), _) => {
                self.service.metrics.denied();
                Err(wrong(&name))
            }
            (Err(error @ users::Error::Throttled), _) => Err(self.throttled(&error)),
            (Err(_), _) => Err(unreadable()),
        }
    }

    fn throttled(&self, error: &users::Error) -> PgWireError {
        self.service.metrics.denied();
        fatal("28000", error.to_string())
    }

    /// Something with the accounts, which may wait for a disk.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Users) -> T + Send + 'static,
    ) -> PgWireResult<T> {
        let users = self.service.users.clone();
        let done = tokio::task::spawn_blocking(move || work(&users)).await;
        done.map_err(|_| unreadable())
    }

    /// There is one database here.
    fn check_database(&self, client: &impl ClientInfo) -> PgWireResult<()> {
        match client.metadata().get(METADATA_DATABASE) {
            Some(asked) if *asked != self.service.name && *asked != name_of(client) => {
                let ours = &self.service.name;
                Err(fatal(
                    "3D000",
                    format!("there is no database \"{asked}\" here, but \"{ours}\""),
                ))
            }
            _ => Ok(()),
        }
    }

    async fn enter<C>(&self, client: &mut C, user: User, mark: Mark) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        static NUMBERS: OnceLock<RandomPidSecretKeyGenerator> = OnceLock::new();
        let numbers = NUMBERS.get_or_init(RandomPidSecretKeyGenerator::default);
        let (pid, key) = numbers.generate(client);
        client.set_pid_and_secret_key(pid, key.clone());
        let (handle, guard) = self.manager.register(pid, key);
        let session = Mutex::new(self.service.curator.session(user.name.clone()));
        let kept = client.session_extensions();
        kept.insert(handle);
        kept.insert(guard);
        let catalog = self.catalogs.of(&user.name, || {
            Catalog::new(
                &self.service.name,
                &user.name,
                &super::tables::described(&self.service.curator),
            )
        });
        kept.insert(Authenticated {
            name: user.name,
            role: user.role,
            mark,
            session,
            catalog,
            names: Names::default(),
            timeout: Timeout::of(client.metadata()),
        });
        let mut parameters = DefaultServerParameterProvider::default();
        parameters.server_version = SERVER_VERSION.to_owned();
        parameters.is_superuser = false;
        parameters.default_transaction_read_only = true;
        finish_authentication(client, &parameters).await
    }
}

fn name_of(client: &impl ClientInfo) -> String {
    client.metadata().get(METADATA_USER).cloned().unwrap_or_default()
}

fn unreadable() -> PgWireError {
    fatal("58000", "the accounts cannot be read")
}

fn wrong(name: &str) -> PgWireError {
    fatal("28P01", format!("password authentication failed for user \"{name}\""))
}

async fn say<C>(client: &mut C, message: Authentication) -> PgWireResult<()>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    client.send(PgWireBackendMessage::Authentication(message)).await?;
    Ok(())
}

#[async_trait]
impl StartupHandler for Startup {
    async fn on_startup<C>(
        &self,
        client: &mut C,
        message: PgWireFrontendMessage,
    ) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        self.next(client, message).await.map_err(|error| {
            let mut info = ErrorInfo::from(error);
            info.severity = "FATAL".to_owned();
            PgWireError::UserError(Box::new(info))
        })
    }
}
