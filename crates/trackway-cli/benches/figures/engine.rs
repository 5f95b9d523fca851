//! The engine alone, in this process, on the embedded store with full durability.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use trackway::{Ctx, Server, Stop, Workflow};
use trackway_cli::programs::Review;
use trackway_domain::{Access, Caller, Message, MessageId, Part, Role, StateName};
use trackway_ports::Ids;
use trackway_runtime::{Deliver, RunAddress, Runtime, Submit, SystemIds};

use crate::{
    load::{self, Worker, spread},
    report::{Report, Times, ms},
    served::cpu_of,
};

/// Three recorded steps that do nothing.
struct Trivial;

impl Workflow for Trivial {
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

/// Many recorded values, then a question: what a replay has to go through.
struct Long;

const LONG_EVENTS: usize = 10_000;

/// How long a run that waits may stay in memory before the bench gives up.
const EVICTION_MAX: Duration = Duration::from_secs(60);

impl Workflow for Long {
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

pub(crate) fn rows(report: &mut Report) -> Result<()> {
    let runtime = load::runtime()?;
    for (name, at_once, count, target) in [
        ("run of 3 steps, 64 in flight", 64, 60_000, "target: its 6 events >= 70 % of the limit"),
        ("run of 3 steps, 1 in flight", 1, 2_000, "target p50 <= 4 fsyncs"),
    ] {
        if report.wants(name) {
            let count = report.count(count);
            let before = cpu_of("self")?;
            let times = runtime
                .block_on(on_engine(async |engine| trivial(engine, at_once, count).await))?;
            let cpu = (cpu_of("self")? - before).as_micros() as f64 / count as f64;
            report.add(name, format!("{}  {cpu:.0} us CPU", times.text()), target, times.raw());
        }
    }
    let name = "answer to a question -> completed, 1 in flight";
    if report.wants(name) {
        let count = report.count(2_000);
        let times = runtime.block_on(on_engine(async |engine| answers(engine, count).await))?;
        report.add(name, times.text(), "target p50 <= 4 fsyncs", times.raw());
    }
    let name = "replay of a 10,000-event run, to its end";
    if report.wants(name) {
        let events = report.count(LONG_EVENTS);
        let span = runtime.block_on(on_engine(async |engine| replay(engine, events).await))?;
        report.add(name, ms(span), "", json!({ "us": span.as_micros() as u64 }));
    }
    Ok(())
}

async fn on_engine<T>(measure: impl AsyncFnOnce(Runtime) -> Result<T>) -> Result<T> {
    let folder = tempfile::tempdir()?;
    let engine = engine(folder.path()).await?;
    let result = measure(engine.clone()).await;
    engine.stop().await;
    result
}

async fn engine(folder: &Path) -> Result<Runtime> {
    let server = Server::new().data(folder).workflow(Trivial).workflow(Long).workflow(Review);
    let (engine, held) = server.engine().await?;
    // The folder is temporary; nobody else wants it.
    drop(held);
    Ok(engine)
}

struct Starter(Runtime);

impl Worker for Starter {
    async fn once(&mut self, _number: usize) -> Result<Duration> {
        let begun = Instant::now();
        let started = self.0.submit(submit("trivial", json!(null))).await?;
        let end = self.0.settled(started.view).await?;
        ensure!(end.state == StateName::Completed, "a trivial run ended {}", end.state);
        Ok(begun.elapsed())
    }
}

async fn trivial(engine: Runtime, at_once: usize, count: usize) -> Result<Times> {
    let open = |engine: Runtime| async move { Ok(Starter(engine)) };
    spread(at_once, count / 20, |_| open(engine.clone())).await?;
    spread(at_once, count, |_| open(engine.clone())).await
}

/// From the answer's arrival until the run has ended. The questions are put before.
async fn answers(engine: Runtime, count: usize) -> Result<Times> {
    let mut waiting = Vec::new();
    for _ in 0..count {
        let started = engine.submit(submit("review", json!({ "subject": "x" }))).await?;
        waiting.push(engine.settled(started.view).await?);
    }
    let (begun, mut each) = (Instant::now(), Vec::new());
    for view in waiting {
        let answer = answer(&view, json!({ "confirmed": true }))?;
        let once = Instant::now();
        let answered = engine.deliver(answer).await?;
        let end = engine.settled(answered.view).await?;
        each.push(once.elapsed());
        ensure!(end.state == StateName::Completed, "a review ended {}", end.state);
    }
    Ok(Times::new(each, begun))
}

async fn replay(engine: Runtime, events: usize) -> Result<Duration> {
    // What else was submitted with the view holds the run in memory, and it has to leave it.
    let view = engine.submit(submit("long", json!(events))).await?.view;
    let view = engine.settled(view).await?;
    let evicted = async {
        while engine.runs_in_memory() > 0 {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(EVICTION_MAX, evicted).await;
    waited.context("the run that waits does not leave the memory")?;
    let begun = Instant::now();
    let answered = engine.deliver(answer(&view, json!(true))?).await?;
    engine.settled(answered.view).await?;
    Ok(begun.elapsed())
}

fn submit(workflow: &str, input: serde_json::Value) -> Submit {
    Submit {
        workflow: workflow.into(),
        input,
        caller: Caller::local(),
        session: None,
        message: None,
        hook: None,
    }
}

fn answer(view: &trackway_engine::RunView, data: serde_json::Value) -> Result<Deliver> {
    let id = MessageId::new(&SystemIds.uuid().to_string())?;
    let to = RunAddress { run: view.submission.run, access: Access::local(), workflow: None };
    let message = Message::new(id, Role::User, vec![Part::data(data)]);
    Ok(Deliver { to, session: None, message, question: None, hook: None })
}
