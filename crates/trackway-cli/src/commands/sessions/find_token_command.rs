//! `trackway sessions find`: which session, run and node a token from a chat belongs to.

use std::sync::Arc;

use serde_json::json;
use trackway::sessions::SessionGraph;
use trackway_domain::RunId;
use trackway_mcp::{KeyRing, NodePlace};
use trackway_ports::Journal as _;
use trackway_sqlite::FolderKeys;

use crate::{
    args::FindTokenArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, run_target,
    text_format,
};

pub(super) async fn find_node_by_token(args: &FindTokenArgs) -> Result<ExitStatus, CliError> {
    let folder = &args.owner.data.folder;
    let journal = run_target::open_existing_store(folder)?;
    let ring = KeyRing::open_existing(Arc::new(FolderKeys::in_folder(folder))).await;
    let ring = ring.map_err(|error| CliError::from_error(&error))?;
    let ring = ring.ok_or_else(|| CliError::new("this folder has no keys for tokens"))?;
    let NodePlace { run, node } = ring.verify_state_token(&args.token).map_err(|error| {
        CliError::from_error(&error)
            .with_error_code(error.code().as_str())
            .with_hint("a stateToken begins with st.v1.")
    })?;
    let row = journal.find_run(run).await.map_err(|error| CliError::from_error(&error))?;
    let row = row
        .filter(|row| args.owner.caller_access().covers_owner(&row.caller))
        .ok_or_else(|| unknown_run_error(run))?;
    let view = super::open_sessions_reader(&args.owner)?.load_session(&row.session).await?;
    let graph = SessionGraph::from(&view);
    let found = graph.nodes.iter().find(|it| it.run_id == run && it.id == node);
    if args.owner.json {
        output_streams::write_stdout_json_line(
            &json!({ "sessionId": row.session, "runId": run, "nodeId": node, "node": found }),
        )?;
        return Ok(ExitStatus::Done);
    }
    let name = match found.and_then(|node| node.number) {
        Some(number) => format!("#{number}"),
        None => node.to_string(),
    };
    let step = match found {
        Some(node) => node.title.clone().unwrap_or_else(|| "complete".to_owned()),
        None => "it cannot be read".to_owned(),
    };
    for (label, value) in
        [("Session", row.session.to_string()), ("Run", run.to_string()), ("Node", name), ("Step", step)]
    {
        output_streams::write_stdout_line(&text_format::replace_control_chars(&format!(
            "{label:<8} {value}"
        )))?;
    }
    Ok(ExitStatus::Done)
}

fn unknown_run_error(run: RunId) -> CliError {
    CliError::new(format!("there is no run {run} of this user"))
        .with_error_code("unknown-run")
        .with_exit_status(ExitStatus::Usage)
}
