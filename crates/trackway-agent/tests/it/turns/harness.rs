//! A test desk: one agent, its model, and everything that it can call.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_agent::{
    AgentLoader, AgentProgram, AgentResources, AgentSpec, ConfiguredModel, ModelEndpoint, ResourcesSnapshot,
    provider::open_http_provider,
};
use trackway_domain::{
    Artifact, ArtifactId, Caller, Event, Failure, InterruptReason, Message, MessageId, MessagePartContent,
    MessageRole, Part, RunId, SessionId,
};
use trackway_engine::RunView;
use trackway_ports::StoredEvent;
use trackway_runtime::{
    Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramRegistry, ProgramStop, ReplayVerdict,
    RetryPolicy, Stage, SubmitRunRequest, Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin,
    ToolOutput, replay_with_registered_program,
};
use trackway_testkit::{
    ModelRequest, ProcessSetup, ScriptedChatReply, ScriptedModelServer, TestProcess, TestWorld,
    load_full_log, local_run_address,
};

pub(crate) const AGENT: &str = "helper";
pub(crate) const SESSION: &str = "talk";

pub(crate) struct AgentHarness {
    pub(crate) server: ScriptedModelServer,
    pub(crate) world: TestWorld,
    pub(crate) snapshot: ResourcesSnapshot,
    pub(crate) spec: AgentSpec,
    pub(crate) programs: Vec<Arc<dyn Program>>,
}

impl AgentHarness {
    pub(crate) fn new() -> Self {
        Self::on_world(TestWorld::with_memory_store())
    }

    pub(crate) fn on_world(world: TestWorld) -> Self {
        let server = start_model_server();
        let stock = model_snapshot(&server);
        Self { server, world, snapshot: stock, spec: agent_spec(), programs: Vec::new() }
    }

    pub(crate) fn with_workflow(mut self, program: Arc<dyn Program>) -> Self {
        self.programs.push(program);
        self
    }

    pub(crate) fn with_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.snapshot.tools.push(tool);
        self
    }

    pub(crate) fn setup(&self) -> ProcessSetup {
        build_registry(&self.spec, &self.snapshot, &self.programs).into()
    }

    pub(crate) fn run_process<T>(&self, client: impl AsyncFnOnce(TestProcess) -> T) -> T {
        self.world.run_to_completion(self.setup(), async |process| client(process).await)
    }

    /// The model calls these tools: id, tool, arguments.
    pub(crate) fn queue_tool_calls(&self, calls: &[(&str, &str, Value)]) {
        let texts: Vec<String> = calls.iter().map(|(_, _, value)| value.to_string()).collect();
        let calls: Vec<(&str, &str, &str)> =
            calls.iter().zip(&texts).map(|((id, tool, _), text)| (*id, *tool, &**text)).collect();
        self.server.queue_reply(ScriptedChatReply::default().with_tool_calls(&calls));
    }

    pub(crate) fn queue_text(&self, text: &str) {
        self.server.queue_reply(ScriptedChatReply::default().with_text(text));
    }

    /// The conversation in the model request of that number, from 0.
    pub(crate) fn request_messages(&self, request: usize) -> Vec<Value> {
        messages_of(&self.server.requests()[request])
    }

    /// The result that the request has for a call.
    pub(crate) fn tool_result(&self, request: usize, call: &str) -> Value {
        let told = self.request_messages(request);
        let found = told.iter().rev().find(|message| message["tool_call_id"] == *call);
        let text =
            found.unwrap_or_else(|| panic!("no result of {call}: {told:#?}"))["content"].as_str().unwrap();
        // This format marks a failed call this way.
        let text = text.strip_prefix("The call failed: ").unwrap_or(text);
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    }
}

pub(crate) fn start_model_server() -> ScriptedModelServer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(ScriptedModelServer::start())
}

pub(crate) fn model_snapshot(server: &ScriptedModelServer) -> ResourcesSnapshot {
    let endpoint = ModelEndpoint { base_url: Some(server.base_url()), ..ModelEndpoint::new("scripted-1") };
    let provider = Arc::new(open_http_provider("openai", &endpoint).unwrap());
    let mut stock = ResourcesSnapshot { default_model: "main".to_owned(), ..ResourcesSnapshot::default() };
    stock.models.insert("main".to_owned(), ConfiguredModel { provider, price: None });
    stock
}

