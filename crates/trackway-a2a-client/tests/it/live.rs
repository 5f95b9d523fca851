//! The client with Trackway's own front door.

use serde_json::json;
use trackway_a2a::{AddressPolicy, PushSender, PushSenderOptions};
use trackway_a2a_client::{
    AddressedMessage, AgentRefusalKind, Client, ClientError, MessageId, Options, Part, ProtocolBinding,
    ProtocolVersion, PushAuthentication, PushConfig, ResendPolicy, SendOptions, SendReply, Task, TaskQuery,
    TaskState, TaskUpdate,
};

use super::{options, read_all, summarize, test_server::TestServer, user_message};

/// A way to reach the front door, and its name.
type Way = (&'static str, ProtocolBinding, ProtocolVersion);

const WAYS: [Way; 3] = [
    ("old", ProtocolBinding::JsonRpc, ProtocolVersion::V03),
    ("new", ProtocolBinding::JsonRpc, ProtocolVersion::V1),
    ("rest", ProtocolBinding::HttpJson, ProtocolVersion::V1),
];

fn client(door: &TestServer, (_, binding, generation): Way, options: Options) -> Client {
    let below = if binding == ProtocolBinding::HttpJson { "/rest" } else { "" };
    Client::for_binding(binding, &format!("{}{below}", door.url()), generation, options).unwrap()
}

async fn send_for_task(client: &Client, envelope: &AddressedMessage) -> Task {
    match client.send_message(envelope, &SendOptions::default()).await.unwrap() {
        SendReply::Task(task) => task,
        SendReply::Message(message) => panic!("{message:?}"),
    }
}

fn answer(id: &str, task: &Task, amount: i32) -> AddressedMessage {
    let parts = vec![Part::data(json!({ "amount": amount }))];
    AddressedMessage::from_user(MessageId::new(id).unwrap(), parts).addressed_to_task(&task.id)
}

#[tokio::test]
async fn the_card_leads_to_an_agent_that_answers() {
    let door = TestServer::open().await;
    let client = door.client().await;
    let card = client.agent_card().unwrap();
    assert_eq!((card.name.as_str(), card.streaming), ("script", true));
    assert_eq!(card.skills[0].tags, ["test"]);
    let schemas = card.extensions.iter().find(|extension| extension.uri.ends_with("/schemas"));
    assert_eq!(schemas.unwrap().params["input_schema"]["required"], json!(["text"]));
    let task = send_for_task(&client, &user_message("m-1", "hello")).await;
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(client.protocol_version(), ProtocolVersion::V1, "the newest that both know");
}

#[tokio::test]
async fn a_conversation_with_a_question() {
    let door = TestServer::open().await;
    for way in WAYS {
        let client = client(&door, way, options());
        let id = |name: &str| format!("{}-{name}", way.0);
        let task = send_for_task(&client, &user_message(&id("m-1"), "ask")).await;
        assert_eq!(task.status.state, TaskState::InputRequired);
        let prompt = task.status.message.as_ref().unwrap();
        assert_eq!(prompt.parts[0].as_text(), Some("How much?"));
        assert_eq!(prompt.parts[0].metadata["schema"]["required"], json!(["amount"]));
        let done = send_for_task(&client, &answer(&id("m-2"), &task, 7)).await;
        assert_eq!((done.status.state, &done.id), (TaskState::Completed, &task.id));
        assert_eq!(done.metadata["output"], json!({"invested": 7}));
        assert_eq!(done.context, task.context);

        let again = send_for_task(&client, &user_message(&id("m-1"), "ask")).await;
        assert_eq!(again.id, task.id, "the same message makes no second task");
        let got = client.get_task(&task.id, None).await.unwrap();
        assert_eq!((got.status, got.artifacts), (done.status, done.artifacts));
        assert!(!got.history.is_empty());
        assert!(client.get_task(&task.id, Some(0)).await.unwrap().history.is_empty());

        let late = client.send_message(&answer(&id("m-3"), &task, 8), &SendOptions::default()).await;
        assert_eq!(late.unwrap_err().refusal_kind(), Some(AgentRefusalKind::UnsupportedOperation));
        let error = client.cancel_task(&task.id).await.unwrap_err();
        assert_eq!(error.refusal_kind(), Some(AgentRefusalKind::TaskNotCancelable));
        let error = client.get_task("run_0", None).await.unwrap_err();
        assert_eq!(error.refusal_kind(), Some(AgentRefusalKind::TaskNotFound));
        let empty =
            AddressedMessage::from_user(MessageId::new(&id("m-4")).unwrap(), vec![Part::data(json!({}))]);
        let error = client.send_message(&empty, &SendOptions::default()).await.unwrap_err();
        assert_eq!(error.refusal_kind(), Some(AgentRefusalKind::InvalidParams));
    }
}

#[tokio::test]
async fn a_task_is_left_running_followed_and_cancelled() {
    let door = TestServer::open().await;
    for way in WAYS {
        let client = client(&door, way, options());
        let envelope = user_message(&format!("{}-m-1", way.0), "wait").in_context(format!("{}-c-1", way.0));
        let reply = client.send_message(&envelope, &SendOptions::return_immediately()).await.unwrap();
        let task = reply.as_task().unwrap();
        assert!(!task.status.state.is_terminal());
        assert_eq!(task.context, envelope.context);
        let mut updates = client.subscribe_to_task(&task.id, None).await.unwrap();
        assert!(matches!(updates.next().await.unwrap(), Some(TaskUpdate::Task(_))));
        assert_eq!(client.cancel_task(&task.id).await.unwrap().status.state, TaskState::Canceled);
        let (seen, error) = read_all(&mut updates).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(summarize(&seen).last().unwrap(), "canceled!");
    }
}

#[tokio::test]
async fn tasks_are_listed_page_by_page() {
    let door = TestServer::open().await;
    let client = door.client().await;
    for number in 0..3 {
        let envelope = user_message(&format!("m-{number}"), "hello").in_context("c-1");
        send_for_task(&client, &envelope).await;
    }
    let other = send_for_task(&client, &user_message("m-9", "hello").in_context("c-2")).await;
    let mut query = TaskQuery {
        context: Some("c-1".to_owned()),
        state: Some(TaskState::Completed),
        page_size: Some(2),
        ..TaskQuery::default()
    };
    let first = client.list_tasks(&query).await.unwrap();
    let rest = self::client(&door, WAYS[2], options());
    assert_eq!(rest.list_tasks(&query).await.unwrap(), first, "the same on every binding");
    assert_eq!((first.tasks.len(), first.total), (2, 3));
    query.page_token = first.next;
    let last = client.list_tasks(&query).await.unwrap();
    assert_eq!((last.tasks.len(), last.next), (1, None));
    let query = TaskQuery {
        context: Some("c-2".to_owned()),
        after: other.status.timestamp,
        artifacts: true,
        ..TaskQuery::default()
    };
    let page = client.list_tasks(&query).await.unwrap();
    assert_eq!((page.tasks.len(), &page.tasks[0].artifacts), (1, &other.artifacts));
    let old = Client::for_json_rpc(&door.url(), ProtocolVersion::V03, options()).unwrap();
    let error = old.list_tasks(&query).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported { .. }));
}

