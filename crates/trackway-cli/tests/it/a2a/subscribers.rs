//! A thousand streams at once: of one run, and of a thousand runs. No client misses an event, gets one
//! twice, or gets an event of another run.

use std::collections::HashSet;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::support::{
    A2aClient, CrashableServer, EventStream, ProtocolBinding, StreamEvent, allow_connections, data_message,
    event_summary, normalize_events,
};

const SUBSCRIBERS: usize = 1_000;

/// Requests under way while the streams are opened. The test has two cores, and the load should come from
/// the streams.
const AT_ONCE: usize = 64;

/// Wrong answers before the right one; each repeats the question on every stream.
const WRONG: usize = 10;

/// The events of `review`: up to its question, and after the right answer.
const BEFORE: [&str; 6] =
    ["submitted", "working", "risk.json", "opportunity.json", "recommendation.json", "input-required"];
const AFTER: [&str; 2] = ["working", "completed"];

fn prepare() -> CrashableServer {
    // The test's ends of the streams, the connections that send, and some spare ones.
    allow_connections(SUBSCRIBERS as u64 * 2);
    CrashableServer::start()
}

async fn start(agent: &A2aClient) -> Value {
    agent.send_and_wait(&data_message(json!({ "subject": "tea" }))).await.unwrap()
}

async fn confirm(agent: &A2aClient, task: &Value) {
    let done = agent.send_and_wait(&data_message(json!({ "confirmed": true })).for_task(task)).await.unwrap();
    assert_eq!(done["status"]["state"], "completed");
}

/// Reads all streams to their ends in parallel. Returns them in the given order.
fn read_all(streams: Vec<EventStream>) -> JoinSet<(usize, Vec<StreamEvent>)> {
    let mut readers = JoinSet::new();
    for (number, stream) in streams.into_iter().enumerate() {
        readers.spawn(async move { (number, stream.read_to_end().await) });
    }
    readers
}

async fn joined(readers: JoinSet<(usize, Vec<StreamEvent>)>) -> Vec<Vec<StreamEvent>> {
    let mut all = readers.join_all().await;
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, events)| events).collect()
}

/// Proves L8: half of the streams begin with the current task, half at the run's beginning.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_a_thousand_subscribers_of_one_run_see_every_event_once_and_in_order() {
    let server = prepare();
    let agent = server.agent("review");
    let task = start(&agent).await;
    let from_start = |number: usize| (number / ProtocolBinding::ALL.len()).is_multiple_of(2);
    let opened = stream::iter(0..SUBSCRIBERS).map(|number| {
        let after = from_start(number).then_some(0);
        ProtocolBinding::for_client_number(number).subscribe(&server, "review", &task, after)
    });
    let streams: Vec<_> = opened.buffered(AT_ONCE).collect().await;
    let readers = read_all(streams);
    for number in 0..WRONG {
        agent.send(&data_message(json!({ "confirmed": number })).for_task(&task)).await.unwrap();
    }
    confirm(&agent, &task).await;

    let whole = agent.replay(&task).await;
    let told_of = BEFORE.len() + WRONG + AFTER.len();
    assert_eq!(normalize_events(&whole).len(), told_of);
    let mut alike: Vec<Vec<StreamEvent>> = vec![Vec::new(); ProtocolBinding::ALL.len()];
    for (number, mut events) in joined(readers).await.into_iter().enumerate() {
        if !from_start(number) {
            let now = events.remove(0);
            let question = &whole[BEFORE.len() - 1];
            assert_eq!(
                (now.pos, event_summary(&now.result)),
                (question.pos, event_summary(&question.result))
            );
        }
        let seen = events.iter().map(|event| (event.pos, event_summary(&event.result)));
        let expected = &whole[told_of - events.len()..];
        let expected = expected.iter().map(|event| (event.pos, event_summary(&event.result)));
        assert!(seen.eq(expected), "{number} saw {events:#?}");
        let missed = if from_start(number) { 0 } else { BEFORE.len() };
        assert_eq!(events.len(), told_of - missed, "{number}");
        // All clients of the same dialect get exactly the same bytes.
        let first = &mut alike[number % ProtocolBinding::ALL.len()];
        if first.is_empty() {
            first.clone_from(&events);
        }
        assert_eq!(events, first[missed..], "{number}");
    }
    assert_eq!(alike[0], whole);
}

/// Proves L8.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_a_thousand_runs_with_a_subscriber_each_keep_their_events_apart() {
    let server = prepare();
    let agent = server.agent("review");
    let started = stream::iter(0..SUBSCRIBERS).map(|_| start(&agent));
    let tasks: Vec<_> = started.buffered(AT_ONCE).collect().await;
    let opened = stream::iter(tasks.iter().enumerate()).map(|(number, task)| {
        ProtocolBinding::for_client_number(number).subscribe(&server, "review", task, Some(0))
    });
    let streams: Vec<_> = opened.buffered(AT_ONCE).collect().await;
    let readers = read_all(streams);
    let answered = stream::iter(&tasks).map(|task| confirm(&agent, task));
    answered.buffered(AT_ONCE).collect::<Vec<()>>().await;

    let mut places = HashSet::new();
    for (task, events) in tasks.iter().zip(joined(readers).await) {
        let id = task["id"].as_str().unwrap();
        let seen: Vec<_> = events.iter().map(|event| event_summary(&event.result)).collect();
        let expected = BEFORE.into_iter().chain(AFTER).map(|said| (id.to_owned(), said.to_owned()));
        assert_eq!(seen, expected.collect::<Vec<_>>());
        assert!(events.is_sorted_by(|a, b| a.pos < b.pos), "{events:#?}");
        // A position in the log is one event of one run.
        assert!(events.iter().all(|event| places.insert(event.pos)));
    }
}