pub(crate) fn agent_spec() -> AgentSpec {
    AgentSpec {
        name: AGENT.to_owned(),
        description: "Helps.".to_owned(),
        tools: vec!["*".to_owned()],
        workflows: vec!["*".to_owned()],
        prompt: "You help.".to_owned(),
        ..AgentSpec::default()
    }
}

pub(crate) fn build_registry(
    spec: &AgentSpec,
    stock: &ResourcesSnapshot,
    programs: &[Arc<dyn Program>],
) -> ProgramRegistry {
    let workshop = Arc::new(AgentResources::new(stock.clone()));
    let registry = ProgramRegistry::new();
    registry.add_program(Arc::new(AgentProgram::new(spec.clone(), workshop.clone()))).unwrap();
    registry.add_program_loader(Arc::new(AgentLoader(workshop)));
    for program in programs {
        registry.add_program(program.clone()).unwrap();
    }
    registry
}

pub(crate) fn messages_of(asked: &ModelRequest) -> Vec<Value> {
    asked.body["messages"].as_array().unwrap().clone()
}

/// Starts a turn with this text.
pub(crate) async fn send_text(process: &TestProcess, id: &str, text: &str) -> RunId {
    send_parts(process, id, vec![Part::text(text)], &[]).await
}

pub(crate) async fn send_parts(
    process: &TestProcess,
    id: &str,
    parts: Vec<Part>,
    references: &[String],
) -> RunId {
    let mut message = Message::new(MessageId::new(id).unwrap(), MessageRole::User, parts);
    message.references = references.to_vec();
    start_turn(process, Value::Null, Some(message)).await
}

/// Starts a turn that no person requested.
pub(crate) async fn start_turn(process: &TestProcess, input: Value, message: Option<Message>) -> RunId {
    start_run(process, AGENT, input, message).await
}

/// Starts a run in the session.
pub(crate) async fn start_run(
    process: &TestProcess,
    workflow: &str,
    input: Value,
    message: Option<Message>,
) -> RunId {
    let submit = SubmitRunRequest {
        session: Some(SessionId::new(SESSION).unwrap()),
        message,
        ..SubmitRunRequest::new(workflow, input, Caller::local_without_auth())
    };
    process.submit_run(submit).await.unwrap().view.submission.run
}

/// The run when it has ended or waits for an answer.
pub(crate) async fn wait_until_idle(process: &TestProcess, run: RunId) -> RunView {
    let view = process.current_run_view(&local_run_address(run)).await.unwrap();
    process.wait_until_run_idle(view).await.unwrap()
}

/// A whole turn: from its message to its end.
pub(crate) async fn run_turn(process: &TestProcess, id: &str, text: &str) -> RunView {
    let run = send_text(process, id, text).await;
    wait_until_ended(process, run).await
}

pub(crate) async fn wait_until_ended(process: &TestProcess, run: RunId) -> RunView {
    let view = wait_until_idle(process, run).await;
    assert!(view.state.is_terminal(), "{run} is {}", view.state);
    view
}

/// A turn in which the model dispatches this workflow and reports its question; returns the run that
/// asks.
pub(crate) async fn dispatch_and_find_child(
    process: &TestProcess,
    desk: &AgentHarness,
    id: &str,
    workflow: &str,
) -> RunId {
    desk.queue_tool_calls(&[("c1", &format!("dispatch_workflow_{workflow}"), json!({ "text": id }))]);
    desk.queue_text("It has a question.");
    let view = run_turn(process, id, "/please").await;
    child_runs(&load_log(process, view.submission.run).await)[0]
}

/// Checks that the log of the run matches its program.
pub(crate) async fn assert_fits_its_log(process: &TestProcess, desk: &AgentHarness, run: RunId) {
    let log = load_log(process, run).await;
    assert_eq!(replay_with_registered_program(&desk.setup().registry, &log).await, ReplayVerdict::Matches);
}

/// Why the run failed.
pub(crate) fn failure_reason(view: &RunView) -> String {
    parts_text(&view.status_message().unwrap().parts)
}

