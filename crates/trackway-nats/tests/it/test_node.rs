//! A node: an engine in a folder, its A2A door, and a place in the mesh.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_a2a::a2a_router;
use trackway_a2a_client::{
    AddressedMessage, Backoff, Client, MessageId, Options, Part, ResendPolicy, ServiceTransport, TaskUpdate,
    TaskUpdateStream,
};
use trackway_domain::{Artifact, InterruptReason, Timestamp};
use trackway_nats::{
    DiscoveredAgent, DiscoveryListener, NatsError, NatsNode, NatsNodeParts, NatsOptions, OfferedAgents,
};
use trackway_runtime::{Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramRegistry, Runtime, Stage};
use trackway_sqlite::SqliteJournal;

use super::{PATIENCE, nats_server::NatsServer, soon};

/// A node of a test. Its folder outlives it, so that it can come back.
pub(crate) struct TestNode {
    pub(crate) runtime: Runtime,
    pub(crate) found: watch::Receiver<BTreeMap<String, DiscoveredAgent>>,
    node: NatsNode,
}

/// What stays when a node is away.
pub(crate) struct NodeHome {
    pub(crate) name: &'static str,
    agents: &'static [&'static str],
    folder: tempfile::TempDir,
}

impl NodeHome {
    pub(crate) fn new(name: &'static str, agents: &'static [&'static str]) -> Self {
        Self { name, agents, folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) async fn start(&self, server: &NatsServer) -> TestNode {
        self.start_at(&server.url, "test").await.unwrap()
    }

    pub(crate) async fn start_at(&self, url: &str, namespace: &str) -> Result<TestNode, NatsError> {
        let journal = Arc::new(SqliteJournal::open(self.folder.path()).unwrap());
        let registry = ProgramRegistry::new();
        for agent in self.agents {
            registry.add_program(Arc::new(ScriptedProgram::new(agent, self.name))).unwrap();
        }
        let runtime = Runtime::start(trackway_runtime::Options::new(journal, Arc::new(registry)));
        let options = trackway_a2a::Options { heartbeat: Duration::from_millis(200), ..Default::default() };
        let router = a2a_router(runtime.clone(), options);
        let (listener, found) = watch::channel(BTreeMap::new());
        let parts = NatsNodeParts {
            local: Arc::new(ServiceTransport::new(router)),
            agents: Arc::new(AgentNames(runtime.clone())),
            listener: Arc::new(FoundAgents(listener)),
            client_options: client_options(),
        };
        let options = NatsOptions {
            heartbeat: Duration::from_millis(200),
            card_expiry: Duration::from_secs(2),
            ack_wait: Duration::from_secs(2),
            ..NatsOptions::new(url, namespace, self.name, Timestamp::from_millis(1))
        };
        let supervisor = runtime.supervise_background_task("nats");
        let node = NatsNode::start(options, parts, supervisor).await?;
        Ok(TestNode { runtime, found, node })
    }
}

impl TestNode {
    /// The client of an agent that another node offers, once it is found.
    pub(crate) async fn client_of(&self, agent: &str) -> Client {
        let mut found = self.found.clone();
        let found = soon(agent, found.wait_for(|found| found.contains_key(agent))).await.unwrap();
        found[agent].client.clone()
    }

    pub(crate) async fn wait_until_gone(&self, agent: &str) {
        let mut found = self.found.clone();
        soon("a departure", found.wait_for(|found| !found.contains_key(agent))).await.unwrap();
    }

    pub(crate) fn unannounced_client_of(&self, agent: &str) -> Client {
        let card = json!({"name": agent, "supportedInterfaces":
            [{"url": "", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
        let card = trackway_a2a_client::AgentCard::from_document(card, None).unwrap();
        Client::with_transport("nats://test/x", card, self.node.transport_to(agent), client_options())
            .unwrap()
    }

    /// Says goodbye and ends.
    pub(crate) async fn stop(self) {
        self.node.stop().await;
        self.runtime.stop_runtime().await;
    }

    /// Ends in the middle of everything, without a word to NATS.
    pub(crate) async fn kill(self) {
        drop(self.node);
        self.runtime.stop_runtime().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "no request of these tests uses it")]
fn client_options() -> Options {
    trackway_outgoing::install_tls_provider();
    let pause = Duration::from_millis(50);
    Options {
        backoff: Backoff { first: pause, longest: pause * 10 },
        timeout: PATIENCE,
        idle_timeout: PATIENCE,
        silence_timeout: Duration::from_secs(2),
        retries: 50,
        reconnects: 50,
        resend: ResendPolicy::WhenLost,
        ..Options::new(reqwest::Client::builder().no_proxy().build().unwrap())
    }
}

pub(crate) fn user_message(id: &str, text: &str) -> AddressedMessage {
    AddressedMessage::from_user(MessageId::new(id).unwrap(), vec![Part::text(text)])
}

/// The rest of a stream, in short: `STATE` for statuses, `+text` for artifacts.
pub(crate) async fn read_rest(updates: &mut TaskUpdateStream) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(update) = soon("an update", updates.next()).await.unwrap() {
        seen.push(match update {
            TaskUpdate::Task(task) => format!("task:{}", task.status.state),
            TaskUpdate::Status(update) => update.status.state.to_string(),
            TaskUpdate::Artifact(update) => format!("+{}", update.chunk.artifact.id),
            TaskUpdate::Message(_) => "message".to_owned(),
        });
    }
    seen
}

#[derive(Debug)]
struct AgentNames(Runtime);

impl OfferedAgents for AgentNames {
    fn names(&self) -> Vec<String> {
        let programs = self.0.registry().list_current_programs();
        programs.iter().map(|program| program.info().name.clone()).collect()
    }
}

#[derive(Debug)]
struct FoundAgents(watch::Sender<BTreeMap<String, DiscoveredAgent>>);

impl DiscoveryListener for FoundAgents {
    fn agent_found(&self, found: DiscoveredAgent) {
        self.0.send_modify(|known| drop(known.insert(found.name.clone(), found)));
    }

    fn agent_left(&self, name: &str) {
        self.0.send_modify(|known| drop(known.remove(name)));
    }
}

/// Does what its input says, and names the node that ran it.
#[derive(Debug)]
struct ScriptedProgram {
    info: ProgramInfo,
    node: &'static str,
}

impl ScriptedProgram {
    fn new(name: &str, node: &'static str) -> Self {
        let info = ProgramInfo {
            name: name.to_owned(),
            kind: ProgramKind::Workflow,
            version: "1".into(),
            description: "Asks, waits, or says what it was told.".into(),
            tags: vec!["test".into()],
            examples: vec![],
            skills: Vec::new(),
            input_schema: json!({"type": "object", "required": ["text"],
                "properties": {"text": {"type": "string"}}}),
            output_schema: Value::Null,
            input_modes: ProgramInfo::MODES_DEFAULT.map(str::to_owned).into(),
            output_modes: ProgramInfo::MODES_DEFAULT.map(str::to_owned).into(),
            extensions: vec![],
            deadline: None,
        };
        Self { info, node }
    }
}

impl Program for ScriptedProgram {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let node = self.node;
        Box::pin(async move {
            match input["text"].as_str().unwrap_or_default() {
                text @ ("ask" | "nap and ask") => {
                    if text == "nap and ask" {
                        stage.report_status(vec![Part::text("tired")]).await;
                        stage.sleep_durably(Duration::from_secs(3)).await;
                    }
                    let schema = json!({"type": "object", "required": ["amount"],
                        "properties": {"amount": {"type": "number"}}});
                    let prompt = vec![Part::text("How much?")];
                    let (_, answer) =
                        stage.ask_question(InterruptReason::InputRequired, prompt, schema, None).await;
                    Ok(json!({ "node": node, "amount": answer.input["amount"] }))
                }
                "wait" => {
                    stage.sleep_durably(Duration::from_secs(3_600)).await;
                    Ok(Value::Null)
                }
                "nap" => {
                    stage.report_status(vec![Part::text("tired")]).await;
                    stage.sleep_durably(Duration::from_secs(5)).await;
                    Ok(json!({ "node": node }))
                }
                "much" => {
                    let artifact = Artifact::text("much.txt", "x".repeat(3_000_000)).expect("a good id");
                    stage.emit_artifact(artifact.extend()).await;
                    Ok(json!({ "node": node }))
                }
                text => {
                    stage.report_status(vec![Part::text(text)]).await;
                    let artifact = Artifact::text("node.txt", node).expect("a good id");
                    stage.emit_artifact(artifact.extend()).await;
                    Ok(json!({ "node": node }))
                }
            }
        })
    }
}
