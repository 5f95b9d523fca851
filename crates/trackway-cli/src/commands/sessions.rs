//! `trackway sessions …`: workstreams of several runs.
//!
//! All of it works on the folder itself, also while a server or an agent's `trackway mcp` works on it:
//! the store orders its writers, and the folder is not held.

mod export;
mod find;
mod graph;
mod import;
mod list;
mod notes;
mod prune;
mod show;

use std::{path::Path, sync::Arc};

use trackway::sessions::{SessionsError, SessionsReader};
use trackway_ports::Journal;
use trackway_sqlite::SqliteJournal;

use crate::{
    args::{Sessions, Whose},
    exit::Exit,
    failure::Failure,
    place,
};

pub(super) async fn sessions(command: Sessions) -> Result<Exit, Failure> {
    match command {
        Sessions::List(args) => list::list(&args).await,
        Sessions::Show(args) => show::show(&args).await,
        Sessions::Graph(args) => graph::graph(&args).await,
        Sessions::Find(args) => find::find(&args).await,
        Sessions::Notes(args) => notes::notes(&args).await,
        Sessions::Export(args) => export::export(&args).await,
        Sessions::Import(args) => import::import(&args).await,
        Sessions::Prune(args) => prune::prune(&args).await,
    }
}

/// The sessions in a folder that must be there.
fn reader(whose: &Whose) -> Result<SessionsReader, Failure> {
    let journal = Arc::new(place::existing(&whose.data.folder)?);
    Ok(SessionsReader::of(journal, whose.access()))
}

/// The folder's store as one of its writers. A folder that is not there is made.
fn writer(folder: &Path) -> Result<Arc<dyn Journal>, Failure> {
    Ok(Arc::new(SqliteJournal::open(folder)?))
}

impl From<SessionsError> for Failure {
    fn from(error: SessionsError) -> Self {
        let failure = Self::of(&error).code(error.code().as_str());
        match error {
            SessionsError::Unknown { id, known } => match trackway_definition::nearest(id.as_str(), &known) {
                Some(meant) => failure.hint(format!("did you mean {meant:?}?")),
                None => failure.hint("`trackway sessions list` shows which there are"),
            },
            SessionsError::Damaged { .. } => failure.hint(
                "a bundle holds whole logs only; `--format markdown` or `--format pdf` writes what can be read",
            ),
            _ => failure,
        }
    }
}
