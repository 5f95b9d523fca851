//! The A2A door of the real binary over loopback.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;

use crate::{
    load::{Worker, posts, spread},
    report::{Report, Times},
    served::Served,
    wire::Connection,
};

const ECHO: &str = "/a2a/agents/echo";

pub(crate) fn rows(report: &mut Report) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (name, at_once, count, target) in [
        ("a2a send of echo, blocking, at 16", 16, 20_000, "target >= 8000/s, <= 120 us CPU"),
        ("a2a send of echo, blocking, at 1", 1, 2_000, ""),
    ] {
        if report.wants(name) {
            let server = Served::start()?;
            let address = server.address;
            let (times, cpu) = runtime.block_on(async {
                posts(address, ECHO, at_once, count / 10, |number| send("w", number)).await?;
                let before = server.cpu()?;
                let times =
                    posts(address, ECHO, at_once, count, |number| send("m", number)).await?;
                anyhow::Ok((times, server.cpu()? - before))
            })?;
            add(report, name, &times, cpu, count, target);
        }
    }
    for (name, at_once, count, target) in [
        ("a2a stream of echo, all events, at 16", 16, 15_000, "target >= 5000/s"),
        ("a2a stream of echo, all events, at 1", 1, 2_000, "target p50 <= 1 ms"),
    ] {
        if report.wants(name) {
            let server = Served::start()?;
            let (times, cpu) = runtime.block_on(async {
                streams(server.address, at_once, count / 10, Until::End, "w").await?;
                let before = server.cpu()?;
                let times = streams(server.address, at_once, count, Until::End, "m").await?;
                anyhow::Ok((times, server.cpu()? - before))
            })?;
            add(report, name, &times, cpu, count, target);
        }
    }
    let name = "a2a stream, first event after send, at 1";
    if report.wants(name) {
        let server = Served::start()?;
        let times = runtime.block_on(streams(server.address, 1, 2_000, Until::FirstEvent, "m"))?;
        report.add(name, times.text(), "target p50 <= 0.5 ms", times.raw());
    }
    Ok(())
}

fn add(report: &mut Report, name: &str, times: &Times, cpu: Duration, count: usize, target: &str) {
    let each = cpu.as_micros() as f64 / count as f64;
    let mut raw = times.raw();
    raw["cpuUs"] = json!(each);
    report.add(name, format!("{}  {each:.0} us CPU", times.text()), target, raw);
}

fn send(prefix: &str, number: usize) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {
        "message": message(prefix, number), "configuration": { "blocking": true } } })
    .to_string()
}

fn message(prefix: &str, number: usize) -> serde_json::Value {
    json!({ "kind": "message", "messageId": format!("{prefix}-{number}"), "role": "user",
        "parts": [{ "kind": "text", "text": "hello" }] })
}

#[derive(Clone, Copy, PartialEq)]
enum Until {
    FirstEvent,
    End,
}

struct Streamer {
    connection: Connection,
    until: Until,
    prefix: Arc<str>,
}

impl Worker for Streamer {
    async fn once(&mut self, number: usize) -> Result<Duration> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/stream",
            "params": { "message": message(&self.prefix, number) } });
        let body = body.to_string();
        let begun = Instant::now();
        self.connection.send("POST", ECHO, &body).await?;
        let mut first = None;
        self.connection
            .read(|_| {
                first.get_or_insert_with(|| begun.elapsed());
            })
            .await?;
        Ok(if self.until == Until::FirstEvent {
            first.unwrap_or_default()
        } else {
            begun.elapsed()
        })
    }
}

async fn streams(
    address: SocketAddr,
    at_once: usize,
    count: usize,
    until: Until,
    prefix: &str,
) -> Result<Times> {
    let prefix: Arc<str> = prefix.into();
    spread(at_once, count, move |_| {
        let prefix = prefix.clone();
        async move { Ok(Streamer { connection: Connection::open(address).await?, until, prefix }) }
    })
    .await
}
