//! One call of a peer: from the message to the result.
//!
//! The message is noted before it is sent, and the remote task's id as soon as it is known; from then on nothing
//! is sent twice. The call follows the task's updates, asks a person what the task asks, comes back after a lost
//! connection, and gives up when the peer is silent for too long. A task that is given up is owed a cancel.

mod error_classes;
mod message_delivery;
mod remote_updates;

use std::time::Duration;

use trackway_a2a_client::{
    AddressedMessage, AgentRefusalKind, Client, ClientError, Message, MessageId, MessageRole, Part,
    TaskState, TaskUpdate,
};
use trackway_domain::{CallChain, ValidationError};
use trackway_runtime::ToolCallContext;

use self::{
    error_classes::{find_validation_errors, is_permanent, is_temporary_status},
    message_delivery::EarlierDelivery,
    remote_updates::RemoteUpdates,
};
use super::{
    PeerCallServices,
    call_note::{PeerCallNote, QUESTIONS_MAX, TASK_ID_BYTES_MAX, question_key},
    call_request::CallRequest,
    call_result::CallResult,
    derived_uuid,
    reconnect_window::ReconnectWindow,
    remote_question::{RemoteQuestion, answer_part},
    remote_task::{RemoteTask, parts_text},
    result_artifacts,
};
use crate::peer_registry::describe_client_error;

/// Time for the cancel of a task that was given up.
/// Limit (Mesh): time to cancel a remote task that was silent for too long.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Text of a progress message that is shown.
/// Limit (Mesh): text of a progress message of a remote task, in characters.
const PROGRESS_CHARS_MAX: usize = 4_096;

/// One call, while it lasts.
pub(super) struct PeerCall<'a> {
    services: &'a PeerCallServices,
    call: &'a ToolCallContext,
    /// What the peer is told about the calls that led to it.
    chain: CallChain,
    /// Longest silence.
    timeout: Duration,
    note: PeerCallNote,
    window: ReconnectWindow,
    remote: RemoteTask,
    context: Option<String>,
    last_event: Option<String>,
    /// Questions that were asked in this process. Those of an earlier one are asked again first: their answers
    /// are recorded.
    asked: usize,
    /// The question that was answered last; the same one in a snapshot is older than the answer.
    answered: Option<String>,
}

/// Why a stream of updates is over.
enum FollowEnd {
    Ended(CallResult),
    /// The remote task waits for an answer.
    Asked,
    Lost(ClientError),
    /// The peer closed the stream, and the task goes on.
    Closed,
    Silent,
}

impl<'a> PeerCall<'a> {
    pub(super) fn new(services: &'a PeerCallServices, call: &'a ToolCallContext, note: PeerCallNote) -> Self {
        let options = services.registry.mesh_options();
        let address = services.agent_address(call.workflow_name().unwrap_or_default());
        Self {
            services,
            call,
            chain: call.call_chain().extend(&address),
            timeout: options.timeout,
            note,
            window: ReconnectWindow::new(options.reconnect),
            remote: RemoteTask::default(),
            context: None,
            last_event: None,
            asked: 0,
            answered: None,
        }
    }

    /// Sends the message and follows its task. A repetition may have been received before, so it is patient.
    pub(super) async fn start(mut self, request: CallRequest, is_repetition: bool) -> CallResult {
        if let Err(refused) = self.record_note().await {
            return refused;
        }
        let mut earlier = EarlierDelivery::None;
        if is_repetition {
            earlier = EarlierDelivery::Possible;
            self.window.wait_for_next_attempt().await;
        }
        match self.open_with_message(&request.message, earlier).await {
            Ok(updates) => self.follow_to_end(updates, Some(request.message)).await,
            Err(result) => self.finish(result),
        }
    }

    /// Follows the task of an earlier process.
    pub(super) async fn resume(mut self) -> CallResult {
        self.remote = RemoteTask::of_earlier_process();
        match self.reopen(None).await {
            Ok(updates) => self.follow_to_end(updates, None).await,
            Err(result) => self.finish(result),
        }
    }

