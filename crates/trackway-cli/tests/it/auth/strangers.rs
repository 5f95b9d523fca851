//! Unknown callers without a key that hold connections, and known callers next to them.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use serde_json::{Value, json};

use super::{auth_workspace::AuthWorkspace, http2};
use crate::support::ServerUnderTest;

/// Connections that unknown callers open.
const STRANGERS: usize = 200;

fn connect(server: &ServerUnderTest) -> TcpStream {
    TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap()
}

/// Sends this, and returns everything until the server closes the connection.
fn until_closed(server: &ServerUnderTest, sent: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(sent.as_bytes()).unwrap();
    rest(&mut stream)
}

fn rest(stream: &mut TcpStream) -> String {
    let mut came = Vec::new();
    // A connection that is reset is closed too.
    let _ = stream.read_to_end(&mut came);
    String::from_utf8(came).unwrap()
}

/// Starts an `echo` of a large text, which is in a separate file.
async fn echo(server: &ServerUnderTest, key: &str, bytes: usize) -> (u16, Value) {
    let body = json!({ "workflow": "echo", "input": { "text": "x".repeat(bytes) } });
    let request = server.http.post(format!("{}/api/runs", server.url)).json(&body);
    let answer = request.bearer_auth(key).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Proves X5, X6: known callers are served, however many connections unknown callers hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_who_hold_every_connection_keep_nobody_out() {
    // No connection times out here: unknown callers have to make room.
    let site = AuthWorkspace::new(
        "[auth]\nrequired = true\n[server]\nmax_connections = 20\nheader_timeout = \"1h\"\n",
    );
    let key = site.create_key("acme", &["*"]);
    let mut server = site.serve();
    let mut strangers: Vec<_> = (0..STRANGERS).map(|_| connect(&server)).collect();
    let (status, run) = echo(&server, &key, 100_000).await;
    assert_eq!(status, 201, "{run}");
    // The oldest have made room for the others.
    for stranger in &mut strangers[..STRANGERS - 20] {
        assert_eq!(rest(stranger), "");
    }
    let (status, _) = echo(&server, &key, 100_000).await;
    assert_eq!(status, 201, "the connection of a known caller is kept");
    assert_eq!(server.interrupt(), 0);
}

/// Proves X5, X6: with almost no descriptors left, the store is written and the process survives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_do_not_take_the_descriptors_of_the_store() {
    let site = AuthWorkspace::new("[auth]\nrequired = true\n[server]\nheader_timeout = \"1h\"\n");
    let key = site.create_key("acme", &["*"]);
    let mut server = site.serve_with_files(96, &[]);
    let strangers: Vec<_> = (0..STRANGERS).map(|_| connect(&server)).collect();
    for _ in 0..20 {
        let (status, run) = echo(&server, &key, 100_000).await;
        assert_eq!(status, 201, "{run}");
    }
    let (status, ready) = server.get("/readyz").await;
    assert_eq!(status, 200, "{ready}");
    drop(strangers);
    assert_eq!(server.interrupt(), 0);
}

/// Proves X5: each phase of a connection has its time limit.
#[tokio::test]
async fn what_does_not_come_in_time_ends() {
    let site = AuthWorkspace::new(
        "[server]\nheader_timeout = \"100ms\"\nbody_timeout = \"100ms\"\nidle_timeout = \"100ms\"\n",
    );
    let server = site.serve();
    let host = server.url.strip_prefix("http://").unwrap().to_owned();
    assert_eq!(until_closed(&server, ""), "", "nothing was sent");
    assert_eq!(until_closed(&server, "GET /livez HTTP/1.1\r\nhost:"), "", "half a head");
    let head = format!(
        "POST /api/runs HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n"
    );
    let late = until_closed(&server, &format!("{head}{{"));
    assert!(late.starts_with("HTTP/1.1 408 ") && late.contains("in time"), "{late}");
    // Answered, and then closed because nothing more arrives.
    let quiet = until_closed(&server, &format!("GET /livez HTTP/1.1\r\nhost: {host}\r\n\r\n"));
    assert!(quiet.starts_with("HTTP/1.1 200 ") && quiet.contains("alive"), "{quiet}");
}

