//! Messages: which run a message is for, and what its sender receives.

use trackway_domain::{
    Access, ErrorCode, Message, MessageId, MessagePartContent, MessageRole, Part, Position, QuestionId,
    RunId, SessionId,
};
use trackway_engine::{AnswerRequestRank, MessageDeliveryOutcome, RunView};
use trackway_ports::RunFilter;
use trackway_runtime::{
    DeliverMessageRequest, Error, ProgramKind, RunPin, SubmitRunRequest, SubmitRunResponse,
};

use super::{
    AddressedAgent, AnswerReceipt, HistoryLength, IncomingMessage, SendWaitFor, SessionBehavior,
    TaskSnapshot, TaskStream,
    artifact_visibility::ArtifactVisibility,
    invoked_artifacts::{ResolvedInput, is_named},
    push_config::{PushConfigSource, TOO_MANY},
};
use crate::{
    error::{A2aError, A2aErrorKind},
    media_type, request_options,
};

/// A message that was accepted.
struct AcceptedMessage {
    /// The run at the commit; the current run if the message had been accepted before.
    snapshot: TaskSnapshot,
    /// The events that follow from the message start after this.
    after: Position,
    /// Keeps the run in memory until a reader follows it.
    hold: RunPin,
}

/// The outcome of a send.
#[derive(Debug)]
pub(crate) enum SendReply {
    Task(Box<TaskSnapshot>),
    Message(Box<DirectReply>),
}

/// The first item of a stream determines its kind.
#[derive(Debug)]
pub(crate) enum StreamReply {
    Task(Box<TaskStream>),
    Message(Box<DirectReply>),
}

/// An answer without a run.
#[derive(Debug)]
pub(crate) struct DirectReply {
    pub(crate) message: Message,
    pub(crate) session: SessionId,
}

impl SendReply {
    /// With this many messages of the history, as far as they fit.
    pub(super) fn limit_history(self, history: HistoryLength) -> Self {
        match self {
            Self::Task(snapshot) => Self::Task(Box::new(snapshot.limit_history(history, true).0)),
            Self::Message(said) => Self::Message(said),
        }
    }
}

impl StreamReply {
    /// Starts with this many messages of the history, as far as they fit.
    pub(super) fn limit_history(self, history: HistoryLength) -> Self {
        match self {
            Self::Task(follow) => Self::Task(Box::new(follow.limit_history(history))),
            Self::Message(said) => Self::Message(said),
        }
    }
}

impl IncomingMessage {
    /// The session that a run of this message joins; none if the run gets a session of its own.
    fn joined_session(&self) -> Option<SessionId> {
        match self.invocation.session {
            SessionBehavior::Persistent => self.session.clone(),
            SessionBehavior::RunBased => None,
        }
    }
}

