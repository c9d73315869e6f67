//! Answers what clients ask a PostgreSQL server about itself: `pg_catalog`, `information_schema` and the functions
//! around them, from the schema alone.
//!
//! psql's `\d`, drivers that fetch types, SQLAlchemy's inspector and JDBC's metadata all use SQL that is specific to
//! PostgreSQL: correlated subqueries in the SELECT list, arrays, `regclass`, set-returning functions. A planner made
//! for data refuses much of that, so the catalog has its own interpreter: `bind` gives every name a position and every
//! expression a type, `run` joins rows from left to right, `evaluate` computes expressions.
//!
//! `demure-server` asks it (`server/src/pg/query.rs`) and describes the tables to it (`server/src/pg/tables.rs`).
//!
//! | file | what |
//! |---|---|
//! | `statement.rs` | decides whether a statement is about the catalog, and answers it |
//! | `scope.rs`, `names.rs`, `bind.rs`, `from.rs`, `expression.rs`, `operators.rs`, `slots.rs`, `plan.rs`, `label.rs` | names and types: from the syntax to a plan |
//! | `run.rs`, `evaluate.rs`, `functions.rs`, `text_functions.rs`, `value.rs` | rows and values |
//! | `content.rs`, `relations.rs`, `types.rs`, `settings.rs` and `*.txt` | the rows of the catalog |
//! | `output.rs`, `parameter.rs` | to and from the wire's types |
//!
//! # What it cannot do
//! - See a row of a table: it is given names and types, and this crate depends on no other of the workspace
//!   (`cargo xtask layers` checks it).
//! - Read a file, wait, write or remember: no function here does (`functions`).
//! - Run away: a statement has a bounded size and a bounded number of steps, each of which makes a bounded amount of
//!   data; it ends when no one waits for it any more, and only a few run at once (`Catalogs::place`).
//!
//! So it needs no budget, and everyone who may connect may ask it everything.

mod bind;
mod content;
mod evaluate;
mod expression;
mod from;
mod functions;
mod label;
mod names;
mod operators;
mod output;
mod parameter;
mod plan;
mod relations;
mod run;
mod scope;
mod settings;
mod slots;
mod statement;
mod text_functions;
mod types;
mod value;

pub use output::{PG_TYPE, encodable, wire_type};
pub use parameter::parameter_text;
pub use settings::SERVER_VERSION;

use content::{OWNER, OWNER_OID};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use pgwire::api::Type;
use relations::Relations;
use sha2::{Digest, Sha256};
use statement::Statement;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use types::Oid;

/// A table as the catalog shows it.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// Its name in `public`.
    pub name: String,
    /// Each column's name, type, and whether it may be NULL.
    pub columns: Vec<(String, DataType, bool)>,
    /// Its comment.
    pub comment: Option<String>,
}

/// The parameters and columns of a statement.
#[derive(Clone, Debug)]
pub struct Description {
    /// The types of `$1`, `$2`, ….
    pub parameters: Vec<Type>,
    /// The columns of the answer; see [`wire_type`].
    pub schema: SchemaRef,
}

/// Answers from the schema alone. Cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    inner: Arc<Inner>,
}

/// The catalogs of all connected accounts: one per account, however many connections it has, because its rows take a
/// few megabytes.
#[derive(Debug)]
pub struct Catalogs {
    by_user: Mutex<HashMap<String, Weak<Inner>>>,
    running: Arc<Semaphore>,
}

impl Default for Catalogs {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { by_user: Mutex::default(), running: Arc::new(Semaphore::new(cores.min(MOST))) }
    }
}

/// The largest number of concurrent catalog statements: each computes for at most a second, and takes at most about
/// 150 megabytes.
const MOST: usize = 4;

impl Catalogs {
    /// Waits for a slot for one statement; it is free again when the permit is dropped.
    pub async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.running).acquire_owned().await.ok()
    }

    /// The account's catalog: that of another connection, or a new one.
    pub fn of(&self, user: &str, make: impl FnOnce() -> Catalog) -> Catalog {
        // A thread that panicked left at most one that is not used.
        let mut known = self.by_user.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = known.get(user).and_then(Weak::upgrade) {
            return Catalog { inner };
        }
        known.retain(|_, inner| inner.strong_count() > 0);
        let catalog = make();
        known.insert(user.to_owned(), Arc::downgrade(&catalog.inner));
        catalog
    }
}

/// The catalog's rows.
pub(crate) struct Inner {
    pub(crate) schema: Schema,
    pub(crate) relations: Relations,
}

/// The schema from which the rows are made.
pub(crate) struct Schema {
    pub(crate) database: String,
    pub(crate) database_oid: Oid,
    pub(crate) user: String,
    pub(crate) user_oid: Oid,
    pub(crate) tables: BTreeMap<String, TableOids>,
}

/// The object identifiers of a table.
#[derive(Clone, Copy, Default)]
pub(crate) struct TableOids {
    pub(crate) table: Oid,
    /// The type of its rows.
    pub(crate) row: Oid,
    /// The type of arrays of them.
    pub(crate) array: Oid,
}

