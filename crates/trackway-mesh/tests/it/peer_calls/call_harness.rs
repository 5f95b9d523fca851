//! A world with one peer, in which runs call the peer's tool.

use std::{fmt, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_artifacts::{
    ArtifactLimits, ArtifactLookup, ArtifactService, ArtifactServiceOptions, NewArtifact, ReferenceKey,
    ReferenceKeys, ReferenceSigner,
};
use trackway_domain::{
    Access, ArtifactFilename, ArtifactScope, CallChain, Caller, Event, Message, MessageId, MessageRole, Part,
    RunId, SessionId, StateName,
};
use trackway_engine::RunView;
use trackway_mesh::{
    CallTokenSigner, ConfiguredPeer, MeshConfiguration, MeshOptions, PeerAddress, PeerCredentials,
    PeerRegistry, PeerRegistryOptions, PeerTools, PeerToolsOptions,
};
use trackway_ports::{NoAuditRecorder, PortFuture, StepNoteHandler, StepNoteReleaseError};
use trackway_runtime::{
    Error, Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramRegistry, ProgramStop, RetryPolicy,
    Stage, StepAttempt, SubmitRunRequest, SystemClock, SystemIds, ToolCallContext, ToolSource,
};
use trackway_testkit::{
    CrashAt, MemoryJournal, MemoryKeys, ProcessSetup, TestProcess, TestWorld, load_full_log,
    local_run_address,
};

use crate::fake_peer::FakePeer;

const SESSION: &str = "talk";
const CALLER: &str = "caller";

/// Far more points than one process reaches; the sweep ends earlier.
const POINTS_MAX: usize = 500;

type LateTools = watch::Receiver<Option<PeerTools>>;

/// One peer, and everything that outlives processes.
pub(crate) struct CallHarness {
    world: TestWorld,
    artifacts: Arc<ArtifactService>,
    keys: Arc<MemoryKeys>,
    peer: String,
    options: MeshOptions,
    /// The tool's name of the peer.
    name: &'static str,
}

impl CallHarness {
    pub(crate) fn new(peer: &FakePeer) -> Self {
        let store = Arc::new(MemoryJournal::new());
        let artifacts = Arc::new(ArtifactService::new(ArtifactServiceOptions {
            store: store.clone(),
            blobs: Arc::new(store.blob_store()),
            journal: store,
            clock: Arc::new(SystemClock),
            limits: ArtifactLimits::default(),
            audit: Arc::new(NoAuditRecorder),
        }));
        Self {
            world: TestWorld::with_memory_store(),
            artifacts,
            keys: Arc::default(),
            peer: peer.url.clone(),
            options: MeshOptions { reconnect: Duration::from_secs(5), ..MeshOptions::default() },
            name: peer.name,
        }
    }

    pub(crate) fn with_timeout(peer: &FakePeer, timeout: Duration) -> Self {
        let harness = Self::new(peer);
        Self { options: MeshOptions { timeout, ..harness.options.clone() }, ..harness }
    }

    pub(crate) fn with_reconnect(peer: &FakePeer, reconnect: Duration) -> Self {
        let harness = Self::new(peer);
        Self { options: MeshOptions { reconnect, ..harness.options.clone() }, ..harness }
    }

    pub(crate) fn with_max_depth(peer: &FakePeer, max_depth: u32) -> Self {
        let harness = Self::new(peer);
        Self { options: MeshOptions { max_depth, ..harness.options.clone() }, ..harness }
    }

    /// One whole call in a process of its own: its result, and the log of its run.
    pub(crate) fn run_call(&self, arguments: Value) -> (Value, Vec<Event>) {
        let name = self.name;
        self.run_process(async |process| {
            let run = start_call(&process, name, arguments).await;
            let view = wait_until_idle(&process, run).await;
            (call_result(&view), load_log(&process, run).await)
        })
    }

    pub(crate) fn run_process<T>(&self, client: impl AsyncFnOnce(TestProcess) -> T) -> T {
        self.run_with_faults(Arc::new(CrashAt::never_crash()), client).expect("it lives")
    }

    fn run_with_faults<T>(
        &self,
        faults: Arc<CrashAt>,
        client: impl AsyncFnOnce(TestProcess) -> T,
    ) -> Option<T> {
        let (sender, tools) = watch::channel(None);
        let registry = ProgramRegistry::new();
        registry
            .add_program(Arc::new(CallingProgram { info: program_info(), tools: tools.clone() }))
            .unwrap();
        let setup = ProcessSetup::from(registry).with_faults(faults);
        let setup = setup.with_step_notes(Arc::new(LateReleaser(tools)));
        self.world.run_process(setup, async |process| {
            sender.send_replace(Some(self.start_tools().await));
            client(process).await
        })
    }

    async fn start_tools(&self) -> PeerTools {
        let peer = ConfiguredPeer {
            name: None,
            address: PeerAddress::Base(self.peer.clone()),
            credentials: PeerCredentials::default(),
        };
        let registry = PeerRegistry::start(PeerRegistryOptions {
            configuration: MeshConfiguration { options: self.options.clone(), peers: vec![peer] },
            keys: self.keys.clone(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        });
        let registry = registry.await.unwrap();
        registry.wait_until_asked().await;
        let base_url = Some("http://127.0.0.1:9".to_owned());
        PeerTools::new(PeerToolsOptions {
            registry,
            artifacts: self.artifacts.clone(),
            references: ReferenceSigner::new(Arc::new(OneKey), Arc::new(SystemClock), base_url.clone()),
            signer: CallTokenSigner::in_store(self.keys.clone(), Arc::new(SystemClock)),
            base_url,
        })
    }

    pub(crate) fn save_artifact(&self, filename: &str, text: &'static str) {
        let scope = ArtifactScope::Session(SessionId::new(SESSION).unwrap());
        let new = NewArtifact::new(ArtifactFilename::new(filename).unwrap(), scope, text);
        block_on(self.artifacts.save(&Access::local_without_auth(), new)).unwrap();
    }

    pub(crate) fn read_artifact(&self, filename: &str) -> String {
        block_on(async {
            let lookup = ArtifactLookup {
                session: Some(SessionId::new(SESSION).unwrap()),
                ..ArtifactLookup::new(ArtifactFilename::new(filename).unwrap())
            };
            let found = self.artifacts.find(&Access::local_without_auth(), &lookup).await.unwrap();
            String::from_utf8(self.artifacts.read(&found).await.unwrap().to_vec()).unwrap()
        })
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A crash at every point of a call, each in a world of its own.
pub(crate) fn sweep_crashes(
    new_peer: impl Fn() -> FakePeer,
    arguments: &Value,
    check: impl Fn(&FakePeer, &Value),
) {
    for point in 1..POINTS_MAX {
        let peer = new_peer();
        let harness = CallHarness::new(&peer);
        let call = async |process: TestProcess| {
            let run = start_call(&process, harness.name, arguments.clone()).await;
            call_result(&wait_until_idle(&process, run).await)
        };
        let faults = Arc::new(CrashAt::at_any_point(point));
        let through = harness.run_with_faults(faults, call);
        let is_through = through.is_some();
        let result = through.unwrap_or_else(|| harness.run_process(call));
        check(&peer, &result);
        if is_through {
            return;
        }
    }
    panic!("the call has more than {POINTS_MAX} points");
}

/// A crash at every point of a call, each in a world of its own, and then a cancel of its run.
pub(crate) fn sweep_crashes_then_cancel(
    new_peer: impl Fn() -> FakePeer,
    arguments: &Value,
    check: impl Fn(&FakePeer, &str),
) {
    for point in 1..POINTS_MAX {
        let peer = new_peer();
        let harness = CallHarness::new(&peer);
        let faults = Arc::new(CrashAt::at_any_point(point));
        let cancel = async |process: TestProcess| {
            let run = start_call(&process, harness.name, arguments.clone()).await;
            let cancelled = match process.cancel_run(&local_run_address(run)).await {
                // An earlier process has done it.
                Err(Error::Ended { .. }) => Ok(()),
                cancelled => cancelled.map(drop),
            };
            unless_stopping(cancelled).await;
            process.wait_until_quiet().await;
        };
        let through = harness.run_with_faults(faults.clone(), async |process| {
            let run = start_call(&process, harness.name, arguments.clone()).await;
            wait_for_status(&process, run, "On it.").await;
            cancel(process).await;
        });
        if through.is_none() {
            harness.run_process(cancel);
        }
        check(&peer, &format!("point {point}, {:?}", faults.reached_points().last()));
        if through.is_some() {
            return;
        }
    }
    panic!("the call has more than {POINTS_MAX} points");
}

/// Starts the run that makes the call; the same run if it is started again.
pub(crate) async fn start_call(process: &TestProcess, peer: &str, arguments: Value) -> RunId {
    let id = MessageId::new(&format!("call {peer} {arguments}")).unwrap();
    let message = Message::new(id, MessageRole::User, vec![Part::text("Call it.")]);
    let submit = SubmitRunRequest {
        session: Some(SessionId::new(SESSION).unwrap()),
        message: Some(message),
        call_chain: CallChain::default(),
        ..SubmitRunRequest::new(
            CALLER,
            json!({ "peer": peer, "arguments": arguments }),
            Caller::local_without_auth(),
        )
    };
    unless_stopping(process.submit_run(submit).await).await.view.submission.run
}

pub(crate) async fn wait_until_idle(process: &TestProcess, run: RunId) -> RunView {
    let view = unless_stopping(process.current_run_view(&local_run_address(run)).await).await;
    unless_stopping(process.wait_until_run_idle(view).await).await
}

/// A process that dies answers nobody.
async fn unless_stopping<T>(answer: Result<T, Error>) -> T {
    match answer {
        Err(Error::Stopping) => std::future::pending().await,
        answer => answer.unwrap(),
    }
}

/// The tool's result, which is the run's output.
pub(crate) fn call_result(view: &RunView) -> Value {
    assert_eq!(view.state, StateName::Completed, "{:?}", view.status_message());
    view.output["value"].clone()
}

pub(crate) async fn load_log(process: &TestProcess, run: RunId) -> Vec<Event> {
    let log = load_full_log(&*process.journal, run).await.unwrap();
    log.into_iter().map(|stored| stored.event).collect()
}

/// Returns when the run has reported this.
pub(crate) async fn wait_for_status(process: &TestProcess, run: RunId, text: &str) {
    let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
    loop {
        let stored = watch.next_event().await.unwrap().expect("it is said before the run ends");
        if let Event::Status { message, .. } = &stored.event
            && message.parts.iter().any(|part| part.as_text() == Some(text))
        {
            return;
        }
    }
}

/// A run of it calls the tool of a peer in a step.
struct CallingProgram {
    info: ProgramInfo,
    tools: LateTools,
}

impl fmt::Debug for CallingProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CALLER)
    }
}

fn program_info() -> ProgramInfo {
    ProgramInfo {
        name: CALLER.to_owned(),
        kind: ProgramKind::Workflow,
        version: "1".to_owned(),
        description: String::new(),
        tags: Vec::new(),
        examples: Vec::new(),
        skills: Vec::new(),
        input_schema: json!({}),
        output_schema: Value::Null,
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        extensions: Vec::new(),
        deadline: None,
    }
}

impl Program for CallingProgram {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let tools = self.tools.clone();
        Box::pin(async move {
            let mut work = |attempt: StepAttempt| -> BoxFuture<'_, _> {
                let (mut tools, input, stage) = (tools.clone(), input.clone(), stage.clone());
                Box::pin(async move {
                    let tools = tools.wait_for(Option::is_some).await.unwrap().clone().unwrap();
                    let peer = input["peer"].as_str().unwrap();
                    let tool = tools.find_peer_tool(stage.caller(), peer).unwrap();
                    let call = ToolCallContext::from_step(&stage, attempt);
                    let output = tool.call(input["arguments"].clone(), call).await?;
                    Ok(json!({ "value": output.value, "failed": output.is_error }))
                })
            };
            match stage.step("call", RetryPolicy::default(), &mut work).await.1 {
                trackway_domain::StepOutcome::Ok(value) => Ok(value),
                trackway_domain::StepOutcome::Err(failure) => Err(ProgramStop::Failed(failure)),
            }
        })
    }
}

/// Releases with the tools of this process, once there are any.
#[derive(Debug)]
struct LateReleaser(LateTools);

impl StepNoteHandler for LateReleaser {
    fn release<'a>(
        &'a self,
        owner: &'a Caller,
        note: &'a Value,
    ) -> PortFuture<'a, Result<(), StepNoteReleaseError>> {
        Box::pin(async move {
            let mut tools = self.0.clone();
            let tools = tools.wait_for(Option::is_some).await.unwrap().clone().unwrap();
            tools.task_releaser().release(owner, note).await
        })
    }
}

#[derive(Debug)]
struct OneKey;

impl ReferenceKeys for OneKey {
    fn load_reference_keys(&self) -> PortFuture<'_, Vec<ReferenceKey>> {
        Box::pin(std::future::ready(vec![ReferenceKey { name: "k1".to_owned(), secret: Some([7; 32]) }]))
    }
}
