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
    Access, Caller, Event, Message, MessageId, Part, Role, RunId, SessionId, Submission, Timestamp,
};
use trackway_engine::Delivered;
use trackway_ports::{HookTarget, Stored};
use trackway_runtime::{Deliver, Error, NewHook, RunAddress, Submit, Watch};

use crate::{Process, taps::locked};

/// The answers to the question of that number (0 for the first) of a run of that workflow, in order.
type Answers = Arc<dyn Fn(&str, usize) -> Vec<Value> + Send + Sync>;

/// The script of a client.
#[derive(Clone)]
pub struct Guest {
    workflow: String,
    input: Value,
    session: Option<SessionId>,
    answers: Answers,
    cancels_at: Option<String>,
    patience: Duration,
    hooked: bool,
    still: bool,
}

/// What the client saw, across all processes.
#[derive(Debug, Default)]
pub struct Visit {
    seen: Mutex<BTreeMap<RunId, Vec<Vec<Stored>>>>,
    told: Mutex<HashMap<MessageId, Delivered>>,
}

/// What the client knows about one run.
#[derive(Default)]
struct Told {
    submission: Option<Box<Submission>>,
    questions: usize,
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.workflow, self.input)
    }
}

impl Guest {
    pub fn new(workflow: &str, input: Value) -> Self {
        Self {
            workflow: workflow.to_owned(),
            input,
            session: None,
            answers: Arc::new(|_, _| Vec::new()),
            cancels_at: None,
            patience: Duration::ZERO,
            hooked: false,
            still: false,
        }
    }

    #[must_use]
    pub fn answers(
        mut self,
        answers: impl Fn(&str, usize) -> Vec<Value> + Send + Sync + 'static,
    ) -> Self {
        self.answers = Arc::new(answers);
        self
    }

