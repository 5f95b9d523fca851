//! The next connection of a stream that lost one, or its end if no connection is needed.

use std::mem;

use super::{Connection, Origin, Rest, Updates, rest};
use crate::{
    ClientError, RefusalKind, Resend, Update, calls, is_over,
    link::Link,
    operation::Operation,
    retry::{self, Effect},
    wire,
};

impl Updates {
    /// Opens the next connection, after a pause. `Some`: there is nothing left to open, and this is the
    /// rest of the stream.
    pub(super) async fn reconnect(&mut self) -> Result<Option<Option<Update>>, ClientError> {
        let Connection::Lost(reason) = &self.connection else {
            return Ok(None);
        };
        let options = &self.peer.options;
        let pause = retry::pause(reason, options.backoff, self.failures);
        let (Some(pause), true) = (pause, self.failures < options.reconnects) else {
            return Err(self.lost());
        };
        let request = match (&self.origin, &self.task) {
            (_, Some(task)) => self.peer.request(Operation::Subscribe, wire::task_params(task)),
            // The result of the message is unknown: it can only be sent again.
            (Origin::Message(Some(request)), None) if options.resend == Resend::Lost => {
                request.clone()
            }
            (Origin::Message(_) | Origin::Subscription, None) => return Err(self.lost()),
        };
        self.failures += 1;
        tracing::debug!(%reason, ?pause, "resuming a stream of an agent");
        tokio::time::sleep(pause).await;
        if self.is_of_message() && self.rest == Rest::AsTask {
            // The agent may have closed it, or had one more item for the message.
            return self.settled().await;
        }
        match self.peer.open(&request, self.last_id.as_deref()).await {
            Ok(response) => {
                self.resumed = self.task.is_some();
                let link = Link::new(response, self.last_id.clone());
                self.connection = Connection::Open(Box::new(link));
                Ok(None)
            }
            Err(error) if is_no_longer_told(&error) => {
                self.connection = Connection::Refused(error);
                Ok(None)
            }
            Err(error) if self.is_passing(&error) => {
                self.connection = Connection::Lost(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the next connection may succeed. An agent that is stopping or starting answers that it
    /// is not available; another one, or the same one later, can answer.
    pub(super) fn is_passing(&self, error: &ClientError) -> bool {
        let effect = if self.task.is_some() { Effect::None } else { Effect::Once };
        error.refusal() == Some(RefusalKind::Internal)
            || retry::is_passing(error, effect, self.peer.options.resend)
    }

    /// The rest of the stream for a task that cannot be subscribed to, if it has come to rest.
    pub(super) async fn conclude(&mut self) -> Result<Option<Update>, ClientError> {
        match self.settled().await? {
            Some(last) => Ok(last),
            None => Err(self.lost()),
        }
    }

    /// Why the stream cannot continue.
    fn lost(&mut self) -> ClientError {
        match mem::replace(&mut self.connection, Connection::Done) {
            Connection::Lost(error) | Connection::Refused(error) => error,
            Connection::Open(_) | Connection::Done => ClientError::Closed,
        }
    }

    /// The current Task, if it has come to rest: the rest of the stream, if there is any.
    async fn settled(&mut self) -> Result<Option<Option<Update>>, ClientError> {
        let Some(id) = &self.task else {
            return Ok(None);
        };
        let task = calls::get(&self.peer, id, None).await?;
        let update = Update::Task(task);
        self.rest = rest(&update, self.rest);
        if self.rest == Rest::No && !update.state().is_some_and(is_over) {
            return Ok(None);
        }
        let news = match &update {
            Update::Task(task) => !self.seen.knows(task),
            _ => false,
        };
        self.connection = Connection::Done;
        Ok(Some(news.then_some(update)))
    }
}

/// Refusals which mean that there is nothing to subscribe to: the task has ended, or the agent does not
/// support streams.
pub(super) fn is_no_longer_told(error: &ClientError) -> bool {
    matches!(
        error.refusal(),
        Some(
            RefusalKind::UnsupportedOperation
                | RefusalKind::MethodNotFound
                | RefusalKind::TaskNotFound
        )
    )
}
