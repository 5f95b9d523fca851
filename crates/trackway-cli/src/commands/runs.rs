//! `trackway runs …`: commands on existing runs.

pub(super) mod fork_run_command;
pub(super) mod list_runs_command;
mod local_guided_runs;
pub(super) mod replay_check_command;
pub(super) mod resume_run_command;
pub(super) mod show_run_command;

use std::path::Path;

use serde_json::json;
use trackway::api::RunDetail;
use trackway_domain::Access;

use self::local_guided_runs::{LocalGuidedRuns, guided_run_error_to_cli};
use crate::{
    args::{self, FaultInjectionArgs, MigrateRunArgs, RunRefArgs},
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams, programs,
    run_client::RunClient,
    run_target::RunTarget,
};

/// `trackway runs adopt`: lets an imported run go on here.
pub(super) async fn adopt_run(args: RunRefArgs) -> Result<ExitStatus, CliError> {
    let engine = open_client_for_one_run(&args.target).await?;
    let adopted = engine.adopt_run(args.id).await;
    engine.close_local_store().await;
    print_run_detail(&adopted?, args.json)
}

/// `trackway runs cancel`: ends a run.
pub(super) async fn cancel_run(args: RunRefArgs) -> Result<ExitStatus, CliError> {
    let engine = open_client_for_one_run(&args.target).await?;
    let canceled = engine.cancel_run(args.id).await;
    if let Ok(run) = &canceled
        && engine.is_local()
    {
        engine.wait_for_children_to_end(run.children.iter().filter_map(|id| id.parse().ok()).collect()).await;
    }
    engine.close_local_store().await;
    print_run_detail(&canceled?, args.json)
}

/// `trackway runs migrate`: moves a run that an agent drives to the current version of its workflow
/// file.
pub(super) async fn migrate_run(args: MigrateRunArgs) -> Result<ExitStatus, CliError> {
    let desk = LocalGuidedRuns::open_existing(&args.data.folder, &args.folders, None).await?;
    let migrated = desk.guide.migrate_to_current_definition(&Access::local_without_auth(), args.id).await;
    desk.close_journal().await;
    let migrated = migrated.map_err(|error| guided_run_error_to_cli(&error))?;
    if args.json {
        output_streams::write_stdout_json_line(&json!({
            "runId": args.id,
            "from": migrated.from,
            "to": migrated.to,
            "nodes": migrated.nodes,
        }))?;
    } else if migrated.nodes.is_empty() {
        output_streams::write_stdout_line(&format!("{} already uses {}", args.id, migrated.to))?;
    } else {
        let (count, to) = (migrated.nodes.len(), migrated.to);
        let nodes = if count == 1 { "node" } else { "nodes" };
        output_streams::write_stdout_line(&format!(
            "{}: {count} {nodes} from {} to {to}",
            args.id, migrated.from
        ))?;
    }
    Ok(ExitStatus::Done)
}

/// An engine that does not continue the other runs of the folder.
async fn open_client_for_one_run(target: &args::RunTargetArgs) -> Result<RunClient, CliError> {
    let server = |data: &Path| Ok(programs::bundled_server(data).without_recovery());
    RunClient::open_for_existing_runs(
        RunTarget::resolve_run_target(target)?,
        server,
        &FaultInjectionArgs { fault: None },
    )
    .await
}

fn print_run_detail(run: &RunDetail, as_json: bool) -> Result<ExitStatus, CliError> {
    if as_json {
        output_streams::write_stdout_json_line(run)?;
    } else {
        output_streams::write_stdout_line(&format!("{} {}", run.summary.id, run.summary.state))?;
    }
    Ok(ExitStatus::Done)
}
