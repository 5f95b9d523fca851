//! Many requests at one question: one resumes the run, and every caller gets a correct answer.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    scenarios::review_events_until_question,
    support::{
        A2aClient, CrashableServer, Message, data_message, expected_end, expected_resumed, normalize_events,
    },
};

const CROWD: u64 = 64;

/// Every message at the same time; the tasks in the order of the messages.
async fn at_once(agent: &A2aClient, messages: &[Message]) -> Vec<Value> {
    let mut sends = JoinSet::new();
    for (index, message) in messages.iter().enumerate() {
        let (agent, message) = (agent.clone(), message.clone());
        sends.spawn(async move { (index, agent.send(&message).await.unwrap()) });
    }
    let mut tasks = sends.join_all().await;
    tasks.sort_by_key(|(index, _)| *index);
    tasks.into_iter().map(|(_, task)| task).collect()
}

fn order(task: &Value) -> u64 {
    task["metadata"]["requestOrder"].as_u64().unwrap_or_else(|| panic!("no place: {task}"))
}

fn primary(task: &Value) -> bool {
    task["metadata"]["primaryResume"].as_bool().unwrap()
}

/// The rule for every crowd: positions 1, 2, …, each once; one resumes; all after it are concurrent.
fn check_request_orders(tasks: &[Value]) {
    let mut orders: Vec<_> = tasks.iter().map(order).collect();
    orders.sort_unstable();
    assert_eq!(orders, (1..=tasks.len() as u64).collect::<Vec<_>>());
    assert_eq!(tasks.iter().filter(|task| primary(task)).count(), 1);
    let resumes = tasks.iter().find(|task| primary(task)).map(order).unwrap();
    for task in tasks {
        let concurrent = task["metadata"]["concurrentRequest"].as_bool().unwrap();
        assert!(concurrent || order(task) <= resumes, "{}", task["metadata"]);
    }
}

/// Proves L9, L13, L16, X2: sixty-four at once, and again, as repetitions, after a crash.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_answers_one_resumes() {
    let mut server = CrashableServer::start();
    let agent = server.agent("review");
    let start = data_message(json!({ "subject": "tea", "delayMs": 2000 }));
    let task = agent.send_and_wait(&start).await.unwrap();
    let answers: Vec<_> =
        (0..CROWD).map(|_| data_message(json!({ "confirmed": true })).for_task(&task)).collect();
    let tasks = at_once(&agent, &answers).await;
    check_request_orders(&tasks);
    let first = tasks.iter().find(|task| primary(task)).unwrap();
    assert_eq!(order(first), 1, "all are valid, so the first resumes");
    for task in &tasks {
        assert_eq!(task["status"]["state"], "working");
        assert_eq!(task["metadata"].get("validationErrors"), None);
    }
    server.crash();
    let again = at_once(&server.agent("review"), &answers).await;
    let metadata = |tasks: &[Value]| tasks.iter().map(|task| task["metadata"].clone()).collect::<Vec<_>>();
    assert_eq!(metadata(&again), metadata(&tasks), "a repetition keeps its place");
    let whole = server.agent("review").subscribe(&task, Some(0)).await.read_to_end().await;
    let mut expected = review_events_until_question(&start, "tea");
    let concurrent = first["metadata"]["concurrentRequest"] == true;
    expected.extend([expected_resumed(concurrent, 1), expected_end("completed", None)]);
    assert_eq!(normalize_events(&whole), expected);
}

/// Proves L16: on streams too every caller is answered, and every stream ends.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_answers_over_streams_all_see_the_end() {
    let server = CrashableServer::start();
    let agent = server.agent("review");
    let task =
        agent.send_and_wait(&data_message(json!({ "subject": "tea", "delayMs": 1000 }))).await.unwrap();
    let mut streams = JoinSet::new();
    for _ in 0..16 {
        let (agent, answer) = (agent.clone(), data_message(json!({ "confirmed": true })).for_task(&task));
        streams.spawn(async move { agent.stream_message(&answer).await });
    }
    let streams = streams.join_all().await;
    let firsts: Vec<_> = streams.iter().map(|events| events[0].result.clone()).collect();
    check_request_orders(&firsts);
    for events in &streams {
        let resumes = usize::from(primary(&events[0].result));
        assert_eq!(events.len(), 2 + resumes, "{events:#?}");
        assert_eq!(normalize_events(&events[1 + resumes..]), [expected_end("completed", None)]);
    }
}

/// Proves L16: an answer and a cancel at once: one of them is first, and both get an answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_and_a_cancel_at_once_are_both_answered() {
    let server = CrashableServer::start();
    let agent = server.agent("review");
    for _ in 0..20 {
        let task = agent.send_and_wait(&data_message(json!({ "subject": "tea" }))).await.unwrap();
        let yes = data_message(json!({ "confirmed": true })).for_task(&task);
        let (answered, canceled) = tokio::join!(agent.send_and_wait(&yes), agent.cancel_task(&task));
        let whole = agent.subscribe(&task, Some(0)).await.read_to_end().await;
        let last = whole.last().unwrap().result["status"]["state"].clone();
        match (answered, canceled) {
            (Ok(task), Ok(_)) => {
                assert_eq!((&task["status"]["state"], &last), (&json!("canceled"), &json!("canceled")))
            }
            (Ok(task), Err(refused)) => {
                assert_eq!((&task["status"]["state"], refused.code), (&json!("completed"), -32002));
            }
            (Err(refused), Ok(_)) => {
                assert_eq!((refused.code, &last), (-32004, &json!("canceled")))
            }
            (Err(answer), Err(cancel)) => panic!("nobody was first: {answer:?}, {cancel:?}"),
        }
        assert_eq!(whole.iter().filter(|event| event.result["final"] == true).count(), 1);
    }
}
