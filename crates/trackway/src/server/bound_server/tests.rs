//! The answers to health checks.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use trackway_domain::{Caller, Event};
use trackway_runtime::{ProgramRegistry, SubmitRunRequest};
use trackway_testkit::{OutageInterceptor, ProcessSetup, TestProcess, TestWorld, local_run_address};

use serde_json::Value;

use super::*;

/// Sleeps for a minute.
struct Naps;

impl crate::Workflow for Naps {
    const NAME: &'static str = "naps";
    const DESCRIPTION: &'static str = "Sleeps for a minute.";
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: crate::Ctx, _input: Value) -> Result<(), crate::Stop> {
        ctx.sleep(MINUTE).await;
        Ok(())
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// What `/readyz` answers on a real socket: the status, the head and the body.
async fn readiness(address: SocketAddr) -> (u16, String, Value) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), serde_json::from_str(body).unwrap())
}

/// Starts a run, and returns when it sleeps.
async fn nap(process: &TestProcess) {
    let submit = SubmitRunRequest::new("naps", Value::Null, Caller::local_without_auth());
    let run = process.submit_run(submit).await.unwrap().view.submission.run;
    let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
    while let Some(stored) = watch.next_event().await.unwrap() {
        if matches!(stored.event, Event::Slept { .. }) {
            return;
        }
    }
}

/// Advances the clock past the pauses of background work until `done` resolves.
async fn passing(process: &TestProcess, done: impl Future<Output = ()>) {
    let time = async {
        loop {
            process.clock.advance(Duration::from_secs(5));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = done => {}
        () = time => {}
    }
}

/// Issue 11, S-H2: a server whose store is unreachable, or whose background work fails, is not ready. It is
/// ready again when they recover.
#[test]
fn readiness_follows_the_store_and_the_background_work() {
    let outage = Arc::new(OutageInterceptor::new());
    let registry = ProgramRegistry::new();
    registry.add_program(crate::program(Naps)).unwrap();
    TestWorld::with_memory_store().run_to_completion(
        ProcessSetup::from(registry).with_interceptor(outage.clone()),
        async |process| {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let app = health_router(process.runtime.clone()).layer(middleware::map_response(add_retry_after));
            tokio::spawn(axum::serve(listener, app).into_future());
            let ready = (200, json!({ "status": "ready" }));
            let (status, _, body) = readiness(address).await;
            assert_eq!((status, body), ready);

            nap(&process).await;
            outage.begin_outage();
            let (status, head, body) = readiness(address).await;
            assert_eq!((status, &body["code"]), (503, &json!("store-busy")));
            assert_eq!(body["failing"], json!(["store"]), "nothing else has to be done now");
            assert!(head.contains("retry-after: 1"), "{head}");

            process.clock.advance(MINUTE);
            process.wait_for_task_health("timers", true).await;
            let (status, _, body) = readiness(address).await;
            assert_eq!((status, &body["failing"]), (503, &json!(["timers", "store"])));

            // The store is back; the timers have not tried again yet.
            outage.end_outage();
            let (status, _, body) = readiness(address).await;
            assert_eq!((status, &body["failing"]), (503, &json!(["timers"])));

            passing(&process, process.wait_for_task_health("timers", false)).await;
            let (status, _, body) = readiness(address).await;
            assert_eq!((status, body), ready);
        },
    );
}
