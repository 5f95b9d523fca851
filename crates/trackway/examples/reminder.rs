//! Recorded time and randomness: a reminder that waits for days, and two versions of it in one
//! server.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use trackway::{Ctx, Server, ServerError, Stop, Workflow};

#[derive(Debug, Deserialize, JsonSchema)]
struct Note {
    text: String,
    /// Seconds until the reminder.
    after_seconds: u64,
}

/// The first deployed version. It is kept until its last run has ended.
struct Reminder1;

impl Workflow for Reminder1 {
    const NAME: &'static str = "reminder";
    const DESCRIPTION: &'static str = "Tells a note later.";
    type Input = Note;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, note: Note) -> Result<(), Stop> {
        ctx.sleep(Duration::from_secs(note.after_seconds)).await;
        ctx.status(note.text).await;
        Ok(())
    }
}

/// Announces the time of the note, and waits a little longer than requested, so that many reminders
/// do not come at once.
struct Reminder2;

impl Workflow for Reminder2 {
    const NAME: &'static str = "reminder";
    const VERSION: &'static str = "2";
    const DESCRIPTION: &'static str = "Tells a note later, and says when.";
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(30 * 24 * 60 * 60));
    type Input = Note;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, note: Note) -> Result<(), Stop> {
        let now = ctx.now().await;
        let spread = ctx.random().await % 10;
        let span = Duration::from_secs(note.after_seconds + spread);
        ctx.status(format!("To be told at {}", now + span)).await;
        ctx.sleep(span).await;
        ctx.status(note.text).await;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), ServerError> {
    Server::new()
        .workflow(Reminder1)
        .workflow(Reminder2) // the newest last: new runs take it
        .data("trackway-data/reminder")
        .listen("127.0.0.1:7424")
        .serve()
        .await
}
