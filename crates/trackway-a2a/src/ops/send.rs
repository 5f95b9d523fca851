//! Messages: which run a message is for, and what its sender receives.

use trackway_domain::{Access, Message, MessageId, Pos, QuestionId, Role, RunId, SessionId};
use trackway_engine::{Delivered, ResumeMark, RunView, input_from_parts};
use trackway_ports::RunFilter;
use trackway_runtime::{Deliver, Error, Hold, Kind, Submit, Submitted};

use super::{
    Agent, Answer, Follow, History, Incoming, Snapshot, Wait,
    push::{TOO_MANY, Within},
    working::Shows,
};
use crate::{asked, fault::Fault, media};

/// A message that was accepted.
struct Taken {
    /// The run at the commit; the current run if the message had been accepted before.
    snapshot: Snapshot,
    /// The events that follow from the message start after this.
    after: Pos,
    /// Keeps the run in memory until a reader follows it.
    hold: Hold,
}

/// The outcome of a send.
#[derive(Debug)]
pub(crate) enum Reply {
    Task(Box<Snapshot>),
    Message(Box<Said>),
}

/// The first item of a stream determines its kind.
#[derive(Debug)]
pub(crate) enum Streamed {
    Task(Box<Follow>),
    Message(Box<Said>),
}

/// An answer without a run.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) message: Message,
    pub(crate) session: SessionId,
}

impl Reply {
    /// With this many messages of the history, as far as they fit.
    pub(super) fn bounded(self, history: History) -> Self {
        match self {
            Self::Task(snapshot) => Self::Task(Box::new(snapshot.bounded(history, true).0)),
            Self::Message(said) => Self::Message(said),
        }
    }
}

impl Streamed {
    /// Starts with this many messages of the history, as far as they fit.
    pub(super) fn bounded(self, history: History) -> Self {
        match self {
            Self::Task(follow) => Self::Task(Box::new(follow.bounded(history))),
            Self::Message(said) => Self::Message(said),
        }
    }
}

