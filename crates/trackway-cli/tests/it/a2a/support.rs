//! What the tests of the A2A door share: a real server, a client over real sockets, and the words in
//! which they say what a stream must have shown.

mod client;
mod dialect;
mod files;
mod message;
mod run;
mod server;
mod stream;
mod told;

use std::time::Duration;

pub(crate) use client::{Agent, Refused, reply};
pub(crate) use dialect::{Dialect, Request, gist};
pub(crate) use files::allow_connections;
pub(crate) use message::{Message, data, text};
pub(crate) use run::{Run, every_way};
pub(crate) use server::Server;
pub(crate) use stream::{Event, Stream};
pub(crate) use told::{
    asked, data_part, ended, resumed, says, submitted, text_part, told, whole_artifact, working,
};

/// Far longer than anything here takes, also on a busy machine: only a hang gets there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for one answer.
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: nothing within {PATIENCE:?}"),
    }
}
