//! The client with Trackway's own front door.

use serde_json::json;
use trackway_a2a::{AddressPolicy, Outgoing, OutgoingOptions};
use trackway_a2a_client::{
    Binding, Client, ClientError, Envelope, Generation, ListQuery, MessageId, Options, Part,
    PushAuthentication, PushConfig, RefusalKind, Reply, Resend, SendOptions, Task, TaskState,
    Update,
};

use super::{all, door::Door, options, said, shape};

/// A way to reach the front door, and its name.
type Way = (&'static str, Binding, Generation);

const WAYS: [Way; 3] = [
    ("old", Binding::JsonRpc, Generation::V03),
    ("new", Binding::JsonRpc, Generation::V1),
    ("rest", Binding::HttpJson, Generation::V1),
];

fn client(door: &Door, (_, binding, generation): Way, options: Options) -> Client {
    let below = if binding == Binding::HttpJson { "/rest" } else { "" };
    Client::over(binding, &format!("{}{below}", door.url()), generation, options).unwrap()
}

async fn sent(client: &Client, envelope: &Envelope) -> Task {
    match client.send(envelope, &SendOptions::default()).await.unwrap() {
        Reply::Task(task) => task,
        Reply::Message(message) => panic!("{message:?}"),
    }
}

fn answer(id: &str, task: &Task, amount: i32) -> Envelope {
    let parts = vec![Part::data(json!({ "amount": amount }))];
    Envelope::user(MessageId::new(id).unwrap(), parts).to_task(&task.id)
}

#[tokio::test]
async fn the_card_leads_to_an_agent_that_answers() {
    let door = Door::open().await;
    let client = door.client().await;
    let card = client.card().unwrap();
    assert_eq!((card.name.as_str(), card.streaming), ("script", true));
    assert_eq!(card.skills[0].tags, ["test"]);
    let schemas = card.extensions.iter().find(|extension| extension.uri.ends_with("/schemas"));
    assert_eq!(schemas.unwrap().params["input_schema"]["required"], json!(["text"]));
    let task = sent(&client, &said("m-1", "hello")).await;
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(client.generation(), Generation::V1, "the newest that both know");
}

#[tokio::test]
async fn a_conversation_with_a_question() {
    let door = Door::open().await;
    for way in WAYS {
        let client = client(&door, way, options());
        let id = |name: &str| format!("{}-{name}", way.0);
        let task = sent(&client, &said(&id("m-1"), "ask")).await;
        assert_eq!(task.status.state, TaskState::InputRequired);
        let prompt = task.status.message.as_ref().unwrap();
        assert_eq!(prompt.parts[0].as_text(), Some("How much?"));
        assert_eq!(prompt.parts[0].metadata["schema"]["required"], json!(["amount"]));
        let done = sent(&client, &answer(&id("m-2"), &task, 7)).await;
        assert_eq!((done.status.state, &done.id), (TaskState::Completed, &task.id));
        assert_eq!(done.metadata["output"], json!({"invested": 7}));
        assert_eq!(done.context, task.context);

        let again = sent(&client, &said(&id("m-1"), "ask")).await;
        assert_eq!(again.id, task.id, "the same message makes no second task");
        let got = client.get(&task.id, None).await.unwrap();
        assert_eq!((got.status, got.artifacts), (done.status, done.artifacts));
        assert!(!got.history.is_empty());
        assert!(client.get(&task.id, Some(0)).await.unwrap().history.is_empty());

        let late = client.send(&answer(&id("m-3"), &task, 8), &SendOptions::default()).await;
        assert_eq!(late.unwrap_err().refusal(), Some(RefusalKind::UnsupportedOperation));
        let error = client.cancel(&task.id).await.unwrap_err();
        assert_eq!(error.refusal(), Some(RefusalKind::TaskNotCancelable));
        let error = client.get("run_0", None).await.unwrap_err();
        assert_eq!(error.refusal(), Some(RefusalKind::TaskNotFound));
        let empty =
            Envelope::user(MessageId::new(&id("m-4")).unwrap(), vec![Part::data(json!({}))]);
        let error = client.send(&empty, &SendOptions::default()).await.unwrap_err();
        assert_eq!(error.refusal(), Some(RefusalKind::InvalidParams));
    }
}

#[tokio::test]
async fn a_task_is_left_running_followed_and_cancelled() {
    let door = Door::open().await;
    for way in WAYS {
        let client = client(&door, way, options());
        let envelope = said(&format!("{}-m-1", way.0), "wait").in_context(format!("{}-c-1", way.0));
        let reply = client.send(&envelope, &SendOptions::at_once()).await.unwrap();
        let task = reply.task().unwrap();
        assert!(!task.status.state.is_terminal());
        assert_eq!(task.context, envelope.context);
        let mut updates = client.subscribe(&task.id, None).await.unwrap();
        assert!(matches!(updates.next().await.unwrap(), Some(Update::Task(_))));
        assert_eq!(client.cancel(&task.id).await.unwrap().status.state, TaskState::Canceled);
        let (seen, error) = all(&mut updates).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(shape(&seen).last().unwrap(), "canceled!");
    }
}

#[tokio::test]
async fn tasks_are_listed_page_by_page() {
    let door = Door::open().await;
    let client = door.client().await;
    for number in 0..3 {
        let envelope = said(&format!("m-{number}"), "hello").in_context("c-1");
        sent(&client, &envelope).await;
    }
    let other = sent(&client, &said("m-9", "hello").in_context("c-2")).await;
    let mut query = ListQuery {
        context: Some("c-1".to_owned()),
        state: Some(TaskState::Completed),
        page_size: Some(2),
        ..ListQuery::default()
    };
    let first = client.list(&query).await.unwrap();
    let rest = self::client(&door, WAYS[2], options());
    assert_eq!(rest.list(&query).await.unwrap(), first, "the same on every binding");
    assert_eq!((first.tasks.len(), first.total), (2, 3));
    query.page_token = first.next;
    let last = client.list(&query).await.unwrap();
    assert_eq!((last.tasks.len(), last.next), (1, None));
    let query = ListQuery {
        context: Some("c-2".to_owned()),
        after: other.status.timestamp,
        artifacts: true,
        ..ListQuery::default()
    };
    let page = client.list(&query).await.unwrap();
    assert_eq!((page.tasks.len(), &page.tasks[0].artifacts), (1, &other.artifacts));
    let old = Client::at(&door.url(), Generation::V03, options()).unwrap();
    let error = old.list(&query).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported { .. }));
}