impl Agent<'_> {
    pub(crate) async fn send(&self, incoming: Incoming, wait: Wait) -> Result<Reply, Fault> {
        self.check(&incoming)?;
        if let Some(said) = self.answer(&incoming) {
            return Ok(Reply::Message(Box::new(said)));
        }
        let shows = Shows::of(&incoming.accepted, self.workflow());
        let Taken { snapshot: Snapshot { view, answer, .. }, hold: _hold, .. } =
            self.take(incoming).await?;
        let mut view = match wait {
            Wait::Commit => view,
            Wait::Rest => self.runtime.settled_within(view, self.options.blocking_timeout).await?,
        };
        shows.reduce(&mut view);
        Ok(Reply::Task(Box::new(Snapshot { answer, ..Snapshot::of(view) })))
    }

    pub(crate) async fn stream(&self, incoming: Incoming) -> Result<Streamed, Fault> {
        self.check(&incoming)?;
        if let Some(said) = self.answer(&incoming) {
            return Ok(Streamed::Message(Box::new(said)));
        }
        let shows = Shows::of(&incoming.accepted, self.workflow());
        let Taken { mut snapshot, after, hold: _hold } = self.take(incoming).await?;
        shows.reduce(&mut snapshot.view);
        let address = self.address_of(snapshot.view.submission.run);
        let watch = self.runtime.watch(&address, after).await?;
        Ok(Streamed::Task(Box::new(Follow::from_message(snapshot, after, watch).showing(shows))))
    }

    fn check(&self, incoming: &Incoming) -> Result<(), Fault> {
        asked::output_modes(&incoming.accepted, &self.workflow().output_modes)?;
        media::check_parts(&incoming.message.parts, &self.workflow().input_modes)?;
        match &incoming.push {
            Some(push) => self.new_hook(push.clone(), Within::Send).map(drop),
            None => Ok(()),
        }
    }

    /// The workflow's answer to a message that needs no run.
    fn answer(&self, incoming: &Incoming) -> Option<Said> {
        if incoming.run.is_some() {
            return None;
        }
        let parts = self.program.answer(&incoming.message)?;
        let id = MessageId::made(self.runtime.fresh_id());
        let session = incoming.session.clone();
        Some(Said {
            message: Message::new(id, Role::Agent, parts),
            session: session.unwrap_or_else(|| SessionId::made(self.runtime.fresh_id())),
        })
    }

    async fn take(&self, incoming: Incoming) -> Result<Taken, Fault> {
        if incoming.new_run {
            return self.start(incoming).await;
        }
        if let Some(id) = &incoming.run {
            let run = self.address(id)?.run;
            return Ok(self.deliver(run, incoming).await?);
        }
        // If the message names only a session, its meaning depended on what waited at that time: a
        // repetition goes to the same run. Without a session it can only have been a start, which
        // recognises its own repetition.
        if incoming.session.is_some()
            && let Some(run) =
                self.runtime.taken_by(&self.access.caller, &incoming.message.id).await?
        {
            let message = incoming.message.id.clone();
            return match self.deliver(run, incoming).await {
                Err(Error::UnknownRun { .. }) => Err(Error::MessageReused { message, run }.into()),
                taken => Ok(taken?),
            };
        }
        if let Some(run) = self.waiting(&incoming).await? {
            match self.deliver(run, incoming.clone()).await {
                // The run ended between the lookup and the delivery. Or the message had started another
                // run of this session, and this is its repetition. In both cases it is not an answer to
                // this run.
                Err(Error::Ended { .. } | Error::MessageReused { .. }) => {}
                taken => return Ok(taken?),
            }
        }
        match self.answered(&incoming).await? {
            None => self.start(incoming).await,
            Some((run, question)) => {
                let question = Some(question);
                Ok(self.deliver(run, Incoming { question, ..incoming }).await?)
            }
        }
    }

    /// The newest run of the message's session and its question, if that was answered and the message
    /// is a second answer: this must not start a run. For an agent a message after a turn is the next
    /// turn. A message that is valid input of a workflow, but not a valid answer, starts the workflow.
    async fn answered(&self, incoming: &Incoming) -> Result<Option<(RunId, QuestionId)>, Fault> {
        let (Some(session), None) = (&incoming.session, incoming.question) else {
            return Ok(None);
        };
        let filter = RunFilter {
            access: Some(Access::own(self.access.caller.clone())),
            session: Some(session.clone()),
            workflow: Some(self.workflow().name.clone()),
            states: Vec::new(),
        };
        let newest = self.runtime.runs(filter, None, 1).await?.pop();
        let Some(newest) = newest else { return Ok(None) };
        let answered = self.runtime.answered_question(&self.address_of(newest.id)).await?;
        let Some((question, state)) = answered.filter(|(_, state)| !state.is_interrupted()) else {
            return Ok(None);
        };
        let parts = &incoming.message.parts;
        let is_answer = || self.runtime.fits(&question.schema, parts);
        let is_input = || self.runtime.fits(&self.workflow().input_schema, parts);
        let again = match (self.workflow().kind, state.is_terminal()) {
            (Kind::Agent, true) => false,
            (Kind::Agent, false) => is_answer(),
            // A message that is valid as both is the next task, as clients of the protocol expect.
            (Kind::Workflow, true) => is_answer() && !is_input(),
            (Kind::Workflow, false) => is_answer() || !is_input(),
        };
        Ok(again.then_some((newest.id, question.id)))
    }

    /// The only run of the message's session that waits for an answer.
    async fn waiting(&self, incoming: &Incoming) -> Result<Option<RunId>, Fault> {
        let Some(session) = &incoming.session else {
            return Ok(None);
        };
        let workflow = Some(self.workflow().name.as_str());
        let waiting = self.runtime.waiting(&self.access.caller, session, workflow).await?;
        let [run] = waiting.as_slice() else { return Ok(None) };
        // A message that does not answer an agent's own question is for its model: it is the next turn.
        if self.workflow().kind == Kind::Agent && incoming.question.is_none() {
            let view = self.runtime.view(&self.address_of(*run)).await?;
            let question = view.question.as_ref();
            if !question.is_some_and(|it| self.runtime.fits(&it.schema, &incoming.message.parts)) {
                return Ok(None);
            }
        }
        Ok(Some(*run))
    }

    async fn start(&self, incoming: Incoming) -> Result<Taken, Fault> {
        if incoming.question.is_some() {
            // The sender refers to a question that is not open and does not want a new run.
            return Err(Fault::param(
                "/params/message/metadata/questionId",
                "the message answers a question but names no task, and no single task of its context waits",
                "send the taskId of the task that asked",
            ));
        }
        let schema = &self.workflow().input_schema;
        let input = input_from_parts(schema, &incoming.message.parts)
            .map_err(|problem| Fault::input(vec![*problem], schema.clone()))?;
        let submit = Submit {
            workflow: self.workflow().name.clone(),
            input,
            caller: self.access.caller.clone(),
            session: incoming.session,
            message: Some(incoming.message),
            hook: incoming.push.map(|push| self.new_hook(push, Within::Send)).transpose()?,
        };
        let Submitted { view, hold, .. } = self.runtime.submit(submit).await?;
        Ok(Taken { after: view.pos, snapshot: Snapshot::of(view), hold })
    }

    async fn deliver(&self, run: RunId, incoming: Incoming) -> Result<Taken, Error> {
        // Checked before any lookup; errors were reported then.
        let hook = incoming.push.and_then(|push| self.new_hook(push, Within::Send).ok());
        let to = self.address_of(run);
        if let Some(hook) = &hook
            && !self.has_room(&to, hook.id.as_deref()).await?
            // A repetition sets nothing: its configuration already exists.
            && self.runtime.taken_by(&self.access.caller, &incoming.message.id).await?.is_none()
        {
            return Err(Error::HookRefused { reason: TOO_MANY.to_owned() });
        }
        let deliver = Deliver {
            to,
            session: incoming.session,
            message: incoming.message,
            question: incoming.question,
            hook,
        };
        let answered = self.runtime.deliver(deliver).await?;
        let view = answered.view;
        // A repeated message receives the current run, without the events that led to it.
        let after = if answered.repeated { view.pos } else { answered.before };
        let answer = answer(answered.delivered);
        let snapshot = Snapshot { answer, ..Snapshot::of(view) };
        Ok(Taken { after, snapshot, hold: answered.hold })
    }
}

fn answer(delivered: Delivered) -> Option<Answer> {
    match delivered {
        Delivered::Noted => None,
        Delivered::Answer { order, concurrent, primary, problems, question: _ } => {
            Some(Answer { mark: ResumeMark { order, concurrent, primary }, problems })
        }
    }
}

/// Nothing more happens to the run without an action from outside.
pub(super) fn rests(view: &RunView) -> bool {
    view.state.is_terminal() || view.state.is_interrupted() || view.parked.is_some()
}
