//! Arguments of `trackway chat`.

use clap::Args;
use trackway_domain::SessionId;

use super::{FaultInjectionArgs, RunTargetArgs, WorkflowFolderArgs, WorkspaceArgs};

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Agent to talk to; by default the default agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Session to continue; by default a new one
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    pub(crate) session: Option<SessionId>,
    /// Continue the newest session of this agent
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) folders: WorkflowFolderArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print one JSON object per update, of the turns and of the runs that they dispatch
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) testing: FaultInjectionArgs,
}
