//! A peer that outlives the processes, and a program that calls it in a step, as the tool of a peer does.

use std::{sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{CallChain, Caller, Failure, InterruptReason, Part, StepOutcome};
use trackway_ports::{PortFuture, StepNoteHandler, StepNoteReleaseError};
use trackway_runtime::{
    Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramRegistry, ProgramStop, RetryPolicy, Stage,
    StepAttempt, ToolCallContext,
};

/// How the peer and the step behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The peer's task ends at once.
    Ends,
    /// It never ends.
    Hangs,
    /// It never ends, and the program stops waiting for it.
    TimesOut,
    /// The step asks for permission.
    Asks,
    /// The step records notes that cannot be kept.
    Rude,
}

impl Way {
    const ALL: [Self; 5] = [Self::Ends, Self::Hangs, Self::TimesOut, Self::Asks, Self::Rude];

    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }
}

/// What the peer knows.
#[derive(Debug, Default)]
struct PeerState {
    tasks: Vec<String>,
    released: Vec<String>,
    attempts: usize,
    chains: Vec<CallChain>,
    is_away: bool,
    refuses: bool,
}

/// A peer outside of the process.
#[derive(Debug, Clone)]
pub(super) struct FakePeer(Arc<watch::Sender<PeerState>>);

impl FakePeer {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(PeerState::default())))
    }

    /// The tasks that it was given, each once.
    pub(super) fn tasks(&self) -> Vec<String> {
        self.0.borrow().tasks.clone()
    }

    /// The tasks that it was told to release, in order.
    pub(super) fn released(&self) -> Vec<String> {
        self.0.borrow().released.clone()
    }

    pub(super) fn seen_chains(&self) -> Vec<CallChain> {
        self.0.borrow().chains.clone()
    }

    pub(super) fn set_away(&self, is_away: bool) {
        self.0.send_modify(|peer| peer.is_away = is_away);
    }

    pub(super) fn refuse_releases(&self) {
        self.0.send_modify(|peer| peer.refuses = true);
    }

    pub(super) async fn wait_for_task(&self) {
        self.wait_for_tasks(1).await;
    }

    pub(super) async fn wait_for_tasks(&self, count: usize) {
        self.0.subscribe().wait_for(|peer| peer.tasks.len() >= count).await.unwrap();
    }

    /// Resolves when this many releases were tried.
    pub(super) async fn wait_for_attempts(&self, count: usize) {
        self.0.subscribe().wait_for(|peer| peer.attempts >= count).await.unwrap();
    }

    /// The same id is the same task.
    fn start_task(&self, task: &str, chain: CallChain) {
        self.0.send_modify(|peer| {
            if !peer.tasks.iter().any(|known| known == task) {
                peer.tasks.push(task.to_owned());
            }
            peer.chains.push(chain);
        });
    }
}

impl StepNoteHandler for FakePeer {
    fn release<'a>(
        &'a self,
        owner: &'a Caller,
        note: &'a Value,
    ) -> PortFuture<'a, Result<(), StepNoteReleaseError>> {
        assert_eq!(*owner, Caller::local_without_auth());
        let task = note["task"].as_str().unwrap().to_owned();
        Box::pin(async move {
            let mut result = Ok(());
            self.0.send_modify(|peer| {
                peer.attempts += 1;
                let reason = "it says so".to_owned();
                if peer.refuses {
                    result = Err(StepNoteReleaseError::Refused { reason });
                } else if peer.is_away {
                    result = Err(StepNoteReleaseError::Transient { reason });
                } else {
                    peer.released.push(task);
                }
            });
            result
        })
    }
}

/// A program that calls the peer in a step.
#[derive(Debug)]
pub(super) struct PeerCaller {
    info: ProgramInfo,
    peer: FakePeer,
}

impl PeerCaller {
    pub(super) fn registry(peer: &FakePeer) -> ProgramRegistry {
        let info = ProgramInfo {
            name: "calls-peer".to_owned(),
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
        };
        let registry = ProgramRegistry::new();
        registry.add_program(Arc::new(Self { info, peer: peer.clone() })).unwrap();
        registry
    }
}