    async fn follow_to_end(
        mut self,
        mut updates: RemoteUpdates,
        message: Option<AddressedMessage>,
    ) -> CallResult {
        loop {
            let next = match self.follow(&mut updates).await {
                FollowEnd::Ended(result) => Err(result),
                FollowEnd::Silent => Err(self.give_up_silent_task().await),
                FollowEnd::Asked => self.answer_question().await,
                FollowEnd::Lost(error) => self.recover(message.as_ref(), Some(&error)).await,
                FollowEnd::Closed => self.recover(message.as_ref(), None).await,
            };
            match next {
                Ok(opened) => updates = opened,
                Err(result) => return self.finish(result),
            }
        }
    }

    fn finish(&self, result: CallResult) -> CallResult {
        result.with_ignored(self.note.ignored.clone())
    }

    /// Takes updates until something else has to be done.
    async fn follow(&mut self, updates: &mut RemoteUpdates) -> FollowEnd {
        loop {
            let update = match tokio::time::timeout(self.timeout, updates.next(self)).await {
                Err(_) => return FollowEnd::Silent,
                Ok(Err(error)) => return FollowEnd::Lost(error),
                Ok(Ok(None)) => return FollowEnd::Closed,
                Ok(Ok(Some(update))) => update,
            };
            if let Some(end) = self.take_update(update).await {
                return end;
            }
        }
    }

    async fn take_update(&mut self, update: TaskUpdate) -> Option<FollowEnd> {
        let peer = self.note.peer.clone();
        if let TaskUpdate::Message(said) = &update
            && self.note.task.is_none()
        {
            // An agent may answer without a task.
            let result = CallResult::ended("completed", &parts_text(&said.message.parts));
            return Some(FollowEnd::Ended(result));
        }
        match (update.task_id(), &self.note.task) {
            (Some(task), Some(known)) if task != known => {
                tracing::warn!(peer, known, "a peer sent an update of another task, which is ignored");
                return None;
            }
            (Some(task), None) => {
                if let Err(result) = self.note_task(task.to_owned()).await {
                    return Some(FollowEnd::Ended(result));
                }
            }
            _ => {}
        }
        self.window.close();
        if let TaskUpdate::Task(task) = &update {
            self.context.clone_from(&task.context);
        }
        if let Some(message) = self.remote.apply_update(&update) {
            self.show_progress(&message).await;
        }
        let status = self.remote.status().filter(|_| update.task_state().is_some())?;
        if is_final(status.state) {
            return Some(FollowEnd::Ended(self.render_result(status.state).await));
        }
        let is_new = status.state.is_interrupted() && self.answered.as_ref() != Some(&question_key(status));
        is_new.then_some(FollowEnd::Asked)
    }

    async fn render_result(&self, state: TaskState) -> CallResult {
        let mut result = CallResult::ended(state.as_str(), &self.remote.last_message_text());
        result.artifacts =
            result_artifacts::render_artifacts(self.services, &self.note.peer, self.call, &self.remote).await;
        result
    }

    async fn show_progress(&self, message: &Message) {
        let text = parts_text(&message.parts);
        if !text.is_empty() {
            let text: String = text.chars().take(PROGRESS_CHARS_MAX).collect();
            let part = Part::text(text).with_metadata("peer", self.note.peer.as_str());
            self.call.report_status(vec![part]).await;
        }
    }

    /// Records the remote task before anything else is done with it.
    async fn note_task(&mut self, task: String) -> Result<(), CallResult> {
        if task.is_empty() || task.len() > TASK_ID_BYTES_MAX {
            return Err(CallResult::error(format!(
                "The peer {} named its task with {} bytes; {TASK_ID_BYTES_MAX} are allowed.",
                self.note.peer,
                task.len()
            )));
        }
        self.note.set_task(task);
        self.record_note().await
    }

    async fn record_note(&self) -> Result<(), CallResult> {
        let recorded = self.call.record_note(self.note.to_value()).await;
        recorded.map_err(|refusal| CallResult::error(format!("The call cannot be noted: {refusal}.")))
    }

