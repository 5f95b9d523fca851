//! The stage: the interface of a program to its run. Everything it requests is found in the log or recorded
//! there.
//!
//! A program runs again from its start on every resume and recovery. Each request has a name ([`Op`]). If the
//! log holds a result under that name, it is returned instead of doing the work again. Results become visible
//! one at a time, in the order of the log, and the program is polled until it is idle between any two of
//! them. So it sees the same order live and on every replay.

mod activity_guards;
mod child_runs;
mod program_yields;
mod replay_state;
mod session_history;
mod step_notes;
mod step_yields;
mod steps;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Poll, Waker},
};

use tokio::sync::OwnedSemaphorePermit;
use trackway_domain::{
    CallChain, Caller, Event, Failure, JSON_DEPTH_MAX, Message, Op, ReplayMismatch, RunCommand, RunId,
    RunSubmission, Seq, SessionId, Timestamp, WorkflowRef,
};
use trackway_engine::{CommandRefusal, CommandReply, Run};
use trackway_ports::PinnedDefinition;

use self::replay_state::{RecordedFact, ReplayState};
use crate::{
    Program, ValueType,
    command_execution::CommandAttachments,
    json_depth_limit::is_command_json_too_deep,
    live_run::{DecidedRunHead, LiveRunRef},
    runtime_core::RuntimeCore,
};

/// Keeps a program in memory.
#[derive(Debug)]
pub struct KeepInMemoryGuard(
    #[expect(dead_code, reason = "holding it is its use")] activity_guards::ActiveProgramGuard,
);

pub use child_runs::ChildError;
pub use replay_state::Answer;
pub use session_history::{OpenQuestion, QuestionSource, SessionHistory};
pub use steps::{RetryPolicy, StepAttempt, StepWork};

/// A program's handle on its run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stage(pub(crate) Arc<StageInner>);

pub(crate) struct StageInner {
    run: RunId,
    session: SessionId,
    caller: Caller,
    workflow: WorkflowRef,
    /// The message that requested the run.
    message: Option<Message>,
    /// The calls of peers that led to the run.
    call_chain: CallChain,
    mode: StageMode,
    /// Short sections that never await. Locked after the live run's head where both are needed.
    replay_state: Mutex<ReplayState>,
    /// The run has ended: the program is dropped at its next await.
    stopped: AtomicBool,
    /// The events up to the last step outcome that was recorded here; the submission if there was none. What
    /// a replay finds is durable already.
    last_step_seq: AtomicU64,
    /// The program's slot among those that are in memory at once.
    program_permit: Mutex<Option<OwnedSemaphorePermit>>,
}

/// Where the program runs.
pub(crate) enum StageMode {
    /// For real: what is new is recorded and done.
    Live(LiveRunRef),
    /// Against a log alone: nothing is recorded or done.
    Check,
    /// The same, to find the types of the answers to its questions.
    DiscoverTypes(Arc<RuntimeCore>),
}

impl fmt::Debug for StageInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").field("run", &self.run).finish_non_exhaustive()
    }
}

impl StageInner {
    pub(crate) fn new(submission: &RunSubmission, mode: StageMode) -> Arc<Self> {
        Arc::new(Self {
            run: submission.run,
            session: submission.session.clone(),
            caller: submission.caller.clone(),
            workflow: submission.workflow.clone(),
            message: submission.message.clone(),
            call_chain: submission.call_chain.clone(),
            mode,
            replay_state: Mutex::new(ReplayState::default()),
            stopped: AtomicBool::new(false),
            last_step_seq: AtomicU64::new(1),
            program_permit: Mutex::default(),
        })
    }

    pub(crate) fn lock_replay_state(&self) -> MutexGuard<'_, ReplayState> {
        self.replay_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot in memory.
    pub(crate) fn hold_program_permit(&self, permit: OwnedSemaphorePermit) {
        *self.program_permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
    }