impl Program for PeerCaller {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let peer = self.peer.clone();
        let way = Way::ALL.into_iter().find(|way| json!(way.name()) == input).unwrap();
        Box::pin(async move {
            if way == Way::Rude {
                return record_rude_notes(&stage).await;
            }
            let call = call_in_step(&stage, &peer, way);
            if way != Way::TimesOut {
                return call.await.map_err(ProgramStop::Failed);
            }
            let nap = stage.sleep_durably(Duration::from_secs(60));
            match select(Box::pin(call), Box::pin(nap)).await {
                Either::Left((outcome, _)) => outcome.map_err(ProgramStop::Failed),
                Either::Right(_) => Ok(json!("too late")),
            }
        })
    }
}

async fn call_in_step(stage: &Stage, peer: &FakePeer, way: Way) -> Result<Value, Failure> {
    let mut work = |attempt: StepAttempt| -> futures_util::future::BoxFuture<'_, _> {
        let call = ToolCallContext::from_step(stage, attempt);
        Box::pin(call_peer(call, peer.clone(), way))
    };
    match stage.step("call", RetryPolicy::default(), &mut work).await.1 {
        StepOutcome::Ok(value) => Ok(value),
        StepOutcome::Err(failure) => Err(failure),
    }
}

/// The order of a peer's tool: note what identifies the task, then make the peer work.
async fn call_peer(call: ToolCallContext, peer: FakePeer, way: Way) -> Result<Value, Failure> {
    let note = match call.load_note() {
        Some(note) => note,
        None => {
            let note = json!({ "task": call.attempt.idempotency_key });
            call.record_note(note.clone()).await.map_err(|refusal| Failure::new(refusal.to_string()))?;
            note
        }
    };
    assert_eq!(call.load_note().as_ref(), Some(&note));
    assert_eq!(call.workflow_name(), Some("calls-peer"));
    peer.start_task(note["task"].as_str().unwrap(), call.call_chain());
    match way {
        Way::Asks => {
            let schema = json!({"type": "object", "required": ["code"]});
            let prompt = vec![Part::text("May the peer?")];
            let answer = call.ask_question_with_reason(InterruptReason::AuthRequired, prompt, schema).await?;
            assert_eq!(call.load_note().as_ref(), Some(&note));
            Ok(json!({ "task": note["task"], "answer": answer.input, "message": answer.message.id }))
        }
        Way::Ends => {
            call.report_status(vec![Part::text("the peer works")]).await;
            call.report_status(Vec::new()).await;
            Ok(note)
        }
        Way::Hangs | Way::TimesOut | Way::Rude => {
            call.report_status(vec![Part::text("the peer works")]).await;
            std::future::pending().await
        }
    }
}

/// Notes that are refused, as texts.
async fn record_rude_notes(stage: &Stage) -> Result<Value, ProgramStop> {
    let kept: std::sync::Mutex<Option<ToolCallContext>> = std::sync::Mutex::new(None);
    let mut work = |attempt: StepAttempt| -> futures_util::future::BoxFuture<'_, _> {
        let call = ToolCallContext::from_step(stage, attempt);
        *kept.lock().unwrap() = Some(call.clone());
        Box::pin(async move {
            let large = Value::from("x".repeat(10_000_000));
            let deep = (0..1_000).fold(Value::Null, |inner, _| json!([inner]));
            let mut problems = Vec::new();
            for note in [large, deep] {
                problems.push(call.record_note(note).await.unwrap_err().to_string());
            }
            Ok(json!(problems))
        })
    };
    let (_, outcome) = stage.step("rude", RetryPolicy::default(), &mut work).await;
    let StepOutcome::Ok(Value::Array(mut problems)) = outcome else { panic!("{outcome:?}") };
    let late = kept.lock().unwrap().take();
    if let Some(late) = late {
        problems.push(json!(late.record_note(json!(1)).await.unwrap_err().to_string()));
    }
    Ok(Value::Array(problems))
}