/// The first event of the run that matches.
pub(crate) async fn wait_for_event(
    process: &TestProcess,
    run: RunId,
    chosen: impl Fn(&Event) -> bool,
) -> StoredEvent {
    let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
    loop {
        let stored = watch.next_event().await.unwrap().expect("it happens before the run ends");
        if chosen(&stored.event) {
            return stored;
        }
    }
}

pub(crate) async fn load_log(process: &TestProcess, run: RunId) -> Vec<Event> {
    let log = load_full_log(&*process.journal, run).await.unwrap();
    log.into_iter().map(|stored| stored.event).collect()
}

/// The updates of a log that refer to other runs.
pub(crate) fn referencing_messages(log: &[Event]) -> Vec<Message> {
    let one = |event: &Event| match event {
        Event::Status { message, .. } if !message.references.is_empty() => Some(message.clone()),
        _ => None,
    };
    log.iter().filter_map(one).collect()
}

pub(crate) fn child_runs(log: &[Event]) -> Vec<RunId> {
    let one = |event: &Event| match event {
        Event::ChildStarted { child, .. } => Some(*child),
        _ => None,
    };
    log.iter().filter_map(one).collect()
}

pub(crate) fn find_artifact<'a>(view: &'a RunView, id: &str) -> &'a Artifact {
    let known: Vec<&str> = view.artifacts.iter().map(|artifact| artifact.id.as_str()).collect();
    let found = view.artifacts.iter().find(|artifact| artifact.id.as_str() == id);
    found.unwrap_or_else(|| panic!("no {id} among {known:?}"))
}

/// The text of the artifact with the model's text.
pub(crate) fn response_text(view: &RunView) -> String {
    let parts = &find_artifact(view, "text-response").parts;
    assert_eq!(parts.len(), 1, "{parts:?}");
    parts[0].as_text().unwrap().to_owned()
}

pub(crate) fn parts_text(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match &part.content {
        MessagePartContent::Text(text) => text.clone(),
        MessagePartContent::Data(data) => data.to_string(),
        MessagePartContent::File(_) => "(file)".to_owned(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

pub(crate) fn text_artifact(id: &str, text: &str) -> Artifact {
    Artifact::new(ArtifactId::new(id).unwrap(), vec![Part::text(text)])
}

type Runs = Box<dyn Fn(Stage, Value) -> ProgramFuture + Send + Sync>;

/// A workflow with an input `{text}`.
struct FunctionWorkflow {
    info: ProgramInfo,
    runs: Runs,
}

impl fmt::Debug for FunctionWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info.name)
    }
}

impl Program for FunctionWorkflow {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        (self.runs)(stage, input)
    }
}

pub(crate) fn text_schema() -> Value {
    object_schema([("text", "string")])
}

/// A workflow with the input `{text}`.
pub(crate) fn workflow<F>(
    name: &str,
    runs: impl Fn(Stage, Value) -> F + Send + Sync + 'static,
) -> Arc<dyn Program>
where
    F: Future<Output = Result<Value, ProgramStop>> + Send + 'static,
{
    workflow_with_schema(name, text_schema(), runs)
}

/// A workflow with an input of this schema.
pub(crate) fn workflow_with_schema<F>(
    name: &str,
    input_schema: Value,
    runs: impl Fn(Stage, Value) -> F + Send + Sync + 'static,
) -> Arc<dyn Program>
where
    F: Future<Output = Result<Value, ProgramStop>> + Send + 'static,
{
    let owned = || ProgramInfo::MODES_DEFAULT.iter().map(|mode| (*mode).to_owned()).collect();
    let info = ProgramInfo {
        name: name.to_owned(),
        kind: ProgramKind::Workflow,
        version: "1".to_owned(),
        description: format!("Does {name}."),
        tags: Vec::new(),
        examples: Vec::new(),
        skills: Vec::new(),
        input_schema,
        output_schema: Value::Null,
        input_modes: owned(),
        output_modes: owned(),
        extensions: Vec::new(),
        deadline: None,
    };
    Arc::new(FunctionWorkflow { info, runs: Box::new(move |stage, input| Box::pin(runs(stage, input))) })
}

