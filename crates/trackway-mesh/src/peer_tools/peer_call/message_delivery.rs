//! Brings a message to a peer, at most once where the peer would not recognise a repetition.

use trackway_a2a_client::{AddressedMessage, Client, ClientError, SendOptions, SendReply};

use super::{
    PeerCall,
    error_classes::{is_permanent, is_temporary_status, may_have_been_received},
    is_final,
    remote_updates::{self, RemoteUpdates},
};
use crate::{
    peer_registry::describe_client_error,
    peer_tools::{
        call_note::question_key,
        call_result::CallResult,
        task_search::{is_repeatable, search_listed_tasks},
    },
};

/// What is known about earlier attempts to send a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EarlierDelivery {
    None,
    /// The peer may have it: this process, or an earlier one, had no answer.
    Possible,
}

/// What became of a message that a peer may have.
enum EarlierOutcome {
    /// The peer has taken it.
    Taken(RemoteUpdates),
    /// It may be sent again.
    Repeatable,
    /// It must not be sent again, and nothing can be found of it.
    Unknown,
    /// The peer does not answer now.
    Unreachable(String),
}

impl PeerCall<'_> {
    /// Sends a message. A peer that certainly did not get it is not tried again, unless it has a task that
    /// waits for it, or an earlier attempt may have reached it.
    pub(super) async fn open_with_message(
        &mut self,
        message: &AddressedMessage,
        mut earlier: EarlierDelivery,
    ) -> Result<RemoteUpdates, CallResult> {
        loop {
            let failure = match self.connect().await {
                Err(reason) => reason,
                Ok(client) => match self.find_earlier_delivery(&client, message, earlier).await {
                    EarlierOutcome::Taken(updates) => return Ok(updates),
                    EarlierOutcome::Unknown => return Err(self.give_up_unknown_task().await),
                    EarlierOutcome::Unreachable(reason) => reason,
                    EarlierOutcome::Repeatable => match send(&client, message).await {
                        Ok(updates) => return Ok(updates),
                        Err(ClientError::Refused(refusal)) if !is_temporary_status(refusal.status) => {
                            return self.after_refusal(message, &ClientError::Refused(refusal)).await;
                        }
                        Err(error) if is_permanent(&error) => {
                            return Err(self.give_up_if_begun(&describe_client_error(&error), earlier).await);
                        }
                        Err(error) => {
                            if may_have_been_received(&error) {
                                earlier = EarlierDelivery::Possible;
                            }
                            describe_client_error(&error)
                        }
                    },
                },
            };
            let is_patient = earlier == EarlierDelivery::Possible || message.task.is_some();
            if !is_patient || !self.window.wait_for_next_attempt().await {
                return Err(self.give_up_if_begun(&failure, earlier).await);
            }
        }
    }

    /// Before a message is sent again: what became of it, where a repetition would not be recognised.
    async fn find_earlier_delivery(
        &self,
        client: &Client,
        message: &AddressedMessage,
        earlier: EarlierDelivery,
    ) -> EarlierOutcome {
        if earlier == EarlierDelivery::None {
            return EarlierOutcome::Repeatable;
        }
        if let Some(task) = &message.task {
            let taken = self.find_taken_answer(client, task).await;
            return taken.map_or(EarlierOutcome::Repeatable, EarlierOutcome::Taken);
        }
        if is_repeatable(client, &self.note) {
            return EarlierOutcome::Repeatable;
        }
        match search_listed_tasks(client, &self.note).await {
            Ok(Some(task)) => {
                let updates = remote_updates::subscribe(client, &task.id, None).await;
                EarlierOutcome::Taken(updates.unwrap_or_else(|_| RemoteUpdates::from_task(task)))
            }
            Err(error) if !is_permanent(&error) && error.refusal_kind().is_none() => {
                EarlierOutcome::Unreachable(describe_client_error(&error))
            }
            Ok(None) | Err(_) if client.recognises_repeated_messages() => EarlierOutcome::Repeatable,
            Ok(None) | Err(_) => EarlierOutcome::Unknown,
        }
    }

    /// The task, if it no longer waits for this answer. A peer that recognises repetitions is not asked.
    async fn find_taken_answer(&self, client: &Client, task: &str) -> Option<RemoteUpdates> {
        if client.recognises_repeated_messages() {
            return None;
        }
        let task = client.get_task(task, None).await.ok()?;
        let waits =
            task.status.state.is_interrupted() && self.answered.as_ref() == Some(&question_key(&task.status));
        (!waits).then(|| RemoteUpdates::from_task(task))
    }

    /// A message to a task that has ended meanwhile is refused: then its end is the result.
    async fn after_refusal(
        &self,
        message: &AddressedMessage,
        refused: &ClientError,
    ) -> Result<RemoteUpdates, CallResult> {
        if let Some(task) = &message.task
            && let Ok(client) = self.connect().await
            && let Ok(task) = client.get_task(task, Some(0)).await
            && is_final(task.status.state)
        {
            return Ok(RemoteUpdates::from_task(task));
        }
        // A task that takes no answer would wait for ever.
        self.cancel_remote_task().await;
        Err(self.refused_result(refused))
    }

    async fn give_up_unknown_task(&mut self) -> CallResult {
        self.give_up(format!(
            "The peer {} was sent the message, but its answer was lost, and its task cannot be found. The message \
             is not sent again, because the peer does not promise to recognise it and might do the work twice. \
             Whether it does the work is not known.",
            self.note.peer
        ))
        .await
    }

    /// The message cannot be sent. If the peer may have a task, that is owed a cancel.
    async fn give_up_if_begun(&mut self, reason: &str, earlier: EarlierDelivery) -> CallResult {
        let failed = self.call_error_text(reason);
        if earlier == EarlierDelivery::None && self.note.task.is_none() {
            return CallResult::error(failed);
        }
        self.give_up(format!("{failed} What it may have begun is cancelled when it can be reached.")).await
    }
}

/// Sends a message: as a stream if the agent has streams, otherwise so that it answers at once.
async fn send(client: &Client, message: &AddressedMessage) -> Result<RemoteUpdates, ClientError> {
    if remote_updates::has_streams(client) {
        return Ok(RemoteUpdates::from_stream(
            client.stream_message(message, &SendOptions::default()).await?,
        ));
    }
    match client.send_message(message, &SendOptions::return_immediately()).await? {
        SendReply::Task(task) => Ok(RemoteUpdates::from_task(task)),
        SendReply::Message(message) => Ok(RemoteUpdates::from_message(message)),
    }
}
