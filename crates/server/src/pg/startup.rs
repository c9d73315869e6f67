//! Being let in: SCRAM-SHA-256, bound to the TLS channel where there is one.
//!
//! # Guarantee
//! [`Entered`] is kept with a connection after a proof that fits, and by nothing else; every
//! handler of statements asks for it. Whatever goes wrong before is fatal.

use super::Entered;
use super::catalog::{Catalog, Catalogs, SERVER_VERSION, TableInfo};
use super::fault::fatal;
use super::names::Names;
use crate::desk::Desk;
use crate::scram::{Channel, Exchange, base64};
use crate::users::{User, random};
use async_trait::async_trait;
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
    desk: Arc<Desk>,
    binding: Option<Arc<[u8]>>,
    manager: Arc<ConnectionManager>,
    catalogs: Arc<Catalogs>,
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
    pub(super) fn new(
        desk: Arc<Desk>,
        binding: Option<Arc<[u8]>>,
        manager: Arc<ConnectionManager>,
        catalogs: Arc<Catalogs>,
    ) -> Self {
        Self { desk, binding, manager, catalogs, step: Mutex::new(Step::Begin) }
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
                let name = name_of(client);
                let from = client.socket_addr().ip().to_string();
                let Ok(last) = exchange.finish(&proof.data) else {
                    self.turn_away(&name, from).await;
                    return Err(wrong(&name));
                };
                let user = self.admit(&name, from).await?;
                self.check_database(client)?;
                say(client, Authentication::SASLFinal(last.into())).await?;
                self.enter(client, user).await?;
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
        let first = message.into_sasl_initial_response()?;
        let binding = self.binding(client);
        let channel = match (first.auth_method.as_str(), binding) {
            (BOUND, Some(binding)) => Channel::Bound(binding),
            (PLAIN, Some(_)) => Channel::Unbound,
            (PLAIN, None) => Channel::Plain,
            _ => return Err(fatal("28000", "this kind of authentication was not offered")),
        };
        let failed = |_| fatal("58000", "the accounts cannot be read");
        let verifier = self.desk.users.verifier(&name_of(client)).map_err(failed)?;
        let nonce = base64::encode(&random().map_err(failed)?);
        let data = first.data.unwrap_or_default();
        Exchange::begin(&data, verifier, channel, &nonce)
            .map_err(|refused| fatal("28000", refused.to_string()))
    }

    async fn admit(&self, name: &str, from: String) -> PgWireResult<User> {
        let (users, name) = (self.desk.users.clone(), name.to_owned());
        let admitted = tokio::task::spawn_blocking(move || (users.admitted(&name, &from), name));
        match admitted.await {
            Ok((Ok(user), _)) => Ok(user),
            Ok((Err(_), name)) => Err(wrong(&name)),
            Err(_) => Err(fatal("58000", "the accounts cannot be read")),
        }
    }

    async fn turn_away(&self, name: &str, from: String) {
        let (users, name) = (self.desk.users.clone(), name.to_owned());
        self.desk.metrics.denied();
        // Whether or not it could be recorded, nobody is let in.
        let _ = tokio::task::spawn_blocking(move || users.turned_away(&name, &from)).await;
    }

    /// There is one database here.
    fn check_database(&self, client: &impl ClientInfo) -> PgWireResult<()> {
        match client.metadata().get(METADATA_DATABASE) {
            Some(asked) if *asked != self.desk.name && *asked != name_of(client) => {
                let ours = &self.desk.name;
                Err(fatal(
                    "3D000",
                    format!("there is no database \"{asked}\" here, but \"{ours}\""),
                ))
            }
            _ => Ok(()),
        }
    }

    async fn enter<C>(&self, client: &mut C, user: User) -> PgWireResult<()>
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
        let session = Mutex::new(self.desk.curator.session(user.name.clone()));
        let kept = client.session_extensions();
        kept.insert(handle);
        kept.insert(guard);
        let catalog = self.catalogs.of(&user.name, || {
            Catalog::new(&self.desk.name, &user.name, &TableInfo::of(&self.desk.curator))
        });
        kept.insert(Entered { name: user.name, session, catalog, names: Names::default() });
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
