//! The PostgreSQL wire from outside, on real connections of this machine: what strangers can take,
//! who is let in, what members can take, and a flood of malformed messages.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod flood;
mod members;
mod strangers;
mod tools;

use client::{Client, PASSWORD};
use demure_curator::Curator;
use demure_curator::policy::Policy;
use demure_server::pg::{self, Encryption};
use demure_server::{Limits, QueryService, Role, Users};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// All that may be spent.
const EPSILON: f64 = 1e6;

const POLICY: &str = "[budget]\nepsilon = 1e6\nper_query = 0.1\n[tables.t]\nsource = \"t.csv\"\n\
    unit = \"id\"\n[tables.t.columns]\nx = { type = \"integer\", bounds = [0, 9] }\n";

/// A server with one table, an analyst and a steward.
struct Server {
    /// Where statements run.
    queries: Runtime,
    /// Where connections are accepted and people let in.
    front: Runtime,
    service: Arc<QueryService>,
    address: SocketAddr,
    _stop: watch::Sender<bool>,
    folder: tempfile::TempDir,
}

impl Server {
    fn new(limits: Limits) -> Self {
        Self::with(limits, Encryption::None)
    }

    fn with(limits: Limits, encryption: Encryption) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (0..50).map(|i| format!("{i},{}\n", i % 9)).collect();
        std::fs::write(folder.path().join("t.csv"), format!("id,x\n{rows}")).unwrap();
        let policy = Policy::parse(POLICY, folder.path()).unwrap();
        let queries = threads(2);
        let curator = queries.block_on(Curator::in_memory(policy)).unwrap();
        Self::of(curator, folder, queries, limits, encryption)
    }

    fn of(
        curator: Arc<Curator>,
        folder: tempfile::TempDir,
        queries: Runtime,
        limits: Limits,
        encryption: Encryption,
    ) -> Self {
        let users = Users::in_memory().unwrap();
        users.add("test", "ana", Role::Analyst, PASSWORD).unwrap();
        users.add("test", "sam", Role::Steward, PASSWORD).unwrap();
        let service =
            queries.block_on(async { QueryService::new(curator, users, "clinic", limits) });
        let front = threads(2);
        let listener = front.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        front.spawn(pg::serve(listener, encryption, Arc::clone(&service), stopped));
        Self { queries, front, service, address, _stop: stop, folder }
    }

    /// Runs a test that waits.
    fn run<T>(&self, test: impl Future<Output = T>) -> T {
        let within = async { tokio::time::timeout(Duration::from_secs(120), test).await };
        threads(2).block_on(within).unwrap()
    }

    async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Somebody who is let in.
    async fn member(&self, name: &str) -> Client {
        let mut client = self.connect().await;
        client.sign_in(name, PASSWORD).await.unwrap();
        client
    }
}

fn threads(count: usize) -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(count).thread_stack_size(8 << 20).enable_all().build().unwrap()
}

/// Bytes that this process has in memory: the server's and the test's.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}