    async fn connect(&self) -> Result<Client, String> {
        self.services.connect_signed(&self.call.caller, &self.note.peer, &self.chain).await
    }

    /// The stream broke, or ended before the task did.
    async fn recover(
        &mut self,
        message: Option<&AddressedMessage>,
        error: Option<&ClientError>,
    ) -> Result<RemoteUpdates, CallResult> {
        if let Some(error @ ClientError::Refused(refusal)) = error
            && !is_temporary_status(refusal.status)
            && refusal.kind != AgentRefusalKind::Internal
        {
            return Err(self.refused_result(error));
        }
        if let Some(error) = error.filter(|error| is_permanent(error)) {
            let failed = self.call_error_text(&describe_client_error(error));
            return Err(self.give_up(failed).await);
        }
        match (&self.note.task, message) {
            (Some(_), _) => self.reopen(error).await,
            (None, Some(message)) => {
                let reason = error.map_or_else(
                    || "it closed the stream without an answer".to_owned(),
                    describe_client_error,
                );
                if !self.window.wait_for_next_attempt().await {
                    let failed = self.call_error_text(&reason);
                    return Err(self.give_up(failed).await);
                }
                self.open_with_message(message, EarlierDelivery::Possible).await
            }
            (None, None) => Err(self.call_error("its task is not known")),
        }
    }

    /// Subscribes to the task again, until it answers or the time to reconnect is over.
    async fn reopen(&mut self, lost: Option<&ClientError>) -> Result<RemoteUpdates, CallResult> {
        let Some(task) = self.note.task.clone() else { return Err(self.call_error("its task is not known")) };
        let mut reason = lost.map_or_else(|| "it closed the stream".to_owned(), describe_client_error);
        while self.window.wait_for_next_attempt().await {
            let client = match self.connect().await {
                Ok(client) => client,
                Err(failure) => {
                    reason = failure;
                    continue;
                }
            };
            let error = match remote_updates::subscribe(&client, &task, self.last_event.as_deref()).await {
                Ok(updates) => return Ok(updates),
                Err(error) => error,
            };
            match &error {
                ClientError::Refused(refusal) if refusal.kind == AgentRefusalKind::TaskNotFound => {
                    return Err(self.call_error(&format!("it no longer knows the task {task}")));
                }
                ClientError::Refused(refusal)
                    if !is_temporary_status(refusal.status) && refusal.kind != AgentRefusalKind::Internal =>
                {
                    return Err(self.refused_result(&error));
                }
                _ => reason = describe_client_error(&error),
            }
        }
        let lost = format!(
            "The peer {} was lost while it worked on its task {task}, and could not be reached again: {reason}. \
             Whether the task is done is not known; otherwise it is cancelled when the peer can be reached.",
            self.note.peer
        );
        Err(self.give_up(lost).await)
    }

    /// Asks a person what the remote task asks, and sends the answer to the task.
    async fn answer_question(&mut self) -> Result<RemoteUpdates, CallResult> {
        let (Some(status), Some(task)) = (self.remote.status().cloned(), self.note.task.clone()) else {
            return Err(self.call_error("it asks for something and names no task"));
        };
        let key = question_key(&status);
        let index = self.note.questions.iter().skip(self.asked).position(|asked| *asked == key);
        let index = match index {
            Some(ahead) => self.asked + ahead,
            None if self.note.questions.len() >= QUESTIONS_MAX => {
                self.cancel_remote_task().await;
                return Err(self.call_error(&format!("it asked more than {QUESTIONS_MAX} questions")));
            }
            None => {
                self.note.questions.push(key.clone());
                self.record_note().await?;
                self.note.questions.len() - 1
            }
        };
        let question = RemoteQuestion::from_status(&self.note.peer, &status);
        let answer = loop {
            let RemoteQuestion { reason, prompt, schema } = question.clone();
            let answer = self.call.ask_question_with_reason(reason, prompt, schema).await;
            let answer = answer.map_err(|failure| self.call_error(&failure.message))?;
            self.asked += 1;
            if self.asked > index {
                break answer.input;
            }
        };
        self.answered = Some(key);
        let id = derived_uuid(&self.call.attempt.idempotency_key, &format!("answer {index}"));
        let id = MessageId::new(&id).unwrap_or_else(|_| unreachable!("a UUID is a message id"));
        let message = Message::new(id, MessageRole::User, vec![answer_part(answer)]);
        let mut message = AddressedMessage::new(message).addressed_to_task(task);
        message.context.clone_from(&self.context);
        self.window.close();
        self.window.wait_for_next_attempt().await;
        self.open_with_message(&message, EarlierDelivery::None).await
    }

