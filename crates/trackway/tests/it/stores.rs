//! A server gets its store from the program and knows no particular store.

use std::{net::SocketAddr, sync::Arc};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use trackway::{ApiKeys, Auth, McpOptions, NewKey};
use trackway_domain::{Caller, Scopes, StateName};
use trackway_ports::{
    FaultInjector, InProcessWakeups, Journal, KeyDocumentName, KeyStore as _, LeaseMode, OpenStoreError,
    PortFuture, RunFilter, Store, StoreOpener,
};
use trackway_runtime::SubmitRunRequest;
use trackway_testkit::{MemoryAuditLog, MemoryJournal, MemoryKeys};

use crate::support::Probe;

workflow!(Echo, "echo", |_probe, _ctx, input: Value| -> Value { Ok(input) });

/// A store from another author.
#[derive(Debug, Clone, Default)]
struct ForeignStore(MemoryJournal, MemoryKeys);

impl StoreOpener for ForeignStore {
    fn open_store(&self, _faults: Arc<dyn FaultInjector>) -> PortFuture<'_, Result<Store, OpenStoreError>> {
        Box::pin(async {
            Ok(Store {
                journal: Arc::new(self.0.reopen_as_next_process()),
                blobs: Arc::new(self.0.blob_store()),
                artifacts: Arc::new(self.0.reopen_as_next_process()),
                keys: Arc::new(self.1.clone()),
                audit: Arc::new(MemoryAuditLog::default()),
                lease: LeaseMode::Renewed(std::time::Duration::from_secs(30)),
                wakeups: Some(Arc::new(InProcessWakeups::default())),
            })
        })
    }

    fn open_journal_read_only(&self) -> PortFuture<'_, Result<Arc<dyn Journal>, OpenStoreError>> {
        Box::pin(async { Ok(Arc::new(self.0.reopen_as_next_process()) as Arc<dyn Journal>) })
    }
}

/// Proves X3: the embedded store is only the default.
#[tokio::test]
async fn a_server_keeps_its_runs_in_the_store_it_is_given() {
    let (store, folder) = (ForeignStore::default(), tempfile::tempdir().unwrap());
    let server = || trackway::Server::new().workflow(Echo(Probe::new())).data(folder.path());
    let (runtime, held) = server().store(store.clone()).start_engine().await.unwrap();
    let submit = SubmitRunRequest::new("echo", Value::from(7), Caller::local_without_auth());
    let view = runtime.submit_run(submit).await.unwrap().view;
    let ended = runtime.wait_until_run_idle(view).await.unwrap();
    assert_eq!(ended.state, StateName::Completed);
    held.close_engine().await;
    let journal = store.0.reopen_as_next_process();
    assert_eq!(journal.list_runs(RunFilter::default(), None, 9).await.unwrap().len(), 1);
    assert!(!folder.path().join("trackway.db").exists(), "the folder has no database");
    assert!(server().store(store).replay_check().await.unwrap().is_empty());
}

/// Proves X3, X6: so are its keys. A key works from the moment it is made until it is revoked.
#[tokio::test]
async fn a_server_uses_the_keys_of_the_store_it_is_given() {
    let (store, folder) = (ForeignStore::default(), tempfile::tempdir().unwrap());
    let server = trackway::Server::new().workflow(Echo(Probe::new())).data(folder.path());
    let server = server.auth(Auth::new().required()).mcp(McpOptions::new()).store(store.clone());
    let bound = server.listen("127.0.0.1:0").bind().await.unwrap();
    let address = bound.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve_until(async move { stopped.await.unwrap_or_default() }));
    let keys = ApiKeys::in_store(Arc::new(store.1.clone()));
    let new =
        NewKey { id: None, caller: Caller::new("acme", "ann"), scopes: Scopes::all_workflows_and_agents() };
    let (secret, stored) = keys.create(new).await.unwrap();
    assert_eq!(status_of_list(address, secret.expose_secret()).await, "HTTP/1.1 200 OK");
    keys.revoke(stored.key.key_id()).await.unwrap();
    assert_eq!(status_of_list(address, secret.expose_secret()).await, "HTTP/1.1 401 Unauthorized");
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    assert!(store.1.load(KeyDocumentName::TokenKeys).await.unwrap().is_some(), "the MCP door made them");
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("keys")).collect();
    assert!(left.is_empty(), "{left:?}");
}

async fn status_of_list(address: SocketAddr, key: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /api/runs HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.lines().next().unwrap().to_owned()
}
