//! Earlier sessions of an agent, and their unfinished runs.

use trackway::api::{ForkRequest, ListFilter, RunDetail, RunSummary};
use trackway_domain::{Role, SessionId, StateName};
use trackway_ports::Ids as _;
use trackway_runtime::SystemIds;

use super::view::{TEXT_RESPONSE, texts};
use crate::{engine::Engine, failure::Failure, text};

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

pub(super) async fn newest(engine: &Engine, agent: &str) -> Result<Option<SessionId>, Failure> {
    let filter = ListFilter {
        workflow: Some(agent.to_owned()),
        limit: LOOKED_THROUGH,
        ..ListFilter::default()
    };
    let runs = engine.list(filter).await?.runs;
    let turn = runs.into_iter().find(|run| run.parent_id.is_none());
    Ok(turn.map(|run| run.session_id))
}

/// The turns of a session, newest first.
async fn turns(
    engine: &Engine,
    agent: &str,
    session: &SessionId,
    limit: usize,
) -> Result<Vec<RunSummary>, Failure> {
    let filter = ListFilter {
        workflow: Some(agent.to_owned()),
        session: Some(session.clone()),
        limit,
        ..ListFilter::default()
    };
    let mut runs = engine.list(filter).await?.runs;
    runs.retain(|run| run.parent_id.is_none());
    Ok(runs)
}

/// The last messages of a session.
pub(super) async fn last_lines(
    engine: &Engine,
    agent: &str,
    session: &SessionId,
) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for turn in turns(engine, agent, session, TURNS_SHOWN).await?.into_iter().rev() {
        let turn = engine.detail(turn.id).await?;
        let asked = turn.history.iter().chain(&turn.message).filter(|said| said.role == Role::User);
        lines.extend(asked.flat_map(|said| text::parts(&said.parts, "> ")));
        let said = turn.artifacts.iter().filter(|artifact| artifact.artifact_id == TEXT_RESPONSE);
        let said: String = said.map(|artifact| texts(&artifact.parts)).collect();
        lines.extend(text::printable(&said).lines().map(str::to_owned));
    }
    Ok(lines)
}

/// The runs of a session that work or wait, oldest first.
pub(super) async fn unfinished(
    engine: &Engine,
    session: &SessionId,
) -> Result<Vec<RunDetail>, Failure> {
    let filter = ListFilter {
        session: Some(session.clone()),
        states: UNFINISHED.to_vec(),
        limit: UNFINISHED_MAX,
        ..ListFilter::default()
    };
    let mut details = Vec::new();
    for run in engine.list(filter).await?.runs.into_iter().rev() {
        details.push(engine.detail(run.id).await?);
    }
    Ok(details)
}

/// A new session that begins with the turns of this one.
pub(super) async fn fork(
    engine: &Engine,
    agent: &str,
    session: &SessionId,
) -> Result<SessionId, Failure> {
    let forked = SessionId::made(SystemIds.uuid());
    let turns = turns(engine, agent, session, TURNS_FORKED_MAX).await?;
    // Ids grow with time, so the copies keep the order of the originals.
    for turn in turns.into_iter().rev() {
        let request = ForkRequest { at: None, session_id: Some(forked.clone()) };
        engine.fork(turn.id, request).await?;
    }
    Ok(forked)
}
