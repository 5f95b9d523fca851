//! Servers that are reached over HTTP.

use std::sync::Arc;

use axum::Router;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use serde_json::json;
use tokio::net::TcpListener;
use trackway_agent::Phase;

use crate::{
    fixture::Fixture,
    kit::{call, start},
};

async fn serve(fixture: Fixture) -> String {
    let service = StreamableHttpService::new(
        move || Ok(fixture.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

/// FIELD-NOTES: configured headers did not arrive.
#[tokio::test]
async fn headers_are_sent_with_every_request() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::default();
    let url = serve(fixture.clone()).await;
    let headers = json!({"Authorization": "Bearer ${env:SECRET}", "X-Team": "blue"});
    let web = json!({"type": "http", "url": url, "headers": headers});
    let servers = start(&json!({"web": web}), folder.path()).await;
    assert_eq!(servers.status()[0].phase, Phase::Ready, "{:?}", servers.status());
    for _ in 0..2 {
        call(&servers, "web__both", json!({})).await.unwrap();
    }
    let seen = fixture.headers.lock().unwrap().clone();
    assert_eq!(seen.len(), 2);
    for headers in seen {
        assert_eq!(headers["authorization"], "Bearer s3cret");
        assert_eq!(headers["x-team"], "blue");
    }
    servers.shutdown().await;
}

#[tokio::test]
async fn tools_that_appear_later_are_found_over_http_too() {
    let folder = tempfile::tempdir().unwrap();
    let url = serve(Fixture::default()).await;
    let servers = start(&json!({"web": {"url": url}}), folder.path()).await;
    let mut changed = servers.changed();
    changed.borrow_and_update();
    call(&servers, "web__grow", json!({})).await.unwrap();
    changed.changed().await.unwrap();
    let tools = &servers.status()[0].tools;
    assert!(tools.contains(&"web__grown".to_owned()), "{tools:?}");
    servers.shutdown().await;
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_down() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let servers = start(&json!({"web": {"url": url}}), folder.path()).await;
    let status = &servers.status()[0];
    assert_eq!(status.phase, Phase::Down);
    assert!(status.reason.as_deref().unwrap().contains("efused"), "{status:?}");
    servers.shutdown().await;
}
