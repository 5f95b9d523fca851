//! The stage: what a program acts on. Everything it asks for is found in the log or recorded there.
//!
//! A program runs again from its start on every resume and recovery. Each thing it asks for has a
//! name ([`Op`]); what the log holds under that name is handed back instead of being done again.
//! Results become visible one at a time, in the order of the log, and the program is polled until it
//! rests between any two of them: so it sees the same order of things live and on every replay.

mod archive;
mod book;
mod children;
mod guard;
mod steps;
mod verbs;
mod within;

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
    Caller, Command, Event, Evidence, Failure, JSON_DEPTH_MAX, Message, Op, RunId, Seq, SessionId,
    Submission, Timestamp, WorkflowRef,
};
use trackway_engine::{Refusal, Reply, Run};
use trackway_ports::Pinned;

use self::book::{Book, Fact};
use crate::{
    Program, ValueType,
    command::Attached,
    core::Core,
    depth::command_too_deep,
    live::{Head, LiveRef},
};

/// Keeps a program in memory.
#[derive(Debug)]
pub struct Stay(#[expect(dead_code, reason = "holding it is its use")] guard::Active);

pub use archive::{Archive, Asker, OpenQuestion};
pub use book::Answer;
pub use children::ChildError;
pub use steps::{Attempt, RetryPolicy, StepWork};

/// A program's handle on its run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stage(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    run: RunId,
    session: SessionId,
    caller: Caller,
    workflow: WorkflowRef,
    /// The message that asked for the run.
    message: Option<Message>,
    place: Place,
    /// Short sections that never await. Locked after the live run's head where both are needed.
    book: Mutex<Book>,
    /// The run has ended: the program is dropped at its next await.
    stopped: AtomicBool,
    /// The events up to the last outcome of a step that was recorded here; the submission where there was
    /// none. What a replay finds is durable already.
    steps_recorded: AtomicU64,
    /// The program's place among those that are in memory at once.
    room: Mutex<Option<OwnedSemaphorePermit>>,
}

/// Where the program runs.
pub(crate) enum Place {
    /// For real: what is new is recorded and done.
    Live(LiveRef),
    /// Against a log alone: nothing is recorded or done.
    Check,
    /// The same, to find out which types its questions have.
    Learn(Arc<Core>),
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn new(submission: &Submission, place: Place) -> Arc<Self> {
        Arc::new(Self {
            run: submission.run,
            session: submission.session.clone(),
            caller: submission.caller.clone(),
            workflow: submission.workflow.clone(),
            message: submission.message.clone(),
            place,
            book: Mutex::new(Book::default()),
            stopped: AtomicBool::new(false),
            steps_recorded: AtomicU64::new(1),
            room: Mutex::default(),
        })
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place in memory.
    pub(crate) fn enter(&self, room: OwnedSemaphorePermit) {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) = Some(room);
    }

