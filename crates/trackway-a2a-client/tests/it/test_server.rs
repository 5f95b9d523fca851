//! Trackway's own front door on a socket, behind a connection that can be cut, with programs for tests.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use trackway_a2a::{PushNotifier, a2a_router};
use trackway_a2a_client::Client;
use trackway_domain::{Artifact, InterruptReason, Part};
use trackway_runtime::{Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramRegistry, Runtime, Stage};
use trackway_sqlite::SqliteJournal;

use super::{cutting_proxy::CuttingProxy, options};

pub(crate) struct TestServer {
    pub(crate) line: CuttingProxy,
    pub(crate) router: axum::Router,
    runtime: Runtime,
    serving: JoinHandle<()>,
    folder: tempfile::TempDir,
    options: trackway_a2a::Options,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl TestServer {
    pub(crate) async fn open() -> Self {
        Self::with_options(trackway_a2a::Options::default()).await
    }

    pub(crate) async fn with_options(options: trackway_a2a::Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let line = CuttingProxy::new().await;
        let (runtime, router, serving) = serve(&folder, &line, options.clone()).await;
        Self { line, router, runtime, serving, folder, options }
    }

    /// The server is gone and connections fail.
    pub(crate) async fn close(&self) {
        self.line.forward_to(None);
        self.runtime.stop_runtime().await;
        self.serving.abort();
    }

    /// Another server on the same folder, behind the same address.
    pub(crate) async fn reopen(&mut self) {
        (self.runtime, self.router, self.serving) =
            serve(&self.folder, &self.line, self.options.clone()).await;
    }

    /// The address of the agent.
    pub(crate) fn url(&self) -> String {
        format!("{}/a2a/agents/script", self.line.url)
    }

    pub(crate) async fn client(&self) -> Client {
        Client::discover(&self.url(), options()).await.unwrap()
    }
}

async fn serve(
    folder: &tempfile::TempDir,
    line: &CuttingProxy,
    options: trackway_a2a::Options,
) -> (Runtime, axum::Router, JoinHandle<()>) {
    let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
    let registry = ProgramRegistry::new();
    registry.add_program(Arc::new(ScriptedProgram::new())).unwrap();
    let mut runtime_options = trackway_runtime::Options::new(journal, Arc::new(registry));
    if let Some(outgoing) = options.outgoing.clone() {
        runtime_options.messenger = Some(Arc::new(PushNotifier::new(outgoing)));
    }
    let runtime = Runtime::start(runtime_options);
    let router = a2a_router(runtime.clone(), options);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    line.forward_to(Some(listener.local_addr().unwrap()));
    let served = router.clone();
    let serving = tokio::spawn(async move { axum::serve(listener, served).await.unwrap() });
    (runtime, router, serving)
}

#[derive(Debug)]
struct ScriptedProgram(ProgramInfo);

impl ScriptedProgram {
    fn new() -> Self {
        Self(ProgramInfo {
            name: "script".into(),
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
        })
    }
}

impl Program for ScriptedProgram {
    fn info(&self) -> &ProgramInfo {
        &self.0
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        Box::pin(async move {
            match input["text"].as_str().unwrap_or_default() {
                "ask" => {
                    let schema = json!({"type": "object", "required": ["amount"],
                        "properties": {"amount": {"type": "number"}}});
                    let prompt = vec![Part::text("How much?")];
                    let (_, answer) =
                        stage.ask_question(InterruptReason::InputRequired, prompt, schema, None).await;
                    Ok(json!({ "invested": answer.input["amount"] }))
                }
                "wait" => {
                    stage.sleep_durably(Duration::from_secs(3_600)).await;
                    Ok(Value::Null)
                }
                text => {
                    for word in text.split(' ') {
                        stage.report_status(vec![Part::text(word)]).await;
                        let artifact = Artifact::text("said.txt", word).expect("a good id");
                        stage.emit_artifact(artifact.extend()).await;
                    }
                    Ok(json!({ "said": text }))
                }
            }
        })
    }
}