    /// Returns the slot while the program waits only for a person: other programs may use it.
    fn release_program_permit(&self) {
        *self.program_permit.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Events were appended while the program runs. Called under the head's lock, so they arrive in the order
    /// of the log. True if the program will be polled for them.
    pub(crate) fn on_appended_events(&self, events: &[Event]) -> bool {
        let mut book = self.lock_replay_state();
        // Each of them has to arrive, so this is not `any`.
        events.iter().filter(|event| book.add_live_event(event)).count() > 0
    }

    /// The program must not continue.
    pub(crate) fn stop_program(&self) {
        self.stopped.store(true, Ordering::Release);
        if let Some(driver) = self.lock_replay_state().driver.take() {
            driver.wake();
        }
    }

    /// Withdraws questions that the program no longer waits for. Fails when the run has ended.
    pub(crate) fn withdraw_questions(
        &self,
        head: &mut DecidedRunHead,
        ops: Vec<Op>,
    ) -> Result<(), CommandRefusal> {
        let Some((core, live)) = self.live_run() else { return Ok(()) };
        // Otherwise a task that waits for its turn would wake itself when it checks its turn.
        if ops.is_empty() {
            return Ok(());
        }
        for op in ops {
            core.decide_and_append(
                live,
                head,
                RunCommand::WithdrawQuestion { op },
                CommandAttachments::default(),
            )?;
        }
        self.lock_replay_state().change_wakers.drain(..).for_each(Waker::wake);
        Ok(())
    }

    /// The program's command cannot be recorded; its driver ends the run.
    fn set_program_failure(&self, failure: Failure) {
        let mut book = self.lock_replay_state();
        book.failure = Some(failure);
        if let Some(driver) = book.driver.take() {
            driver.wake();
        }
    }

    /// The program does not fit; its driver parks the run.
    fn set_replay_mismatch(&self, evidence: ReplayMismatch) {
        let mut book = self.lock_replay_state();
        book.replay_mismatch = Some(evidence);
        if let Some(driver) = book.driver.take() {
            driver.wake();
        }
    }

    /// The outcome of a step that a request waits for was appended.
    fn require_durable_step_outcome(&self) {
        let Some((_, live)) = self.live_run() else { return };
        let seq = live.lock_head().run.as_ref().map_or(1, |run| run.seq);
        self.require_durable_up_to(seq);
    }

    /// The program continues with the events up to there: a request waits for them as for a submission.
    pub(crate) fn require_durable_up_to(&self, seq: Seq) {
        self.last_step_seq.fetch_max(seq, Ordering::AcqRel);
    }

    /// The events that must be durable when a request begins.
    fn required_durable_seq(&self) -> Seq {
        self.last_step_seq.load(Ordering::Acquire)
    }

    pub(crate) fn is_program_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(crate) fn live_run(&self) -> Option<(&Arc<RuntimeCore>, &LiveRunRef)> {
        match &self.mode {
            StageMode::Live(live) => Some((&live.core, live)),
            StageMode::Check | StageMode::DiscoverTypes(_) => None,
        }
    }

    /// Registers the type that answers to a question are read into.
    fn register_answer_type(&self, answer: ValueType) {
        let core = match &self.mode {
            StageMode::Live(live) => &live.core,
            StageMode::DiscoverTypes(core) => core,
            StageMode::Check => return,
        };
        core.options.registry.schemas.answer_types.insert_answer_type(&self.workflow, answer);
    }
}

impl Stage {
    pub fn run_id(&self) -> RunId {
        self.0.run
    }

    /// The session of the run.
    pub fn session_id(&self) -> &SessionId {
        &self.0.session
    }

    /// The caller on whose behalf it runs.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// The workflow of the run.
    pub fn workflow(&self) -> &WorkflowRef {
        &self.0.workflow
    }

    /// The calls of peers that led to the run.
    pub fn call_chain(&self) -> &CallChain {
        &self.0.call_chain
    }

    /// The message that requested the run, if the door has messages.
    pub fn start_message(&self) -> Option<&Message> {
        self.0.message.as_ref()
    }

