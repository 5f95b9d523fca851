//! A server gets its store from the program and knows no particular store.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::{Caller, StateName};
use trackway_ports::{
    FaultInjector, InProcessWakeups, Journal, LeaseMode, OpenStoreError, PortFuture, RunFilter, Store,
    StoreOpener,
};
use trackway_runtime::SubmitRequest;
use trackway_testkit::{MemoryBlobs, MemoryJournal};

use crate::support::Probe;

workflow!(Echo, "echo", |_probe, _ctx, input: Value| -> Value { Ok(input) });

/// A store from another author.
#[derive(Debug, Clone, Default)]
struct Given(MemoryJournal);

impl StoreOpener for Given {
    fn open(&self, _faults: Arc<dyn FaultInjector>) -> PortFuture<'_, Result<Store, OpenStoreError>> {
        Box::pin(async {
            Ok(Store {
                journal: Arc::new(self.0.reopen_as_next_process()),
                blobs: Arc::new(MemoryBlobs::default()),
                lease: LeaseMode::Renewed(std::time::Duration::from_secs(30)),
                wakeups: Some(Arc::new(InProcessWakeups::default())),
            })
        })
    }

    fn open_read_only(&self) -> PortFuture<'_, Result<Arc<dyn Journal>, OpenStoreError>> {
        Box::pin(async { Ok(Arc::new(self.0.reopen_as_next_process()) as Arc<dyn Journal>) })
    }
}

/// Proves X3: the embedded store is only the default.
#[tokio::test]
async fn a_server_keeps_its_runs_in_the_store_it_is_given() {
    let (store, folder) = (Given::default(), tempfile::tempdir().unwrap());
    let server = || trackway::Server::new().workflow(Echo(Probe::new())).data(folder.path());
    let (runtime, held) = server().store(store.clone()).start_engine().await.unwrap();
    let submit = SubmitRequest {
        workflow: "echo".to_owned(),
        input: Value::from(7),
        caller: Caller::local(),
        session: None,
        message: None,
        hook: None,
    };
    let view = runtime.submit(submit).await.unwrap().view;
    let ended = runtime.wait_until_idle(view).await.unwrap();
    assert_eq!(ended.state, StateName::Completed);
    held.close().await;
    let journal = store.0.reopen_as_next_process();
    assert_eq!(journal.list_runs(RunFilter::default(), None, 9).await.unwrap().len(), 1);
    assert!(!folder.path().join("trackway.db").exists(), "the folder has no database");
    assert!(server().store(store).replay_check().await.unwrap().is_empty());
}
