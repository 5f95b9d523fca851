//! Arguments of `trackway keys`.

use std::time::Duration;

use clap::{Args, Subcommand};
use trackway_domain::Scope;

use super::{Data, span};

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create a key and print it; it is not shown again
    Create(CreateKey),
    /// List the keys of the data folder
    List(ListKeys),
    /// Revoke a key: it is refused from the next request on
    Revoke(RevokeKey),
    /// Sign the tokens of agents with a new key; earlier tokens stay valid
    Rotate(RotateKeys),
}

#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    /// Tenant that its runs belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: String,
    /// User that its runs belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,
    /// What it may do: `*`, `workflow:<name>:run`, `agent:<name>:call`; `tenant` adds access to what other
    /// users of the tenant own. May be given several times
    #[arg(long = "scope", required = true, num_args = 1.., value_name = "SCOPE")]
    pub(crate) scopes: Vec<Scope>,
    /// Id for revoking it; by default a random one
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListKeys {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeKey {
    /// Which key, as `trackway keys list` shows it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Print the revoked key as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RotateKeys {
    /// Invalidate the tokens of keys that have signed nothing for this long, for example 90d
    #[arg(long, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) retire_older_than: Option<Duration>,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