impl Schema {
    fn new(database: &str, user: &str, tables: &[TableInfo]) -> Self {
        let mut taken = HashSet::new();
        let mut oid = |kind: &str, name: &str| stable_oid(&mut taken, kind, name);
        let names: BTreeSet<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let mut oids = |name: &str| TableOids {
            table: oid("table", name),
            row: oid("row", name),
            array: oid("array", name),
        };
        let tables = names.into_iter().map(|name| (name.to_owned(), oids(name))).collect();
        let user_oid = if user == OWNER { OWNER_OID } else { oid("role", user) };
        let database_oid = oid("database", database);
        Self {
            database: database.to_owned(),
            database_oid,
            user: user.to_owned(),
            user_oid,
            tables,
        }
    }

    pub(crate) fn table(&self, name: &str) -> TableOids {
        self.tables.get(name).copied().unwrap_or_default()
    }

    /// The roles with their identifiers: the owner, and the connected user.
    pub(crate) fn roles(&self) -> Vec<(&str, Oid)> {
        let mut roles = vec![(OWNER, OWNER_OID)];
        if self.user_oid != OWNER_OID {
            roles.push((&self.user, self.user_oid));
        }
        roles
    }
}

/// An identifier in PostgreSQL's range for users' objects that depends on the name alone, so that it is the same in
/// every session. If two names collide, the later one gets the next free identifier.
fn stable_oid(taken: &mut HashSet<Oid>, kind: &str, name: &str) -> Oid {
    const FIRST: Oid = 16_384;
    // Clients and Arrow keep them in 32 signed bits.
    const RANGE: Oid = i32::MAX as Oid - FIRST;
    let hash = Sha256::digest(format!("{kind}\0{name}"));
    let mut oid = FIRST + u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) % RANGE;
    while !taken.insert(oid) {
        oid = FIRST + (oid - FIRST + 1) % RANGE;
    }
    oid
}

impl Catalog {
    /// The catalog of a database for a user.
    #[must_use]
    pub fn new(database: &str, user: &str, tables: &[TableInfo]) -> Self {
        let schema = Schema::new(database, user, tables);
        let relations = content::fill(&schema, tables);
        Self { inner: Arc::new(Inner { schema, relations }) }
    }

    /// Answers a statement if it concerns the catalog alone: if every relation it reads belongs to `pg_catalog` or
    /// `information_schema`, or if it reads none and calls only their functions. Otherwise `None`: the statement is
    /// for the curator. The parameters are in text form, as [`parameter_text`] makes them.
    pub async fn answer(
        &self,
        sql: &str,
        parameters: &[Option<String>],
    ) -> Option<Result<(SchemaRef, Vec<RecordBatch>), String>> {
        self.answer_holding(sql, parameters, ()).await
    }

    /// The same; `held` is dropped when the statement has stopped running, which may be after the caller has stopped
    /// waiting.
    pub async fn answer_holding(
        &self,
        sql: &str,
        parameters: &[Option<String>],
        held: impl Send + 'static,
    ) -> Option<Result<(SchemaRef, Vec<RecordBatch>), String>> {
        let (sql, parameters) = (sql.to_owned(), parameters.to_vec());
        let work = move |inner: &Inner, cancelled: &AtomicBool| {
            let _held = held;
            ours(inner, &sql, |statement| statement.answer(inner, &parameters, cancelled))
        };
        self.apart(work).await
    }

    /// The parameters and columns of a statement, if it concerns the catalog.
    pub async fn describe(&self, sql: &str) -> Option<Result<Description, String>> {
        self.describe_holding(sql, ()).await
    }

    /// The same; `held` as for [`Self::answer_holding`].
    pub async fn describe_holding(
        &self,
        sql: &str,
        held: impl Send + 'static,
    ) -> Option<Result<Description, String>> {
        let sql = sql.to_owned();
        let work = move |inner: &Inner, _: &AtomicBool| {
            let _held = held;
            ours(inner, &sql, |statement| statement.describe(inner))
        };
        self.apart(work).await
    }

    /// Runs something on a separate thread, with a stack that is large enough for a deeply nested statement. The
    /// caller may stop waiting for it at any time, and then it ends soon.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner, &AtomicBool) -> Option<Result<T, String>> + Send + 'static,
    ) -> Option<Result<T, String>> {
        const STACK: usize = 64 << 20;
        let inner = Arc::clone(&self.inner);
        let waiting = Waiting::default();
        let cancelled = Arc::clone(&waiting.cancelled);
        let (send, receive) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new().name("catalog".to_owned()).stack_size(STACK);
        let started = thread.spawn(move || {
            // The caller may be gone.
            let _ = send.send(work(&inner, &cancelled));
        });
        match started {
            Ok(_) => receive.await.unwrap_or_else(|_| Some(Err("the catalog failed".to_owned()))),
            Err(_) => Some(Err("the catalog is busy; try again".to_owned())),
        }
    }
}

/// A caller that waits for a statement. Dropping it cancels the statement.
#[derive(Default)]
struct Waiting {
    cancelled: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Handles a statement if it belongs to the catalog. A statement without relations or functions of the catalog that
/// fails here, because it uses more than the catalog supports, does not.
fn ours<T>(
    inner: &Inner,
    sql: &str,
    work: impl FnOnce(&Statement) -> Result<T, String>,
) -> Option<Result<T, String>> {
    match Statement::read(inner, sql)? {
        Ok(statement) => match work(&statement) {
            Err(_) if !statement.is_certain() => None,
            done => Some(done),
        },
        Err(error) => Some(Err(error)),
    }
}
