//! Readers that stop reading: they cost bounded memory, delay no other reader, and find everything when
//! they return.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
};

use super::support::{
    AgentRequest, CrashableServer, ProtocolBinding, StreamEvent, allow_connections, data_message,
    event_summary, with_test_timeout,
};

const STALLED: usize = 60;
const READERS: usize = 4;
/// Each piece of the output is an event; a stalled reader leaves all of the output unread.
const PIECES: usize = 500;
const OUTPUT_BYTES: usize = 2 * 1024 * 1024;
/// Small, so that little of the output fits into the operating system's buffers.
const RECEIVE_BUFFER_BYTES: u32 = 16 * 1024;
/// The cost of one stalled reader: a page of the log, the chunks that its connection keeps, and allocator
/// overhead. Half of what it left unread.
const STALLED_KIB_MAX: u64 = 1024;

/// A subscription whose reader read the first bytes and then stopped.
async fn stall(server: &CrashableServer, dialect: ProtocolBinding, task: &Value, after: u64) -> TcpStream {
    stall_with(RECEIVE_BUFFER_BYTES, server, dialect, task, after).await
}

/// The same with a buffer of this size in the operating system.
async fn stall_with(
    buffer: u32,
    server: &CrashableServer,
    dialect: ProtocolBinding,
    task: &Value,
    after: u64,
) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(buffer).unwrap();
    let address = server.url("").trim_start_matches("http://").parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let agent = "/a2a/agents/echo";
    let AgentRequest { url, headers, body } = dialect.subscribe_request(agent, task, Some(after));
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let body = body.to_string();
    // HTTP/1.0 ends the answer with the connection, so everything after the headers is the stream.
    let request = format!(
        "POST {url} HTTP/1.0\r\nhost: {address}\r\n{headers}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    with_test_timeout("a status", stream.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.0 200");
    stream
}

/// The positions of the events that are still to come.
async fn read_event_ids(mut stream: TcpStream) -> Vec<u64> {
    let mut whole = String::new();
    with_test_timeout("the rest", stream.read_to_string(&mut whole)).await.unwrap();
    let ids = whole.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.map(|id| id.parse().unwrap()).collect()
}

/// One run with much output, followed by its sender, by some readers, and by others that stall. Returns the
/// stalled ones, and the positions of all events that they should receive.
async fn run(server: &CrashableServer, stalling: usize) -> (Vec<TcpStream>, Vec<u64>) {
    let output = "x".repeat(OUTPUT_BYTES);
    let message = data_message(json!({ "text": output, "chunks": PIECES }));
    let params = json!({ "message": message.json() });
    let mut live = server.agent("echo").open_stream("message/stream", params, None).await;
    let StreamEvent { pos, result: task } = live.next().await.unwrap();
    let mut stalled = Vec::new();
    for number in 0..stalling {
        stalled.push(stall(server, ProtocolBinding::for_client_number(number), &task, pos).await);
    }
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        let reader =
            ProtocolBinding::for_client_number(number).subscribe(server, "echo", &task, Some(pos)).await;
        readers.spawn(reader.read_to_end());
    }
    let seen = live.read_to_end().await;
    // Two status events, and the end.
    assert_eq!(seen.len(), PIECES + 3);
    let gists = |events: &[StreamEvent]| -> Vec<_> {
        events.iter().map(|event| (event.pos, event_summary(&event.result))).collect()
    };
    for events in readers.join_all().await {
        assert_eq!(gists(&events), gists(&seen), "others get everything");
    }
    (stalled, seen.iter().map(|event| event.pos).collect())
}

/// Proves L8.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_readers_that_stop_reading_cost_bounded_memory_and_hold_up_nobody() {
    allow_connections(STALLED as u64 * 2);
    let server = CrashableServer::start();
    // The cost of such runs alone; the second run also includes what the first left behind.
    for _ in 0..2 {
        run(&server, 0).await;
    }
    let before = server.memory_peak_kib();
    let (mut stalled, expected) = run(&server, STALLED).await;
    let after = server.memory_peak_kib();
    eprintln!("{before} KiB at most without stalled readers, {after} KiB with {STALLED}");
    assert!(
        after < before + STALLED as u64 * STALLED_KIB_MAX,
        "{before} KiB became {after} KiB with {STALLED} stalled readers"
    );
    let back: JoinSet<_> = stalled.drain(..ProtocolBinding::ALL.len()).map(read_event_ids).collect();
    for seen in back.join_all().await {
        assert_eq!(seen, expected, "a reader that comes back misses nothing");
    }
}

/// So many that whole copies would be far more than the noise of an allocator, which is tens of megabytes at the
/// peak of a server that encodes a large event.
const SILENT: usize = 64;
const LARGE_BYTES: usize = 4 * 1024 * 1024;
/// Large enough to read megabytes through it, and much smaller than they are.
const WIDE_BUFFER_BYTES: u32 = 256 * 1024;
/// Half of a whole copy, and much more than a reader of a shared event needs.
const SILENT_KIB_MAX: u64 = LARGE_BYTES as u64 / 1024 / 2;

/// A reader that stopped in the middle of the first event, which is large.
async fn stop_within(server: &CrashableServer, number: usize, task: &Value) -> TcpStream {
    let dialect = ProtocolBinding::for_client_number(number);
    let mut stream = stall_with(WIDE_BUFFER_BYTES, server, dialect, task, 0).await;
    let mut begun = vec![0; 64 * 1024];
    with_test_timeout("the beginning of the event", stream.read_exact(&mut begun)).await.unwrap();
    stream
}

/// Issue 11, S-L6: readers that stop in the middle of a large event share it. Otherwise each would hold a
/// whole copy.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_readers_that_stop_in_a_large_event_share_it() {
    allow_connections(SILENT as u64 * 2);
    let server = CrashableServer::start();
    let echo = server.agent("echo");
    let task = echo.send_and_wait(&data_message(json!({ "text": "x".repeat(LARGE_BYTES) }))).await.unwrap();
    let mut expected: Vec<u64> = echo.replay(&task).await.iter().map(|event| event.pos).collect();
    // Its position is in the part that was read before it stopped.
    expected.remove(0);
    // The cost of reading alone.
    for number in 0..ProtocolBinding::ALL.len() {
        assert_eq!(read_event_ids(stop_within(&server, number, &task).await).await, expected);
    }
    let before = server.memory_peak_kib();
    let mut silent = Vec::new();
    for number in 0..SILENT {
        silent.push(stop_within(&server, number, &task).await);
    }
    let after = server.memory_peak_kib();
    eprintln!("{before} KiB at most before, {after} KiB with {SILENT} silent readers");
    assert!(
        after < before + SILENT as u64 * SILENT_KIB_MAX,
        "{before} KiB became {after} KiB with {SILENT} silent readers"
    );
    let back: JoinSet<_> = silent.drain(..ProtocolBinding::ALL.len()).map(read_event_ids).collect();
    for seen in back.join_all().await {
        assert_eq!(seen, expected, "a reader that comes back misses nothing");
    }
}
