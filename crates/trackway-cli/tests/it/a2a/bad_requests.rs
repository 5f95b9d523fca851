//! Whatever HTTP is sent, the answer is JSON with the right status, and the server lives on.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use reqwest::{Method, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::support::{Server, data, reply, soon};

const ECHO: &str = "/a2a/agents/echo";

/// The status, the header that says which methods there are, and the JSON.
async fn answer(request: reqwest::RequestBuilder) -> (u16, Option<String>, Value) {
    let response = soon("an answer", request.send()).await.unwrap();
    let status = response.status().as_u16();
    let allow = response.headers().get("allow").map(|value| value.to_str().unwrap().to_owned());
    (status, allow, soon("a body", reply(response)).await.unwrap())
}

pub(super) async fn works(server: &Server) {
    assert!(server.is_alive().await);
    let task = server.agent("echo").settle(&data(json!({ "text": "still here" }))).await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
}

fn request() -> String {
    let message = data(json!({ "text": "x" }));
    let params = json!({ "message": message.json() });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params }).to_string()
}

/// Proves X5.
#[tokio::test]
async fn only_json_is_taken() {
    let server = Server::start();
    let post = || server.http().post(server.url(ECHO)).body(request());
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "text/html",
        "application/xml",
        "",
        "json",
    ] {
        let (status, _, body) = answer(post().header(CONTENT_TYPE, kind)).await;
        assert_eq!((status, &body["error"]["code"]), (415, &json!(-32005)), "{kind}: {body}");
    }
    let (status, _, body) = answer(post()).await;
    assert_eq!((status, &body["error"]["code"]), (415, &json!(-32005)), "no type at all: {body}");
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        let (status, _, body) = answer(post().header(CONTENT_TYPE, kind)).await;
        assert_eq!(
            (status, body["result"]["kind"].as_str()),
            (200, Some("task")),
            "{kind}: {body}"
        );
    }
    works(&server).await;
}

/// Proves X5.
#[tokio::test]
async fn bytes_that_are_no_text_are_a_parse_error() {
    let server = Server::start();
    let inside = [br#"{"jsonrpc":"2.0","id":1,"method":"#.as_slice(), b"\"\xff\xfe\"}"].concat();
    let bodies = [vec![0xff, 0xfe, 0x00], vec![0; 1000], b"\xed\xa0\x80".to_vec(), inside];
    for body in bodies {
        let post = server.http().post(server.url(ECHO)).header(CONTENT_TYPE, "application/json");
        let (status, _, body) = answer(post.body(body)).await;
        assert_eq!((status, &body["error"]["code"]), (200, &json!(-32700)), "{body}");
    }
    works(&server).await;
}

/// Proves X5.
#[tokio::test]
async fn an_agent_that_is_not_there_is_named_as_such() {
    let server = Server::start();
    for name in ["nobody", "Echo", "echo%20", "..%2f..", "%ff", "%00", "\u{e9}cho"] {
        let path = format!("/a2a/agents/{name}");
        let post = server.http().post(server.url(&path)).header(CONTENT_TYPE, "application/json");
        let (status, _, body) = answer(post.body(request())).await;
        assert_eq!((status, &body["error"]["code"]), (404, &json!(-32601)), "{name}: {body}");
        assert_eq!(
            (&body["id"], &body["error"]["data"]["code"]),
            (&json!(1), &json!("unknown-workflow"))
        );
        let card = format!("{path}/.well-known/agent-card.json");
        let (status, _, body) = answer(server.http().get(server.url(&card))).await;
        assert_eq!(
            (status, &body["error"]["code"]),
            (404, &json!("unknown-workflow")),
            "{name}: {body}"
        );
    }
    works(&server).await;
}

/// Proves X5.
#[tokio::test]
async fn a_method_that_is_not_served_is_refused_with_those_that_are() {
    let server = Server::start();
    let card = format!("{ECHO}/.well-known/agent-card.json");
    for (path, methods, allow) in [
        (ECHO, vec![Method::GET, Method::PUT, Method::DELETE, Method::PATCH], "POST"),
        (&card, vec![Method::POST, Method::DELETE], "GET,HEAD"),
        ("/a2a/agents", vec![Method::POST, Method::PUT], "GET,HEAD"),
    ] {
        for method in methods {
            for path in [path.to_owned(), format!("{path}/")] {
                let (status, allowed, body) =
                    answer(server.http().request(method.clone(), server.url(&path))).await;
                assert_eq!(
                    (status, allowed.as_deref()),
                    (405, Some(allow)),
                    "{method} {path}: {body}"
                );
                assert!(body["error"]["message"].is_string());
            }
        }
    }
    works(&server).await;
}

/// Proves X5.
#[tokio::test]
async fn an_address_that_is_not_there_is_json_too() {
    let server = Server::start();
    for path in [
        "/",
        "/a2a",
        "/a2a/agents/echo/nothing",
        "/index.html",
        "/a2a/agents//",
        "/%ff",
        "/favicon.ico",
    ] {
        let (status, _, body) = answer(server.http().get(server.url(path))).await;
        assert!([404, 405].contains(&status), "{path}: {status}");
        assert!(!body.to_string().contains('<'), "no HTML: {body}");
    }
    works(&server).await;
}

const MIB: usize = 1024 * 1024;

fn sized(server: &Server, mib: usize) -> reqwest::RequestBuilder {
    let message = data(json!({ "text": "x".repeat(mib * MIB) }));
    let params = json!({ "message": message.json() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params });
    server.http().post(server.url(ECHO)).json(&body)
}

/// Proves X5.
#[tokio::test]
async fn a_huge_body_is_refused_and_a_large_one_is_not() {
    let server = Server::start();
    let (status, _, body) = answer(sized(&server, 2)).await;
    assert_eq!((status, body["result"]["kind"].as_str()), (200, Some("task")));
    for mib in [11, 60] {
        let (status, _, body) = answer(sized(&server, mib)).await;
        assert_eq!((status, body["error"]["data"]["code"].as_str()), (413, Some("too-large")));
    }
    // Beyond patience the server stops reading; then some clients see the answer and some a closed
    // connection.
    if let Ok(response) = soon("an answer", sized(&server, 200).send()).await {
        assert_eq!(response.status().as_u16(), 413);
    }
    works(&server).await;
    assert!(server.memory_kib() < 200 * 1024, "what is refused is not kept");
}

/// Proves X5: connections that speak no HTTP, or stop in the middle.
#[tokio::test]
async fn broken_connections_leave_the_server_alone() {
    let server = Server::start();
    let address = server.url("").trim_start_matches("http://").to_owned();
    let head =
        "POST /a2a/agents/echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
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
        // Whether it is answered or closed is up to the server; HTML it is not.
        let _ = socket.read_to_end(&mut said);
        assert!(!String::from_utf8_lossy(&said).to_lowercase().contains("<html"));
        assert!(server.is_alive().await);
    }
    works(&server).await;
}
