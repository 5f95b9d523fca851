//! A client that can be repeated: its actions depend only on what it sees, with the same message ids
//! each time. A test may therefore kill the process at any moment and start the client again.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{
    StreamExt,
    future::{BoxFuture, join},
    stream::FuturesUnordered,
};
use serde_json::Value;
use trackway_domain::{
    Access, Caller, Event, Message, MessageId, MessageRole, Part, RunId, RunSubmission, SessionId, Timestamp,
};
use trackway_engine::MessageDeliveryOutcome;
use trackway_ports::{HookTarget, StoredEvent};
use trackway_runtime::{DeliverMessageRequest, Error, NewHook, RunAddress, RunWatch, SubmitRunRequest};

use crate::{TestProcess, interceptors::lock_ignoring_poison};

/// The answers to the question of that number (0 for the first) of a run of that workflow, in order.
type AnswerScript = Arc<dyn Fn(&str, usize) -> Vec<Value> + Send + Sync>;

/// The script of a client.
#[derive(Clone)]
pub struct ScriptedClient {
    workflow: String,
    input: Value,
    session: Option<SessionId>,
    answers: AnswerScript,
    cancel_at_status: Option<String>,
    patience: Duration,
    has_hook: bool,
    leaves_clock_alone: bool,
}

/// What the client saw, across all processes.
#[derive(Debug, Default)]
pub struct ClientHistory {
    observed_events: Mutex<BTreeMap<RunId, Vec<Vec<StoredEvent>>>>,
    delivered_replies: Mutex<HashMap<MessageId, MessageDeliveryOutcome>>,
}

/// What the client knows about one run.
#[derive(Default)]
struct RunProgress {
    submission: Option<Box<RunSubmission>>,
    questions: usize,
}

impl fmt::Debug for ScriptedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.workflow, self.input)
    }
}

impl ScriptedClient {
    pub fn new(workflow: &str, input: Value) -> Self {
        Self {
            workflow: workflow.to_owned(),
            input,
            session: None,
            answers: Arc::new(|_, _| Vec::new()),
            cancel_at_status: None,
            patience: Duration::ZERO,
            has_hook: false,
            leaves_clock_alone: false,
        }
    }

    #[must_use]
    pub fn with_answers(
        mut self,
        answers: impl Fn(&str, usize) -> Vec<Value> + Send + Sync + 'static,
    ) -> Self {
        self.answers = Arc::new(answers);
        self
    }

    /// Joins a session and does not start a new one.
    #[must_use]
    pub fn in_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// How far it moves the clock at a question without an answer.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Registers a hook for the run's updates with its first message.
    #[must_use]
    pub fn with_hook(mut self) -> Self {
        self.has_hook = true;
        self
    }

    /// Does not move the clock when a run sleeps: for runs whose sleeps only limit another wait.
    #[must_use]
    pub fn without_advancing_sleeps(mut self) -> Self {
        self.leaves_clock_alone = true;
        self
    }

    pub(crate) fn has_hook(&self) -> bool {
        self.has_hook
    }

    /// Cancels the run after this status.
    #[must_use]
    pub fn cancel_at_status(mut self, status: &str) -> Self {
        self.cancel_at_status = Some(status.to_owned());
        self
    }

    /// Starts the run, answers the questions of the run and its children, moves the clock when one of
    /// them sleeps, and returns when all of them have ended and no work is left.
    pub async fn run_client(&self, process: &TestProcess, visit: &ClientHistory) -> RunId {
        let message = user_message("start", Part::data(self.input.clone()));
        let submit = SubmitRunRequest {
            session: self.session.clone(),
            message: Some(message),
            hook: self.has_hook.then(|| new_test_hook(HOOK)),
            ..SubmitRunRequest::new(self.workflow.clone(), self.input.clone(), Caller::local_without_auth())
        };
        let submitted = process.pending_if_process_died(process.submit_run(submit).await).await;
        let run = submitted.expect("the start is taken").view.submission.run;
        self.follow_run(process, visit, run).await;
        process.wait_until_quiet().await;
        run
    }

