//! Arguments of `trackway peers`.

use clap::{Args, Subcommand};
use trackway::Secret;

use super::{DataFolderArgs, RunTargetArgs, WorkspaceArgs, parse_secret};

#[derive(Debug, Subcommand)]
pub(crate) enum PeersCommand {
    /// List the agents of other processes, and whether they answer
    List(ListPeersArgs),
    /// Show one peer: its card, its input and its tool
    Show(PeerRefArgs),
    /// Add a peer by its address; it stays after a restart
    Add(AddPeerArgs),
    /// Remove a peer that was added
    Remove(PeerRefArgs),
    /// Ask a peer now whether it answers
    Ping(PeerRefArgs),
    /// Print the public key of this node, for `[mesh] trust` of the nodes that it calls
    Key(NodeKeyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListPeersArgs {
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// One peer, and who knows it.
#[derive(Debug, Args)]
pub(crate) struct PeerRefArgs {
    /// Which peer, as `trackway peers list` shows it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddPeerArgs {
    /// Address below which the peer's `.well-known/agent-card.json` lies
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Its name here; by default that of its card. With a name it is added even if it does not answer
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Key that the peer wants from us; other users of this machine can see arguments, but not the
    /// environment
    #[arg(long, env = "TRACKWAY_PEER_KEY", hide_env_values = true, value_parser = parse_secret, value_name = "KEY")]
    pub(crate) peer_key: Option<Secret>,
    /// Header that is sent to the peer with every request; may be given several times
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = parse_header)]
    pub(crate) headers: Vec<HeaderArg>,
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NodeKeyArgs {
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A header, whose value may be secret.
#[derive(Debug, Clone)]
pub(crate) struct HeaderArg {
    pub(crate) name: String,
    pub(crate) value: Secret,
}

/// The error does not repeat the text, which may be secret.
fn parse_header(text: &str) -> Result<HeaderArg, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok(HeaderArg { name: name.trim().to_owned(), value: Secret::new(value) })
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
