//! The client, tested with an agent that follows a script, including the worst cases, and with the
//! front door.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent_messages;
mod calls;
mod cutting_proxy;
mod example;
mod live;
mod resumes;
mod retries;
mod scripted_agent;
mod test_server;
mod transports;

use std::time::Duration;

use trackway_a2a_client::{
    AddressedMessage, Backoff, ClientError, MessageId, Options, Part, TaskUpdate, TaskUpdateStream,
};

/// Far longer than any test takes: only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options that wait a millisecond instead of seconds.
#[expect(clippy::disallowed_methods, reason = "the tests' own door: loopback only, no policy")]
pub(crate) fn options() -> Options {
    trackway_outgoing::install_tls_provider();
    let millisecond = Duration::from_millis(1);
    Options {
        backoff: Backoff { first: millisecond, longest: millisecond },
        timeout: PATIENCE,
        silence_timeout: PATIENCE,
        retries: 2,
        reconnects: 3,
        ..Options::new(reqwest::Client::builder().no_proxy().build().unwrap())
    }
}

pub(crate) fn user_message(id: &str, text: &str) -> AddressedMessage {
    AddressedMessage::from_user(MessageId::new(id).unwrap(), vec![Part::text(text)])
}

/// All items of a stream, and its end.
pub(crate) async fn read_all(updates: &mut TaskUpdateStream) -> (Vec<TaskUpdate>, Option<ClientError>) {
    let mut seen = Vec::new();
    loop {
        match tokio::time::timeout(PATIENCE, updates.next()).await.expect("more, or an end") {
            Ok(Some(update)) => seen.push(update),
            Ok(None) => return (seen, None),
            Err(error) => {
                let after = updates.next().await;
                assert!(matches!(after, Ok(None)), "nothing comes after an error");
                return (seen, Some(error));
            }
        }
    }
}

/// In short: `task:STATE`, `STATE`, `STATE!` for a last one, `+ARTIFACT`, `message`.
pub(crate) fn summarize(updates: &[TaskUpdate]) -> Vec<String> {
    let short = |update: &TaskUpdate| match update {
        TaskUpdate::Task(task) => format!("task:{}", task.status.state),
        TaskUpdate::Status(update) if update.last => format!("{}!", update.status.state),
        TaskUpdate::Status(update) => update.status.state.to_string(),
        TaskUpdate::Artifact(update) => format!("+{}", update.chunk.artifact.id),
        TaskUpdate::Message(_) => "message".to_owned(),
    };
    updates.iter().map(short).collect()
}
