//! What can be typed about a conversation.

use clap::Args;
use trackway_domain::SessionId;

use super::{Folders, Place, Testing, Within};

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Agent to talk to; the default one unless given
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Session to go on with; a new one unless given
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    pub(crate) session: Option<SessionId>,
    /// Go on with the newest session of this agent
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) within: Within,
    #[command(flatten)]
    pub(crate) folders: Folders,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print one JSON object per update, of the turns and of what they dispatch
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) testing: Testing,
}
