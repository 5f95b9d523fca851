//! Every HTTP request gets an answer in JSON with the right status, and the server survives.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::support::{CrashableServer, data_message, read_json_body, with_test_timeout};

/// The status and the JSON.
async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = with_test_timeout("an answer", request.send()).await.unwrap();
    let status = response.status().as_u16();
    (status, with_test_timeout("a body", read_json_body(response)).await.unwrap())
}

async fn works(server: &CrashableServer) {
    assert!(server.is_alive().await);
    let task =
        server.agent("echo").send_and_wait(&data_message(json!({ "text": "still here" }))).await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
}

/// Proves X5.
#[tokio::test]
async fn an_address_that_is_not_there_is_json_too() {
    let server = CrashableServer::start();
    for path in
        ["/", "/a2a", "/a2a/agents/echo/nothing", "/index.html", "/a2a/agents//", "/%ff", "/favicon.ico"]
    {
        let (status, body) = answer(server.http().get(server.url(path))).await;
        assert!([404, 405].contains(&status), "{path}: {status}");
        assert!(!body.to_string().contains('<'), "no HTML: {body}");
    }
    works(&server).await;
}

const MIB: usize = 1024 * 1024;

fn sized(server: &CrashableServer, mib: usize) -> reqwest::RequestBuilder {
    let message = data_message(json!({ "text": "x".repeat(mib * MIB) }));
    let params = json!({ "message": message.json() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params });
    server.http().post(server.url("/a2a/agents/echo")).json(&body)
}

/// Proves X5.
#[tokio::test]
async fn a_huge_body_is_refused_and_a_large_one_is_not() {
    let server = CrashableServer::start();
    let (status, body) = answer(sized(&server, 2)).await;
    assert_eq!((status, body["result"]["kind"].as_str()), (200, Some("task")));
    for mib in [11, 60] {
        let (status, body) = answer(sized(&server, mib)).await;
        assert_eq!((status, body["error"]["data"]["code"].as_str()), (413, Some("too-large")));
    }
    // After a limit the server stops reading; then some clients see the answer and some a closed
    // connection.
    if let Ok(response) = with_test_timeout("an answer", sized(&server, 200).send()).await {
        assert_eq!(response.status().as_u16(), 413);
    }
    works(&server).await;
    assert!(server.memory_kib() < 200 * 1024, "what is refused is not kept");
}

/// Proves X5: connections that speak no HTTP, or stop in the middle.
#[tokio::test]
async fn broken_connections_leave_the_server_alone() {
    let server = CrashableServer::start();
    let address = server.url("").trim_start_matches("http://").to_owned();
    let head = "POST /a2a/agents/echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    for bytes in [
        "\u{0}\u{1}\u{2}garbage\r\n\r\n".to_owned(),
        "GET".to_owned(),
        format!("{head}content-length: 100\r\n\r\n{{\"jsonrpc\""),
        format!("{head}content-length: 99999999999999999999\r\n\r\n{{}}"),
        format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n"),
        format!("{head}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}"),
    ] {
        let mut socket = TcpStream::connect(&address).unwrap();
        socket.write_all(bytes.as_bytes()).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = Vec::new();
        // The server may answer or close the connection, but it never sends HTML.
        let _ = socket.read_to_end(&mut said);
        assert!(!String::from_utf8_lossy(&said).to_lowercase().contains("<html"));
        assert!(server.is_alive().await);
    }
    works(&server).await;
}
