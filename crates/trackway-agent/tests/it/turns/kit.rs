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
    AgentProgram, AgentSpec, Agents, Endpoint, Model, Stock, Workshop, provider::open,
};
use trackway_domain::{
    Artifact, ArtifactId, Caller, Content, Event, Failure, Message, MessageId, Part, Reason, Role,
    RunId, SessionId,
};
use trackway_engine::RunView;
use trackway_ports::Stored;
use trackway_runtime::{
    Kind, Program, ProgramFuture, ProgramInfo, Registry, ReplayVerdict, RetryPolicy, Stage, Stop,
    Submit, Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput, replay_with,
};
use trackway_testkit::{Asked, ChatReply, ModelServer, Process, Setup, World, at, whole_log};

pub(crate) const AGENT: &str = "helper";
pub(crate) const SESSION: &str = "talk";

pub(crate) struct Desk {
    pub(crate) server: ModelServer,
    pub(crate) world: World,
    pub(crate) stock: Stock,
    pub(crate) spec: AgentSpec,
    pub(crate) programs: Vec<Arc<dyn Program>>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::on(World::memory())
    }

    pub(crate) fn on(world: World) -> Self {
        let server = server();
        let stock = stock(&server);
        Self { server, world, stock, spec: spec(), programs: Vec::new() }
    }

    pub(crate) fn workflow(mut self, program: Arc<dyn Program>) -> Self {
        self.programs.push(program);
        self
    }

    pub(crate) fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.stock.tools.push(tool);
        self
    }

    pub(crate) fn setup(&self) -> Setup {
        registry(&self.spec, &self.stock, &self.programs).into()
    }

    pub(crate) fn run<T>(&self, client: impl AsyncFnOnce(Process) -> T) -> T {
        self.world.run(self.setup(), async |process| client(process).await)
    }

    /// The model calls these tools: id, tool, arguments.
    pub(crate) fn calls(&self, calls: &[(&str, &str, Value)]) {
        let texts: Vec<String> = calls.iter().map(|(_, _, value)| value.to_string()).collect();
        let calls: Vec<(&str, &str, &str)> =
            calls.iter().zip(&texts).map(|((id, tool, _), text)| (*id, *tool, &**text)).collect();
        self.server.queue(ChatReply::default().calls(&calls));
    }

    pub(crate) fn says(&self, text: &str) {
        self.server.queue(ChatReply::default().says(text));
    }

    /// The conversation in the model request of that number, from 0.
    pub(crate) fn told(&self, request: usize) -> Vec<Value> {
        messages(&self.server.asked()[request])
    }

    /// The result that the request has for a call.
    pub(crate) fn result(&self, request: usize, call: &str) -> Value {
        let told = self.told(request);
        let found = told.iter().rev().find(|message| message["tool_call_id"] == *call);
        let text = found.unwrap_or_else(|| panic!("no result of {call}: {told:#?}"))["content"]
            .as_str()
            .unwrap();
        // This format marks a failed call this way.
        let text = text.strip_prefix("The call failed: ").unwrap_or(text);
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    }
}

pub(crate) fn server() -> ModelServer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(ModelServer::start())
}

pub(crate) fn stock(server: &ModelServer) -> Stock {
    let endpoint = Endpoint { base_url: Some(server.base_url()), ..Endpoint::new("scripted-1") };
    let provider = Arc::new(open("openai", &endpoint).unwrap());
    let mut stock = Stock { default_model: "main".to_owned(), ..Stock::default() };
    stock.models.insert("main".to_owned(), Model { provider, price: None });
    stock
}

pub(crate) fn spec() -> AgentSpec {
    AgentSpec {
        name: AGENT.to_owned(),
        description: "Helps.".to_owned(),
        tools: vec!["*".to_owned()],
        workflows: vec!["*".to_owned()],
        prompt: "You help.".to_owned(),
        ..AgentSpec::default()
    }
}

pub(crate) fn registry(spec: &AgentSpec, stock: &Stock, programs: &[Arc<dyn Program>]) -> Registry {
    let workshop = Arc::new(Workshop::new(stock.clone()));
    let registry = Registry::new();
    registry.add(Arc::new(AgentProgram::new(spec.clone(), workshop.clone()))).unwrap();
    registry.reviver(Arc::new(Agents(workshop)));
    for program in programs {
        registry.add(program.clone()).unwrap();
    }
    registry
}

pub(crate) fn messages(asked: &Asked) -> Vec<Value> {
    asked.body["messages"].as_array().unwrap().clone()
}

/// Starts a turn with this text.
pub(crate) async fn say(process: &Process, id: &str, text: &str) -> RunId {
    send(process, id, vec![Part::text(text)], &[]).await
}

