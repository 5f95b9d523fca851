//! The MCP door of the real binary: how long an agent waits at each step, early and late in a session.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    mcp_client::{HttpTransport, McpClient, McpTransport, StdioTransport},
    report::{Report, Timings, format_ms},
    server_process::TrackwayServer,
};

/// Steps of the measured workflow's loop, which repeats as often as a loop may.
const STEPS: usize = 20;
const ROUNDS: usize = 1_000;

/// Events of the long session before it is measured. Each advance is one event.
const LONG: usize = 10_000;

/// Short sessions that are measured: each has about ten events, together as many advances as the long one.
const SHORT_SESSIONS: usize = 100;
const SHORT: usize = 10;

/// Samples of everything that does not depend on length.
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

pub(crate) fn measure_rows(report: &mut Report) -> Result<()> {
    // These are measured one after the other in one session.
    if STDIO.iter().any(|name| report.is_selected(name)) {
        measure_stdio(report)?;
    }
    if HTTP.iter().any(|name| report.is_selected(name)) {
        measure_http(report)?;
    }
    if report.is_selected("mcp start to ready") {
        measure_start_to_ready(report)?;
    }
    if report.is_selected("mcp memory") {
        measure_memory(report)?;
    }
    Ok(())
}

/// A folder with one workflow that is long enough.
fn create_workspace() -> Result<TempDir> {
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

/// A run and its position.
struct GuidedRun {
    position: Value,
}

impl GuidedRun {
    fn start_run<W: McpTransport>(agent: &mut McpClient<W>) -> Result<(Self, Duration)> {
        let arguments = json!({ "workflowId": "long", "context": { "subject": "the record" } });
        let (position, took) = agent.call_tool("workflow_start", &arguments)?;
        Ok((Self { position }, took))
    }

    fn advance_arguments(&self) -> Value {
        json!({ "stateToken": self.position["stateToken"], "ackToken": self.position["ackToken"],
            "notesMarkdown": "Nothing has changed since the last look." })
    }

    fn advance_step<W: McpTransport>(&mut self, agent: &mut McpClient<W>) -> Result<Duration> {
        let (position, took) = agent.call_tool("workflow_advance", &self.advance_arguments())?;
        anyhow::ensure!(position["blocked"].is_null(), "blocked: {position}");
        self.position = position;
        Ok(took)
    }
}

/// How long a number of advances took, and what each cost the server.
struct AdvanceTimings {
    times: Timings,
    cpu_us: f64,
}

impl AdvanceTimings {
    fn new(each: Vec<Duration>, begun: Instant, cpu: Duration) -> Self {
        let cpu_us = cpu.as_micros() as f64 / each.len() as f64;
        Self { times: Timings::new(each, begun), cpu_us }
    }

    fn add_to_report(&self, report: &mut Report, name: &str, target: &str) {
        let mut raw = self.times.to_json();
        raw["cpuUs"] = json!(self.cpu_us);
        report.add_row(
            name,
            format!("{}  {:.0} us CPU", self.times.format_summary(), self.cpu_us),
            target,
            raw,
        );
    }
}

fn measure_stdio(report: &mut Report) -> Result<()> {
    let folder = create_workspace()?;
    let mut agent = McpClient::connect(StdioTransport::spawn_server(folder.path())?)?;
    let samples = report.scaled_count(SAMPLES);
    let bare = measure_samples(samples, || Ok(agent.request("tools/list", &json!({}))?.1))?;
    report.add_row(STDIO[0], bare.format_summary(), "", bare.to_json());
    let starts = measure_samples(samples, || Ok(GuidedRun::start_run(&mut agent)?.1))?;
    report.add_row(STDIO[1], starts.format_summary(), "", starts.to_json());

    let sessions = report.scaled_count(SHORT_SESSIONS);
    let short = measure_short_sessions(&mut agent, sessions)?;
    short.add_to_report(report, STDIO[2], "target p50 <= 1.5 x tools/list");
    let (mut walk, _) = GuidedRun::start_run(&mut agent)?;
    for _ in 0..report.scaled_count(LONG) {
        walk.advance_step(&mut agent)?;
    }
    let long = measure_long_session(&mut agent, &mut walk, sessions)?;
    long.add_to_report(report, STDIO[3], "target p50 <= 1.5 x tools/list");
    let ratio = |of: fn(&AdvanceTimings) -> f64| of(&long) / of(&short);
    let wall = ratio(|one| one.times.percentile(50).as_secs_f64());
    let cpu = ratio(|one| one.cpu_us);
    report.add_row(
        STDIO[4],
        format!("p50 x {wall:.2}  CPU x {cpu:.2}"),
        "target <= 1.1",
        json!({ "p50": wall, "cpu": cpu }),
    );

    let last = walk.advance_arguments();
    walk.advance_step(&mut agent)?;
    let replays = measure_samples(samples, || Ok(agent.call_tool("workflow_advance", &last)?.1))?;
    report.add_row(STDIO[5], replays.format_summary(), "", replays.to_json());
    let look = json!({ "stateToken": walk.position["stateToken"] });
    let looks = measure_samples(samples, || Ok(agent.call_tool("workflow_advance", &look)?.1))?;
    report.add_row(STDIO[6], looks.format_summary(), "", looks.to_json());
    Ok(())
}

fn measure_short_sessions(agent: &mut McpClient<StdioTransport>, sessions: usize) -> Result<AdvanceTimings> {
    // Only advances are counted: the sessions exist before.
    let mut walks = Vec::new();
    for _ in 0..sessions {
        walks.push(GuidedRun::start_run(agent)?.0);
    }
    let (begun, before) = (Instant::now(), agent.wire.cpu_time()?);
    let mut each = Vec::new();
    for walk in &mut walks {
        for _ in 0..SHORT {
            each.push(walk.advance_step(agent)?);
        }
    }
    Ok(AdvanceTimings::new(each, begun, agent.wire.cpu_time()? - before))
}

fn measure_long_session(
    agent: &mut McpClient<StdioTransport>,
    walk: &mut GuidedRun,
    sessions: usize,
) -> Result<AdvanceTimings> {
    let (begun, before) = (Instant::now(), agent.wire.cpu_time()?);
    let mut each = Vec::new();
    for _ in 0..sessions * SHORT {
        each.push(walk.advance_step(agent)?);
    }
    Ok(AdvanceTimings::new(each, begun, agent.wire.cpu_time()? - before))
}

fn measure_samples(samples: usize, mut once: impl FnMut() -> Result<Duration>) -> Result<Timings> {
    let begun = Instant::now();
    let each = (0..samples).map(|_| once()).collect::<Result<Vec<_>>>()?;
    Ok(Timings::new(each, begun))
}

fn measure_http(report: &mut Report) -> Result<()> {
    let folder = create_workspace()?;
    let served = TrackwayServer::start_in_workspace(folder.path())?;
    let mut agent = McpClient::connect(HttpTransport::connect(served.process.address)?)?;
    let samples = report.scaled_count(SAMPLES);
    let bare = measure_samples(samples, || Ok(agent.request("tools/list", &json!({}))?.1))?;
    report.add_row(HTTP[0], bare.format_summary(), "", bare.to_json());
    let (mut walk, _) = GuidedRun::start_run(&mut agent)?;
    let before = served.process.cpu_time()?;
    let begun = Instant::now();
    let each = (0..samples).map(|_| walk.advance_step(&mut agent)).collect::<Result<Vec<_>>>()?;
    let advances = AdvanceTimings::new(each, begun, served.process.cpu_time()? - before);
    advances.add_to_report(report, HTTP[1], "");
    Ok(())
}

/// From the start of the process to its answer to `initialize`, on a folder that is already in use.
fn measure_start_to_ready(report: &mut Report) -> Result<()> {
    let folder = create_workspace()?;
    time_to_greeting(folder.path())?;
    let count = if report.is_quick() { 1 } else { 9 };
    let mut each = (0..count).map(|_| time_to_greeting(folder.path())).collect::<Result<Vec<_>>>()?;
    each.sort();
    let middle = *each.get(each.len() / 2).context("no samples")?;
    let raw = json!({ "us": middle.as_micros() as u64 });
    report.add_row("mcp start to ready (median of 9)", format_ms(middle), "target <= 15 ms", raw);
    Ok(())
}

fn time_to_greeting(folder: &Path) -> Result<Duration> {
    let begun = Instant::now();
    let agent = McpClient::connect(StdioTransport::spawn_server(folder)?)?;
    let took = begun.elapsed();
    drop(agent);
    Ok(took)
}

fn measure_memory(report: &mut Report) -> Result<()> {
    let folder = create_workspace()?;
    let mut agent = McpClient::connect(StdioTransport::spawn_server(folder.path())?)?;
    // A file in the folder is read on request.
    agent.call_tool("workflow_list", &json!({}))?;
    let mb = agent.wire.memory_mb()?;
    report.add_row("mcp memory idle", format!("{mb:.1} MB"), "target <= 20 MB", json!({ "mb": mb }));
    Ok(())
}
