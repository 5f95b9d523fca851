//! Earlier sessions of an agent, and their unfinished runs.

use trackway::api::{ForkRequest, RunDetail, RunListFilter, RunSummary};
use trackway_domain::{MessageRole, SessionId, StateName};
use trackway_ports::IdSource as _;
use trackway_runtime::SystemIds;

use super::chat_view::{TEXT_RESPONSE, join_text_parts};
use crate::{cli_error::CliError, run_client::RunClient, text_format};

/// Turns that are shown when a conversation is continued: enough to remember its state.
const TURNS_SHOWN: usize = 3;

/// Turns that a fork begins with: as many as an agent reads.
/// Limit (CLI): turns that a forked chat begins with.
const TURNS_FORKED_MAX: usize = 200;

/// Runs of a session that may be unfinished.
/// Limit (CLI): unfinished runs of a session that a chat looks at.
const UNFINISHED_MAX: usize = 50;

/// Runs that are searched for one that a person started: workflows started the others.
/// Limit (CLI): runs that a chat searches for an earlier conversation.
const LOOKED_THROUGH: usize = 500;

const UNFINISHED: [StateName; 4] =
    [StateName::Submitted, StateName::Working, StateName::InputRequired, StateName::AuthRequired];

pub(super) async fn find_newest_session(
    engine: &RunClient,
    agent: &str,
) -> Result<Option<SessionId>, CliError> {
    let filter =
        RunListFilter { workflow: Some(agent.to_owned()), limit: LOOKED_THROUGH, ..RunListFilter::default() };
    let runs = engine.list_runs(filter).await?.runs;
    let turn = runs.into_iter().find(|run| run.parent_id.is_none());
    Ok(turn.map(|run| run.session_id))
}

/// The turns of a session, newest first.
async fn list_session_turns(
    engine: &RunClient,
    agent: &str,
    session: &SessionId,
    limit: usize,
) -> Result<Vec<RunSummary>, CliError> {
    let filter = RunListFilter {
        workflow: Some(agent.to_owned()),
        session: Some(session.clone()),
        limit,
        ..RunListFilter::default()
    };
    let mut runs = engine.list_runs(filter).await?.runs;
    runs.retain(|run| run.parent_id.is_none());
    Ok(runs)
}

/// The last messages of a session.
pub(super) async fn render_last_turns(
    engine: &RunClient,
    agent: &str,
    session: &SessionId,
) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    for turn in list_session_turns(engine, agent, session, TURNS_SHOWN).await?.into_iter().rev() {
        let turn = engine.load_run_detail(turn.id).await?;
        let asked = turn.history.iter().chain(&turn.message).filter(|said| said.role == MessageRole::User);
        lines.extend(asked.flat_map(|said| text_format::render_indented_parts(&said.parts, "> ")));
        let said = turn.artifacts.iter().filter(|artifact| artifact.artifact_id == TEXT_RESPONSE);
        let said: String = said.map(|artifact| join_text_parts(&artifact.parts)).collect();
        lines.extend(text_format::replace_control_chars(&said).lines().map(str::to_owned));
    }
    Ok(lines)
}

/// The runs of a session that work or wait, oldest first.
pub(super) async fn load_unfinished_runs(
    engine: &RunClient,
    session: &SessionId,
) -> Result<Vec<RunDetail>, CliError> {
    let filter = RunListFilter {
        session: Some(session.clone()),
        states: UNFINISHED.to_vec(),
        limit: UNFINISHED_MAX,
        ..RunListFilter::default()
    };
    let mut details = Vec::new();
    for run in engine.list_runs(filter).await?.runs.into_iter().rev() {
        details.push(engine.load_run_detail(run.id).await?);
    }
    Ok(details)
}

/// A new session that begins with the turns of this one.
pub(super) async fn fork_session(
    engine: &RunClient,
    agent: &str,
    session: &SessionId,
) -> Result<SessionId, CliError> {
    let forked = SessionId::from_uuid(SystemIds.new_uuid());
    let turns = list_session_turns(engine, agent, session, TURNS_FORKED_MAX).await?;
    // Ids grow with time, so the copies keep the order of the originals.
    for turn in turns.into_iter().rev() {
        let request = ForkRequest { at: None, session_id: Some(forked.clone()) };
        engine.fork_run(turn.id, request).await?;
    }
    Ok(forked)
}
