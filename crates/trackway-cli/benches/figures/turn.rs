//! Turns of an agent in the real binary, with a model that answers at once: what Trackway itself costs.

mod model;

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::model::ModelServer;
use crate::{
    load::{self, Worker, spread},
    report::{Report, Times},
    served::Served,
    wire::Connection,
};

/// Turns one after the other, each in a conversation of its own.
const ALONE: usize = 1_000;

/// Conversations side by side, and turns of each: with every turn there is more to look back on.
const CONVERSATIONS: usize = 100;
const TURNS: usize = 10;

/// What the user says, and what the model says to it in the end.
#[derive(Clone, Copy)]
struct Talk {
    user: &'static str,
    end: &'static str,
}

const PLAIN: Talk = Talk { user: "Good morning", end: "A good day to you." };
const DISPATCH: Talk = Talk { user: "Have it echoed", end: "It was echoed." };

const LIMIT: &str = "limit: the model asked without Trackway, at 1";
const ROWS: [(&str, Talk, At, &str); 4] = [
    ("turn, model over a socket, at 1", PLAIN, At::Socket, ""),
    ("turn, model in process, at 1", PLAIN, At::Process, ""),
    ("turn that dispatches echo, model over a socket, at 1", DISPATCH, At::Socket, CPU_TARGET),
    ("turn that dispatches echo, model in process, at 1", DISPATCH, At::Process, CPU_TARGET),
];
const CPU_TARGET: &str = "target <= 1.4 sends of the JS SDK";
const PARALLEL: &str = "turns, 100 conversations at once, model over a socket";

/// Where the model is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Socket,
    Process,
}

pub(crate) fn rows(report: &mut Report) -> Result<()> {
    let wanted = ROWS.iter().map(|(name, ..)| *name).chain([LIMIT, PARALLEL]);
    if !wanted.into_iter().any(|name| report.wants(name)) {
        return Ok(());
    }
    let runtime = load::runtime()?;
    let model = runtime.block_on(ModelServer::start())?;
    let alone = report.count(ALONE);
    if report.wants(LIMIT) {
        let body = json!({ "model": "m", "stream": true,
            "messages": [{ "role": "user", "content": PLAIN.user }] });
        let body = body.to_string();
        let asked =
            load::posts(model.address, model::PATH, 1, alone, move |_| body.as_str().to_owned());
        let times = runtime.block_on(asked)?;
        report.add(LIMIT, times.text(), "", times.raw());
    }
    for (name, talk, at, target) in ROWS {
        if report.wants(name) {
            let folder = workspace(&model, at)?;
            let each = Load { talk, conversations: 1, turns: alone, new: true };
            each.row(report, &runtime, folder.path(), (name, target))?;
        }
    }
    if report.wants(PARALLEL) {
        let folder = workspace(&model, At::Socket)?;
        let conversations = report.count(CONVERSATIONS);
        let turns = if report.is_quick() { 2 } else { TURNS };
        let talk = Load { talk: PLAIN, conversations, turns, new: false };
        talk.row(report, &runtime, folder.path(), (PARALLEL, ""))?;
    }
    Ok(())
}

/// A folder whose one agent has that model and may dispatch the bundled workflows.
fn workspace(server: &ModelServer, at: At) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let model = match at {
        At::Socket => {
            let url = format!("http://{}/v1", server.address);
            format!("provider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"m\"\n")
        }
        At::Process => "provider = \"scripted\"\nfile = \"script.yaml\"\n".to_owned(),
    };
    let settings = format!("[defaults]\nmodel = \"main\"\n\n[models.main]\n{model}");
    std::fs::write(folder.path().join("trackway.toml"), settings)?;
    let script = json!({ "answers": [
        { "after": model::TOOL, "text": DISPATCH.end, "repeat": true },
        { "user": DISPATCH.user, "repeat": true,
            "calls": [{ "tool": model::TOOL, "arguments": { "text": "hello" } }] },
        { "text": PLAIN.end, "repeat": true },
    ] });
    std::fs::write(folder.path().join("script.yaml"), script.to_string())?;
    Ok(folder)
}

/// Conversations with the default agent of one server.
#[derive(Clone, Copy)]
struct Load {
    talk: Talk,
    conversations: usize,
    turns: usize,
    /// Whether every turn begins a conversation.
    new: bool,
}

impl Load {
    fn row(
        self,
        report: &mut Report,
        runtime: &Runtime,
        workspace: &Path,
        (name, target): (&str, &str),
    ) -> Result<()> {
        let served = Served::with_workflows(workspace)?;
        let address = served.process.address;
        // Connections and caches are filled by conversations of their own.
        runtime.block_on(Self { turns: 2, ..self }.run(address, "w"))?;
        let before = served.process.cpu()?;
        let times = runtime.block_on(self.run(address, "m"))?;
        let turns = (self.conversations * self.turns) as f64;
        let cpu_us = (served.process.cpu()? - before).as_micros() as f64 / turns;
        let mut raw = times.raw();
        raw["cpuUs"] = json!(cpu_us);
        report.add(name, format!("{}  {cpu_us:.0} us CPU", times.text()), target, raw);
        Ok(())
    }

    async fn run(self, address: SocketAddr, prefix: &'static str) -> Result<Times> {
        spread(self.conversations, self.conversations * self.turns, move |_| async move {
            let connection = Connection::open(address).await?;
            Ok(Person { connection, load: self, prefix, context: None })
        })
        .await
    }
}

/// Somebody who says the same again and again.
struct Person {
    connection: Connection,
    load: Load,
    prefix: &'static str,
    context: Option<Value>,
}

impl Worker for Person {
    async fn once(&mut self, number: usize) -> Result<Duration> {
        let Talk { user, end } = self.load.talk;
        let mut message = json!({ "messageId": format!("{}-{number}", self.prefix),
            "role": "user", "kind": "message", "parts": [{ "kind": "text", "text": user }] });
        if let Some(context) = &self.context {
            message["contextId"] = context.clone();
        }
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send",
            "params": { "message": message, "configuration": { "blocking": true } } });
        let request = request.to_string();
        let begun = Instant::now();
        let answer = self.connection.post("/a2a", &request).await?;
        let took = begun.elapsed();
        let answer: Value = serde_json::from_slice(&answer)?;
        let task = answer.get("result").context("no result")?;
        let completed = task["status"]["state"] == "completed";
        ensure!(completed && task.to_string().contains(end), "an answer was {answer}");
        if !self.load.new {
            self.context = task.get("contextId").cloned();
        }
        Ok(took)
    }
}
