//! Arguments of `trackway sessions`.

use std::{path::PathBuf, str::FromStr, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use trackway::sessions::SignedBy;
use trackway_domain::{Access, Caller, NodeId, RunId, Seq, SessionId};

use super::Data;
use crate::span;

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List sessions, the most recently active first
    List(ListSessions),
    /// Show one session: its runs and documents
    Show(OneSession),
    /// Show how the runs of a session branched
    Graph(GraphSession),
    /// Find the session, run and node that a stateToken from a chat belongs to
    Find(FindToken),
    /// Print the notes on a session itself as Markdown
    Notes(OneSession),
    /// Write a session to a file: a bundle to import elsewhere, or pages to read
    Export(Export),
    /// Import a bundle that was exported elsewhere
    Import(Import),
    /// Remove finished sessions without new records for a long time
    Prune(Prune),
}

/// The owner of the sessions: by default the local caller.
#[derive(Debug, Clone, Args)]
pub(crate) struct Whose {
    #[command(flatten)]
    pub(crate) data: Data,
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

impl Whose {
    pub(crate) fn access(&self) -> Access {
        Access::own(Caller::new(&self.tenant, &self.user))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListSessions {
    /// How many to list
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct OneSession {
    /// Which session, as `trackway sessions list` shows it
    #[arg(value_name = "SESSION")]
    pub(crate) id: SessionId,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct GraphSession {
    #[command(flatten)]
    pub(crate) session: OneSession,
    /// With --json: add the SHA-256 of the tokens of every node and answer
    #[arg(long, requires = "json")]
    pub(crate) token_hashes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FindToken {
    /// The agent's stateToken
    #[arg(value_name = "TOKEN")]
    pub(crate) token: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

/// A node of a run: its number there, or its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeName {
    Number(Seq),
    Id(NodeId),
}

impl NodeName {
    pub(crate) fn of(self, run: RunId) -> Option<NodeId> {
        match self {
            Self::Number(number) => NodeId::at(run, number),
            Self::Id(id) => Some(id),
        }
    }
}

impl FromStr for NodeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('#').unwrap_or(text).parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => text.parse().map(Self::Id).map_err(|_| {
                "it is neither a number such as 7 nor an id that begins with nod_".to_owned()
            }),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Export {
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
    pub(crate) whose: Whose,
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
pub(crate) struct Import {
    /// A bundle that `trackway sessions export` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Import it only if this key signed it: the public key or the fingerprint that export printed
    #[arg(long, value_name = "KEY")]
    pub(crate) signed_by: Option<SignedBy>,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// How old the newest record must be, for example 60d [default: the value in trackway.toml, else
    /// 60d]
    #[arg(long, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) older_than: Option<Duration>,
    /// Only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Folder with `trackway.toml`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
