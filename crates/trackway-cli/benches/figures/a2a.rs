//! The A2A door of the real binary over loopback: each generation and binding, and beside it the servers
//! of the official SDKs.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{
    dialect::{Ask, Dialect, Request},
    load::{self, Worker, spread},
    report::{Report, Times, ms},
    sdk::Sdk,
    served::{Process, Served},
    wire::Connection,
};

const ECHO: &str = "/a2a/agents/echo";

/// Requests at 16 connections and at one.
const COUNTS: (usize, usize) = (10_000, 1_000);

pub(crate) fn rows(report: &mut Report) -> Result<()> {
    let runtime = load::runtime()?;
    for ask in Ask::ALL {
        for dialect in Dialect::ALL {
            compared(report, &runtime, ask, dialect)?;
        }
    }
    let name = "a2a stream, first event after send, at 1";
    if report.wants(name) {
        let server = Served::start()?;
        let load = Load { ask: Ask::Stream, dialect: Dialect::Rpc1, agent: ECHO };
        let address = server.process.address;
        let count = report.count(2_000);
        let times = runtime.block_on(load.run(address, 1, count, Until::FirstByte, "m"))?;
        report.add(name, times.text(), "target p50 <= 3 fsyncs", times.raw());
    }
    Ok(())
}

/// Ours, and the SDKs' in the generation that they speak by themselves.
fn compared(report: &mut Report, runtime: &Runtime, ask: Ask, dialect: Dialect) -> Result<()> {
    let row = |server: &str| format!("{}, {}, {server}", ask.name(), dialect.name());
    let sdks = Sdk::ALL.into_iter().filter(|_| dialect.is_1());
    let sdks: Vec<Sdk> = sdks.filter(|sdk| report.wants(&row(sdk.name()))).collect();
    let name = row("trackway");
    if !report.wants(&name) && sdks.is_empty() {
        return Ok(());
    }
    let server = Served::start()?;
    let load = Load { ask, dialect, agent: ECHO };
    let counts = |(many, few)| (report.count(many), report.count(few));
    let ours = runtime.block_on(load.measure(&server.process, counts(COUNTS)))?;
    drop(server);
    let target = match ask {
        Ask::Send => "target >= 8000/s, <= 0.18 x the CPU of the JS SDK",
        Ask::Stream => "target >= 5 x the rate of the JS SDK",
    };
    report.add(&name, ours.text(), target, ours.raw());
    for sdk in sdks {
        let name = row(sdk.name());
        let measured = sdk.start().and_then(|(process, agent)| {
            let load = Load { ask, dialect, agent };
            let (many, few) = sdk.counts();
            runtime.block_on(load.measure(&process, (report.count(many), report.count(few))))
        });
        match measured {
            // What was prepared has to work; what was not is no part of a quick run.
            Err(error) if report.is_quick() && sdk.is_prepared() => return Err(error),
            Ok(theirs) => report.add(&name, theirs.text(), &theirs.beside(&ours), theirs.raw()),
            Err(error) => eprintln!("{name}: skipped: {error:#}"),
        }
    }
    Ok(())
}

/// One server under one load.
struct Figures {
    at_16: Times,
    at_1: Times,
    /// CPU time of the server per request, at 16.
    cpu_us: f64,
}

impl Figures {
    fn text(&self) -> String {
        let (rate, p50) = (self.at_16.per_second(), ms(self.at_1.percentile(50)));
        format!("{rate:>8.0}/s at 16  p50 {p50} at 1  {:.0} us CPU", self.cpu_us)
    }

    fn beside(&self, ours: &Self) -> String {
        let rate = ours.at_16.per_second() / self.at_16.per_second();
        format!("ours: {rate:.1} x the rate, {:.2} x the CPU", ours.cpu_us / self.cpu_us)
    }

    fn raw(&self) -> serde_json::Value {
        json!({ "at16": self.at_16.raw(), "at1": self.at_1.raw(), "cpuUs": self.cpu_us })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Until {
    FirstByte,
    End,
}

#[derive(Clone, Copy)]
struct Load {
    ask: Ask,
    dialect: Dialect,
    agent: &'static str,
}

impl Load {
    async fn measure(self, server: &Process, (many, few): (usize, usize)) -> Result<Figures> {
        let address = server.address;
        self.run(address, 16, many / 10, Until::End, "w").await?;
        let before = server.cpu()?;
        let at_16 = self.run(address, 16, many, Until::End, "m").await?;
        let cpu_us = (server.cpu()? - before).as_micros() as f64 / many as f64;
        let at_1 = self.run(address, 1, few, Until::End, "o").await?;
        Ok(Figures { at_16, at_1, cpu_us })
    }

    async fn run(
        self,
        address: SocketAddr,
        at_once: usize,
        count: usize,
        until: Until,
        prefix: &str,
    ) -> Result<Times> {
        let prefix: Arc<str> = prefix.into();
        spread(at_once, count, move |_| {
            let prefix = prefix.clone();
            async move {
                let connection = Connection::open(address).await?;
                Ok(Asker { connection, load: self, until, prefix, answer: Vec::new() })
            }
        })
        .await
    }
}

struct Asker {
    connection: Connection,
    load: Load,
    until: Until,
    /// Of message ids: a message that was sent before would start nothing.
    prefix: Arc<str>,
    answer: Vec<u8>,
}

impl Worker for Asker {
    async fn once(&mut self, number: usize) -> Result<Duration> {
        let Load { ask, dialect, agent } = self.load;
        let Request { path, headers, body } =
            dialect.request(ask, &format!("{}-{number}", self.prefix));
        let path = format!("{agent}{path}");
        let begun = Instant::now();
        self.connection.send("POST", &path, headers, &body).await?;
        self.answer.clear();
        let mut first = None;
        let answer = &mut self.answer;
        self.connection
            .read(|piece| {
                first.get_or_insert_with(|| begun.elapsed());
                answer.extend_from_slice(piece);
            })
            .await?;
        let whole = begun.elapsed();
        // A refusal is quick, and no figure.
        let completed = self.answer.windows(9).any(|word| word.eq_ignore_ascii_case(b"completed"));
        ensure!(completed, "an answer was {}", String::from_utf8_lossy(&self.answer));
        Ok(if self.until == Until::FirstByte { first.unwrap_or_default() } else { whole })
    }
}