    /// Gives the place back for as long as only a person is waited for: others may do something meanwhile.
    fn step_aside(&self) {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Events were ordered while the program runs. Called under the head's lock, so arrivals have the
    /// order of the log. True where the program will be polled for them.
    pub(crate) fn arrive(&self, events: &[Event]) -> bool {
        let mut book = self.book();
        // Each of them has to arrive, so this is no `any`.
        events.iter().filter(|event| book.arrive(event)).count() > 0
    }

    /// The program must not go on.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        if let Some(driver) = self.book().driver.take() {
            driver.wake();
        }
    }

    /// Takes back questions that the program no longer waits for. Fails when the run has ended.
    pub(crate) fn withdraw(&self, head: &mut Head, ops: Vec<Op>) -> Result<(), Refusal> {
        let Some((core, live)) = self.live() else { return Ok(()) };
        // Else whoever waits for his turn would wake himself by looking whether it has come.
        if ops.is_empty() {
            return Ok(());
        }
        for op in ops {
            core.order(live, head, Command::Withdraw { op }, Attached::default())?;
        }
        self.book().turns.drain(..).for_each(Waker::wake);
        Ok(())
    }

    /// What the program wants recorded cannot be; its driver ends the run.
    fn fail(&self, failure: Failure) {
        let mut book = self.book();
        book.failure = Some(failure);
        if let Some(driver) = book.driver.take() {
            driver.wake();
        }
    }

    /// The program does not fit; its driver parks the run.
    fn blame(&self, evidence: Evidence) {
        let mut book = self.book();
        book.fault = Some(evidence);
        if let Some(driver) = book.driver.take() {
            driver.wake();
        }
    }

    /// The outcome of a step that a request waits for was ordered.
    fn step_recorded(&self) {
        let Some((_, live)) = self.live() else { return };
        let seq = live.head().run.as_ref().map_or(1, |run| run.seq);
        self.goes_on_by(seq);
    }

    /// The program goes on by what was ordered up to there: a request waits for it as for a submission.
    pub(crate) fn goes_on_by(&self, seq: Seq) {
        self.steps_recorded.fetch_max(seq, Ordering::AcqRel);
    }

    /// The events that are durable when a request begins.
    fn steps_recorded(&self) -> Seq {
        self.steps_recorded.load(Ordering::Acquire)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(crate) fn live(&self) -> Option<(&Arc<Core>, &LiveRef)> {
        match &self.place {
            Place::Live(live) => Some((&live.core, live)),
            Place::Check | Place::Learn(_) => None,
        }
    }

    /// Takes note of the type that answers to a question are read into.
    fn learn(&self, answer: ValueType) {
        let core = match &self.place {
            Place::Live(live) => &live.core,
            Place::Learn(core) => core,
            Place::Check => return,
        };
        core.options.registry.schemas.answer_types.learn(&self.workflow, answer);
    }
}

impl Stage {
    pub fn run(&self) -> RunId {
        self.0.run
    }

    /// The session that the run is of.
    pub fn session(&self) -> &SessionId {
        &self.0.session
    }

    /// On whose behalf it runs.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// The message that asked for the run, on doors that have messages.
    pub fn message(&self) -> Option<&Message> {
        self.0.message.as_ref()
    }

    /// What can be run here at the moment. Not recorded: for use within a step.
    pub fn programs(&self) -> Vec<Arc<dyn Program>> {
        self.0.live().map(|(core, _)| core.options.registry.list()).unwrap_or_default()
    }

    /// The moment as it is. Not recorded: for use within a step.
    pub fn moment(&self) -> Timestamp {
        self.now_for_real()
    }

    /// Keeps the program in memory until the guard is dropped, also while it only waits: for waits that
    /// are short and bounded.
    pub fn stay(&self) -> Stay {
        Stay(guard::Active::at(self.0.clone()))
    }

    /// Says that the log does not fit the program: the run is parked with this evidence. Never returns.
    pub async fn misfit(&self, op: &str, message: String) -> ! {
        let evidence = Evidence { message, asked: None, recorded: Some(op.to_owned()) };
        self.fault(evidence).await
    }

    async fn fault<T>(&self, evidence: Evidence) -> T {
        self.0.blame(evidence);
        std::future::pending().await
    }

    fn now_for_real(&self) -> Timestamp {
        // Only reached live: a check never gets past the end of the log.
        self.0.live().map(|(core, _)| core.now()).unwrap_or_default()
    }

    /// Waits until everything that the log holds was asked for again. What is not in the log may only
    /// be done after that: until then it may turn out that the program does not fit.
    async fn go_live(&self, op: &Op) {
        let mut asking = None;
        std::future::poll_fn(|cx| {
            let mut book = self.0.book();
            if book.live {
                return Poll::Ready(());
            }
            book.fresh.get_or_insert_with(|| op.clone());
            book.deferred.push(cx.waker().clone());
            drop(book);
            asking.get_or_insert_with(|| guard::Asking::at(self.0.clone()));
            Poll::Pending
        })
        .await;
    }

