//! Arguments of `trackway sessions`.

use std::{path::PathBuf, str::FromStr, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use trackway::sessions::ExpectedSigner;
use trackway_domain::{Access, Caller, NodeId, RunId, Seq, SessionId};

use super::DataFolderArgs;
use crate::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the most recently active first
    List(ListSessionsArgs),
    /// Show one session: its runs and documents
    Show(SessionRefArgs),
    /// Show how the runs of a session branched
    Graph(SessionGraphArgs),
    /// Find the session, run and node that a stateToken from a chat belongs to
    Find(FindTokenArgs),
    /// Print the notes on a session itself as Markdown
    Notes(SessionRefArgs),
    /// Write a session to a file: a bundle to import elsewhere, or pages to read
    Export(ExportSessionArgs),
    /// Import a bundle that was exported elsewhere
    Import(ImportSessionArgs),
    /// Remove finished sessions without new records for a long time
    Prune(PruneSessionsArgs),
}

/// The owner of the sessions: by default the local caller.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionOwnerArgs {
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Tenant that they belong to
    #[arg(long, default_value = "local", value_name = "NAME")]
    tenant: String,
    /// User that they belong to
    #[arg(long, default_value = "local", value_name = "NAME")]
    user: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl SessionOwnerArgs {
    pub(crate) fn caller_access(&self) -> Access {
        Access::own_only(Caller::new(&self.tenant, &self.user))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListSessionsArgs {
    /// How many to list
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) owner: SessionOwnerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionRefArgs {
    /// Which session, as `trackway sessions list` shows it
    #[arg(value_name = "SESSION")]
    pub(crate) id: SessionId,
    #[command(flatten)]
    pub(crate) owner: SessionOwnerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionGraphArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// With --json: add the SHA-256 of the tokens of every node and answer
    #[arg(long, requires = "json")]
    pub(crate) token_hashes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FindTokenArgs {
    /// The agent's stateToken
    #[arg(value_name = "TOKEN")]
    pub(crate) token: String,
    #[command(flatten)]
    pub(crate) owner: SessionOwnerArgs,
}

/// A node of a run: its number there, or its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeSelector {
    Number(Seq),
    Id(NodeId),
}

impl NodeSelector {
    pub(crate) fn to_node_id(self, run: RunId) -> Option<NodeId> {
        match self {
            Self::Number(number) => NodeId::node_id_from_event_number(run, number),
            Self::Id(id) => Some(id),
        }
    }
}

impl FromStr for NodeSelector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('#').unwrap_or(text).parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => text
                .parse()
                .map(Self::Id)
                .map_err(|_| "it is neither a number such as 7 nor an id that begins with nod_".to_owned()),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExportSessionArgs {
    /// Which session, as `trackway sessions list` shows it
    #[arg(value_name = "SESSION")]
    pub(crate) id: SessionId,
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// What to write
    #[arg(long, default_value = "bundle", value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    #[command(flatten)]
    pub(crate) owner: SessionOwnerArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Everything, signed, for an import elsewhere
    Bundle,
    /// A page to read: every run, every branch
    Markdown,
    /// The same page to print
    Pdf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportSessionArgs {
    /// A bundle that `trackway sessions export` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Import it only if this key signed it: the public key or the fingerprint that export printed
    #[arg(long, value_name = "KEY")]
    pub(crate) signed_by: Option<ExpectedSigner>,
    #[command(flatten)]
    pub(crate) owner: SessionOwnerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PruneSessionsArgs {
    /// How old the newest record must be, for example 60d [default: the value in trackway.toml, else
    /// 60d]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_duration)]
    pub(crate) older_than: Option<Duration>,
    /// Only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Folder with `trackway.toml`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
