//! Readers that stop reading: they cost bounded memory, hold up nobody, and find everything when they
//! come back.

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
/// Each piece of the output is an event; the whole of it is what a stalled reader does not take.
const PIECES: usize = 500;
const OUTPUT_BYTES: usize = 2 * 1024 * 1024;
/// Small, so that little of the output fits into the operating system's buffers.
const RECEIVE_BUFFER_BYTES: u32 = 16 * 1024;
/// What one stalled reader may cost: a page of the log, the chunks that its connection keeps, and room for
/// how memory is handed out. Half of what it did not take.
const STALLED_KIB_MAX: u64 = 1024;

/// A subscription whose reader took the first bytes and then no more.
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
    // HTTP/1.0 ends the answer with the connection: what comes is the stream and nothing else.
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

/// The places of the events that are still to come.
async fn places(mut stream: TcpStream) -> Vec<u64> {
    let mut whole = String::new();
    with_test_timeout("the rest", stream.read_to_string(&mut whole)).await.unwrap();
    let ids = whole.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.map(|id| id.parse().unwrap()).collect()
}

/// One run with much output, followed by its sender, by some readers, and by others that stall. Returns
/// those, and the places of all that they should have seen.
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
    // Two of status, and the end.
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
    // What such runs cost by themselves; the second also meets what the first left behind.
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
    let back: JoinSet<_> = stalled.drain(..ProtocolBinding::ALL.len()).map(places).collect();
    for seen in back.join_all().await {
        assert_eq!(seen, expected, "a reader that comes back misses nothing");
    }
}

const SILENT: usize = 24;
const LARGE_BYTES: usize = 4 * 1024 * 1024;
/// Large enough to read megabytes through it, and much smaller than they are.
const WIDE_BUFFER_BYTES: u32 = 256 * 1024;
/// A tenth of what a reader would hold by itself is more than it needs, and less than the noise of an
/// allocator; half of it is neither.
const SILENT_KIB_MAX: u64 = LARGE_BYTES as u64 / 1024 / 2;

/// A reader who has stopped in the middle of the first event, which is large.
async fn stop_within(server: &CrashableServer, number: usize, task: &Value) -> TcpStream {
    let dialect = ProtocolBinding::for_client_number(number);
    let mut stream = stall_with(WIDE_BUFFER_BYTES, server, dialect, task, 0).await;
    let mut begun = vec![0; 64 * 1024];
    with_test_timeout("the beginning of the event", stream.read_exact(&mut begun)).await.unwrap();
    stream
}

/// Issue 11, S-L6: readers who stop in the middle of a large event share it. Without that each would hold the
/// whole of it.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_readers_that_stop_in_a_large_event_share_it() {
    allow_connections(SILENT as u64 * 2);
    let server = CrashableServer::start();
    let echo = server.agent("echo");
    let task = echo.send_and_wait(&data_message(json!({ "text": "x".repeat(LARGE_BYTES) }))).await.unwrap();
    let mut expected: Vec<u64> = echo.replay(&task).await.iter().map(|event| event.pos).collect();
    // Its place is in what was read before it stopped.
    expected.remove(0);
    // What reading costs by itself.
    for number in 0..ProtocolBinding::ALL.len() {
        assert_eq!(places(stop_within(&server, number, &task).await).await, expected);
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
    let back: JoinSet<_> = silent.drain(..ProtocolBinding::ALL.len()).map(places).collect();
    for seen in back.join_all().await {
        assert_eq!(seen, expected, "a reader that comes back misses nothing");
    }
}
