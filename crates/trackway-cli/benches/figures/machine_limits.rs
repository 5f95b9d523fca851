//! The limits of the machine: a file sync, SQLite's group commit, a bare HTTP echo.

use std::{
    fs::File,
    io::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;
use tokio::sync::oneshot;
use trackway_domain::{Event, Op, OpKind, RunId, StepOutcome, Timestamp};
use trackway_ports::{Append, IdSource, Journal};
use trackway_runtime::SystemIds;
use trackway_sqlite::SqliteJournal;

use crate::{
    load_generator,
    report::{Report, Timings},
};

pub(crate) fn measure_rows(report: &mut Report) -> Result<()> {
    if report.is_selected("limit: fsync") {
        measure_fsync(report)?;
    }
    if report.is_selected("limit: store") {
        measure_store(report)?;
    }
    if report.is_selected("limit: http echo") {
        measure_http_echo(report)?;
    }
    Ok(())
}

fn measure_fsync(report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut file = File::create(folder.path().join("log"))?;
    let begun = Instant::now();
    let mut each = Vec::new();
    while begun.elapsed() < Duration::from_secs(1) && each.len() < report.scaled_count(usize::MAX) {
        let once = Instant::now();
        file.write_all(&[7; 512])?;
        file.sync_data()?;
        each.push(once.elapsed());
    }
    let times = Timings::new(each, begun);
    report.add_row("limit: fsync of 512 bytes", times.format_summary(), "", times.to_json());
    Ok(())
}

/// Events per second through the store alone, with as many appends under way as on a busy server.
fn measure_store(report: &mut Report) -> Result<()> {
    let appends = report.scaled_count(200_000) as u64;
    let count = report.scaled_count(2_000) as u64;
    let folder = tempfile::tempdir()?;
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(folder.path())?);
    let runs: Vec<RunId> = (0..count).map(|_| RunId::new(SystemIds.new_uuid())).collect();
    let begun = Instant::now();
    let (done, last) = std::sync::mpsc::channel();
    for number in 0..appends {
        let run = runs[(number % count) as usize];
        let seq = number / count;
        let op = Op { kind: OpKind::Step, key: "a".into(), occurrence: 0 };
        let outcome = StepOutcome::Ok(json!({ "n": number }));
        let mut append = Append::new(run, seq, Timestamp(1));
        append.events = vec![Event::StepDone { op, outcome }];
        let done = done.clone();
        journal.append(
            append,
            Box::new(move |result| {
                let _ = done.send(result.is_ok());
            }),
        );
    }
    drop(done);
    let committed = last.iter().filter(|ok| *ok).count();
    let wall = begun.elapsed();
    let rate = committed as f64 / wall.as_secs_f64();
    report.add_row(
        "limit: store, events committed",
        format!("{rate:>8.0}/s"),
        "",
        json!({ "perSecond": rate }),
    );
    Ok(())
}

fn measure_http_echo(report: &mut Report) -> Result<()> {
    let runtime = load_generator::build_tokio_runtime()?;
    let requests = report.scaled_count(40_000);
    let times = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let app = axum::Router::new().route("/", axum::routing::post(async |body: String| body));
        let serving = tokio::spawn(async move {
            axum::serve(listener, app).with_graceful_shutdown(async { drop(stopped.await) }).await
        });
        let body = Arc::new("{\"hello\":\"world\"}".to_owned());
        let times =
            load_generator::run_posts(address, "/", 16, requests, move |_| body.as_ref().clone()).await?;
        drop(stop);
        serving.abort();
        anyhow::Ok(times)
    })?;
    report.add_row(
        "limit: http echo at 16 (client and server here)",
        times.format_summary(),
        "",
        times.to_json(),
    );
    Ok(())
}
