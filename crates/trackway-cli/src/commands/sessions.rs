//! `trackway sessions …`: workstreams of several runs.
//!
//! These commands use the folder directly, also while a server or an agent's `trackway mcp` uses it:
//! the store orders its writers, and the folder is not locked.

mod export_session_command;
mod find_token_command;
mod import_session_command;
mod prune_sessions_command;
mod session_graph_command;
mod show_session_command;

use std::{path::Path, sync::Arc};

use serde_json::json;
use trackway::sessions::{SessionSummary, SessionsError, SessionsReader};
use trackway_definition::nearest_known_word;
use trackway_ports::Journal;
use trackway_sqlite::SqliteJournal;

use crate::{
    args::{ListSessionsArgs, SessionOwnerArgs, SessionRefArgs, SessionsCommand},
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams, run_target, text_format,
};

pub(super) async fn run_sessions_command(command: SessionsCommand) -> Result<ExitStatus, CliError> {
    match command {
        SessionsCommand::List(args) => list_sessions(&args).await,
        SessionsCommand::Show(args) => show_session_command::show_session(&args).await,
        SessionsCommand::Graph(args) => session_graph_command::print_session_graph(&args).await,
        SessionsCommand::Find(args) => find_token_command::find_node_by_token(&args).await,
        SessionsCommand::Notes(args) => print_session_notes(&args).await,
        SessionsCommand::Export(args) => export_session_command::export_session(&args).await,
        SessionsCommand::Import(args) => import_session_command::import_session(&args).await,
        SessionsCommand::Prune(args) => prune_sessions_command::prune_sessions(&args).await,
    }
}

/// `trackway sessions list`: lists sessions.
async fn list_sessions(args: &ListSessionsArgs) -> Result<ExitStatus, CliError> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let sessions = open_sessions_reader(&args.owner)?.list_sessions(limit).await?;
    if args.owner.json {
        output_streams::write_stdout_json_line(&sessions)?;
        return Ok(ExitStatus::Done);
    }
    if sessions.is_empty() {
        output_streams::print_stderr_note("No sessions.");
        return Ok(ExitStatus::Done);
    }
    let head = ["SESSION", "RUNS", "UPDATED", "WORKFLOWS"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(sessions.iter().map(session_table_row)).collect();
    text_format::align_table_columns(&rows)
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(line))?;
    if sessions.len() == limit {
        output_streams::print_stderr_note("hint: there may be more: --limit N shows them");
    }
    Ok(ExitStatus::Done)
}

fn session_table_row(session: &SessionSummary) -> Vec<String> {
    vec![
        session.session_id.to_string(),
        session.runs.to_string(),
        text_format::strip_timestamp_fraction(&session.updated_at),
        session.workflows.join(", "),
    ]
}

/// `trackway sessions notes`: the notes on a session itself.
async fn print_session_notes(args: &SessionRefArgs) -> Result<ExitStatus, CliError> {
    let sessions = open_sessions_reader(&args.owner)?;
    if args.owner.json {
        let view = sessions.load_session(&args.id).await?;
        let notes: Vec<_> = view
            .session_notes()
            .iter()
            .map(|note| json!({ "at": note.at.to_string(), "markdown": note.markdown }))
            .collect();
        output_streams::write_stdout_json_line(&notes)?;
        return Ok(ExitStatus::Done);
    }
    let page = sessions.render_session_notes_markdown(&args.id).await?;
    if page.is_empty() {
        output_streams::print_stderr_note("No notes on this session.");
    } else {
        output_streams::write_stdout_line(text_format::replace_control_chars(&page).trim_end())?;
    }
    Ok(ExitStatus::Done)
}

/// The sessions in a folder that must exist.
fn open_sessions_reader(owner: &SessionOwnerArgs) -> Result<SessionsReader, CliError> {
    let journal = Arc::new(run_target::open_existing_store(&owner.data.folder)?);
    Ok(SessionsReader::for_access(journal, owner.caller_access()))
}

/// The folder's store, opened for writing. A missing folder is created.
fn open_journal_for_writing(folder: &Path) -> Result<Arc<dyn Journal>, CliError> {
    Ok(Arc::new(SqliteJournal::open(folder)?))
}

impl From<SessionsError> for CliError {
    fn from(error: SessionsError) -> Self {
        let failure = Self::from_error(&error).with_error_code(error.code().as_str());
        match error {
            SessionsError::UnknownSession { id, known } => match nearest_known_word(id.as_str(), &known) {
                Some(meant) => failure.with_hint(format!("did you mean {meant:?}?")),
                None => failure.with_hint("`trackway sessions list` shows them"),
            },
            SessionsError::Damaged { .. } => failure.with_hint(
                "a bundle holds whole logs only; `--format markdown` or `--format pdf` writes what can be read",
            ),
            _ => failure,
        }
    }
}
