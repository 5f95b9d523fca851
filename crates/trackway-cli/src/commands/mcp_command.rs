//! `trackway mcp`: serves workflow files to the agent that started this process.
//!
//! The folder is not locked: a server and any number of these processes may use it at the same time.
//! Only the protocol goes to stdout, and the process ends when its stdin ends.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_mcp::{CheckpointSwitches, KeyRing, McpDoor};
use trackway_ports::{Clock as _, FaultInjector, Journal, NoFaultInjection};
use trackway_runtime::{Catalogue, GuidedRunOptions, GuidedRuns, SystemClock, SystemIds};
use trackway_sqlite::{FolderKeys, SqliteJournal};

use crate::{
    args::{GuidedWorkflowArgs, McpArgs, OnOff, WorkflowFolderArgs},
    cli_error::CliError,
    config::WorkspaceConfig,
    exit_status::ExitStatus,
    fault_injection::AbortAtFaultPoint,
    workspace::WORKFLOWS,
};

pub(super) async fn serve_mcp_over_stdio(args: McpArgs) -> Result<ExitStatus, CliError> {
    let config = WorkspaceConfig::load_config(args.workspace.as_deref())?;
    let faults: Arc<dyn FaultInjector> = match args.testing.fault {
        Some(point) => Arc::new(AbortAtFaultPoint::new(point)),
        None => Arc::new(NoFaultInjection),
    };
    let data = &args.data.folder;
    // The store first: it creates the folder if it is missing.
    let store = trackway_sqlite::SqliteOptions { faults: faults.clone(), ..Default::default() };
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open_with_options(data, store)?);
    let keys = Arc::new(FolderKeys::with_faults(data, faults.clone()));
    let ring = KeyRing::open(keys, SystemClock.now()).await.map_err(|error| CliError::from_error(&error))?;
    let guide = GuidedRuns::new(GuidedRunOptions {
        journal: journal.clone(),
        catalogue: Arc::new(build_catalogue(&args.guided.folders, &config, args.workspace.as_deref())),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        faults,
    });
    let door = McpDoor::new(guide, Arc::new(ring), resolve_checkpoint_switches(&args.guided, &config));
    let served = door.serve_stdio().await;
    journal.close_store().await;
    served.map_err(|error| CliError::from_error(&error))?;
    Ok(ExitStatus::Done)
}

fn build_catalogue(
    folder_args: &WorkflowFolderArgs,
    config: &WorkspaceConfig,
    workspace: Option<&Path>,
) -> Catalogue {
    let folders = resolve_workflow_folders(folder_args, config, workspace);
    if has_user_named_folders(folder_args, config) {
        Catalogue::with_required_folders(folders)
    } else {
        Catalogue::new(folders)
    }
}

/// The named folders, else those of the configuration, else the default folder next to it.
pub(super) fn resolve_workflow_folders(
    folder_args: &WorkflowFolderArgs,
    config: &WorkspaceConfig,
    workspace: Option<&Path>,
) -> Vec<PathBuf> {
    let folders = match &config.workflows.folders {
        _ if !folder_args.workflows.is_empty() => &folder_args.workflows,
        Some(folders) => folders,
        None => return vec![workspace.unwrap_or(Path::new("")).join(WORKFLOWS)],
    };
    for absent in folders.iter().filter(|folder| !folder.exists()) {
        tracing::warn!(folder = %absent.display(), "there is no such folder of workflows");
    }
    folders.clone()
}

/// Whether the user named the folders. A missing default folder is not reported.
pub(super) fn has_user_named_folders(folder_args: &WorkflowFolderArgs, config: &WorkspaceConfig) -> bool {
    !folder_args.workflows.is_empty() || config.workflows.folders.is_some()
}

pub(super) fn resolve_checkpoint_switches(
    args: &GuidedWorkflowArgs,
    config: &WorkspaceConfig,
) -> CheckpointSwitches {
    let on = |said: Option<OnOff>, configured| match said {
        Some(said) => said == OnOff::On,
        None => configured,
    };
    CheckpointSwitches {
        checkpoints: on(args.checkpoints, config.mcp.checkpoints),
        session_checkpoints: on(args.session_checkpoints, config.mcp.session_checkpoints),
    }
}