pub(crate) async fn send(
    process: &Process,
    id: &str,
    parts: Vec<Part>,
    references: &[String],
) -> RunId {
    let mut message = Message::new(MessageId::new(id).unwrap(), Role::User, parts);
    message.references = references.to_vec();
    submit(process, Value::Null, Some(message)).await
}

/// Starts a turn that no person requested.
pub(crate) async fn submit(process: &Process, input: Value, message: Option<Message>) -> RunId {
    start(process, AGENT, input, message).await
}

/// Starts a run in the session.
pub(crate) async fn start(
    process: &Process,
    workflow: &str,
    input: Value,
    message: Option<Message>,
) -> RunId {
    let submit = Submit {
        workflow: workflow.to_owned(),
        input,
        caller: Caller::local(),
        session: Some(SessionId::new(SESSION).unwrap()),
        message,
        hook: None,
    };
    process.submit(submit).await.unwrap().view.submission.run
}

/// The run when it has ended or waits for an answer.
pub(crate) async fn rested(process: &Process, run: RunId) -> RunView {
    let view = process.view(&at(run)).await.unwrap();
    process.settled(view).await.unwrap()
}

/// A whole turn: from its message to its end.
pub(crate) async fn turn(process: &Process, id: &str, text: &str) -> RunView {
    let run = say(process, id, text).await;
    ended(process, run).await
}

pub(crate) async fn ended(process: &Process, run: RunId) -> RunView {
    let view = rested(process, run).await;
    assert!(view.state.is_terminal(), "{run} is {}", view.state);
    view
}

/// A turn in which the model dispatches this workflow and reports its question; returns the run that
/// asks.
pub(crate) async fn dispatched(process: &Process, desk: &Desk, id: &str, workflow: &str) -> RunId {
    desk.calls(&[("c1", &format!("dispatch_workflow_{workflow}"), json!({ "text": id }))]);
    desk.says("It has a question.");
    let view = turn(process, id, "/please").await;
    children(&log(process, view.submission.run).await)[0]
}

/// Checks that the log of the run matches its program.
pub(crate) async fn fits_its_log(process: &Process, desk: &Desk, run: RunId) {
    let log = log(process, run).await;
    assert_eq!(replay_with(&desk.setup().registry, &log).await, ReplayVerdict::Fits);
}

/// Why the run failed.
pub(crate) fn reason(view: &RunView) -> String {
    text_of(&view.status_message().unwrap().parts)
}

/// The first event of the run that matches.
pub(crate) async fn until(
    process: &Process,
    run: RunId,
    chosen: impl Fn(&Event) -> bool,
) -> Stored {
    let mut watch = process.watch(&at(run), 0).await.unwrap();
    loop {
        let stored = watch.next().await.unwrap().expect("it happens before the run ends");
        if chosen(&stored.event) {
            return stored;
        }
    }
}

pub(crate) async fn log(process: &Process, run: RunId) -> Vec<Event> {
    let log = whole_log(&*process.journal, run).await.unwrap();
    log.into_iter().map(|stored| stored.event).collect()
}

/// The updates of a log that refer to other runs.
pub(crate) fn references(log: &[Event]) -> Vec<Message> {
    let one = |event: &Event| match event {
        Event::Status { message, .. } if !message.references.is_empty() => Some(message.clone()),
        _ => None,
    };
    log.iter().filter_map(one).collect()
}

pub(crate) fn children(log: &[Event]) -> Vec<RunId> {
    let one = |event: &Event| match event {
        Event::ChildStarted { child, .. } => Some(*child),
        _ => None,
    };
    log.iter().filter_map(one).collect()
}

pub(crate) fn artifact<'a>(view: &'a RunView, id: &str) -> &'a Artifact {
    let known: Vec<&str> = view.artifacts.iter().map(|artifact| artifact.id.as_str()).collect();
    let found = view.artifacts.iter().find(|artifact| artifact.id.as_str() == id);
    found.unwrap_or_else(|| panic!("no {id} among {known:?}"))
}

/// The text of the artifact with the model's text.
pub(crate) fn spoken(view: &RunView) -> String {
    let parts = &artifact(view, "text-response").parts;
    assert_eq!(parts.len(), 1, "{parts:?}");
    parts[0].as_text().unwrap().to_owned()
}

pub(crate) fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match &part.content {
        Content::Text(text) => text.clone(),
        Content::Data(data) => data.to_string(),
        Content::File(_) => "(file)".to_owned(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

pub(crate) fn text_artifact(id: &str, text: &str) -> Artifact {
    Artifact::new(ArtifactId::new(id).unwrap(), vec![Part::text(text)])
}

type Runs = Box<dyn Fn(Stage, Value) -> ProgramFuture + Send + Sync>;

/// A workflow with an input `{text}`.
struct Small {
    info: ProgramInfo,
    runs: Runs,
}

impl fmt::Debug for Small {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info.name)
    }
}

