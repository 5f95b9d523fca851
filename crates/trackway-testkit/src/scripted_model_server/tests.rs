//! The scripted server as a client on a socket sees it.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;

async fn send(server: &ScriptedModelServer) -> TcpStream {
    let mut socket = TcpStream::connect(server.url().trim_start_matches("http://")).await.unwrap();
    let request =
        "POST /v1/chat/completions?x=1 HTTP/1.1\r\nX-Key: a b\r\nContent-Length: 9\r\n\r\n{\"a\":[1]}";
    socket.write_all(request.as_bytes()).await.unwrap();
    socket
}

async fn rest(mut socket: TcpStream) -> String {
    let mut text = String::new();
    socket.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn requests_are_kept_and_answered_in_order() {
    let server = ScriptedModelServer::start().await;
    server.queue_reply(ScriptedModelServer::openai_reply().with_text("one two"));
    server.queue_reply(ScriptedReply::error_body(429, "slowly").with_header("retry-after", "2"));
    let first = rest(send(&server).await).await;
    assert!(first.starts_with("HTTP/1.1 200 "), "{first}");
    assert!(first.contains("\"content\":\"one \""), "{first}");
    assert!(first.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{first}");
    let second = rest(send(&server).await).await;
    assert!(second.starts_with("HTTP/1.1 429 ") && second.contains("retry-after: 2\r\n"), "{second}");
    let third = rest(send(&server).await).await;
    assert!(third.starts_with("HTTP/1.1 400 "), "{third}");
    server.set_responder(|asked| ScriptedReply::json_body(200, &asked.body));
    assert!(rest(send(&server).await).await.contains("{\"a\":[1]}"));
    let asked = server.wait_for_requests(4).await;
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions?x=1"));
    assert_eq!(asked.header("x-key"), Some("a b"));
    server.wait_for_replies_sent(4).await;
    assert_eq!((server.requests().len(), server.unused_replies(), server.dropped_connections()), (4, 0, 0));
}

#[tokio::test]
async fn a_script_waits_for_the_test_and_breaks_where_it_says() {
    let server = ScriptedModelServer::start().await;
    let latch = ScriptLatch::new();
    server.queue_reply(
        ScriptedReply::event_stream()
            .send_data_event("a")
            .wait_for_latch(&latch)
            .send_data_event("b")
            .cut_connection(),
    );
    let socket = send(&server).await;
    latch.wait_until_reached().await;
    latch.release();
    let text = rest(socket).await;
    assert!(text.ends_with("data: b\n\n\r\n"), "{text}");
    assert_eq!(server.dropped_connections(), 0, "it was the server that broke it off");
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed() {
    let server = ScriptedModelServer::start().await;
    let latch = ScriptLatch::new();
    server.queue_reply(ScriptedReply::event_stream().wait_before_status(&latch));
    server.queue_reply(ScriptedReply::event_stream().send_data_event("a").keep_open_silently());
    let waiting = send(&server).await;
    latch.wait_until_reached().await;
    drop(waiting);
    server.wait_for_dropped_connection().await;
    let reading = send(&server).await;
    server.wait_for_requests(2).await;
    drop(reading);
    server.wait_for_dropped_connections(2).await;
}

/// A black-box test blocks its thread while it waits for its process.
#[tokio::test]
async fn it_answers_while_the_test_blocks() {
    use std::io::{Read as _, Write as _};
    let server = ScriptedModelServer::start().await;
    server.queue_reply(ScriptedModelServer::openai_reply().with_text("Hello"));
    let mut socket = std::net::TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    socket.write_all(b"POST / HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.contains("Hello"), "{text}");
}
