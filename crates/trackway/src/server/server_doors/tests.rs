//! A door of the embedding program is served like the built-in doors.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use axum::{Router, extract::State, routing::get};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::oneshot,
};

use super::*;
use crate::Server;

/// The head and the body of an answer on a real socket.
async fn get_page(address: SocketAddr, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn workflows(context: &DoorContext) -> Router {
    let count =
        async |State(runtime): State<Runtime>| runtime.registry().list_current_programs().len().to_string();
    Router::new().route("/own/workflows", get(count)).with_state(context.runtime.clone())
}

#[tokio::test]
async fn a_door_of_the_program_is_served_and_closed_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let stopped = Arc::new(AtomicBool::new(false));
    let noted = stopped.clone();
    let server = Server::new().data(folder.path()).listen("127.0.0.1:0").door(move |context| {
        ProtocolDoor::new("own", workflows(context))
            .with_stop_hook(move || noted.store(true, Ordering::Relaxed))
    });
    let bound = server.bind().await.unwrap();
    let address = bound.address();
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve_until(async { drop(ended.await) }));

    let (head, body) = get_page(address, "/own/workflows").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(body, "0");
    let (head, _) = get_page(address, "/api/runs").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let (head, body) = get_page(address, "/own/nothing").await;
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    assert!(head.contains("application/problem+json"), "{head}");
    assert!(body.contains("\"code\":\"invalid-request\""), "{body}");

    assert!(!stopped.load(Ordering::Relaxed));
    end.send(()).unwrap();
    serving.await.unwrap().unwrap();
    assert!(stopped.load(Ordering::Relaxed));
}
