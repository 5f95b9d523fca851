//! Checks that a program's workflows still fit the runs in a data folder, before it is deployed. The
//! check changes nothing.

use std::{error::Error, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use trackway::{Ctx, Server, Stop, Workflow};

#[derive(Debug, Deserialize, JsonSchema)]
struct Note {
    text: String,
}

struct NoteWorkflow;

impl Workflow for NoteWorkflow {
    const NAME: &'static str = "tell";
    const DESCRIPTION: &'static str = "Tells a note.";
    type Input = Note;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, note: Note) -> Result<(), Stop> {
        ctx.status(note.text).await;
        Ok(())
    }
}

/// The workflows of this program, as in its `main`.
fn server() -> Server {
    Server::new().workflow(NoteWorkflow).data("trackway-data/tell")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for check in server().replay_check().await? {
        if let Some(evidence) = check.mismatch {
            return Err(format!("{} would be parked: {}", check.run, evidence.message).into());
        }
    }
    Ok(())
}