    /// Joins a session and does not start a new one.
    #[must_use]
    pub fn within(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// How far it moves the clock at a question without an answer.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Registers a hook for the run's updates with its first message.
    #[must_use]
    pub fn hooked(mut self) -> Self {
        self.hooked = true;
        self
    }

    /// Does not move the clock when a run sleeps: for runs whose sleeps only limit another wait.
    #[must_use]
    pub fn leaves_sleeps(mut self) -> Self {
        self.still = true;
        self
    }

    pub(crate) fn is_hooked(&self) -> bool {
        self.hooked
    }

    /// Cancels the run after this status.
    #[must_use]
    pub fn cancels_at(mut self, status: &str) -> Self {
        self.cancels_at = Some(status.to_owned());
        self
    }

    /// Starts the run, answers the questions of the run and its children, moves the clock when one of
    /// them sleeps, and returns when all of them have ended and no work is left.
    pub async fn visit(&self, process: &Process, visit: &Visit) -> RunId {
        let message = message("start", Part::data(self.input.clone()));
        let submit = Submit {
            workflow: self.workflow.clone(),
            input: self.input.clone(),
            caller: Caller::local(),
            session: self.session.clone(),
            message: Some(message),
            hook: self.hooked.then(|| hook(HOOK)),
        };
        let submitted = process.alive(process.submit(submit).await).await;
        let run = submitted.expect("the start is taken").view.submission.run;
        self.attend(process, visit, run).await;
        process.quiet().await;
        run
    }

    /// Follows a run, and the children that it starts, until they end.
    fn attend<'a>(
        &'a self,
        process: &'a Process,
        visit: &'a Visit,
        run: RunId,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(mut watch) = process.started(run).await else {
                return;
            };
            locked(&visit.seen).entry(run).or_default().push(Vec::new());
            let mut children = FuturesUnordered::new();
            let (mut told, mut ended) = (Told::default(), false);
            while !ended || !children.is_empty() {
                tokio::select! {
                    next = process.next(&mut watch), if !ended => match next {
                        Some(stored) => {
                            visit.note(run, stored.clone());
                            if let Some(child) = self.heed(process, visit, &mut told, stored).await {
                                children.push(self.attend(process, visit, child));
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
    async fn heed(
        &self,
        process: &Process,
        visit: &Visit,
        told: &mut Told,
        stored: Stored,
    ) -> Option<RunId> {
        match stored.event {
            Event::Submitted(submission) => told.submission = Some(submission),
            Event::Asked { question, .. } => {
                let submission = told.submission.as_ref()?;
                let run = submission.run;
                let answers = (self.answers)(&submission.workflow.name, told.questions);
                if answers.is_empty() {
                    process.clock.advance_to(stored.at + self.patience);
                }
                for (number, answer) in answers.into_iter().enumerate() {
                    let id = format!("{run}-{}-{number}", told.questions);
                    let mut deliver = answer_to(run, &id, answer);
                    deliver.question = Some(question.id);
                    self.deliver(process, visit, deliver).await;
                }
                told.questions += 1;
            }
            Event::Slept { due, .. } if !self.still => process.clock.advance_to(due),
            Event::StepFailed(retry) => process.clock.advance_to(retry.due),
            Event::ChildStarted { child, .. } => return Some(child),
            Event::Status { message, .. } if self.cancels_at.is_some() => {
                let text = message.parts.first().and_then(Part::as_text);
                if text == self.cancels_at.as_deref() {
                    let run = told.submission.as_ref()?.run;
                    ended_is_fine(process.alive(process.cancel(&at(run)).await).await);
                }
            }
            _ => {}
        }
        None
    }

    async fn deliver(&self, process: &Process, visit: &Visit, deliver: Deliver) {
        let id = deliver.message.id.clone();
        let answered = process.alive(process.deliver(deliver).await).await;
        let Some(answered) = ended_is_fine(answered) else {
            return;
        };
        let mut told = locked(&visit.told);
        if let Some(before) = told.insert(id.clone(), answered.delivered.clone()) {
            assert!(answered.repeated, "{id} was acknowledged and forgotten");
            assert_eq!(before, answered.delivered, "{id} is answered differently");
        }
    }
}

impl Visit {
    pub fn new() -> Self {
        Self::default()
    }

    /// The runs in order of their ids, each with what every process showed of it.
    pub fn seen(&self) -> BTreeMap<RunId, Vec<Vec<Stored>>> {
        locked(&self.seen).clone()
    }

    fn note(&self, run: RunId, stored: Stored) {
        let mut seen = locked(&self.seen);
        if let Some(newest) = seen.get_mut(&run).and_then(|lists| lists.last_mut()) {
            newest.push(stored);
        }
    }
}

impl Process {
    /// The result of a call. If the process died during the call, the client waits for ever.
    pub async fn alive<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if result.is_err() && self.faults.life().is_over() {
            std::future::pending().await
        }
        result
    }

    async fn next(&self, watch: &mut Watch) -> Option<Stored> {
        let next = self.alive(watch.next().await).await;
        let next = next.expect("a watch shows every event");
        if next.is_none() && self.faults.life().is_over() {
            std::future::pending().await
        }
        next
    }

    /// A watch on a run, if it exists.
    async fn started(&self, run: RunId) -> Option<Watch> {
        match self.alive(self.watch(&at(run), 0).await).await {
            Ok(watch) => Some(watch),
            Err(Error::UnknownRun { .. }) => None,
            Err(error) => panic!("{run} cannot be watched: {error}"),
        }
    }

    /// Resolves when no errand is left, no hook is due, and no run is in memory.
    pub async fn quiet(&self) {
        loop {
            let (outbox, ()) = join(self.journal.outbox(None, 1), tokio::task::yield_now()).await;
            let owed = self.alive(outbox.map_err(Error::from)).await;
            let hooks = self.journal.next_hook(Timestamp(i64::MIN)).await;
            let untold = self.alive(hooks.map_err(Error::from)).await;
            if owed.expect("the outbox can be read").is_empty()
                && untold.expect("hooks can be read").is_none()
                && self.runs_in_memory() == 0
            {
                return;
            }
        }
    }
}

/// The name of the client's hook.
pub(crate) const HOOK: &str = "guest";

/// A hook of that name.
pub fn hook(id: &str) -> NewHook {
    let target = HookTarget(serde_json::json!({ "to": id }));
    NewHook { id: Some(id.to_owned()), target }
}

/// The address of a run, for the caller of all tests.
pub fn at(run: RunId) -> RunAddress {
    RunAddress { run, access: Access::local(), workflow: None }
}

/// A message of one part.
pub fn message(id: &str, part: Part) -> Message {
    let id = MessageId::new(id).expect("a good message id");
    Message::new(id, Role::User, vec![part])
}

/// An answer of one data part.
pub fn answer_to(run: RunId, id: &str, answer: Value) -> Deliver {
    Deliver {
        to: at(run),
        session: None,
        message: message(id, Part::data(answer)),
        question: None,
        hook: None,
    }
}

fn ended_is_fine<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Ended { .. }) => None,
        Err(error) => panic!("the run takes it: {error}"),
    }
}
