//! The next connection of a stream that lost one, or its end if no connection is needed.

use std::mem;

use super::{ConnectionState, IdleState, StreamOrigin, TaskUpdateStream, idle_state};
use crate::{
    ClientError, RefusalKind, ResendPolicy, Update,
    event_connection::EventConnection,
    is_final_state,
    operation::AgentOperation,
    operations,
    retry::{self, RepeatEffect},
    wire,
};

impl TaskUpdateStream {
    /// Opens the next connection, after a pause. `Some`: there is nothing left to open, and this is the
    /// rest of the stream.
    pub(super) async fn reconnect(&mut self) -> Result<Option<Option<Update>>, ClientError> {
        let ConnectionState::Lost(reason) = &self.connection else {
            return Ok(None);
        };
        let options = &self.peer.options;
        let pause = retry::retry_delay(reason, options.backoff, self.failures);
        let (Some(pause), true) = (pause, self.failures < options.reconnects) else {
            return Err(self.take_connection_error());
        };
        let request = match (&self.origin, &self.task) {
            (_, Some(task)) => self.peer.prepare_request(AgentOperation::Subscribe, wire::task_params(task)),
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
        if self.started_with_message() && self.idle_state == IdleState::InTask {
            // The agent may have closed it, or had one more item for the message.
            return self.load_if_idle().await;
        }
        match self.peer.open_stream(&request, self.last_id.as_deref()).await {
            Ok(response) => {
                self.resumed = self.task.is_some();
                let link = EventConnection::new(response, self.last_id.clone());
                self.connection = ConnectionState::Open(Box::new(link));
                Ok(None)
            }
            Err(error) if is_stream_gone(&error) => {
                self.connection = ConnectionState::Refused(error);
                Ok(None)
            }
            Err(error) if self.is_transient_failure(&error) => {
                self.connection = ConnectionState::Lost(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the next connection may succeed. An agent that is stopping or starting answers that it
    /// is not available; another one, or the same one later, can answer.
    pub(super) fn is_transient_failure(&self, error: &ClientError) -> bool {
        let effect = if self.task.is_some() { RepeatEffect::Harmless } else { RepeatEffect::OnlyOnce };
        error.refusal_kind() == Some(RefusalKind::Internal)
            || retry::is_transient(error, effect, self.peer.options.resend)
    }

    /// The rest of the stream for a task that cannot be subscribed to, if it has come to rest.
    pub(super) async fn finish_refused_stream(&mut self) -> Result<Option<Update>, ClientError> {
        match self.load_if_idle().await? {
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
    async fn load_if_idle(&mut self) -> Result<Option<Option<Update>>, ClientError> {
        let Some(id) = &self.task else {
            return Ok(None);
        };
        let task = operations::get_task(&self.peer, id, None).await?;
        let update = Update::Task(task);
        self.idle_state = idle_state(&update, self.idle_state);
        if self.idle_state == IdleState::No && !update.state().is_some_and(is_final_state) {
            return Ok(None);
        }
        let news = match &update {
            Update::Task(task) => !self.progress.contains_task(task),
            _ => false,
        };
        self.connection = ConnectionState::Done;
        Ok(Some(news.then_some(update)))
    }
}

/// Refusals which mean that there is nothing to subscribe to: the task has ended, or the agent does not
/// support streams.
pub(super) fn is_stream_gone(error: &ClientError) -> bool {
    matches!(
        error.refusal_kind(),
        Some(RefusalKind::UnsupportedOperation | RefusalKind::MethodNotFound | RefusalKind::TaskNotFound)
    )
}
