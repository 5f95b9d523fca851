//! Turns of an agent in the real binary, with a model that answers immediately: the cost of Trackway
//! itself.

mod model_server;
mod remote_calls;

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::model_server::ModelServer;
use crate::{
    http_connection::HttpConnection,
    load_generator::{self, LoadWorker, run_workers},
    report::{Report, Timings},
    server_process::TrackwayServer,
};

/// Turns one after the other, each in a separate conversation.
const ALONE: usize = 1_000;

/// Parallel conversations, and turns of each: the history grows with every turn.
const CONVERSATIONS: usize = 100;
const TURNS: usize = 10;

/// The user's message, and the model's final answer.
#[derive(Clone, Copy)]
struct ScriptedExchange {
    user: &'static str,
    end: &'static str,
}

const PLAIN: ScriptedExchange = ScriptedExchange { user: "Good morning", end: "A good day to you." };
const DISPATCH: ScriptedExchange = ScriptedExchange { user: "Have it echoed", end: "It was echoed." };

const LIMIT: &str = "limit: the model asked without Trackway, at 1";
const ROWS: [(&str, ScriptedExchange, ModelLocation, &str); 4] = [
    ("turn, model over a socket, at 1", PLAIN, ModelLocation::Socket, ""),
    ("turn, model in process, at 1", PLAIN, ModelLocation::Process, ""),
    ("turn that dispatches echo, model over a socket, at 1", DISPATCH, ModelLocation::Socket, CPU_TARGET),
    ("turn that dispatches echo, model in process, at 1", DISPATCH, ModelLocation::Process, CPU_TARGET),
];
const CPU_TARGET: &str = "target <= 1.4 sends of the JS SDK";
const PARALLEL: &str = "turns, 100 conversations at once, model over a socket";

/// The address of the model.
#[derive(Clone, Copy, PartialEq)]
enum ModelLocation {
    Socket,
    Process,
}

pub(crate) fn measure_rows(report: &mut Report) -> Result<()> {
    let runtime = load_generator::build_tokio_runtime()?;
    remote_calls::measure_rows(report, &runtime)?;
    let wanted = ROWS.iter().map(|(name, ..)| *name).chain([LIMIT, PARALLEL]);
    if !wanted.into_iter().any(|name| report.is_selected(name)) {
        return Ok(());
    }
    let model = runtime.block_on(ModelServer::start())?;
    let alone = report.scaled_count(ALONE);
    if report.is_selected(LIMIT) {
        let body = json!({ "model": "m", "stream": true,
            "messages": [{ "role": "user", "content": PLAIN.user }] });
        let body = body.to_string();
        let asked = load_generator::run_posts(model.address, model_server::PATH, 1, alone, move |_| {
            body.as_str().to_owned()
        });
        let times = runtime.block_on(asked)?;
        report.add_row(LIMIT, times.format_summary(), "", times.to_json());
    }
    for (name, talk, at, target) in ROWS {
        if report.is_selected(name) {
            let folder = create_workspace(&model, at)?;
            let each = ConversationLoad { talk, conversations: 1, turns: alone, is_new_conversation: true };
            each.measure_row(report, &runtime, folder.path(), (name, target))?;
        }
    }
    if report.is_selected(PARALLEL) {
        let folder = create_workspace(&model, ModelLocation::Socket)?;
        let conversations = report.scaled_count(CONVERSATIONS);
        let turns = if report.is_quick() { 2 } else { TURNS };
        let talk = ConversationLoad { talk: PLAIN, conversations, turns, is_new_conversation: false };
        talk.measure_row(report, &runtime, folder.path(), (PARALLEL, ""))?;
    }
    Ok(())
}

/// A folder whose one agent has that model and may dispatch the bundled workflows.
fn create_workspace(server: &ModelServer, at: ModelLocation) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let model = match at {
        ModelLocation::Socket => {
            let url = format!("http://{}/v1", server.address);
            format!("provider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"m\"\n")
        }
        ModelLocation::Process => "provider = \"scripted\"\nfile = \"script.yaml\"\n".to_owned(),
    };
    let settings = format!("[defaults]\nmodel = \"main\"\n\n[models.main]\n{model}");
    std::fs::write(folder.path().join("trackway.toml"), settings)?;
    let script = json!({ "answers": [
        { "after": model_server::TOOL, "text": DISPATCH.end, "repeat": true },
        { "user": DISPATCH.user, "repeat": true,
            "calls": [{ "tool": model_server::TOOL, "arguments": { "text": "hello" } }] },
        { "text": PLAIN.end, "repeat": true },
    ] });
    std::fs::write(folder.path().join("script.yaml"), script.to_string())?;
    Ok(folder)
}

/// Conversations with the default agent of one server.
#[derive(Clone, Copy)]
struct ConversationLoad {
    talk: ScriptedExchange,
    conversations: usize,
    turns: usize,
    /// Whether every turn begins a conversation.
    is_new_conversation: bool,
}

impl ConversationLoad {
    fn measure_row(
        self,
        report: &mut Report,
        runtime: &Runtime,
        workspace: &Path,
        (name, target): (&str, &str),
    ) -> Result<()> {
        let served = TrackwayServer::start_in_workspace(workspace)?;
        self.measure_servers(report, runtime, &[&served], (name, target))
    }

    /// Talks to the first of the servers. The CPU figure is that of all.
    fn measure_servers(
        self,
        report: &mut Report,
        runtime: &Runtime,
        servers: &[&TrackwayServer],
        (name, target): (&str, &str),
    ) -> Result<()> {
        let cpu_time = || servers.iter().map(|server| server.process.cpu_time()).sum::<Result<Duration>>();
        let address = servers.first().context("no server")?.process.address;
        // Separate conversations fill connections and caches first.
        runtime.block_on(Self { turns: 2, ..self }.run_load(address, "w"))?;
        let before = cpu_time()?;
        let times = runtime.block_on(self.run_load(address, "m"))?;
        let turns = (self.conversations * self.turns) as f64;
        let cpu_us = (cpu_time()? - before).as_micros() as f64 / turns;
        let mut raw = times.to_json();
        raw["cpuUs"] = json!(cpu_us);
        report.add_row(name, format!("{}  {cpu_us:.0} us CPU", times.format_summary()), target, raw);
        Ok(())
    }

    async fn run_load(self, address: SocketAddr, prefix: &'static str) -> Result<Timings> {
        run_workers(self.conversations, self.conversations * self.turns, move |_| async move {
            let connection = HttpConnection::open(address).await?;
            Ok(ConversationWorker { connection, load: self, prefix, context: None })
        })
        .await
    }
}

/// A user who sends the same message again and again.
struct ConversationWorker {
    connection: HttpConnection,
    load: ConversationLoad,
    prefix: &'static str,
    context: Option<Value>,
}

impl LoadWorker for ConversationWorker {
    async fn run_once(&mut self, number: usize) -> Result<Duration> {
        let ScriptedExchange { user, end } = self.load.talk;
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
        if !self.load.is_new_conversation {
            self.context = task.get("contextId").cloned();
        }
        Ok(took)
    }
}