    /// Follows a run, and the children that it starts, until they end.
    fn follow_run<'a>(
        &'a self,
        process: &'a TestProcess,
        visit: &'a ClientHistory,
        run: RunId,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(mut watch) = process.watch_if_started(run).await else {
                return;
            };
            lock_ignoring_poison(&visit.observed_events).entry(run).or_default().push(Vec::new());
            let mut children = FuturesUnordered::new();
            let (mut told, mut ended) = (RunProgress::default(), false);
            while !ended || !children.is_empty() {
                tokio::select! {
                    next = process.next_watched_event(&mut watch), if !ended => match next {
                        Some(stored) => {
                            visit.record_event(run, stored.clone());
                            if let Some(child) = self.react_to_event(process, visit, &mut told, stored).await {
                                children.push(self.follow_run(process, visit, child));
                            }
                        }
                        None => ended = true,
                    },
                    _ = children.next(), if !children.is_empty() => {}
                }
            }
        })
    }

    /// Reacts to an event. Returns a child to follow, if there is one.
    async fn react_to_event(
        &self,
        process: &TestProcess,
        visit: &ClientHistory,
        progress: &mut RunProgress,
        stored: StoredEvent,
    ) -> Option<RunId> {
        match stored.event {
            Event::Submitted(submission) => progress.submission = Some(submission),
            Event::Asked { question, .. } => {
                let submission = progress.submission.as_ref()?;
                let run = submission.run;
                let answers = (self.answers)(&submission.workflow.name, progress.questions);
                if answers.is_empty() {
                    process.clock.advance_to(stored.at + self.patience);
                }
                for (number, answer) in answers.into_iter().enumerate() {
                    let id = format!("{run}-{}-{number}", progress.questions);
                    let mut deliver = answer_delivery(run, &id, answer);
                    deliver.question = Some(question.id);
                    self.deliver_answer(process, visit, deliver).await;
                }
                progress.questions += 1;
            }
            Event::Slept { due, .. } if !self.leaves_clock_alone => process.clock.advance_to(due),
            Event::StepAttemptFailed(retry) => process.clock.advance_to(retry.due),
            Event::ChildStarted { child, .. } => return Some(child),
            Event::Status { message, .. } if self.cancel_at_status.is_some() => {
                let text = message.parts.first().and_then(Part::as_text);
                if text == self.cancel_at_status.as_deref() {
                    let run = progress.submission.as_ref()?.run;
                    ignore_ended_run(
                        process
                            .pending_if_process_died(process.cancel_run(&local_run_address(run)).await)
                            .await,
                    );
                }
            }
            _ => {}
        }
        None
    }

    async fn deliver_answer(
        &self,
        process: &TestProcess,
        visit: &ClientHistory,
        deliver: DeliverMessageRequest,
    ) {
        let id = deliver.message.id.clone();
        let answered = process.pending_if_process_died(process.deliver_message(deliver).await).await;
        let Some(answered) = ignore_ended_run(answered) else {
            return;
        };
        let mut told = lock_ignoring_poison(&visit.delivered_replies);
        if let Some(before) = told.insert(id.clone(), answered.delivered.clone()) {
            assert!(answered.is_repeat, "{id} was acknowledged and forgotten");
            assert_eq!(before, answered.delivered, "{id} is answered differently");
        }
    }
}

impl ClientHistory {
    pub fn new() -> Self {
        Self::default()
    }

    /// The runs in order of their ids, each with what every process showed of it.
    pub fn observed_events(&self) -> BTreeMap<RunId, Vec<Vec<StoredEvent>>> {
        lock_ignoring_poison(&self.observed_events).clone()
    }

    fn record_event(&self, run: RunId, stored: StoredEvent) {
        let mut seen = lock_ignoring_poison(&self.observed_events);
        if let Some(newest) = seen.get_mut(&run).and_then(|lists| lists.last_mut()) {
            newest.push(stored);
        }
    }
}

impl TestProcess {
    /// The result of a call. If the process died during the call, the client waits for ever.
    pub async fn pending_if_process_died<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if result.is_err() && self.faults.process_life().is_over() {
            std::future::pending().await
        }
        result
    }

    async fn next_watched_event(&self, watch: &mut RunWatch) -> Option<StoredEvent> {
        let next = self.pending_if_process_died(watch.next_event().await).await;
        let next = next.expect("a watch shows every event");
        if next.is_none() && self.faults.process_life().is_over() {
            std::future::pending().await
        }
        next
    }

    /// A watch on a run, if it exists.
    async fn watch_if_started(&self, run: RunId) -> Option<RunWatch> {
        match self.pending_if_process_died(self.watch_run(&local_run_address(run), 0).await).await {
            Ok(watch) => Some(watch),
            Err(Error::UnknownRun { .. }) => None,
            Err(error) => panic!("{run} cannot be watched: {error}"),
        }
    }

    /// Resolves when no errand is left, no hook is due, and no run is in memory.
    pub async fn wait_until_quiet(&self) {
        loop {
            let (outbox, ()) = join(self.journal.list_outbox(None, 1), tokio::task::yield_now()).await;
            let owed = self.pending_if_process_died(outbox.map_err(Error::from)).await;
            let hooks = self.journal.next_hook_due(Timestamp(i64::MIN)).await;
            let untold = self.pending_if_process_died(hooks.map_err(Error::from)).await;
            if owed.expect("the outbox can be read").is_empty()
                && untold.expect("hooks can be read").is_none()
                && self.count_runs_in_memory() == 0
            {
                return;
            }
        }
    }
}

/// The name of the client's hook.
pub(crate) const HOOK: &str = "guest";

/// A hook of that name.
pub fn new_test_hook(id: &str) -> NewHook {
    let target = HookTarget(serde_json::json!({ "to": id }));
    NewHook { id: Some(id.to_owned()), target }
}

/// The address of a run, for the caller of all tests.
pub fn local_run_address(run: RunId) -> RunAddress {
    RunAddress { run, access: Access::local_without_auth(), workflow: None }
}

/// A message of one part.
pub fn user_message(id: &str, part: Part) -> Message {
    let id = MessageId::new(id).expect("a good message id");
    Message::new(id, MessageRole::User, vec![part])
}

/// An answer of one data part.
pub fn answer_delivery(run: RunId, id: &str, answer: Value) -> DeliverMessageRequest {
    DeliverMessageRequest {
        to: local_run_address(run),
        session: None,
        message: user_message(id, Part::data(answer)),
        question: None,
        hook: None,
    }
}

fn ignore_ended_run<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Ended { .. }) => None,
        Err(error) => panic!("the run takes it: {error}"),
    }
}
