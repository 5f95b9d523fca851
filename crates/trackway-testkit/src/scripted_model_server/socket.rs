//! HTTP by hand, because a test decides where a connection breaks: one request for each connection.

use std::sync::Arc;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::oneshot,
    task::JoinSet,
};

use super::{
    ModelRequest, ScriptedReply, ServerState,
    reply::{ReplyEnd, ReplyStep},
};

/// Runs until the server is dropped; its connections end with it.
pub(super) async fn serve_connections(
    listener: std::net::TcpListener,
    desk: Arc<ServerState>,
    mut closed: oneshot::Receiver<()>,
) {
    let listener = TcpListener::from_std(listener).expect("a socket that does not block");
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut closed => return,
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    connections.spawn(serve_connection(socket, Arc::clone(&desk)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection(mut socket: TcpStream, desk: Arc<ServerState>) {
    // Chunks must leave as they are sent.
    let _ = socket.set_nodelay(true);
    let Some(asked) = read_request(&mut socket).await else { return };
    let reply = desk.next_reply(&asked);
    desk.requests.send_modify(|all| all.push(asked));
    let (reading, writing) = socket.into_split();
    tokio::select! {
        // A complete reply counts as sent, even if the client closes at the same moment.
        biased;
        sent = send_scripted_reply(writing, reply) => match sent {
            Ok(()) => desk.served.send_modify(|served| *served += 1),
            Err(_) => desk.drops.send_modify(|drops| *drops += 1),
        },
        () = wait_until_client_closes(reading) => desk.drops.send_modify(|drops| *drops += 1),
    }
}

async fn wait_until_client_closes(mut socket: OwnedReadHalf) {
    let mut bytes = [0; 64];
    while socket.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}

async fn send_scripted_reply(mut socket: OwnedWriteHalf, reply: ScriptedReply) -> std::io::Result<()> {
    if reply.end == ReplyEnd::Hang {
        return Ok(());
    }
    let mut acts = reply.steps.into_iter().peekable();
    while let Some(ReplyStep::Wait(latch)) = acts.next_if(|act| matches!(act, ReplyStep::Wait(_))) {
        latch.wait_until_released().await;
    }
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    socket.write_all(head.as_bytes()).await?;
    for act in acts {
        match act {
            ReplyStep::Wait(latch) => latch.wait_until_released().await,
            // An empty chunk would end the answer.
            ReplyStep::Send(bytes) if bytes.is_empty() => {}
            ReplyStep::Send(bytes) => {
                let size = format!("{:x}\r\n", bytes.len());
                socket.write_all(&[size.as_bytes(), &bytes, b"\r\n"].concat()).await?;
            }
        }
    }
    match reply.end {
        ReplyEnd::Proper => socket.write_all(b"0\r\n\r\n").await,
        ReplyEnd::Cut | ReplyEnd::Hang => Ok(()),
        ReplyEnd::Silence => std::future::pending().await,
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<ModelRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    let mut asked = ModelRequest { method, path, headers: headers.collect(), body: Value::Null };
    let length = asked.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    while bytes.len() < head + 4 + length {
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    asked.body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or_default();
    Some(asked)
}