/// Proves X5, L10: a stream on which nothing happens is not idle.
#[tokio::test]
async fn a_stream_outlasts_the_idle_timeout() {
    let site = AuthWorkspace::new("[server]\nidle_timeout = \"50ms\"\n");
    let server = site.serve();
    let run = server.start_run("review", json!({ "subject": "x" })).await;
    server.wait_for_question(&run).await;
    let address = format!("{}/api/runs/{run}/stream?after=0", server.url);
    let stream = server.http.get(address).send().await.unwrap();
    let host = server.url.strip_prefix("http://").unwrap().to_owned();
    for _ in 0..5 {
        until_closed(&server, &format!("GET /livez HTTP/1.1\r\nhost: {host}\r\n\r\n"));
    }
    let (status, _) = server.post(&format!("/api/runs/{run}/cancel"), &json!({})).await;
    assert_eq!(status, 200);
    let text = stream.text().await.unwrap();
    assert!(text.contains("canceled"), "{text}");
}

/// Proves X6: without auth, only the names of this machine are accepted, however they are sent.
#[tokio::test]
async fn a_request_must_name_this_machine() {
    let site = AuthWorkspace::new("");
    let server = site.serve();
    for (host, status) in [
        ("host: localhost\r\n", "200"),
        ("", "403"),
        ("host: [::1].evil.example\r\n", "403"),
        ("host: localhost:1@evil\r\n", "403"),
    ] {
        let version = if host.is_empty() { "1.0" } else { "1.1" };
        let request = format!("GET /livez HTTP/{version}\r\n{host}connection: close\r\n\r\n");
        let answer = until_closed(&server, &request);
        let told = answer.split(' ').nth(1).unwrap_or_default();
        // An invalid name is refused before it is compared.
        assert!(told == status || (status == "403" && told == "400"), "{host}: {answer}");
    }
}

/// Issue 11, S-L7: over HTTP/2 in clear the name is in `:authority`, and the same rule applies.
#[tokio::test]
async fn a_request_over_http2_must_name_this_machine() {
    let site = AuthWorkspace::new("");
    let server = site.serve();
    let address = server.url.strip_prefix("http://").unwrap();
    for (authority, host, is_taken) in [
        (Some("localhost"), None, true),
        (Some(address), None, true),
        (None, Some("localhost"), true),
        (Some("evil.example"), None, false),
        (Some("[::1].evil.example"), None, false),
        (Some("localhost"), Some("evil.example"), false),
        (Some("evil.example"), Some("localhost"), false),
        (None, Some("evil.example"), false),
        (None, None, false),
    ] {
        let answer = http2::get(address, "/livez", authority, host);
        let said = format!("{authority:?} {host:?}: {answer:?}");
        assert_eq!(answer.contains("alive"), is_taken, "{said}");
        // An invalid name is refused before any handler sees it, without a body.
        assert!(is_taken || answer.is_empty() || answer.contains("403"), "{said}");
    }
}

/// The gRPC address of this server, in addition to HTTP.
fn with_grpc(site: &AuthWorkspace) -> (ServerUnderTest, String) {
    let server = site.serve_with_files(1_024, &["--grpc-listen", "127.0.0.1:0"]);
    let grpc = server.grpc.clone().unwrap();
    (server, grpc)
}

/// Issue 11, S-L7: a gRPC connection without a request, or with only the preface, is closed.
#[test]
fn silence_on_the_grpc_port_ends() {
    let site = AuthWorkspace::new("[server]\nheader_timeout = \"100ms\"\nidle_timeout = \"1h\"\n");
    let (_server, grpc) = with_grpc(&site);
    for sent in [&b""[..], http2::PREFACE, &http2::hello()] {
        let mut stream = TcpStream::connect(&grpc).unwrap();
        stream.write_all(sent).unwrap();
        let mut came = Vec::new();
        // It returns when the server has closed the connection; one that is reset is closed too.
        let _ = stream.read_to_end(&mut came);
        assert!(!came.windows(4).any(|bytes| bytes == b"200 "), "{came:?}");
    }
}

