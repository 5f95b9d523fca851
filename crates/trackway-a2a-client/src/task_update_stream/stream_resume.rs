//! The next connection of a stream that lost one, or its end if no connection is needed.

use std::mem;

use super::{ConnectionState, StreamOrigin, TaskIdleState, TaskUpdateStream, task_idle_state_after};
use crate::{
    AgentRefusalKind, ClientError, ResendPolicy, TaskUpdate,
    agent_operation::AgentOperation,
    client_operations, is_final_task_state,
    request_retry::{self, RepeatEffect},
    sse_connection::SseConnection,
    wire,
};

impl TaskUpdateStream {
    /// Opens the next connection, after a pause. `Some`: there is nothing left to open, and this is the
    /// rest of the stream.
    pub(super) async fn reconnect_stream(&mut self) -> Result<Option<Option<TaskUpdate>>, ClientError> {
        let ConnectionState::Lost(reason) = &self.connection else {
            return Ok(None);
        };
        let options = &self.peer.options;
        let pause = request_retry::retry_delay(reason, options.backoff, self.failures);
        let (Some(pause), true) = (pause, self.failures < options.reconnects) else {
            return Err(self.take_connection_error());
        };
        let request = match (&self.origin, &self.task) {
            (_, Some(task)) => {
                self.peer.prepare_request(AgentOperation::Subscribe, wire::task_id_params(task))
            }
            // The result of the message is unknown: it can only be sent again.
            (StreamOrigin::Message(Some(request)), None) if options.resend == ResendPolicy::WhenLost => {
                request.clone()
            }
            (StreamOrigin::Message(_) | StreamOrigin::Subscription, None) => {
                return Err(self.take_connection_error());
            }
        };
        self.failures += 1;
        tracing::debug!(%reason, ?pause, "resuming a stream of an agent");
        tokio::time::sleep(pause).await;
        if self.was_opened_by_message() && self.idle_state == TaskIdleState::InTask {
            // The agent may have closed it, or had one more item for the message.
            return self.load_task_if_idle().await;
        }
        match self.peer.open_event_stream(&request, self.last_id.as_deref()).await {
            Ok(response) => {
                self.resumed = self.task.is_some();
                let link = SseConnection::new(response, self.last_id.clone());
                self.connection = ConnectionState::Open(Box::new(link));
                Ok(None)
            }
            Err(error) if is_no_stream_refusal(&error) => {
                self.connection = ConnectionState::Refused(error);
                Ok(None)
            }
            Err(error) if self.is_transient_stream_failure(&error) => {
                self.connection = ConnectionState::Lost(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the next connection may succeed. An agent that is stopping or starting answers that it
    /// is not available; another one, or the same one later, can answer.
    pub(super) fn is_transient_stream_failure(&self, error: &ClientError) -> bool {
        let effect = if self.task.is_some() { RepeatEffect::Harmless } else { RepeatEffect::OnlyOnce };
        error.refusal_kind() == Some(AgentRefusalKind::Internal)
            || request_retry::is_transient_error(error, effect, self.peer.options.resend)
    }

    /// The rest of the stream for a task that cannot be subscribed to, if it has come to rest.
    pub(super) async fn finish_refused_stream(&mut self) -> Result<Option<TaskUpdate>, ClientError> {
        match self.load_task_if_idle().await? {
            Some(last) => Ok(last),
            None => Err(self.take_connection_error()),
        }
    }

    /// Why the stream cannot continue.
    fn take_connection_error(&mut self) -> ClientError {
        match mem::replace(&mut self.connection, ConnectionState::Done) {
            ConnectionState::Lost(error) | ConnectionState::Refused(error) => error,
            ConnectionState::Open(_) | ConnectionState::Done => ClientError::StreamClosed,
        }
    }

    /// The current Task, if it has come to rest: the rest of the stream, if there is any.
    async fn load_task_if_idle(&mut self) -> Result<Option<Option<TaskUpdate>>, ClientError> {
        let Some(id) = &self.task else {
            return Ok(None);
        };
        let task = client_operations::get_task(&self.peer, id, None).await?;
        let update = TaskUpdate::Task(task);
        self.idle_state = task_idle_state_after(&update, self.idle_state);
        if self.idle_state == TaskIdleState::No && !update.task_state().is_some_and(is_final_task_state) {
            return Ok(None);
        }
        let news = match &update {
            TaskUpdate::Task(task) => !self.progress.has_received_task_state(task),
            _ => false,
        };
        self.connection = ConnectionState::Done;
        Ok(Some(news.then_some(update)))
    }
}

/// Refusals which mean that there is nothing to subscribe to: the task has ended, or the agent does not
/// support streams.
pub(super) fn is_no_stream_refusal(error: &ClientError) -> bool {
    matches!(
        error.refusal_kind(),
        Some(
            AgentRefusalKind::UnsupportedOperation
                | AgentRefusalKind::MethodNotFound
                | AgentRefusalKind::TaskNotFound
        )
    )
}