    /// The programs that are available here at the moment. Not recorded: for use within a step.
    pub fn list_available_programs(&self) -> Vec<Arc<dyn Program>> {
        self.0.live_run().map(|(core, _)| core.options.registry.list_current_programs()).unwrap_or_default()
    }

    /// The current time. Not recorded: for use within a step.
    pub fn unrecorded_now(&self) -> Timestamp {
        self.clock_now()
    }

    /// Keeps the program in memory until the guard is dropped, even while it only waits. For waits that are
    /// short and bounded.
    pub fn keep_program_in_memory(&self) -> KeepInMemoryGuard {
        KeepInMemoryGuard(activity_guards::ActiveProgramGuard::new(self.0.clone()))
    }

    /// Reports that the log does not fit the program: the run is parked with this evidence. Never returns.
    pub async fn park_as_nondeterministic(&self, op: &str, message: String) -> ! {
        let evidence = ReplayMismatch { message, asked: None, recorded: Some(op.to_owned()) };
        self.park_run_on_mismatch(evidence).await
    }

    async fn park_run_on_mismatch<T>(&self, evidence: ReplayMismatch) -> T {
        self.0.set_replay_mismatch(evidence);
        std::future::pending().await
    }

    fn clock_now(&self) -> Timestamp {
        // Only reached live: a check never gets past the end of the log.
        self.0.live_run().map(|(core, _)| core.now()).unwrap_or_default()
    }

    /// Waits until the program has requested everything that the log holds. New work may only be done after
    /// that: until then the program may turn out not to fit.
    async fn wait_for_replay_end(&self, op: &Op) {
        let mut asking = None;
        std::future::poll_fn(|cx| {
            let mut book = self.0.lock_replay_state();
            if book.is_live {
                return Poll::Ready(());
            }
            book.first_new_op.get_or_insert_with(|| op.clone());
            book.replay_wakers.push(cx.waker().clone());
            drop(book);
            asking.get_or_insert_with(|| activity_guards::ReplayWaitGuard::new(self.0.clone()));
            Poll::Pending
        })
        .await;
    }

    /// The next recorded fact of this op.
    async fn next_recorded_fact(&self, op: &Op) -> RecordedFact {
        let mut asking = None;
        std::future::poll_fn(|cx| {
            let polled = self.0.lock_replay_state().poll_recorded_fact(op, cx.waker());
            if polled.is_pending() {
                asking.get_or_insert_with(|| activity_guards::ReplayWaitGuard::new(self.0.clone()));
            }
            polled
        })
        .await
    }

    /// As [`Stage::next_recorded_fact`], for a fact that may come days later: the program may be dropped in
    /// the meantime.
    async fn wait_durably_for_fact(&self, op: &Op) -> RecordedFact {
        let _waiting = activity_guards::DurableWaitGuard::new(self.0.clone());
        self.next_recorded_fact(op).await
    }

    /// Records a command. Returns when it is appended; a caller that shows it waits for the commit.
    async fn decide_and_append(&self, command: RunCommand) -> CommandReply {
        self.append_command_when_allowed(command, |_| true).await
    }

    /// Records a command together with definitions that a run needs.
    async fn append_command_with_pins(
        &self,
        command: RunCommand,
        pins: Vec<PinnedDefinition>,
    ) -> CommandReply {
        self.append_command_with_retry(command, |_| true, pins).await
    }

    /// Records a command once the run allows it.
    async fn append_command_when_allowed(
        &self,
        command: RunCommand,
        allowed: impl Fn(&Run) -> bool + Send,
    ) -> CommandReply {
        self.append_command_with_retry(command, allowed, Vec::new()).await
    }

