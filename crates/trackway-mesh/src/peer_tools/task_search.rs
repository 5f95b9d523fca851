//! Finds the task of a message whose answer was lost, without starting another one.
//!
//! The protocol has no request for it. An agent that recognises repeated messages gives the task when the
//! message is sent again. Of another agent the tasks are listed, if its generation of the protocol can do that,
//! and the one with the message in its history is taken.

use std::time::Duration;

use trackway_a2a_client::{
    AddressedMessage, Client, ClientError, ProtocolVersion, SendOptions, SendReply, Task, TaskQuery,
};

use super::call_note::PeerCallNote;

/// Tasks on one page of a peer's list.
const PAGE_SIZE: u32 = 50;
/// Pages that are read: the task is among the newest of this caller.
/// Limit (Mesh): pages of a peer's tasks that are searched for a lost one.
const PAGES_MAX: usize = 4;
/// Messages of each task among which the first one is looked for.
const HISTORY_LENGTH: u32 = 16;

/// The message may be on its way although its sender has lost the connection, so the list is read again after
/// these pauses. There is nothing to wait for: the peer does not know that somebody looks for a task.
const SEARCH_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(250), Duration::from_secs(1)];

/// What became of a message.
#[derive(Debug)]
pub(super) enum MessageFate {
    Task(Box<Task>),
    /// It was answered without a task.
    Answered,
    /// No task of it can be found. That does not prove that there is none.
    Unknown,
}

/// Whether the message of a note can be sent again, as the same bytes, to an agent that recognises it.
pub(super) fn is_repeatable(client: &Client, note: &PeerCallNote) -> bool {
    client.recognises_repeated_messages() && note.message.is_some()
}

/// Finds the task for its cancel: a message that has not arrived yet is sent again where that is harmless, so
/// that it cannot start the task later.
pub(super) async fn find_task_to_cancel(
    client: &Client,
    note: &PeerCallNote,
) -> Result<MessageFate, ClientError> {
    if let Some(message) = note.message.as_ref().filter(|_| is_repeatable(client, note)) {
        let message = AddressedMessage::new(message.clone());
        return Ok(match client.send_message(&message, &SendOptions::return_immediately()).await? {
            SendReply::Task(task) => MessageFate::Task(Box::new(task)),
            SendReply::Message(_) => MessageFate::Answered,
        });
    }
    let found = search_listed_tasks(client, note).await?;
    Ok(found.map_or(MessageFate::Unknown, |task| MessageFate::Task(Box::new(task))))
}

/// The task whose history has the message, among the tasks that the peer lists.
pub(super) async fn search_listed_tasks(
    client: &Client,
    note: &PeerCallNote,
) -> Result<Option<Task>, ClientError> {
    let Some(message) = note.message_id() else { return Ok(None) };
    if client.protocol_version() == ProtocolVersion::V03 {
        return Ok(None);
    }
    for pause in SEARCH_PAUSES {
        tokio::time::sleep(pause).await;
        if let Some(task) = search_once(client, message).await? {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

async fn search_once(client: &Client, message: &str) -> Result<Option<Task>, ClientError> {
    let mut query =
        TaskQuery { page_size: Some(PAGE_SIZE), history: Some(HISTORY_LENGTH), ..TaskQuery::default() };
    for _ in 0..PAGES_MAX {
        let page = client.list_tasks(&query).await?;
        let has_message = |task: &Task| task.history.iter().any(|known| known.id.as_str() == message);
        if let Some(task) = page.tasks.into_iter().find(has_message) {
            return Ok(Some(task));
        }
        match page.next {
            Some(next) => query.page_token = Some(next),
            None => break,
        }
    }
    Ok(None)
}
