//! The engine alone, in this process, on the embedded store with full durability.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use trackway::{Ctx, Server, Stop, Workflow};
use trackway_cli::programs::ReviewWorkflow;
use trackway_domain::{Access, Caller, Message, MessageId, MessageRole, Part, StateName};
use trackway_ports::IdSource;
use trackway_runtime::{DeliverMessageRequest, RunAddress, Runtime, SubmitRunRequest, SystemIds};

use crate::{
    load_generator::{self, LoadWorker, run_workers},
    report::{Report, Timings, format_ms},
    server_process::process_cpu_time,
};

/// Three recorded steps that do nothing.
struct ThreeStepWorkflow;

impl Workflow for ThreeStepWorkflow {
    const NAME: &'static str = "trivial";
    const DESCRIPTION: &'static str = "Three steps that do nothing.";
    type Input = ();
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, _input: ()) -> Result<(), Stop> {
        for key in ["a", "b", "c"] {
            ctx.step(key, |_| async { Ok::<_, std::io::Error>(1) }).await?;
        }
        Ok(())
    }
}

/// Many recorded values, then a question: the input of a replay.
struct LongLogWorkflow;

const LONG_EVENTS: usize = 10_000;

/// How long a run that waits may stay in memory before the bench gives up.
const EVICTION_MAX: Duration = Duration::from_secs(60);

impl Workflow for LongLogWorkflow {
    const NAME: &'static str = "long";
    const DESCRIPTION: &'static str = "So many recorded values and a question.";
    type Input = usize;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, events: usize) -> Result<(), Stop> {
        for _ in 0..events {
            ctx.random().await;
        }
        ctx.ask::<bool>("Go on?").await;
        Ok(())
    }
}

pub(crate) fn measure_rows(report: &mut Report) -> Result<()> {
    let runtime = load_generator::build_tokio_runtime()?;
    for (name, at_once, count, target) in [
        ("run of 3 steps, 64 in flight", 64, 60_000, "target: its 6 events >= 70 % of the limit"),
        ("run of 3 steps, 1 in flight", 1, 2_000, "target p50 <= 4 fsyncs"),
    ] {
        if report.is_selected(name) {
            let count = report.scaled_count(count);
            let before = process_cpu_time("self")?;
            let times = runtime
                .block_on(with_fresh_engine(async |engine| measure_runs(engine, at_once, count).await))?;
            let cpu = (process_cpu_time("self")? - before).as_micros() as f64 / count as f64;
            report.add_row(
                name,
                format!("{}  {cpu:.0} us CPU", times.format_summary()),
                target,
                times.to_json(),
            );
        }
    }
    let name = "answer to a question -> completed, 1 in flight";
    if report.is_selected(name) {
        let count = report.scaled_count(2_000);
        let times =
            runtime.block_on(with_fresh_engine(async |engine| measure_answers(engine, count).await))?;
        report.add_row(name, times.format_summary(), "target p50 <= 4 fsyncs", times.to_json());
    }
    let name = "replay of a 10,000-event run, to its end";
    if report.is_selected(name) {
        let events = report.scaled_count(LONG_EVENTS);
        let span =
            runtime.block_on(with_fresh_engine(async |engine| measure_replay(engine, events).await))?;
        report.add_row(name, format_ms(span), "", json!({ "us": span.as_micros() as u64 }));
    }
    Ok(())
}

async fn with_fresh_engine<T>(measure: impl AsyncFnOnce(Runtime) -> Result<T>) -> Result<T> {
    let folder = tempfile::tempdir()?;
    let engine = open_engine(folder.path()).await?;
    let result = measure(engine.clone()).await;
    engine.stop_runtime().await;
    result
}

async fn open_engine(folder: &Path) -> Result<Runtime> {
    let server = Server::new()
        .data(folder)
        .workflow(ThreeStepWorkflow)
        .workflow(LongLogWorkflow)
        .workflow(ReviewWorkflow);
    let (engine, held) = server.start_engine().await?;
    // The folder is temporary and used only here.
    drop(held);
    Ok(engine)
}

struct StartRunWorker(Runtime);

impl LoadWorker for StartRunWorker {
    async fn run_once(&mut self, _number: usize) -> Result<Duration> {
        let begun = Instant::now();
        let started = self.0.submit_run(submit_request("trivial", json!(null))).await?;
        let end = self.0.wait_until_run_idle(started.view).await?;
        ensure!(end.state == StateName::Completed, "a trivial run ended {}", end.state);
        Ok(begun.elapsed())
    }
}

async fn measure_runs(engine: Runtime, at_once: usize, count: usize) -> Result<Timings> {
    let open = |engine: Runtime| async move { Ok(StartRunWorker(engine)) };
    run_workers(at_once, count / 20, |_| open(engine.clone())).await?;
    run_workers(at_once, count, |_| open(engine.clone())).await
}

/// From the arrival of the answer until the end of the run. The questions are asked before.
async fn measure_answers(engine: Runtime, count: usize) -> Result<Timings> {
    let mut waiting = Vec::new();
    for _ in 0..count {
        let started = engine.submit_run(submit_request("review", json!({ "subject": "x" }))).await?;
        waiting.push(engine.wait_until_run_idle(started.view).await?);
    }
    let (begun, mut each) = (Instant::now(), Vec::new());
    for view in waiting {
        let answer = answer_request(&view, json!({ "confirmed": true }))?;
        let once = Instant::now();
        let answered = engine.deliver_message(answer).await?;
        let end = engine.wait_until_run_idle(answered.view).await?;
        each.push(once.elapsed());
        ensure!(end.state == StateName::Completed, "a review ended {}", end.state);
    }
    Ok(Timings::new(each, begun))
}

async fn measure_replay(engine: Runtime, events: usize) -> Result<Duration> {
    // Only the view is kept: the rest of the result would keep the run in memory.
    let view = engine.submit_run(submit_request("long", json!(events))).await?.view;
    let view = engine.wait_until_run_idle(view).await?;
    let evicted = async {
        while engine.count_runs_in_memory() > 0 {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(EVICTION_MAX, evicted).await;
    waited.context("the run that waits does not leave the memory")?;
    let begun = Instant::now();
    let answered = engine.deliver_message(answer_request(&view, json!(true))?).await?;
    engine.wait_until_run_idle(answered.view).await?;
    Ok(begun.elapsed())
}

fn submit_request(workflow: &str, input: serde_json::Value) -> SubmitRunRequest {
    SubmitRunRequest::new(workflow, input, Caller::local_without_auth())
}

fn answer_request(view: &trackway_engine::RunView, data: serde_json::Value) -> Result<DeliverMessageRequest> {
    let id = MessageId::new(&SystemIds.new_uuid().to_string())?;
    let to = RunAddress { run: view.submission.run, access: Access::local_without_auth(), workflow: None };
    let message = Message::new(id, MessageRole::User, vec![Part::data(data)]);
    Ok(DeliverMessageRequest { to, session: None, message, question: None, hook: None })
}
