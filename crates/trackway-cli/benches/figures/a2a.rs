//! The A2A door of the real binary over loopback: each generation and binding, compared with the servers of
//! the official SDKs.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{
    http_connection::HttpConnection,
    load_generator::{self, LoadWorker, run_workers},
    official_sdks::OfficialSdk,
    protocol_binding::{AgentRequest, MeasuredOperation, ProtocolBinding},
    report::{Report, Timings, format_ms},
    server_process::{ServerProcess, TrackwayServer},
};

const ECHO: &str = "/a2a/agents/echo";

/// Requests at 16 connections and at one.
const COUNTS: (usize, usize) = (10_000, 1_000);

pub(crate) fn measure_rows(report: &mut Report) -> Result<()> {
    let runtime = load_generator::build_tokio_runtime()?;
    for ask in MeasuredOperation::ALL {
        for dialect in ProtocolBinding::ALL {
            measure_beside_sdks(report, &runtime, ask, dialect)?;
        }
    }
    let name = "a2a stream, first event after send, at 1";
    if report.is_selected(name) {
        let server = TrackwayServer::start()?;
        let load = SendLoad { ask: MeasuredOperation::Stream, dialect: ProtocolBinding::Rpc1, agent: ECHO };
        let address = server.process.address;
        let count = report.scaled_count(2_000);
        let times = runtime.block_on(load.run_load(address, 1, count, MeasureUntil::FirstByte, "m"))?;
        report.add_row(name, times.format_summary(), "target p50 <= 3 fsyncs", times.to_json());
    }
    Ok(())
}

/// Ours, and the SDKs' in the generation that they speak by themselves.
fn measure_beside_sdks(
    report: &mut Report,
    runtime: &Runtime,
    ask: MeasuredOperation,
    dialect: ProtocolBinding,
) -> Result<()> {
    let row = |server: &str| format!("{}, {}, {server}", ask.name(), dialect.name());
    let sdks = OfficialSdk::ALL.into_iter().filter(|_| dialect.is_version_1());
    let sdks: Vec<OfficialSdk> = sdks.filter(|sdk| report.is_selected(&row(sdk.name()))).collect();
    let name = row("trackway");
    if !report.is_selected(&name) && sdks.is_empty() {
        return Ok(());
    }
    let server = TrackwayServer::start()?;
    let load = SendLoad { ask, dialect, agent: ECHO };
    let counts = |(many, few)| (report.scaled_count(many), report.scaled_count(few));
    let ours = runtime.block_on(load.measure_server(&server.process, counts(COUNTS)))?;
    drop(server);
    let target = match ask {
        MeasuredOperation::Send => "target >= 8000/s, <= 0.18 x the CPU of the JS SDK",
        MeasuredOperation::Stream => "target >= 5 x the rate of the JS SDK",
    };
    report.add_row(&name, ours.format_summary(), target, ours.to_json());
    for sdk in sdks {
        let name = row(sdk.name());
        let measured = sdk.start_server().and_then(|(process, agent)| {
            let load = SendLoad { ask, dialect, agent };
            let (many, few) = sdk.request_counts();
            runtime.block_on(
                load.measure_server(&process, (report.scaled_count(many), report.scaled_count(few))),
            )
        });
        match measured {
            // An SDK that was prepared must work; one that was not prepared is left out of a quick run.
            Err(error) if report.is_quick() && sdk.is_prepared() => return Err(error),
            Ok(theirs) => {
                report.add_row(&name, theirs.format_summary(), &theirs.compare_with(&ours), theirs.to_json())
            }
            Err(error) => eprintln!("{name}: skipped: {error:#}"),
        }
    }
    Ok(())
}

/// One server under one load.
struct LoadFigures {
    at_16: Timings,
    at_1: Timings,
    /// CPU time of the server per request, at 16.
    cpu_us: f64,
}

impl LoadFigures {
    fn format_summary(&self) -> String {
        let (rate, p50) = (self.at_16.per_second(), format_ms(self.at_1.percentile(50)));
        format!("{rate:>8.0}/s at 16  p50 {p50} at 1  {:.0} us CPU", self.cpu_us)
    }

    fn compare_with(&self, ours: &Self) -> String {
        let rate = ours.at_16.per_second() / self.at_16.per_second();
        format!("ours: {rate:.1} x the rate, {:.2} x the CPU", ours.cpu_us / self.cpu_us)
    }

    fn to_json(&self) -> serde_json::Value {
        json!({ "at16": self.at_16.to_json(), "at1": self.at_1.to_json(), "cpuUs": self.cpu_us })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum MeasureUntil {
    FirstByte,
    End,
}

#[derive(Clone, Copy)]
struct SendLoad {
    ask: MeasuredOperation,
    dialect: ProtocolBinding,
    agent: &'static str,
}

impl SendLoad {
    async fn measure_server(
        self,
        server: &ServerProcess,
        (many, few): (usize, usize),
    ) -> Result<LoadFigures> {
        let address = server.address;
        self.run_load(address, 16, many / 10, MeasureUntil::End, "w").await?;
        let before = server.cpu_time()?;
        let at_16 = self.run_load(address, 16, many, MeasureUntil::End, "m").await?;
        let cpu_us = (server.cpu_time()? - before).as_micros() as f64 / many as f64;
        let at_1 = self.run_load(address, 1, few, MeasureUntil::End, "o").await?;
        Ok(LoadFigures { at_16, at_1, cpu_us })
    }

    async fn run_load(
        self,
        address: SocketAddr,
        at_once: usize,
        count: usize,
        until: MeasureUntil,
        prefix: &str,
    ) -> Result<Timings> {
        let prefix: Arc<str> = prefix.into();
        run_workers(at_once, count, move |_| {
            let prefix = prefix.clone();
            async move {
                let connection = HttpConnection::open(address).await?;
                Ok(SendWorker { connection, load: self, until, prefix, answer: Vec::new() })
            }
        })
        .await
    }
}

struct SendWorker {
    connection: HttpConnection,
    load: SendLoad,
    until: MeasureUntil,
    /// Number of the next message id: a repeated message would start nothing.
    prefix: Arc<str>,
    answer: Vec<u8>,
}

impl LoadWorker for SendWorker {
    async fn run_once(&mut self, number: usize) -> Result<Duration> {
        let SendLoad { ask, dialect, agent } = self.load;
        let AgentRequest { path, headers, body } =
            dialect.build_request(ask, &format!("{}-{number}", self.prefix));
        let path = format!("{agent}{path}");
        let begun = Instant::now();
        self.connection.send_request("POST", &path, headers, &body).await?;
        self.answer.clear();
        let mut first = None;
        let answer = &mut self.answer;
        self.connection
            .read_response(|piece| {
                first.get_or_insert_with(|| begun.elapsed());
                answer.extend_from_slice(piece);
            })
            .await?;
        let whole = begun.elapsed();
        // A refusal is fast and would distort the figure.
        let completed = self.answer.windows(9).any(|word| word.eq_ignore_ascii_case(b"completed"));
        ensure!(completed, "an answer was {}", String::from_utf8_lossy(&self.answer));
        Ok(if self.until == MeasureUntil::FirstByte { first.unwrap_or_default() } else { whole })
    }
}
