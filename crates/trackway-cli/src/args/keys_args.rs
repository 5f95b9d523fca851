//! Arguments of `trackway keys`.

use std::time::Duration;

use clap::{Args, Subcommand};
use trackway_domain::Scope;

use super::{DataFolderArgs, duration};

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it; it is not shown again
    Create(CreateKeyArgs),
    /// List the keys of the data folder
    List(ListKeysArgs),
    /// Revoke a key: it is refused from the next request on
    Revoke(RevokeKeyArgs),
    /// Sign the tokens of agents with a new key; earlier tokens stay valid
    Rotate(RotateKeysArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateKeyArgs {
    /// Tenant that its runs belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: String,
    /// User that its runs belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,
    /// What it may do: `*`, `workflow:<name>:run`, `agent:<name>:call`, `artifact:read`, `artifact:write`,
    /// `peer:admin`, `audit:read`; `tenant` adds access to what other users of the tenant own. May be given
    /// several times
    #[arg(long = "scope", required = true, num_args = 1.., value_name = "SCOPE")]
    pub(crate) scopes: Vec<Scope>,
    /// Id for revoking it; by default a random one
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListKeysArgs {
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeKeyArgs {
    /// Which key, as `trackway keys list` shows it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print the revoked key as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RotateKeysArgs {
    /// Invalidate the tokens of keys that have signed nothing for this long, for example 90d
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_duration)]
    pub(crate) retire_older_than: Option<Duration>,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