/// Issue 11, S-L7: unknown callers that hold gRPC connections keep no known caller out, on either port.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_on_the_grpc_port_keep_nobody_out() {
    let site = AuthWorkspace::new(
        "[auth]\nrequired = true\n[server]\nmax_connections = 20\nheader_timeout = \"1h\"\n",
    );
    let key = site.create_key("acme", &["*"]);
    let (mut server, grpc) = with_grpc(&site);
    let (status, run) = echo(&server, &key, 10).await;
    assert_eq!(status, 201, "{run}");
    let mut strangers: Vec<_> = (0..STRANGERS)
        .map(|number| {
            let mut stream = TcpStream::connect(&grpc).unwrap();
            // Every other one sends the preface.
            let sent = if number % 2 == 0 { Vec::new() } else { http2::hello() };
            stream.write_all(&sent).unwrap();
            stream
        })
        .collect();
    let (status, run) = echo(&server, &key, 10).await;
    assert_eq!(status, 201, "the connection of a known caller is kept: {run}");
    server.http = crate::support::http_client();
    let (status, run) = echo(&server, &key, 10).await;
    assert_eq!(status, 201, "and a new one is taken: {run}");
    // The oldest have made room for the others.
    for stranger in &mut strangers[..STRANGERS - 20] {
        let mut came = Vec::new();
        let _ = stranger.read_to_end(&mut came);
    }
}

fn open_to_others(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.permissions().mode() & 0o077 != 0 {
            found.push(path.display().to_string());
        }
        if metadata.is_dir() {
            found.extend(open_to_others(&path));
        }
    }
    found
}

/// Proves X6: no other user of the machine can read the data, or hold the locks.
#[tokio::test]
async fn a_data_folder_is_its_owners_alone() {
    let site = AuthWorkspace::new("");
    let server = site.serve();
    let text = "x".repeat(100_000);
    server.start_run("echo", json!({ "text": text })).await;
    site.create_key("acme", &["*"]);
    let mode = std::fs::metadata(site.data()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(open_to_others(&site.data()), [] as [&str; 0]);
}

const KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/8fsbtXtCt3Mf4LN
4v4mXX5awvGoHhE2Ws28exC/8P+hRANCAARGmYEYx1l8i5y3ONc18z8K7RWT/dsZ
/EBNt7lfdmnPJFdb7zNDJh09ji+I3xhhPel0sQJorbvoKIkktuMbuiJh
-----END PRIVATE KEY-----
";

/// Proves X6: a host name that an unknown caller sends is neither signed nor written into cards.
#[tokio::test]
async fn cards_are_signed_for_the_configured_address_alone() {
    let signing = "[auth]\nrequired = true\n[a2a]\nsigning_key_file = \"card.pem\"\n";
    let site = AuthWorkspace::new(signing);
    site.write("card.pem", KEY);
    let refused = site.refuses_to_serve("127.0.0.1:0").expect(2);
    assert!(refused.stderr.contains("public_url"), "{refused:?}");
    site.write("trackway.toml", &format!("{signing}[server]\npublic_url = \"https://ours.example/\"\n"));
    let server = site.serve();
    let card = server.http.get(format!("{}/.well-known/agent-card.json", server.url));
    let card = card.header("host", "attacker.example").header("x-forwarded-proto", "https");
    let card = card.header("a2a-version", "1.0").send().await.unwrap();
    let card: Value = card.json().await.unwrap();
    assert!(card["signatures"][0]["signature"].is_string(), "{card}");
    assert!(!card.to_string().contains("attacker"), "{card}");
    for interface in card["supportedInterfaces"].as_array().unwrap() {
        let url = interface["url"].as_str().unwrap();
        assert!(url.starts_with("https://ours.example/a2a"), "{url}");
    }
}

/// Proves X5: clients that refuse a card with a foreign address can be served together with gRPC.
#[tokio::test]
async fn grpc_can_be_left_out_of_the_card() {
    for (setting, named) in [("", true), ("[a2a]\ngrpc_in_card = false\n", false)] {
        let site = AuthWorkspace::new(setting);
        let server = site.serve_with_files(1_024, &["--grpc-listen", "127.0.0.1:0"]);
        let card = server.http.get(format!("{}/.well-known/agent-card.json", server.url));
        let card = card.header("a2a-version", "1.0").send().await.unwrap();
        assert_eq!(card.text().await.unwrap().contains("GRPC"), named);
    }
}