/// Set, read and removed; the front door's own tests cover the notifications.
#[tokio::test]
async fn push_configurations_are_kept_for_a_task() {
    let addresses = AddressPolicy { allow_loopback: true, ..AddressPolicy::default() };
    let outgoing = PushSenderOptions { addresses, ..PushSenderOptions::default() };
    let outgoing = Some(PushSender::new(outgoing));
    let door = TestServer::with_options(trackway_a2a::Options { outgoing, ..Default::default() }).await;
    for way in WAYS {
        let client = client(&door, way, options());
        let config = PushConfig {
            id: Some("first".to_owned()),
            token: Some("token".to_owned()),
            authentication: Some(PushAuthentication {
                scheme: "Bearer".to_owned(),
                credentials: Some("key".to_owned()),
            }),
            ..PushConfig::new("http://127.0.0.1:9/hook")
        };
        let asked = SendOptions { push: Some(config.clone()), ..SendOptions::return_immediately() };
        let envelope = user_message(&format!("{}-m-1", way.0), "wait");
        let reply = client.send_message(&envelope, &asked).await.unwrap();
        let task = &reply.as_task().unwrap().id;
        assert_eq!(client.get_push_config(task, "first").await.unwrap(), config);
        let second = PushConfig::new("http://127.0.0.1:9/other");
        let second = client.set_push_config(task, &second).await.unwrap();
        let id = second.id.clone().expect("the door gives one");
        assert_eq!(client.list_push_configs(task).await.unwrap(), [config, second]);
        client.delete_push_config(task, &id).await.unwrap();
        client.delete_push_config(task, "first").await.unwrap();
        assert_eq!(client.list_push_configs(task).await.unwrap(), []);
    }
}

