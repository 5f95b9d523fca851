//! The MCP door of the real binary: what an agent waits for at each step, early and late in a session.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    agent::{Agent, Http, Pipes, Wire},
    report::{Report, Times, ms},
    served::Served,
};

/// Steps of the measured workflow's loop, which goes round as often as a loop may.
const STEPS: usize = 20;
const ROUNDS: usize = 1_000;

/// Events of the long session before it is measured. Each advance is one event.
const LONG: usize = 10_000;

/// Short sessions that are measured: each of some ten events, as many advances as in the long one.
const SHORT_SESSIONS: usize = 100;
const SHORT: usize = 10;

/// Samples of everything that has no length.
const SAMPLES: usize = 1_000;

const STDIO: [&str; 7] = [
    "limit: mcp stdio, tools/list",
    "mcp stdio, start",
    "mcp stdio, advance at 10 events",
    "mcp stdio, advance at 10000 events",
    "mcp stdio, advance at 10000 events against 10",
    "mcp stdio, replay at 10000 events",
    "mcp stdio, look at 10000 events",
];
const HTTP: [&str; 2] = ["limit: mcp http, tools/list", "mcp http, advance"];

pub(crate) fn rows(report: &mut Report) -> Result<()> {
    // These are measured one after the other in one session.
    if STDIO.iter().any(|name| report.wants(name)) {
        stdio(report)?;
    }
    if HTTP.iter().any(|name| report.wants(name)) {
        http(report)?;
    }
    if report.wants("mcp start to ready") {
        ready(report)?;
    }
    if report.wants("mcp memory") {
        memory(report)?;
    }
    Ok(())
}

/// A folder with one workflow that goes on for long enough.
fn folder() -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let body: Vec<Value> = (0..STEPS)
        .map(|number| {
            json!({ "id": format!("step-{number}"), "title": format!("Step {number}"),
                "prompt": "Look at {{ subject }} once more and say what you see." })
        })
        .collect();
    let settings = json!({ "type": "for", "count": ROUNDS, "maxIterations": ROUNDS });
    let workflow = json!({ "id": "long", "name": "Long", "version": "1.0.0",
        "description": "Goes round.", "steps": [{ "id": "round", "title": "Round",
        "type": "loop", "loop": settings, "body": body }] });
    std::fs::create_dir(folder.path().join("workflows"))?;
    std::fs::write(folder.path().join("workflows/long.json"), workflow.to_string())?;
    Ok(folder)
}

/// A run, and where it stands.
struct Walk {
    position: Value,
}

impl Walk {
    fn start<W: Wire>(agent: &mut Agent<W>) -> Result<(Self, Duration)> {
        let arguments = json!({ "workflowId": "long", "context": { "subject": "the record" } });
        let (position, took) = agent.call("workflow_start", &arguments)?;
        Ok((Self { position }, took))
    }

    fn answer(&self) -> Value {
        json!({ "stateToken": self.position["stateToken"], "ackToken": self.position["ackToken"],
            "notesMarkdown": "Nothing has changed since the last look." })
    }

    fn advance<W: Wire>(&mut self, agent: &mut Agent<W>) -> Result<Duration> {
        let (position, took) = agent.call("workflow_advance", &self.answer())?;
        anyhow::ensure!(position["blocked"].is_null(), "blocked: {position}");
        self.position = position;
        Ok(took)
    }
}

/// What a number of advances took, and what each cost the server.
struct Advances {
    times: Times,
    cpu_us: f64,
}

impl Advances {
    fn of(each: Vec<Duration>, begun: Instant, cpu: Duration) -> Self {
        let cpu_us = cpu.as_micros() as f64 / each.len() as f64;
        Self { times: Times::new(each, begun), cpu_us }
    }

    fn add(&self, report: &mut Report, name: &str, target: &str) {
        let mut raw = self.times.raw();
        raw["cpuUs"] = json!(self.cpu_us);
        report.add(name, format!("{}  {:.0} us CPU", self.times.text(), self.cpu_us), target, raw);
    }
}