    /// The time of the call is over: the remote task is cancelled. What it may have done by then is recorded
    /// and not delivered.
    async fn give_up_silent_task(&mut self) -> CallResult {
        let limit = self.timeout.as_secs_f32();
        let late = self.cancel_remote_task().await;
        let peer = self.note.peer.clone();
        let outcome = match late {
            Some(TaskState::Canceled) => "Its task was cancelled.".to_owned(),
            Some(state) if is_final(state) => {
                tracing::info!(peer, task = self.note.task, %state, "a peer ended its task after its time");
                self.note.late = Some(state.as_str().to_owned());
                // The result is the same without the note.
                let _unrecorded = self.record_note().await;
                format!("Its task ended as {state} only when it was cancelled; that is not used.")
            }
            _ => {
                let silent = format!(
                    "The peer {peer} said nothing for {limit} seconds. If it has begun a task, that is cancelled \
                     when it can be reached."
                );
                return self.give_up(silent).await;
            }
        };
        CallResult::error(format!("The peer {peer} said nothing for {limit} seconds. {outcome}"))
    }

    /// Ends the call with this error. What the peer may have begun is released, like that of a run that ended:
    /// now, or when the peer can be reached again.
    async fn give_up(&mut self, message: String) -> CallResult {
        self.note.given_up = Some(message.clone());
        if let Err(refusal) = self.call.release_note(self.note.to_value()).await {
            tracing::warn!(peer = self.note.peer, %refusal, "a task of a peer may go on: it cannot be released");
        }
        CallResult::error(message)
    }

    /// Cancels the remote task. Returns its state after that, if it is known.
    async fn cancel_remote_task(&self) -> Option<TaskState> {
        let task = self.note.task.as_deref()?;
        let cancelled = tokio::time::timeout(CANCEL_TIMEOUT, async {
            let client = self.connect().await.ok()?;
            cancel_task(&client, task).await.ok()
        });
        cancelled.await.ok().flatten()
    }

    fn call_error(&self, reason: &str) -> CallResult {
        CallResult::error(self.call_error_text(reason))
    }

    fn call_error_text(&self, reason: &str) -> String {
        format!("The call of the peer {} failed: {reason}.", self.note.peer)
    }

    /// The peer understood the request and refused it, often because the input does not fit.
    fn refused_result(&self, error: &ClientError) -> CallResult {
        let ClientError::Refused(refusal) = error else {
            return self.call_error(&describe_client_error(error));
        };
        let errors: Vec<ValidationError> = find_validation_errors(&refusal.data);
        if errors.is_empty() {
            return self.call_error(&describe_client_error(error));
        }
        CallResult::invalid_input(errors)
    }
}

/// Cancels a task, or returns how it ended before.
pub(super) async fn cancel_task(client: &Client, task: &str) -> Result<TaskState, ClientError> {
    match client.cancel_task(task).await {
        Ok(task) => Ok(task.status.state),
        Err(error) if error.refusal_kind() == Some(AgentRefusalKind::TaskNotCancelable) => {
            Ok(client.get_task(task, Some(0)).await?.status.state)
        }
        Err(error) => Err(error),
    }
}

/// Nothing follows this state. An unknown state may be any state.
pub(super) fn is_final(state: TaskState) -> bool {
    state.is_terminal() && state != TaskState::Unknown
}
