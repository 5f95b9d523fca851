//! `trackway sessions …`: workstreams of several runs.
//!
//! These commands use the folder directly, also while a server or an agent's `trackway mcp` uses it:
//! the store orders its writers, and the folder is not locked.

mod export;
mod find;
mod graph;
mod import;
mod prune;
mod show;

use std::{path::Path, sync::Arc};

use serde_json::json;
use trackway::sessions::{SessionSummary, SessionsError, SessionsReader};
use trackway_definition::nearest;
use trackway_ports::Journal;
use trackway_sqlite::SqliteJournal;

use crate::{
    args::{ListSessions, OneSession, Sessions, Whose},
    exit::Exit,
    failure::Failure,
    output, place, text,
};

pub(super) async fn sessions(command: Sessions) -> Result<Exit, Failure> {
    match command {
        Sessions::List(args) => list(&args).await,
        Sessions::Show(args) => show::show(&args).await,
        Sessions::Graph(args) => graph::graph(&args).await,
        Sessions::Find(args) => find::find(&args).await,
        Sessions::Notes(args) => notes(&args).await,
        Sessions::Export(args) => export::export(&args).await,
        Sessions::Import(args) => import::import(&args).await,
        Sessions::Prune(args) => prune::prune(&args).await,
    }
}

/// `trackway sessions list`: lists sessions.
async fn list(args: &ListSessions) -> Result<Exit, Failure> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let sessions = reader(&args.whose)?.list(limit).await?;
    if args.whose.json {
        output::json(&sessions)?;
        return Ok(Exit::Done);
    }
    if sessions.is_empty() {
        output::note("No sessions.");
        return Ok(Exit::Done);
    }
    let head = ["SESSION", "RUNS", "UPDATED", "WORKFLOWS"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(sessions.iter().map(row)).collect();
    text::table(&rows).iter().try_for_each(|line| output::line(line))?;
    if sessions.len() == limit {
        output::note("hint: there may be more: --limit N shows them");
    }
    Ok(Exit::Done)
}

fn row(session: &SessionSummary) -> Vec<String> {
    vec![
        session.session_id.to_string(),
        session.runs.to_string(),
        text::moment(&session.updated_at),
        session.workflows.join(", "),
    ]
}

/// `trackway sessions notes`: the notes on a session itself.
async fn notes(args: &OneSession) -> Result<Exit, Failure> {
    let sessions = reader(&args.whose)?;
    if args.whose.json {
        let view = sessions.view(&args.id).await?;
        let notes: Vec<_> = view
            .notes()
            .iter()
            .map(|note| json!({ "at": note.at.to_string(), "markdown": note.markdown }))
            .collect();
        output::json(&notes)?;
        return Ok(Exit::Done);
    }
    let page = sessions.notes(&args.id).await?;
    if page.is_empty() {
        output::note("No notes on this session.");
    } else {
        output::line(text::printable(&page).trim_end())?;
    }
    Ok(Exit::Done)
}

/// The sessions in a folder that must exist.
fn reader(whose: &Whose) -> Result<SessionsReader, Failure> {
    let journal = Arc::new(place::existing(&whose.data.folder)?);
    Ok(SessionsReader::of(journal, whose.access()))
}

/// The folder's store, opened for writing. A missing folder is created.
fn writer(folder: &Path) -> Result<Arc<dyn Journal>, Failure> {
    Ok(Arc::new(SqliteJournal::open(folder)?))
}

impl From<SessionsError> for Failure {
    fn from(error: SessionsError) -> Self {
        let failure = Self::of(&error).code(error.code().as_str());
        match error {
            SessionsError::Unknown { id, known } => match nearest(id.as_str(), &known) {
                Some(meant) => failure.hint(format!("did you mean {meant:?}?")),
                None => failure.hint("`trackway sessions list` shows them"),
            },
            SessionsError::Damaged { .. } => failure.hint(
                "a bundle holds whole logs only; `--format markdown` or `--format pdf` writes what can be read",
            ),
            _ => failure,
        }
    }
}
