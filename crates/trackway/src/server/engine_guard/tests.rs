//! No background work of agents outlives its engine.

use std::fs;

use tokio::sync::watch;

use crate::{AgentSet, DataFolder, Server, ServerError};

/// A server with agents, and the sender that shows whether a receiver of changes is left.
fn server(folder: &std::path::Path) -> (watch::Sender<AgentSet>, Server) {
    let (tell, changes) = watch::channel(AgentSet::default());
    (tell, Server::new().data(folder).agents_from(changes))
}

#[tokio::test]
async fn an_engine_that_is_closed_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (tell, server) = server(folder.path());
    let (_runtime, held) = server.start_engine().await.unwrap();
    drop(server);
    assert_eq!(tell.receiver_count(), 1, "changes are followed");
    held.close_engine().await;
    assert!(tell.is_closed());
    DataFolder::lock(folder.path()).expect("the folder is free");
}

#[tokio::test]
async fn an_engine_that_is_dropped_follows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (tell, server) = server(folder.path());
    let engine = server.start_engine().await.unwrap();
    drop((server, engine));
    tell.closed().await;
}

#[tokio::test]
async fn an_engine_that_does_not_start_follows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // The store cannot open, because a folder has its name.
    fs::create_dir(folder.path().join("trackway.db")).unwrap();
    let (tell, server) = server(folder.path());
    let refused = server.start_engine().await.unwrap_err();
    assert!(matches!(refused, ServerError::Store(_)), "{refused}");
    drop(server);
    tell.closed().await;
}
