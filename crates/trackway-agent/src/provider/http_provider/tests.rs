//! Limits and addresses; the forms of streams are in `tests/it`.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use trackway_testkit::{ScriptedModelServer, ScriptedReply};

use super::*;
use crate::provider::{Delta, ModelError, open_http_provider};

fn local(base_url: String) -> HttpModelProvider {
    open_http_provider("openai", &ModelEndpoint { base_url: Some(base_url), ..ModelEndpoint::new("m") })
        .unwrap()
}

async fn collect_items(provider: &HttpModelProvider) -> Vec<Result<Delta, ModelError>> {
    provider.stream_answer(&ModelRequest::default()).collect().await
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let server = ScriptedModelServer::start().await;
    server.queue_reply(ScriptedReply::event_stream().keep_open_silently());
    server.queue_reply(
        ScriptedModelServer::openai_reply().with_text("Hello").to_unfinished_reply().keep_open_silently(),
    );
    let mut provider = local(server.base_url());
    provider.bounds.idle = Duration::from_millis(50);
    let items = collect_items(&provider).await;
    assert!(matches!(&items[..], [Err(ModelError::Unreachable { .. })]), "{items:?}");
    let items = collect_items(&provider).await;
    // On a busy machine the start may be late as well.
    let last = items.last().unwrap().as_ref().unwrap_err();
    assert!(last.is_retryable(), "{items:?}");
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let server = ScriptedModelServer::start().await;
    server.queue_reply(
        ScriptedModelServer::openai_reply()
            .with_text(&"word ".repeat(100))
            .to_unfinished_reply()
            .keep_open_silently(),
    );
    let mut provider = local(server.base_url());
    provider.bounds.bytes = 1_000;
    let items = collect_items(&provider).await;
    let last = items.last().unwrap();
    assert!(matches!(last, Err(ModelError::Unreadable { .. })), "{last:?}");
    server.wait_for_dropped_connection().await;
}

#[tokio::test]
async fn unreachable_server_is_named_without_its_path() {
    let server = ScriptedModelServer::start().await;
    let url = server.url().to_owned();
    drop(server);
    let provider = local(format!("{url}/secret-path/v1"));
    let items = collect_items(&provider).await;
    let [Err(error @ ModelError::Unreachable { .. })] = &items[..] else { panic!("{items:?}") };
    let text = error.to_string();
    assert!(text.contains(&url) && !text.contains("secret-path"), "{text}");
}

/// The next request reuses the connection, although the response ends only after its answer.
#[tokio::test]
async fn a_connection_is_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let provider = local(format!("http://{}/v1", listener.local_addr().unwrap()));
    let (most, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (seen, ending) = (most.clone(), ends.clone());
    let serving = tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::spawn(connection(socket, seen.clone(), ending.clone()));
        }
    });
    // The end of a response is read in the background: one of the next requests can reuse its
    // connection.
    for _ in 0..200 {
        let items = collect_items(&provider).await;
        assert_eq!(items.last(), Some(&Ok(Delta::Done)), "{items:?}");
        ends.add_permits(1);
        if most.load(Ordering::Relaxed) > 1 {
            return serving.abort();
        }
        tokio::task::yield_now().await;
    }
    panic!("every request opened a connection");
}

/// Answers every request of a connection, and ends each response when it is allowed to.
async fn connection(mut socket: TcpStream, most: Arc<AtomicUsize>, ends: Arc<Semaphore>) {
    for requests in 1.. {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"}") {
            if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        }
        most.fetch_max(requests, Ordering::Relaxed);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let body = "transfer-encoding: chunked\r\n\r\ne\r\ndata: [DONE]\n\n\r\n";
        let _ = socket.write_all([head, body].concat().as_bytes()).await;
        ends.acquire().await.unwrap().forget();
        let _ = socket.write_all(b"0\r\n\r\n").await;
    }
}

#[test]
fn addresses_are_put_together() {
    let whole = |base: &str| join_endpoint_url(base, "/x").map(String::from);
    assert_eq!(whole("http://127.0.0.1:1/v1"), Ok("http://127.0.0.1:1/v1/x".into()));
    assert_eq!(whole(" https://models.example/v1/ "), Ok("https://models.example/v1/x".into()));
    for bad in ["", "models.example", "ftp://models.example", "http://h/v1?key=1"] {
        assert!(matches!(whole(bad), Err(ModelEndpointError::BaseUrl { .. })), "{bad}");
    }
}

#[test]
fn invalid_endpoint_is_refused_without_secrets() {
    let refused = |endpoint: &ModelEndpoint| open_http_provider("openai", endpoint).unwrap_err();
    assert_eq!(refused(&ModelEndpoint::new(" ")), ModelEndpointError::Model);
    let key = ModelEndpoint { key: Some("se\ncret".into()), ..ModelEndpoint::new("m") };
    let error = refused(&key).to_string();
    assert!(error.contains("authorization") && !error.contains("cret"), "{error}");
    let mut named = ModelEndpoint::new("m");
    named.headers.insert("x y".into(), "z".into());
    assert!(matches!(refused(&named), ModelEndpointError::Header { what: "name", .. }));
    let known = open_http_provider("openia", &ModelEndpoint::new("m")).unwrap_err().to_string();
    assert!(known.contains("openai-responses"), "{known}");
    let shown = format!("{key:?} {:?}", open_http_provider("openai", &ModelEndpoint::new("m")).unwrap());
    assert!(!shown.contains("cret") && shown.contains("openai/m"), "{shown}");
}