/// Set, read and removed; the front door's own tests cover the notifications.
#[tokio::test]
async fn push_configurations_are_kept_for_a_task() {
    let addresses = AddressPolicy { allow_loopback: true };
    let outgoing = OutgoingOptions { addresses, ..OutgoingOptions::default() };
    let outgoing = Some(Outgoing::new(outgoing));
    let door = Door::with(trackway_a2a::Options { outgoing, ..Default::default() }).await;
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
        let asked = SendOptions { push: Some(config.clone()), ..SendOptions::at_once() };
        let envelope = said(&format!("{}-m-1", way.0), "wait");
        let reply = client.send(&envelope, &asked).await.unwrap();
        let task = &reply.task().unwrap().id;
        assert_eq!(client.get_push(task, "first").await.unwrap(), config);
        let second = PushConfig::new("http://127.0.0.1:9/other");
        let second = client.set_push(task, &second).await.unwrap();
        let id = second.id.clone().expect("the door gives one");
        assert_eq!(client.list_push(task).await.unwrap(), [config, second]);
        client.delete_push(task, &id).await.unwrap();
        client.delete_push(task, "first").await.unwrap();
        assert_eq!(client.list_push(task).await.unwrap(), []);
    }
}

#[tokio::test]
async fn what_the_door_does_not_offer_has_its_name() {
    let door = Door::open().await;
    for way in WAYS {
        let client = client(&door, way, options());
        let error = client.list_push("run_0").await.unwrap_err();
        assert_eq!(error.refusal(), Some(RefusalKind::PushNotificationNotSupported));
        let error = client.extended_card().await.unwrap_err();
        let undeclared = match way.2 {
            Generation::V03 => RefusalKind::ExtendedCardNotConfigured,
            Generation::V1 => RefusalKind::UnsupportedOperation,
        };
        assert_eq!(error.refusal(), Some(undeclared));
    }
}

