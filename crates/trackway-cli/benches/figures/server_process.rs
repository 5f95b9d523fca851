//! The real binary as a process: time from start to ready, memory when idle and with waiting runs.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    http_connection::HttpConnection,
    load_generator,
    report::{Report, format_ms},
};

/// A server in a separate process, ended when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Starts a server that prints its address in a line of JSON.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let child = command.stdout(Stdio::piped()).spawn()?;
        // From here on it is ended in any case.
        let mut process = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut line = String::new();
        let stdout = process.child.stdout.take().context("no stdout")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).context("the server said no address")?;
        let url = said["url"].as_str().context("no url")?;
        process.address = url.trim_start_matches("http://").parse()?;
        Ok(process)
    }

    /// CPU time used so far, all threads.
    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        process_cpu_time(&self.child.id().to_string())
    }

    fn memory_mb(&self) -> Result<f64> {
        process_memory_mb(&self.child.id().to_string())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `trackway serve`.
pub(crate) struct TrackwayServer {
    pub(crate) process: ServerProcess,
    /// From the start of the process until it answered `/readyz`.
    time_to_ready: Duration,
    _folder: Option<tempfile::TempDir>,
}

impl TrackwayServer {
    pub(crate) fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut served = Self::start_on_folder(folder.path())?;
        served._folder = Some(folder);
        Ok(served)
    }

    fn start_on_folder(folder: &Path) -> Result<Self> {
        Self::start_and_wait_until_ready(
            Command::new(env!("CARGO_BIN_EXE_trackway")).arg("serve").arg("--data").arg(folder),
        )
    }

    /// In a workspace, whose `workflows` it offers.
    pub(crate) fn start_in_workspace(workspace: &Path) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trackway"));
        command.arg("serve").arg("--data").arg(workspace.join("data"));
        Self::start_and_wait_until_ready(command.arg("--workspace").arg(workspace))
    }

    fn start_and_wait_until_ready(command: &mut Command) -> Result<Self> {
        let begun = Instant::now();
        command.args(["--json", "--listen", "127.0.0.1:0"]);
        let process = ServerProcess::start(command)?;
        let address = process.address;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::scope(|scope| {
            // In a separate thread: the caller may already be inside a runtime.
            let asked = scope.spawn(|| {
                runtime.block_on(async { HttpConnection::open(address).await?.get("/readyz").await })
            });
            asked.join().map_err(|_| anyhow::anyhow!("the readiness check panicked"))?
        })?;
        Ok(Self { process, time_to_ready: begun.elapsed(), _folder: None })
    }
}

/// Current memory of a process.
pub(crate) fn process_memory_mb(process: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
    let kb: f64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
    Ok(kb / 1_024.0)
}

/// CPU time that a process has used so far, all threads.
pub(crate) fn process_cpu_time(process: &str) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after_name = stat.rsplit_once(')').context("no name")?.1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    // A tick is 10 ms on every supported Linux.
    Ok(Duration::from_millis(ticks * 10))
}

pub(crate) fn measure_rows(report: &mut Report) -> Result<()> {
    if report.is_selected("start to ready, empty") {
        let mut each: Vec<Duration> = Vec::new();
        for _ in 0..if report.is_quick() { 1 } else { 9 } {
            each.push(TrackwayServer::start()?.time_to_ready);
        }
        each.sort();
        let median = each[each.len() / 2];
        let us = median.as_micros() as u64;
        report.add_row(
            "start to ready, empty (median of 9)",
            format_ms(median),
            "target <= 15 ms",
            json!({ "us": us }),
        );
    }
    if report.is_selected("memory idle") {
        let mb = TrackwayServer::start()?.process.memory_mb()?;
        report.add_row("memory idle", format!("{mb:.1} MB"), "target <= 20 MB", json!({ "mb": mb }));
    }
    for (count, target) in [(10_000, "target <= 25 MB"), (100_000, "target <= 35 MB")] {
        if report.is_selected(&format!("{count} waiting")) {
            measure_waiting_runs(report, count, target)?;
        }
    }
    Ok(())
}

fn measure_waiting_runs(report: &mut Report, count: usize, target: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let served = TrackwayServer::start_on_folder(folder.path())?;
    let runtime = load_generator::build_tokio_runtime()?;
    runtime.block_on(load_generator::run_posts(
        served.process.address,
        "/a2a/agents/review",
        16,
        report.scaled_count(count),
        |number| {
            json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {
            "message": { "kind": "message", "messageId": format!("w-{number}"), "role": "user",
                "parts": [{ "kind": "data", "data": { "subject": "x" } }] },
            "configuration": { "blocking": true } } })
            .to_string()
        },
    ))?;
    let mb = served.process.memory_mb()?;
    report.add_row(
        &format!("memory with {count} waiting"),
        format!("{mb:.1} MB"),
        target,
        json!({ "mb": mb }),
    );
    drop(served);
    let served = TrackwayServer::start_on_folder(folder.path())?;
    let (ready, mb) = (served.time_to_ready, served.process.memory_mb()?);
    let goal = if count == 10_000 { "target <= 50 ms" } else { "" };
    let raw = json!({ "us": ready.as_micros() as u64, "mb": mb });
    report.add_row(
        &format!("restart to ready with {count} waiting"),
        format!("{}, {mb:.1} MB", format_ms(ready)),
        goal,
        raw,
    );
    Ok(())
}
