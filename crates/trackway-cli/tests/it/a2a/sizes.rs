//! Tasks, events and wrong answers that are too large to be shown completely.

use serde_json::{Map, Value, json};

use super::support::{A2aClient, CrashableServer, JsonRpcError, ProtocolBinding, StreamEvent, data_message};

/// The limit of a Task and an event, with room for the envelope.
const SHOWN_BYTES_MAX: usize = 16 * 1024 * 1024 + 64 * 1024;
/// More than the limit.
const TEXT_BYTES: usize = 17 * 1024 * 1024;

fn server() -> CrashableServer {
    let home = tempfile::tempdir().unwrap();
    let config = "[server]\nbody_max_bytes = 67108864\n";
    std::fs::write(home.path().join("trackway.toml"), config).unwrap();
    CrashableServer::start_in(home, &[])
}

fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// Issue 11, S-M3: the answers about a task with a message and an artifact of 17 MB are bounded, and name what
/// they leave out.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_a_very_large_task_is_answered_within_its_bound() {
    let server = server();
    let echo = server.agent("echo");
    let sent = data_message(json!({ "text": "x".repeat(TEXT_BYTES) }));
    let task = echo.send_and_wait(&sent).await.unwrap();
    let got = echo.get_task(&task).await;
    for shown in [&task, &got] {
        assert!(bytes(shown) < SHOWN_BYTES_MAX, "{}", bytes(shown));
        assert_eq!(shown["status"]["state"], "completed");
        let omitted = &shown["metadata"]["omitted"];
        assert_eq!(omitted["artifacts"], json!(["echo.txt"]), "{omitted}");
        assert_eq!(omitted["messages"], 1, "the message of 17 MB: {omitted}");
        let history: Vec<&Value> = shown["history"].as_array().unwrap().iter().collect();
        assert_eq!(shown["artifacts"], json!([]));
        assert!(history.iter().all(|message| message["role"] == "agent"), "{history:?}");
    }
}

/// Issue 11, S-M3: each event of a stream is bounded like a Task, in both generations and bindings, and
/// says how much of it is left out. Small events are complete.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_a_very_large_event_is_streamed_within_its_bound() {
    let server = server();
    let sent = data_message(json!({ "text": "x".repeat(TEXT_BYTES) }));
    let task = server.agent("echo").send_and_wait(&sent).await.unwrap();
    for dialect in [ProtocolBinding::Rpc03, ProtocolBinding::Rest1] {
        let stream = dialect.subscribe(&server, "echo", &task, Some(0)).await;
        let events: Vec<StreamEvent> = stream.read_to_end().await;
        let largest = events.iter().map(|event| bytes(&event.result)).max().unwrap();
        assert!(largest < SHOWN_BYTES_MAX, "{dialect:?}: {largest}");
        // 1.0 wraps an event in a member that says what it is.
        let bare = |event: &StreamEvent| match event.result.get("kind") {
            Some(_) => event.result.clone(),
            None => event.result.as_object().unwrap().values().next().unwrap().clone(),
        };
        let events: Vec<Value> = events.iter().map(bare).collect();
        assert_eq!(events[0]["metadata"]["omitted"]["messages"], 1, "{dialect:?}");
        let artifact = events.iter().find(|event| event.get("artifact").is_some()).unwrap();
        assert_eq!(artifact["artifact"]["artifactId"], "echo.txt");
        assert_eq!(artifact["metadata"]["omitted"]["parts"], 1, "{dialect:?}: {artifact}");
        assert_eq!(artifact["lastChunk"], true);
        let last = events.last().unwrap();
        assert!(last.to_string().to_lowercase().contains("completed"), "{last}");
        assert_eq!(last.pointer("/metadata/omitted"), None, "{last}");
    }
    // REST has another form of updates.
    let id = task["id"].as_str().unwrap();
    let stream = server.http().get(server.url(&format!("/api/runs/{id}/stream?after=0")));
    let text = stream.send().await.unwrap().text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let updates: Vec<Value> = data.map(|line| serde_json::from_str(line).unwrap()).collect();
    let artifact = updates.iter().find(|update| update["type"] == "artifact").unwrap();
    assert_eq!(artifact["omitted"]["parts"], 1);
    assert!(bytes(artifact) < SHOWN_BYTES_MAX);
    assert_eq!(updates.last().unwrap(), &json!({ "reason": "ended" }));
}

/// An answer of the server: the reasons and the prompt, without the content that was sent.
const ANSWER_BYTES_MAX: usize = 48 * 1024;

/// An object with that many unknown fields.
fn strange(fields: usize) -> Map<String, Value> {
    (0..fields).map(|number| (format!("k{number}"), json!(number))).collect()
}

async fn small(agent: &A2aClient, method: &str, params: Value) -> Result<Value, JsonRpcError> {
    let answer = agent.call(method, params).await;
    let bytes = match &answer {
        Ok(result) => result.to_string().len(),
        Err(refused) => refused.message.len() + refused.data.to_string().len(),
    };
    assert!(bytes <= ANSWER_BYTES_MAX, "{method}: {bytes} bytes");
    answer
}

/// Proves L14, X5: an answer of 20,000 wrong fields is refused in a few kilobytes, here and for every later
/// reader of the task.
#[tokio::test]
async fn a_large_wrong_answer_gets_a_small_reply() {
    let mut server = CrashableServer::start();
    let task =
        server.agent("invest").send_and_wait(&data_message(json!({ "walletAddress": "0x1" }))).await.unwrap();
    let mut long = strange(100);
    long.insert("amount".to_owned(), json!("x".repeat(1_000_000)));
    for input in [strange(20_000), long] {
        let agent = server.agent("invest");
        let configuration = json!({ "blocking": true, "historyLength": 0 });
        let message = data_message(Value::Object(input.clone())).for_task(&task);
        let params = json!({ "message": message.json(), "configuration": configuration });
        let refused = small(&agent, "message/send", params).await.unwrap();
        assert_eq!(refused["status"]["state"], "input-required");
        let errors = refused["metadata"]["validationErrors"].as_array().unwrap();
        assert!(!errors.is_empty() && errors.len() <= 32, "{}", errors.len());
        let start = json!({ "message": data_message(Value::Object(input)).json() });
        let refused = small(&agent, "message/send", start).await.unwrap_err();
        assert!(refused.data["errors"].as_array().unwrap().len() <= 32);
        server.crash();
        let params = json!({ "id": task["id"], "historyLength": 0 });
        small(&server.agent("invest"), "tasks/get", params).await.unwrap();
    }
    let agent = server.agent("invest");
    let form = data_message(json!({ "walletAddress": "0x1", "amount": 1.0 })).for_task(&task);
    assert_eq!(agent.send_and_wait(&form).await.unwrap()["status"]["state"], "auth-required");
}