/// Wherever the connection is cut, the reader receives the same updates as without a cut.
#[tokio::test]
async fn a_stream_that_is_cut_anywhere_shows_everything_once() {
    let door = Door::open().await;
    for way in WAYS {
        let id = |name: &str| format!("{}-{name}", way.0);
        let whole = told(&stream(&door, way, &id("whole"), "one two three").await);
        assert_eq!((whole[0].as_str(), whole.len()), ("task:submitted", 9), "{whole:?}");
        let before = door.line.cuts();
        // From inside the head to after the last event.
        for cut in (100..6_000).step_by(331) {
            // Later connections are cut too, but carry enough for one event each.
            door.line.cut_after([cut, 1_600, 1_700, 1_800]);
            let seen = told(&stream(&door, way, &id(&cut.to_string()), "one two three").await);
            assert!(is_the_same(&seen, &whole), "cut after {cut}: {seen:?}");
        }
        assert!(door.line.cuts() > before + 10, "{}", door.line.cuts());
    }
}

async fn stream(door: &Door, way: Way, id: &str, text: &str) -> Vec<Update> {
    // One connection per request, so that a cut affects nothing else.
    let options = Options { resend: Resend::Lost, ..options() };
    let client = client(door, way, options);
    let mut updates = client.stream(&said(id, text), &SendOptions::default()).await.unwrap();
    let (seen, error) = all(&mut updates).await;
    assert!(error.is_none(), "{error:?}");
    seen
}

/// Each update with the text in it.
fn told(updates: &[Update]) -> Vec<String> {
    let text = |update: &Update| match update {
        Update::Status(update) => {
            let parts = update.status.message.as_ref().map(|message| &message.parts[..]);
            parts.unwrap_or_default().iter().filter_map(Part::as_text).collect()
        }
        Update::Artifact(update) => {
            update.chunk.artifact.parts.iter().filter_map(Part::as_text).collect()
        }
        Update::Task(_) | Update::Message(_) => String::new(),
    };
    shape(updates).into_iter().zip(updates).map(|(kind, update)| kind + &text(update)).collect()
}

/// Everything once and in order. If not even the first event arrived, the message is sent again, and
/// the result is the task that it then finds and the rest of its updates.
fn is_the_same(seen: &[String], whole: &[String]) -> bool {
    let begun_late = seen.len() < whole.len() && seen[0].starts_with("task:");
    seen == whole || (begun_late && whole.ends_with(&seen[1..]))
}

#[tokio::test]
async fn a_subscription_outlives_the_server() {
    for way in WAYS {
        let mut door = Door::open().await;
        let patient = Options { reconnects: 10_000, retries: 10_000, ..options() };
        let client = client(&door, way, patient);
        let task = sent(&client, &said("m-1", "ask")).await;
        let mut updates = client.subscribe(&task.id, None).await.unwrap();
        assert!(matches!(updates.next().await.unwrap(), Some(Update::Task(_))));
        door.close().await;
        let following = tokio::spawn(async move { all(&mut updates).await });
        door.reopen().await;
        // With separate connections: those to the old server may break during the answer.
        let other = self::client(&door, way, options());
        sent(&other, &answer("m-2", &task, 7)).await;
        let (seen, error) = following.await.unwrap();
        assert!(error.is_none(), "{error:?}");
        assert_eq!(shape(&seen), ["working", "completed!"]);
    }
}