/// Waits, as a step, until the test lets this word pass.
pub(crate) async fn wait_for_word(stage: &Stage, released: &watch::Receiver<String>, word: &str) {
    let mut work = |_| -> BoxFuture<'_, _> {
        let mut released = released.clone();
        Box::pin(async move {
            let passed = released.wait_for(|words| words.split(' ').any(|one| one == word)).await;
            passed.map(|_| Value::Null).map_err(|_| Failure::new("the test is over"))
        })
    };
    stage.step("wait", RetryPolicy::default(), &mut work).await;
}

/// Reports its start if required, waits for a word, and returns it.
pub(crate) fn gated_workflow(
    released: watch::Receiver<String>,
    says: Option<&'static str>,
    word: &'static str,
) -> Arc<dyn Program> {
    workflow("slow", move |stage, _| {
        let released = released.clone();
        async move {
            if let Some(text) = says {
                stage.report_status(vec![Part::text(text)]).await;
            }
            wait_for_word(&stage, &released, word).await;
            Ok(json!(word))
        }
    })
}

/// Asks for a value of the schema, and returns it.
pub(crate) fn asking_workflow(name: &str, reason: InterruptReason, schema: Value) -> Arc<dyn Program> {
    workflow(name, move |stage, _| {
        let schema = schema.clone();
        async move {
            let prompt = vec![Part::text("What is it?")];
            Ok(stage.ask_question(reason, prompt, schema, None).await.1.input)
        }
    })
}

/// The schema of an object with these required properties.
pub(crate) fn object_schema<const N: usize>(properties: [(&str, &str); N]) -> Value {
    let names = properties.map(|(name, _)| name);
    let types = properties.map(|(name, kind)| (name.to_owned(), json!({ "type": kind })));
    json!({ "type": "object", "properties": serde_json::Map::from_iter(types), "required": names.to_vec() })
}

pub(crate) fn approval_schema() -> Value {
    object_schema([("approved", "boolean")])
}

/// Reports its text, publishes it as an artifact, and returns it.
pub(crate) fn echo_workflow() -> Arc<dyn Program> {
    workflow("echo", async |stage, input| {
        let text = input["text"].as_str().unwrap_or_default().to_owned();
        stage.report_status(vec![Part::text(&text)]).await;
        stage.emit_artifact(text_artifact("echo.txt", &text).into()).await;
        Ok(input)
    })
}

type Does = Box<dyn Fn(Value, ToolCallContext) -> ToolFuture + Send + Sync>;

struct FunctionTool {
    info: ToolInfo,
    does: Does,
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info.name)
    }
}

impl Tool for FunctionTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCallContext) -> ToolFuture {
        (self.does)(arguments, call)
    }
}

/// A tool with the arguments `{text}`.
pub(crate) fn tool(
    name: &str,
    does: impl Fn(Value, ToolCallContext) -> BoxFuture<'static, Result<ToolOutput, Failure>>
    + Send
    + Sync
    + 'static,
) -> Arc<dyn Tool> {
    tool_with_schema(name, text_schema(), does)
}

/// A tool with arguments of this schema.
pub(crate) fn tool_with_schema(
    name: &str,
    input_schema: Value,
    does: impl Fn(Value, ToolCallContext) -> BoxFuture<'static, Result<ToolOutput, Failure>>
    + Send
    + Sync
    + 'static,
) -> Arc<dyn Tool> {
    let (name, description) = (name.to_owned(), format!("Does {name}."));
    let info = ToolInfo { name, description, input_schema, origin: ToolOrigin::Local };
    Arc::new(FunctionTool { info, does: Box::new(does) })
}

/// A tool that counts its calls.
pub(crate) fn counting_tool(calls: &Arc<AtomicUsize>) -> Arc<dyn Tool> {
    let calls = calls.clone();
    tool("count", move |_, _| {
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        Box::pin(async move { Ok(json!(number).into()) })
    })
}

/// Returns its text in capitals.
pub(crate) fn uppercase_tool() -> Arc<dyn Tool> {
    tool("shout", |arguments, _| {
        Box::pin(async move {
            let text = arguments["text"].as_str().unwrap_or_default().to_uppercase();
            Ok(Value::String(text).into())
        })
    })
}
