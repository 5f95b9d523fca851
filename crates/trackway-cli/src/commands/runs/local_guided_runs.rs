//! Commands on runs that an outside agent drives. The folder is not locked: agents and a server may use
//! it at the same time.

use std::{path::Path, sync::Arc};

use trackway_domain::{Event, RunId};
use trackway_mcp::KeyRing;
use trackway_ports::{Clock as _, Journal, NoFaultInjection};
use trackway_runtime::{Catalogue, GuidedRunError, GuidedRunOptions, GuidedRuns, SystemClock, SystemIds};
use trackway_sqlite::{FolderKeys, SqliteJournal};

use crate::{
    args::WorkflowFolderArgs, cli_error::CliError, commands::mcp_command, config::WorkspaceConfig, run_target,
};

/// A guide on a folder that must exist.
pub(super) struct LocalGuidedRuns {
    pub(super) guide: GuidedRuns,
    pub(super) key_ring: KeyRing,
    journal: Arc<dyn Journal>,
}

impl LocalGuidedRuns {
    pub(super) async fn open_existing(
        data: &Path,
        folders: &WorkflowFolderArgs,
        workspace: Option<&Path>,
    ) -> Result<Self, CliError> {
        // A mistyped folder is not created.
        drop(run_target::open_existing_store(data)?);
        let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(data)?);
        let keys = Arc::new(FolderKeys::in_folder(data));
        let ring =
            KeyRing::open(keys, SystemClock.now()).await.map_err(|error| CliError::from_error(&error))?;
        let folders = mcp_command::resolve_workflow_folders(
            folders,
            &WorkspaceConfig::load_config(workspace)?,
            workspace,
        );
        let guide = GuidedRuns::new(GuidedRunOptions {
            journal: journal.clone(),
            catalogue: Arc::new(Catalogue::new(folders)),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: Arc::new(NoFaultInjection),
        });
        Ok(Self { guide, key_ring: ring, journal })
    }

    pub(super) async fn close_journal(self) {
        self.journal.close_store().await;
    }
}

/// Whether an outside agent drives this run of a folder; false if there is no such run.
pub(super) async fn is_guided_run(data: &Path, run: RunId) -> Result<bool, CliError> {
    let journal = run_target::open_existing_store(data)?;
    let first = journal.list_events(run, 0, 1).await;
    journal.close_store().await;
    let first = first?.into_iter().next().map(|stored| stored.event);
    Ok(matches!(first, Some(Event::Submitted(submission)) if submission.guided))
}

/// Explains a refusal of the guide to a person.
pub(super) fn guided_run_error_to_cli(error: &GuidedRunError) -> CliError {
    let failure = CliError::from_error(error).with_error_code(error.code().as_str());
    match error {
        GuidedRunError::UnknownNode { .. } => {
            failure.with_hint("`trackway sessions graph` shows the numbers of its nodes")
        }
        GuidedRunError::UnknownWorkflow { .. } => failure.with_hint("name its folder with --workflows"),
        GuidedRunError::InvalidWorkflow { file, findings: faults, .. } => {
            let each = faults.iter().map(|fault| {
                let line = fault.line.map(|line| format!(", line {line}")).unwrap_or_default();
                let place = if fault.path.is_empty() { "" } else { ", " };
                format!("{file}{line}{place}{}: {}", fault.path, fault.message)
            });
            each.fold(failure, CliError::with_hint)
        }
        _ => failure,
    }
}