impl AddressedAgent<'_> {
    pub(crate) async fn send_message(
        &self,
        incoming: IncomingMessage,
        wait: SendWaitFor,
    ) -> Result<SendReply, A2aError> {
        self.check_incoming_message(&incoming)?;
        if let Some(said) = self.reply_without_run(&incoming) {
            return Ok(SendReply::Message(Box::new(said)));
        }
        let shows = ArtifactVisibility::for_accepted_modes(&incoming.accepted_modes, self.program_info());
        let AcceptedMessage { snapshot: TaskSnapshot { view, answer, .. }, hold: _hold, .. } =
            self.accept_message(incoming).await?;
        let mut view = match wait {
            SendWaitFor::Commit => view,
            SendWaitFor::Idle => {
                self.runtime.wait_until_run_idle_or_timeout(view, self.options.blocking_timeout).await?
            }
        };
        shows.hide_artifacts(&mut view);
        Ok(SendReply::Task(Box::new(TaskSnapshot { answer, ..TaskSnapshot::snapshot_from_view(view) })))
    }

    pub(crate) async fn stream_message(&self, incoming: IncomingMessage) -> Result<StreamReply, A2aError> {
        self.check_incoming_message(&incoming)?;
        if let Some(said) = self.reply_without_run(&incoming) {
            return Ok(StreamReply::Message(Box::new(said)));
        }
        let shows = ArtifactVisibility::for_accepted_modes(&incoming.accepted_modes, self.program_info());
        let AcceptedMessage { mut snapshot, after, hold: _hold } = self.accept_message(incoming).await?;
        shows.hide_artifacts(&mut snapshot.view);
        let address = self.run_address_of(snapshot.view.submission.run);
        let watch = self.runtime.watch_run(&address, after).await?;
        Ok(StreamReply::Task(Box::new(
            TaskStream::stream_after_message(snapshot, after, watch).with_artifact_visibility(shows),
        )))
    }

    fn check_incoming_message(&self, incoming: &IncomingMessage) -> Result<(), A2aError> {
        request_options::check_output_modes(&incoming.accepted_modes, &self.program_info().output_modes)?;
        // An artifact may have any type: its content is parsed by that type.
        let is_artifact = |part: &Part| match &part.content {
            MessagePartContent::File(file) => {
                let mut artifacts = incoming.invocation.artifacts.iter();
                artifacts.any(|artifact| is_named(file, &artifact.filename))
            }
            MessagePartContent::Text(_) | MessagePartContent::Data(_) => false,
        };
        let parts = &incoming.message.parts;
        media_type::check_part_media_types(parts, &self.program_info().input_modes, is_artifact)?;
        match &incoming.push {
            Some(push) => self.build_push_hook(push.clone(), PushConfigSource::SendRequest).map(drop),
            None => Ok(()),
        }
    }

    /// The workflow's answer to a message that needs no run.
    fn reply_without_run(&self, incoming: &IncomingMessage) -> Option<DirectReply> {
        if incoming.run.is_some() || !incoming.invocation.artifacts.is_empty() {
            return None;
        }
        let parts = self.program.answer_without_run(&incoming.message)?;
        let id = MessageId::from_uuid(self.runtime.new_uuid());
        let session = incoming.joined_session();
        Some(DirectReply {
            message: Message::new(id, MessageRole::Agent, parts),
            session: session.unwrap_or_else(|| SessionId::from_uuid(self.runtime.new_uuid())),
        })
    }

    async fn accept_message(&self, incoming: IncomingMessage) -> Result<AcceptedMessage, A2aError> {
        if incoming.starts_new_run {
            return self.start_run_from_message(incoming).await;
        }
        if let Some(id) = &incoming.run {
            let run = self.parse_run_address(id)?.run;
            return Ok(self.deliver_to_run(run, incoming).await?);
        }
        // If the message names only a session, its meaning depended on what waited at that time: a
        // repetition goes to the same run. Without a session it can only have been a start, which
        // recognises its own repetition.
        if incoming.session.is_some()
            && let Some(run) =
                self.runtime.find_run_by_message(&self.access.caller, &incoming.message.id).await?
        {
            return self.repeat_message(run, incoming).await;
        }
        if let Some(run) = self.find_waiting_run(&incoming).await? {
            match self.deliver_to_run(run, incoming.clone()).await {
                // The run ended between the lookup and the delivery. Or the message had started another
                // run of this session, and this is its repetition. In both cases it is not an answer to
                // this run.
                Err(Error::Ended { .. } | Error::MessageReused { .. }) => {}
                taken => return Ok(taken?),
            }
        }
        match self.find_answered_question(&incoming).await? {
            None => self.start_run_from_message(incoming).await,
            Some((run, question)) => {
                let question = Some(question);
                Ok(self.deliver_to_run(run, IncomingMessage { question, ..incoming }).await?)
            }
        }
    }

    /// The newest run of the message's session and its question, if that was answered and the message
    /// is a second answer: this must not start a run. For an agent a message after a turn is the next
    /// turn. A message that is valid input of a workflow, but not a valid answer, starts the workflow.
    async fn find_answered_question(
        &self,
        incoming: &IncomingMessage,
    ) -> Result<Option<(RunId, QuestionId)>, A2aError> {
        let (Some(session), None) = (&incoming.session, incoming.question) else {
            return Ok(None);
        };
        let filter = RunFilter {
            access: Some(Access::own_only(self.access.caller.clone())),
            session: Some(session.clone()),
            workflow: Some(self.program_info().name.clone()),
            states: Vec::new(),
        };
        let newest = self.runtime.list_runs(filter, None, 1).await?.pop();
        let Some(newest) = newest else { return Ok(None) };
        let answered = self.runtime.last_answered_question(&self.run_address_of(newest.id)).await?;
        let Some((question, state)) = answered.filter(|(_, state)| !state.is_interrupted()) else {
            return Ok(None);
        };
        let parts = &incoming.message.parts;
        let is_answer = || self.runtime.parts_satisfy_schema(&question.schema, parts);
        let is_input = || self.runtime.parts_satisfy_schema(&self.program_info().input_schema, parts);
        let again = match (self.program_info().kind, state.is_terminal()) {
            (ProgramKind::Agent, true) => false,
            (ProgramKind::Agent, false) => is_answer(),
            // A message that is valid as both is the next task, as clients of the protocol expect.
            (ProgramKind::Workflow, true) => is_answer() && !is_input(),
            (ProgramKind::Workflow, false) => is_answer() || !is_input(),
        };
        Ok(again.then_some((newest.id, question.id)))
    }

    /// The only run of the message's session that waits for an answer.
    async fn find_waiting_run(&self, incoming: &IncomingMessage) -> Result<Option<RunId>, A2aError> {
        let Some(session) = &incoming.session else {
            return Ok(None);
        };
        let workflow = Some(self.program_info().name.as_str());
        let waiting =
            self.runtime.list_waiting_runs_of_session(&self.access.caller, session, workflow).await?;
        let [run] = waiting.as_slice() else { return Ok(None) };
        // A message that does not answer an agent's own question is for its model: it is the next turn.
        if self.program_info().kind == ProgramKind::Agent && incoming.question.is_none() {
            let view = self.runtime.current_run_view(&self.run_address_of(*run)).await?;
            let question = view.question.as_ref();
            if !question
                .is_some_and(|it| self.runtime.parts_satisfy_schema(&it.schema, &incoming.message.parts))
            {
                return Ok(None);
            }
        }
        Ok(Some(*run))
    }

    async fn start_run_from_message(&self, incoming: IncomingMessage) -> Result<AcceptedMessage, A2aError> {
        if incoming.question.is_some() {
            // The sender refers to a question that is not open and does not want a new run.
            return Err(A2aError::invalid_param_error(
                "/params/message/metadata/questionId",
                "the message answers a question but names no task, and no single task of its context waits",
                "send the taskId of the task that asked",
            ));
        }
        // A repeated message reads no artifact again.
        if !incoming.invocation.artifacts.is_empty()
            && let Some(run) =
                self.runtime.find_run_by_message(&self.access.caller, &incoming.message.id).await?
        {
            return self.repeat_message(run, incoming).await;
        }
        self.check_call_depth()?;
        let ResolvedInput { input, files } = self.resolve_input(&incoming).await?;
        let session = incoming.joined_session();
        let linked_session = incoming.session.filter(|_| session.is_none());
        let submit = SubmitRunRequest {
            workflow: self.program_info().name.clone(),
            input,
            caller: self.access.caller.clone(),
            session,
            message: Some(incoming.message),
            resolved_files: files,
            hook: incoming
                .push
                .map(|push| self.build_push_hook(push, PushConfigSource::SendRequest))
                .transpose()?,
            call_chain: self.identity.call_chain.clone(),
            linked_session,
        };
        let submitted = self.runtime.submit_run(submit).await;
        let SubmitRunResponse { view, pin: hold, .. } = submitted.map_err(|error| {
            let is_invalid = matches!(error, Error::InvalidInput { .. });
            match incoming.invocation.artifacts.first() {
                Some(artifact) if is_invalid => A2aError::from(error).about_artifact(&artifact.filename),
                Some(_) | None => error.into(),
            }
        })?;
        Ok(AcceptedMessage { after: view.pos, snapshot: TaskSnapshot::snapshot_from_view(view), hold })
    }

    /// A message that was accepted before belongs to the run that it started or answered.
    async fn repeat_message(
        &self,
        run: RunId,
        incoming: IncomingMessage,
    ) -> Result<AcceptedMessage, A2aError> {
        let message = incoming.message.id.clone();
        let session = incoming.joined_session();
        match self.deliver_to_run(run, IncomingMessage { session, ..incoming }).await {
            Err(Error::UnknownRun { .. }) => Err(Error::MessageReused { message, run }.into()),
            taken => Ok(taken?),
        }
    }

    /// Agents that call each other in a ring would start tasks for ever.
    fn check_call_depth(&self) -> Result<(), A2aError> {
        self.identity.call_chain.check_depth(self.options.call_depth_max).map_err(|refusal| {
            A2aError::new(
                A2aErrorKind::UnsupportedOperation,
                ErrorCode::InvalidRequest,
                refusal.to_string(),
                "do not call further agents for this; the operator can raise `[mesh] max_depth`",
            )
        })
    }

    async fn deliver_to_run(&self, run: RunId, incoming: IncomingMessage) -> Result<AcceptedMessage, Error> {
        // Checked before any lookup; errors were reported then.
        let hook =
            incoming.push.and_then(|push| self.build_push_hook(push, PushConfigSource::SendRequest).ok());
        let to = self.run_address_of(run);
        if let Some(hook) = &hook
            && !self.has_room_for_push_config(&to, hook.id.as_deref()).await?
            // A repetition sets nothing: its configuration already exists.
            && self.runtime.find_run_by_message(&self.access.caller, &incoming.message.id).await?.is_none()
        {
            return Err(Error::HookRefused { reason: TOO_MANY.to_owned() });
        }
        let deliver = DeliverMessageRequest {
            to,
            session: incoming.session,
            message: incoming.message,
            question: incoming.question,
            hook,
        };
        let answered = self.runtime.deliver_message(deliver).await?;
        let view = answered.view;
        // A repeated message receives the current run, without the events that led to it.
        let after = if answered.is_repeat { view.pos } else { answered.last_position };
        let answer = answer_receipt_from_delivery(answered.delivered);
        let snapshot = TaskSnapshot { answer, ..TaskSnapshot::snapshot_from_view(view) };
        Ok(AcceptedMessage { after, snapshot, hold: answered.pin })
    }
}

fn answer_receipt_from_delivery(delivered: MessageDeliveryOutcome) -> Option<AnswerReceipt> {
    match delivered {
        MessageDeliveryOutcome::Noted => None,
        MessageDeliveryOutcome::Answer { order, concurrent, primary, problems, question: _ } => {
            Some(AnswerReceipt { mark: AnswerRequestRank { order, concurrent, primary }, problems })
        }
    }
}

/// Nothing more happens to the run without an action from outside.
pub(super) fn is_task_idle(view: &RunView) -> bool {
    view.state.is_terminal() || view.state.is_interrupted() || view.parked.is_some()
}