impl Program for Small {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        (self.runs)(stage, input)
    }
}

pub(crate) fn text_schema() -> Value {
    required([("text", "string")])
}

/// A workflow with the input `{text}`.
pub(crate) fn workflow<F>(
    name: &str,
    runs: impl Fn(Stage, Value) -> F + Send + Sync + 'static,
) -> Arc<dyn Program>
where
    F: Future<Output = Result<Value, Stop>> + Send + 'static,
{
    workflow_of(name, text_schema(), runs)
}

/// A workflow with an input of this schema.
pub(crate) fn workflow_of<F>(
    name: &str,
    input_schema: Value,
    runs: impl Fn(Stage, Value) -> F + Send + Sync + 'static,
) -> Arc<dyn Program>
where
    F: Future<Output = Result<Value, Stop>> + Send + 'static,
{
    let owned = || ProgramInfo::MODES_DEFAULT.iter().map(|mode| (*mode).to_owned()).collect();
    let info = ProgramInfo {
        name: name.to_owned(),
        kind: Kind::Workflow,
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
    Arc::new(Small { info, runs: Box::new(move |stage, input| Box::pin(runs(stage, input))) })
}

/// Waits, as a step, until the test lets this word pass.
pub(crate) async fn waits(stage: &Stage, released: &watch::Receiver<String>, word: &str) {
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
pub(crate) fn slow(
    released: watch::Receiver<String>,
    says: Option<&'static str>,
    word: &'static str,
) -> Arc<dyn Program> {
    workflow("slow", move |stage, _| {
        let released = released.clone();
        async move {
            if let Some(text) = says {
                stage.status(vec![Part::text(text)]).await;
            }
            waits(&stage, &released, word).await;
            Ok(json!(word))
        }
    })
}

/// Asks for a value of the schema, and returns it.
pub(crate) fn asks(name: &str, reason: Reason, schema: Value) -> Arc<dyn Program> {
    workflow(name, move |stage, _| {
        let schema = schema.clone();
        async move {
            let prompt = vec![Part::text("What is it?")];
            Ok(stage.ask(reason, prompt, schema, None).await.1.input)
        }
    })
}

/// The schema of an object with these required properties.
pub(crate) fn required<const N: usize>(properties: [(&str, &str); N]) -> Value {
    let names = properties.map(|(name, _)| name);
    let types = properties.map(|(name, kind)| (name.to_owned(), json!({ "type": kind })));
    json!({ "type": "object", "properties": serde_json::Map::from_iter(types), "required": names.to_vec() })
}

pub(crate) fn yes_or_no() -> Value {
    required([("approved", "boolean")])
}

/// Reports its text, publishes it as an artifact, and returns it.
pub(crate) fn echo() -> Arc<dyn Program> {
    workflow("echo", async |stage, input| {
        let text = input["text"].as_str().unwrap_or_default().to_owned();
        stage.status(vec![Part::text(&text)]).await;
        stage.artifact(text_artifact("echo.txt", &text).into()).await;
        Ok(input)
    })
}

type Does = Box<dyn Fn(Value, ToolCall) -> ToolFuture + Send + Sync>;

struct SmallTool {
    info: ToolInfo,
    does: Does,
}

impl fmt::Debug for SmallTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info.name)
    }
}

impl Tool for SmallTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCall) -> ToolFuture {
        (self.does)(arguments, call)
    }
}

/// A tool with the arguments `{text}`.
pub(crate) fn tool(
    name: &str,
    does: impl Fn(Value, ToolCall) -> BoxFuture<'static, Result<ToolOutput, Failure>>
    + Send
    + Sync
    + 'static,
) -> Arc<dyn Tool> {
    tool_of(name, text_schema(), does)
}

/// A tool with arguments of this schema.
pub(crate) fn tool_of(
    name: &str,
    input_schema: Value,
    does: impl Fn(Value, ToolCall) -> BoxFuture<'static, Result<ToolOutput, Failure>>
    + Send
    + Sync
    + 'static,
) -> Arc<dyn Tool> {
    let info =
        ToolInfo { name: name.to_owned(), description: format!("Does {name}."), input_schema };
    Arc::new(SmallTool { info, does: Box::new(does) })
}

/// A tool that counts its calls.
pub(crate) fn counted(calls: &Arc<AtomicUsize>) -> Arc<dyn Tool> {
    let calls = calls.clone();
    tool("count", move |_, _| {
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        Box::pin(async move { Ok(json!(number).into()) })
    })
}

/// Returns its text in capitals.
pub(crate) fn shout() -> Arc<dyn Tool> {
    tool("shout", |arguments, _| {
        Box::pin(async move {
            let text = arguments["text"].as_str().unwrap_or_default().to_uppercase();
            Ok(Value::String(text).into())
        })
    })
}