    async fn append_command_with_retry(
        &self,
        command: RunCommand,
        allowed: impl Fn(&Run) -> bool + Send,
        pins: Vec<PinnedDefinition>,
    ) -> CommandReply {
        let Some((core, _)) = self.0.live_run() else {
            return std::future::pending().await;
        };
        if is_command_json_too_deep(&command) {
            self.0.set_program_failure(Failure::new(format!(
                "a value is nested deeper than {JSON_DEPTH_MAX} levels"
            )));
            return std::future::pending().await;
        }
        loop {
            let active = activity_guards::ActiveProgramGuard::new(self.0.clone());
            let Ok(permit) = core.acquire_append_permit().await else {
                return std::future::pending().await;
            };
            drop(active);
            match self.try_append_command(&command, &allowed, &pins, permit) {
                AppendAttemptOutcome::Appended(reply) => return reply,
                AppendAttemptOutcome::NotYet => self.wait_for_new_visible_fact().await,
                // The run has ended, or its head is void: the driver drops this program.
                AppendAttemptOutcome::RunEnded => return std::future::pending().await,
                AppendAttemptOutcome::Refused(refusal) => return self.park_run_on_refusal(&refusal).await,
            }
        }
    }

    /// Records a command at once, or not at all: `None` if the run does not allow it now.
    async fn append_command_if_allowed(
        &self,
        command: RunCommand,
        allowed: impl Fn(&Run) -> bool + Send,
    ) -> Option<Result<CommandReply, CommandRefusal>> {
        let Some((core, _)) = self.0.live_run() else {
            return std::future::pending().await;
        };
        let Ok(permit) = core.acquire_append_permit().await else {
            return std::future::pending().await;
        };
        match self.try_append_command(&command, &allowed, &[], permit) {
            AppendAttemptOutcome::Appended(reply) => Some(Ok(reply)),
            AppendAttemptOutcome::NotYet => None,
            AppendAttemptOutcome::RunEnded => std::future::pending().await,
            AppendAttemptOutcome::Refused(refusal) => Some(Err(refusal)),
        }
    }

    async fn park_run_on_refusal<T>(&self, refusal: &CommandRefusal) -> T {
        let message = format!("the engine refused it: {refusal}");
        self.park_run_on_mismatch(ReplayMismatch { message, asked: None, recorded: None }).await
    }

    fn try_append_command(
        &self,
        command: &RunCommand,
        allowed: &impl Fn(&Run) -> bool,
        pins: &[PinnedDefinition],
        permit: OwnedSemaphorePermit,
    ) -> AppendAttemptOutcome {
        let Some((core, live)) = self.0.live_run() else {
            return AppendAttemptOutcome::RunEnded;
        };
        let mut head = live.lock_head();
        if head.stale || self.0.is_program_stopped() {
            return AppendAttemptOutcome::RunEnded;
        }
        // A question that the program dropped is withdrawn before anything it does next.
        let withdrawn = std::mem::take(&mut self.0.lock_replay_state().withdrawn);
        if self.0.withdraw_questions(&mut head, withdrawn).is_err() {
            return AppendAttemptOutcome::RunEnded;
        }
        if !head.run.as_ref().is_some_and(allowed) {
            return AppendAttemptOutcome::NotYet;
        }
        let (permit, pins) = (Some(permit), pins.to_vec());
        let attached = CommandAttachments { permit, pins, ..CommandAttachments::default() };
        match core.decide_and_append(live, &mut head, command.clone(), attached) {
            Ok(ordered) => AppendAttemptOutcome::Appended(ordered.reply),
            Err(CommandRefusal::Ended { .. }) => AppendAttemptOutcome::RunEnded,
            Err(refusal) => AppendAttemptOutcome::Refused(refusal),
        }
    }

    /// Waits until another fact becomes visible. The program may be dropped in the meantime.
    async fn wait_for_new_visible_fact(&self) {
        let _waiting = activity_guards::DurableWaitGuard::new(self.0.clone());
        let mut registered = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut registered, true) {
                return Poll::Ready(());
            }
            self.0.lock_replay_state().change_wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The result of one attempt to record a command.
enum AppendAttemptOutcome {
    Appended(CommandReply),
    NotYet,
    RunEnded,
    Refused(CommandRefusal),
}
