//! `trackway runs fork`: starts a run that shares the beginning of another one, and follows it until it
//! waits or ends.

use std::path::Path;

use trackway::api::ForkRequest;
use trackway_domain::Access;
use trackway_runtime::GuidedRunError;

use super::local_guided_runs::{self, LocalGuidedRuns};
use crate::{
    answer_source::AnswerSource,
    args::{ForkRunArgs, WorkflowFolderArgs},
    cli_error::CliError,
    commands::local_server,
    exit_status::ExitStatus,
    output_streams,
    run_client::RunClient,
    run_follower::RunFollower,
    run_screen::RunScreen,
    run_target::{HintCommandOptions, RunTarget},
    stop_signals::StopSignals,
};

/// Code of the warning that no folder has the definition any more.
const DEFINITION_MISSING: &str = "definition-missing";

pub(in crate::commands) async fn fork_run(args: ForkRunArgs) -> Result<ExitStatus, CliError> {
    let is_here = args.target.server.as_deref().is_none_or(str::is_empty);
    if is_here && local_guided_runs::is_guided_run(&args.target.data.folder, args.id).await? {
        return print_tokens_for_guided_node(&args).await;
    }
    if args.node.is_some() || !args.workflows.is_empty() {
        return Err(CliError::new(
            "--node and --workflows are for runs that an agent drives, in a folder of this machine",
        )
        .with_hint("name an event with --at instead")
        .with_exit_status(ExitStatus::Usage));
    }
    let mut signals = StopSignals::install_signal_handlers()?;
    let place = RunTarget::resolve_run_target(&args.target)?;
    let server = |data: &Path| {
        let server = local_server::build_server_with_agents(
            args.workspace_args.workspace.as_deref(),
            &WorkflowFolderArgs::NONE,
            data,
        )?;
        Ok(server.without_recovery())
    };
    let engine = RunClient::open_for_existing_runs(place, server, &args.testing).await?;
    let ended = fork_and_follow_run(&args, &engine, &mut signals).await;
    engine.close_local_store().await;
    ended
}

/// A run that an agent drives has all its branches in one log: this prints tokens for one of its nodes,
/// and an agent continues from there with them.
async fn print_tokens_for_guided_node(args: &ForkRunArgs) -> Result<ExitStatus, CliError> {
    if args.at.is_some() {
        return Err(CliError::new("an agent drives this run: it is forked at a node, not at an event")
            .with_hint("name the node with --node; `trackway sessions graph` shows the nodes")
            .with_exit_status(ExitStatus::Usage));
    }
    let access = Access::local_without_auth();
    let workspace = args.workspace_args.workspace.as_deref();
    let folders = WorkflowFolderArgs { workflows: args.workflows.clone() };
    let desk = LocalGuidedRuns::open_existing(&args.target.data.folder, &folders, workspace).await?;
    let looked = async {
        let node = match args.node {
            Some(name) => name.to_node_id(args.id).ok_or(GuidedRunError::UnknownRun { run: args.id })?,
            None => desk.guide.newest_open_node(&access, args.id).await?,
        };
        let stamp = trackway_mcp::current_stamp(&desk.key_ring);
        let mut position = desk.guide.inspect_node(&access, args.id, node, stamp).await?;
        let recap = desk.guide.build_node_recap(&access, &position).await?;
        // Without named folders, a missing definition means nothing.
        if args.workflows.is_empty() {
            position.warnings.retain(|warning| warning.code != DEFINITION_MISSING);
        }
        Ok(trackway_mcp::describe_position(&desk.key_ring, &position, &recap).await)
    };
    let told = looked.await;
    desk.close_journal().await;
    let (json, text) =
        told.map_err(|error: GuidedRunError| local_guided_runs::guided_run_error_to_cli(&error))?;
    if args.json {
        output_streams::write_stdout_json_line(&json)?;
    } else {
        text.lines().try_for_each(output_streams::write_stdout_line)?;
    }
    Ok(ExitStatus::Done)
}

async fn fork_and_follow_run(
    args: &ForkRunArgs,
    engine: &RunClient,
    signals: &mut StopSignals,
) -> Result<ExitStatus, CliError> {
    let forked = engine.fork_run(args.id, ForkRequest { at: args.at, session_id: None }).await?;
    let id = forked.summary.id;
    if args.json {
        output_streams::write_stdout_json_line(&forked)?;
    } else {
        output_streams::write_stdout_line(&format!("{} goes on as {id}", args.id))?;
    }
    // The shared events are not shown again, except a question that may be the last of them.
    let after = forked.pos.saturating_sub(1);
    let again = HintCommandOptions { target: &args.target, workspace_args: &args.workspace_args };
    let follow = RunFollower::new(engine, RunScreen::new(args.json), again, id, after).await?;
    follow.follow_until_run_stops(&mut AnswerSource::Nobody, signals).await
}
