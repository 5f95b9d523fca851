//! The protocol's own conformance suite against our transport.
//!
//! The suite needs its own tools, so a fixture replaces the door; everything around it is what serves the
//! door. Expected failures are listed with their reasons. A failure that is not listed fails the test, and
//! so does a listed one that passes.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[path = "conformance/fixture.rs"]
mod fixture;

use std::{path::Path, process::Command};

use fixture::Fixture;
use trackway_mcp::McpHttpDoor;

/// Largest request of the suite by far.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Runs every scenario that a revision requires of a server.
async fn run_conformance_suite(revision: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = McpHttpDoor::new(Fixture::default(), None, BODY_BYTES_MAX).router();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let packages = Path::new(&prepared_path("TRACKWAY_TEST_MCP_JS")).join("node_modules");
    let listed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/conformance/expected-{revision}.yml"));
    let mut suite = Command::new(packages.join("node/bin/node"));
    suite
        .arg(packages.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", &url, "--requirements", revision, "--expected-failures"])
        .arg(listed);
    let told = tokio::task::spawn_blocking(move || suite.output().unwrap()).await.unwrap();
    serving.abort();
    let (said, errors) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{said}\n{errors}");
}

/// Proves T1: the newest revision.
#[tokio::test]
async fn heavy_mcp_conformance_2026_07_28() {
    run_conformance_suite("2026-07-28").await;
}

/// Proves T1: the newest revision with protocol sessions.
#[tokio::test]
async fn heavy_mcp_conformance_2025_11_25() {
    run_conformance_suite("2025-11-25").await;
}

/// The path that `cargo xtask test` prepared and passes in this variable.
#[expect(clippy::disallowed_methods, reason = "the one place where this test learns of the suite")]
fn prepared_path(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run `cargo xtask test`, which prepares it and sets it")
    })
}