fn stdio(report: &mut Report) -> Result<()> {
    let folder = folder()?;
    let mut agent = Agent::greet(Pipes::open(folder.path())?)?;
    let samples = report.count(SAMPLES);
    let bare = sampled(samples, || Ok(agent.request("tools/list", &json!({}))?.1))?;
    report.add(STDIO[0], bare.text(), "", bare.raw());
    let starts = sampled(samples, || Ok(Walk::start(&mut agent)?.1))?;
    report.add(STDIO[1], starts.text(), "", starts.raw());

    let sessions = report.count(SHORT_SESSIONS);
    let short = short(&mut agent, sessions)?;
    short.add(report, STDIO[2], "target p50 <= 1.5 x tools/list");
    let (mut walk, _) = Walk::start(&mut agent)?;
    for _ in 0..report.count(LONG) {
        walk.advance(&mut agent)?;
    }
    let long = long(&mut agent, &mut walk, sessions)?;
    long.add(report, STDIO[3], "target p50 <= 1.5 x tools/list");
    let ratio = |of: fn(&Advances) -> f64| of(&long) / of(&short);
    let wall = ratio(|one| one.times.percentile(50).as_secs_f64());
    let cpu = ratio(|one| one.cpu_us);
    report.add(
        STDIO[4],
        format!("p50 x {wall:.2}  CPU x {cpu:.2}"),
        "target <= 1.1",
        json!({ "p50": wall, "cpu": cpu }),
    );

    let last = walk.answer();
    walk.advance(&mut agent)?;
    let replays = sampled(samples, || Ok(agent.call("workflow_advance", &last)?.1))?;
    report.add(STDIO[5], replays.text(), "", replays.raw());
    let look = json!({ "stateToken": walk.position["stateToken"] });
    let looks = sampled(samples, || Ok(agent.call("workflow_advance", &look)?.1))?;
    report.add(STDIO[6], looks.text(), "", looks.raw());
    Ok(())
}

fn short(agent: &mut Agent<Pipes>, sessions: usize) -> Result<Advances> {
    // Only advances are counted: the sessions are there before.
    let mut walks = Vec::new();
    for _ in 0..sessions {
        walks.push(Walk::start(agent)?.0);
    }
    let (begun, before) = (Instant::now(), agent.wire.cpu()?);
    let mut each = Vec::new();
    for walk in &mut walks {
        for _ in 0..SHORT {
            each.push(walk.advance(agent)?);
        }
    }
    Ok(Advances::of(each, begun, agent.wire.cpu()? - before))
}

fn long(agent: &mut Agent<Pipes>, walk: &mut Walk, sessions: usize) -> Result<Advances> {
    let (begun, before) = (Instant::now(), agent.wire.cpu()?);
    let mut each = Vec::new();
    for _ in 0..sessions * SHORT {
        each.push(walk.advance(agent)?);
    }
    Ok(Advances::of(each, begun, agent.wire.cpu()? - before))
}

fn sampled(samples: usize, mut once: impl FnMut() -> Result<Duration>) -> Result<Times> {
    let begun = Instant::now();
    let each = (0..samples).map(|_| once()).collect::<Result<Vec<_>>>()?;
    Ok(Times::new(each, begun))
}

fn http(report: &mut Report) -> Result<()> {
    let folder = folder()?;
    let served = Served::with_workflows(folder.path())?;
    let mut agent = Agent::greet(Http::open(served.process.address)?)?;
    let samples = report.count(SAMPLES);
    let bare = sampled(samples, || Ok(agent.request("tools/list", &json!({}))?.1))?;
    report.add(HTTP[0], bare.text(), "", bare.raw());
    let (mut walk, _) = Walk::start(&mut agent)?;
    let before = served.process.cpu()?;
    let begun = Instant::now();
    let each = (0..samples).map(|_| walk.advance(&mut agent)).collect::<Result<Vec<_>>>()?;
    let advances = Advances::of(each, begun, served.process.cpu()? - before);
    advances.add(report, HTTP[1], "");
    Ok(())
}

/// From the start of the process to its answer to the greeting, on a folder that is used already.
fn ready(report: &mut Report) -> Result<()> {
    let folder = folder()?;
    greeted(folder.path())?;
    let count = if report.is_quick() { 1 } else { 9 };
    let mut each = (0..count).map(|_| greeted(folder.path())).collect::<Result<Vec<_>>>()?;
    each.sort();
    let middle = *each.get(each.len() / 2).context("no samples")?;
    let raw = json!({ "us": middle.as_micros() as u64 });
    report.add("mcp start to ready (median of 9)", ms(middle), "target <= 15 ms", raw);
    Ok(())
}

fn greeted(folder: &Path) -> Result<Duration> {
    let begun = Instant::now();
    let agent = Agent::greet(Pipes::open(folder)?)?;
    let took = begun.elapsed();
    drop(agent);
    Ok(took)
}

fn memory(report: &mut Report) -> Result<()> {
    let folder = folder()?;
    let mut agent = Agent::greet(Pipes::open(folder.path())?)?;
    // A file in the folder is read when somebody asks for it.
    agent.call("workflow_list", &json!({}))?;
    let mb = agent.wire.memory_mb()?;
    report.add("mcp memory idle", format!("{mb:.1} MB"), "target <= 20 MB", json!({ "mb": mb }));
    Ok(())
}
