//! What the machine can do at all: a file sync, SQLite's group commit, a bare HTTP echo.

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
use trackway_ports::{Append, Ids, Journal};
use trackway_runtime::SystemIds;
use trackway_sqlite::SqliteJournal;

use crate::{
    load,
    report::{Report, Times},
};

pub(crate) fn rows(report: &mut Report) -> Result<()> {
    if report.wants("limit: fsync") {
        fsync(report)?;
    }
    if report.wants("limit: store") {
        store(report)?;
    }
    if report.wants("limit: http echo") {
        echo(report)?;
    }
    Ok(())
}

fn fsync(report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut file = File::create(folder.path().join("log"))?;
    let begun = Instant::now();
    let mut each = Vec::new();
    while begun.elapsed() < Duration::from_secs(1) && each.len() < report.count(usize::MAX) {
        let once = Instant::now();
        file.write_all(&[7; 512])?;
        file.sync_data()?;
        each.push(once.elapsed());
    }
    let times = Times::new(each, begun);
    report.add("limit: fsync of 512 bytes", times.text(), "", times.raw());
    Ok(())
}

/// Events per second through the store alone, as many under way as a busy server has.
fn store(report: &mut Report) -> Result<()> {
    let appends = report.count(200_000) as u64;
    let count = report.count(2_000) as u64;
    let folder = tempfile::tempdir()?;
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(folder.path())?);
    let runs: Vec<RunId> = (0..count).map(|_| RunId::new(SystemIds.uuid())).collect();
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
    report.add(
        "limit: store, events committed",
        format!("{rate:>8.0}/s"),
        "",
        json!({ "perSecond": rate }),
    );
    Ok(())
}

fn echo(report: &mut Report) -> Result<()> {
    let runtime = load::runtime()?;
    let requests = report.count(40_000);
    let times = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let app = axum::Router::new().route("/", axum::routing::post(async |body: String| body));
        let serving = tokio::spawn(async move {
            axum::serve(listener, app).with_graceful_shutdown(async { drop(stopped.await) }).await
        });
        let body = Arc::new("{\"hello\":\"world\"}".to_owned());
        let times = load::posts(address, "/", 16, requests, move |_| body.as_ref().clone()).await?;
        drop(stop);
        serving.abort();
        anyhow::Ok(times)
    })?;
    report.add("limit: http echo at 16 (client and server here)", times.text(), "", times.raw());
    Ok(())
}
