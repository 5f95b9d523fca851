//! Ten thousand runs that wait at a question cost almost nothing, before and after a restart.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
// why: only time shows that a server is idle.
use tokio::{sync::Mutex, task::JoinSet, time::sleep};

use super::support::{A2aClient, CrashableServer, data_message};

const WAITING: usize = 10_000;
const WARM_UP: usize = 1_000;
const SAMPLE: usize = 200;
/// Enough to fill group commits, and few enough not to be the load.
const CONNECTIONS: usize = 32;
const GROWTH_KIB_MAX: u64 = 20 * 1024;
/// The window in which an idle server may use two ticks of 10 ms.
const WINDOW: Duration = Duration::from_secs(2);
const TICKS_MAX: u64 = 2;

/// Runs an action this many times, over this many connections.
async fn many<T, F, Fut>(count: usize, agent: &A2aClient, each: F) -> Vec<T>
where
    T: Send + 'static,
    F: Fn(A2aClient, usize) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = T> + Send,
{
    let next = Arc::new(Mutex::new(0..count));
    let mut workers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (next, agent, each) = (next.clone(), agent.clone(), each.clone());
        workers.spawn(async move {
            let mut done = Vec::new();
            loop {
                let Some(number) = next.lock().await.next() else { return done };
                done.push(each(agent.clone(), number).await);
            }
        });
    }
    workers.join_all().await.into_iter().flatten().collect()
}

/// Starts a review and returns it when it waits at its question.
async fn start(agent: A2aClient, number: usize) -> Value {
    let task =
        agent.send_and_wait(&data_message(json!({ "subject": format!("subject {number}") }))).await.unwrap();
    assert_eq!(task["status"]["state"], "input-required");
    json!({ "id": task["id"], "contextId": task["contextId"] })
}

async fn confirm(agent: A2aClient, task: Value) {
    let done =
        agent.send_and_wait(&data_message(json!({ "confirmed": true })).for_task(&task)).await.unwrap();
    assert_eq!((&done["id"], done["status"]["state"].as_str()), (&task["id"], Some("completed")));
    assert_eq!(done["artifacts"].as_array().unwrap().len(), 3);
}

/// Processor time in a window in which nothing happens.
async fn idle_ticks(server: &CrashableServer) -> u64 {
    let before = server.cpu_ticks();
    // why: only elapsed time shows that nothing is done.
    sleep(WINDOW).await;
    server.cpu_ticks() - before
}

/// Answers every fiftieth of the waiting runs, from `first` on.
async fn answer_some(agent: &A2aClient, waiting: &[Value], first: usize) {
    let some: Arc<Vec<Value>> =
        Arc::new(waiting.iter().skip(first).step_by(WAITING / SAMPLE).cloned().collect());
    assert_eq!(some.len(), SAMPLE);
    many(SAMPLE, agent, move |agent, number| confirm(agent, some[number].clone())).await;
}

/// Proves X2.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_ten_thousand_waiting() {
    let began = Instant::now();
    let mut server = CrashableServer::start();
    let fresh = server.memory_kib();
    let agent = server.agent("review");
    many(WARM_UP, &agent, |agent, number| async move {
        let task = start(agent.clone(), number).await;
        confirm(agent, task).await;
    })
    .await;
    let idle = server.memory_kib();
    let warm = began.elapsed();
    let waiting = many(WAITING, &agent, start).await;
    let started = began.elapsed();
    let full = server.memory_kib();
    let ticks = idle_ticks(&server).await;
    eprintln!(
        "{fresh} KiB fresh, {idle} KiB idle after {WARM_UP} runs in {warm:?}, {full} KiB with {WAITING} waiting after \
         {started:?}; {ticks} ticks in {WINDOW:?}"
    );
    assert!(full < idle + GROWTH_KIB_MAX, "{idle} KiB became {full} KiB");
    assert!(ticks <= TICKS_MAX, "{ticks} ticks while nothing happened");
    answer_some(&agent, &waiting, 0).await;

    server.crash();
    let agent = server.agent("review");
    agent.get_task(&waiting[1]).await;
    let ticks = idle_ticks(&server).await;
    let recovered = server.memory_kib();
    answer_some(&agent, &waiting, 1).await;
    let answered = server.memory_kib();
    eprintln!(
        "after a crash: {recovered} KiB, {ticks} ticks in {WINDOW:?}, {answered} KiB after {SAMPLE} answers; \
         {:?} in all",
        began.elapsed()
    );
    assert!(recovered.max(answered) < idle + GROWTH_KIB_MAX, "{idle} KiB became {recovered} KiB");
    assert!(ticks <= TICKS_MAX, "{ticks} ticks while nothing happened");
}