#[tokio::test]
async fn unsupported_operations_are_refused_by_kind() {
    let door = TestServer::open().await;
    for way in WAYS {
        let client = client(&door, way, options());
        let error = client.list_push_configs("run_0").await.unwrap_err();
        assert_eq!(error.refusal_kind(), Some(AgentRefusalKind::PushNotificationNotSupported));
        let error = client.get_extended_card().await.unwrap_err();
        let undeclared = match way.2 {
            ProtocolVersion::V03 => AgentRefusalKind::ExtendedCardNotConfigured,
            ProtocolVersion::V1 => AgentRefusalKind::UnsupportedOperation,
        };
        assert_eq!(error.refusal_kind(), Some(undeclared));
    }
}

/// Wherever the connection is cut, the reader receives the same updates as without a cut.
#[tokio::test]
async fn a_stream_that_is_cut_anywhere_shows_everything_once() {
    let door = TestServer::open().await;
    for way in WAYS {
        let id = |name: &str| format!("{}-{name}", way.0);
        let whole = summarize_content(&stream(&door, way, &id("whole"), "one two three").await);
        assert_eq!((whole[0].as_str(), whole.len()), ("task:submitted", 9), "{whole:?}");
        let before = door.line.cuts();
        // From inside the head to after the last event.
        for cut in (100..6_000).step_by(331) {
            // Later connections are cut too, but carry enough for one event each.
            door.line.cut_after([cut, 1_600, 1_700, 1_800]);
            let seen = summarize_content(&stream(&door, way, &id(&cut.to_string()), "one two three").await);
            assert!(has_same_content(&seen, &whole), "cut after {cut}: {seen:?}");
        }
        assert!(door.line.cuts() > before + 10, "{}", door.line.cuts());
    }
}

async fn stream(door: &TestServer, way: Way, id: &str, text: &str) -> Vec<TaskUpdate> {
    // One connection per request, so that a cut affects nothing else.
    let options = Options { resend: ResendPolicy::WhenLost, ..options() };
    let client = client(door, way, options);
    let mut updates = client.stream_message(&user_message(id, text), &SendOptions::default()).await.unwrap();
    let (seen, error) = read_all(&mut updates).await;
    assert!(error.is_none(), "{error:?}");
    seen
}

/// Each update with the text in it.
fn summarize_content(updates: &[TaskUpdate]) -> Vec<String> {
    let text = |update: &TaskUpdate| match update {
        TaskUpdate::Status(update) => {
            let parts = update.status.message.as_ref().map(|message| &message.parts[..]);
            parts.unwrap_or_default().iter().filter_map(Part::as_text).collect()
        }
        TaskUpdate::Artifact(update) => {
            update.chunk.artifact.parts.iter().filter_map(Part::as_text).collect()
        }
        TaskUpdate::Task(_) | TaskUpdate::Message(_) => String::new(),
    };
    summarize(updates).into_iter().zip(updates).map(|(kind, update)| kind + &text(update)).collect()
}

/// Everything once and in order. If not even the first event arrived, the message is sent again, and
/// the result is the task that it then finds and the rest of its updates.
fn has_same_content(seen: &[String], whole: &[String]) -> bool {
    let begun_late = seen.len() < whole.len() && seen[0].starts_with("task:");
    seen == whole || (begun_late && whole.ends_with(&seen[1..]))
}

#[tokio::test]
async fn a_subscription_outlives_the_server() {
    for way in WAYS {
        let mut door = TestServer::open().await;
        let patient = Options { reconnects: 10_000, retries: 10_000, ..options() };
        let client = client(&door, way, patient);
        let task = send_for_task(&client, &user_message("m-1", "ask")).await;
        let mut updates = client.subscribe_to_task(&task.id, None).await.unwrap();
        assert!(matches!(updates.next().await.unwrap(), Some(TaskUpdate::Task(_))));
        door.close().await;
        let following = tokio::spawn(async move { read_all(&mut updates).await });
        door.reopen().await;
        // With separate connections: those to the old server may break during the answer.
        let other = self::client(&door, way, options());
        send_for_task(&other, &answer("m-2", &task, 7)).await;
        let (seen, error) = following.await.unwrap();
        assert!(error.is_none(), "{error:?}");
        assert_eq!(summarize(&seen), ["working", "completed!"]);
    }
}