    /// The next recorded fact of this op.
    async fn fact(&self, op: &Op) -> Fact {
        let mut asking = None;
        std::future::poll_fn(|cx| {
            let polled = self.0.book().poll_fact(op, cx.waker());
            if polled.is_pending() {
                asking.get_or_insert_with(|| guard::Asking::at(self.0.clone()));
            }
            polled
        })
        .await
    }

    /// As [`Stage::fact`], where it may come days later: the program may be dropped meanwhile.
    async fn wait(&self, op: &Op) -> Fact {
        let _waiting = guard::Waiting::at(self.0.clone());
        self.fact(op).await
    }

    /// Records a command. Returns when it is ordered; whoever shows it waits for the commit.
    async fn order(&self, command: Command) -> Reply {
        self.order_when(command, |_| true).await
    }

    /// Records a command together with definitions that a run needs.
    async fn order_with(&self, command: Command, pins: Vec<Pinned>) -> Reply {
        self.try_until_ordered(command, |_| true, pins).await
    }

    /// Records a command once the run allows it.
    async fn order_when(&self, command: Command, allowed: impl Fn(&Run) -> bool + Send) -> Reply {
        self.try_until_ordered(command, allowed, Vec::new()).await
    }

    async fn try_until_ordered(
        &self,
        command: Command,
        allowed: impl Fn(&Run) -> bool + Send,
        pins: Vec<Pinned>,
    ) -> Reply {
        let Some((core, _)) = self.0.live() else {
            return std::future::pending().await;
        };
        if command_too_deep(&command) {
            self.0.fail(Failure::new(format!(
                "a value is nested deeper than {JSON_DEPTH_MAX} levels"
            )));
            return std::future::pending().await;
        }
        loop {
            let active = guard::Active::at(self.0.clone());
            let Ok(permit) = core.permit().await else {
                return std::future::pending().await;
            };
            drop(active);
            match self.try_order(&command, &allowed, &pins, permit) {
                Tried::Ordered(reply) => return reply,
                Tried::NotYet => self.turn().await,
                // The run ended, or its head is void: the driver drops this program.
                Tried::Over => return std::future::pending().await,
                Tried::Refused(refusal) => {
                    let message = format!("the engine refused it: {refusal}");
                    return self.fault(Evidence { message, asked: None, recorded: None }).await;
                }
            }
        }
    }

    fn try_order(
        &self,
        command: &Command,
        allowed: &impl Fn(&Run) -> bool,
        pins: &[Pinned],
        permit: OwnedSemaphorePermit,
    ) -> Tried {
        let Some((core, live)) = self.0.live() else {
            return Tried::Over;
        };
        let mut head = live.head();
        if head.void || self.0.is_stopped() {
            return Tried::Over;
        }
        // A question that the program dropped is withdrawn before anything it does next.
        let withdrawn = std::mem::take(&mut self.0.book().withdrawn);
        if self.0.withdraw(&mut head, withdrawn).is_err() {
            return Tried::Over;
        }
        if !head.run.as_ref().is_some_and(allowed) {
            return Tried::NotYet;
        }
        let (permit, pins) = (Some(permit), pins.to_vec());
        let attached = Attached { permit, pins, ..Attached::default() };
        match core.order(live, &mut head, command.clone(), attached) {
            Ok(ordered) => Tried::Ordered(ordered.reply),
            Err(Refusal::Ended { .. }) => Tried::Over,
            Err(refusal) => Tried::Refused(refusal),
        }
    }

    /// Waits until something else became visible. The program may be dropped meanwhile.
    async fn turn(&self) {
        let _waiting = guard::Waiting::at(self.0.clone());
        let mut registered = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut registered, true) {
                return Poll::Ready(());
            }
            self.0.book().turns.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// What came of one try to record a command.
enum Tried {
    Ordered(Reply),
    NotYet,
    Over,
    Refused(Refusal),
}
