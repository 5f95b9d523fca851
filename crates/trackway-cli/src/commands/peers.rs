//! `trackway peers`: the agents that this node can call, and the key with which it calls them.
//!
//! A running server answers for its own peers. Without one, the commands read the workspace and the data
//! folder themselves, ask the peers, and change the stored ones in the folder.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde_json::{Value, json};
use trackway::{
    Caller,
    api::{AddPeerRequest, PeerDetail, PeerSummary},
};
use trackway_mesh::{
    AddedOutcome, MeshConfiguration, NewPeer, NodeKeys, PeerCredentials, PeerError, PeerName, PeerRegistry,
    PeerRegistryOptions,
};
use trackway_runtime::{SystemClock, SystemIds};
use trackway_sqlite::FolderKeys;

use crate::{
    args::{
        AddPeerArgs, ListPeersArgs, NodeKeyArgs, PeerRefArgs, PeersCommand, RunTargetArgs, WorkspaceArgs,
    },
    cli_error::CliError,
    config::WorkspaceConfig,
    exit_status::ExitStatus,
    output_streams,
    rest_client::RestClient,
    run_target::RunTarget,
    text_format,
};

/// Longest error that the table shows.
/// Limit (CLI): error of a peer in a table, in characters.
const ERROR_CHARS_MAX: usize = 60;

pub(super) async fn run_peers_command(command: PeersCommand) -> Result<ExitStatus, CliError> {
    match command {
        PeersCommand::List(args) => list_peers(&args).await,
        PeersCommand::Show(args) => show_peer(&args).await,
        PeersCommand::Add(args) => add_peer(args).await,
        PeersCommand::Remove(args) => remove_peer(&args).await,
        PeersCommand::Ping(args) => ping_peer(&args).await,
        PeersCommand::Key(args) => print_node_key(&args).await,
    }
}

/// Who knows the peers.
enum PeerSourceTarget {
    Server(RestClient),
    /// A registry of this process, for the local caller.
    Here(PeerRegistry, Caller),
}

impl PeerSourceTarget {
    async fn open(target: &RunTargetArgs, workspace: &WorkspaceArgs) -> Result<Self, CliError> {
        match RunTarget::resolve_run_target(target)? {
            RunTarget::Server(server) => Ok(Self::Server(server)),
            RunTarget::Folder { path, .. } => {
                let config = WorkspaceConfig::load_config(workspace.workspace.as_deref())?;
                let registry = start_registry(config.mesh.configuration, &path).await?;
                Ok(Self::Here(registry, Caller::local_without_auth()))
            }
        }
    }
}

/// A registry over the stored peers of a data folder.
pub(super) async fn start_registry(
    configuration: MeshConfiguration,
    data: &Path,
) -> Result<PeerRegistry, CliError> {
    let options = PeerRegistryOptions {
        configuration,
        keys: Arc::new(FolderKeys::in_folder(data)),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    };
    Ok(PeerRegistry::start(options).await?)
}

/// `trackway peers list`: every peer, in the order of the names.
async fn list_peers(args: &ListPeersArgs) -> Result<ExitStatus, CliError> {
    let peers = match PeerSourceTarget::open(&args.target, &args.workspace_args).await? {
        PeerSourceTarget::Server(server) => server.list_peers().await?,
        PeerSourceTarget::Here(registry, caller) => {
            registry.wait_until_asked().await;
            let snapshot = registry.snapshot();
            snapshot.peers_of_tenant(&caller.tenant).iter().map(|peer| PeerSummary::from(&**peer)).collect()
        }
    };
    if args.json {
        output_streams::write_stdout_json_line(&json!({ "items": peers }))?;
        return Ok(ExitStatus::Done);
    }
    if peers.is_empty() {
        output_streams::print_stderr_note("No peers.");
        return Ok(ExitStatus::Done);
    }
    let head = ["NAME", "KIND", "HEALTH", "TOOL", "URL", "ERROR"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(peers.iter().map(peer_table_row)).collect();
    text_format::align_table_columns(&rows)
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(line))?;
    Ok(ExitStatus::Done)
}

fn peer_table_row(peer: &PeerSummary) -> Vec<String> {
    let error = peer.error.as_deref().map(|error| text_format::truncate_text(error, ERROR_CHARS_MAX));
    let cells = [
        Some(peer.name.clone()),
        Some(peer.kind.clone()),
        Some(peer.health.clone()),
        peer.tool.clone(),
        Some(peer.url.clone()),
        error,
    ];
    let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
    cells.iter().map(|cell| text_format::replace_control_chars(cell)).collect()
}

/// `trackway peers show`: what the card of one peer says.
async fn show_peer(args: &PeerRefArgs) -> Result<ExitStatus, CliError> {
    let peer = match PeerSourceTarget::open(&args.target, &args.workspace_args).await? {
        PeerSourceTarget::Server(server) => server.load_peer(&args.name).await?,
        PeerSourceTarget::Here(registry, caller) => {
            registry.wait_until_asked().await;
            let snapshot = registry.snapshot();
            let peer = snapshot.find_peer(&caller.tenant, &args.name);
            let peer = peer.ok_or_else(|| unknown_peer(&registry, &caller, &args.name))?;
            PeerDetail::from(&**peer)
        }
    };
    if args.json {
        output_streams::write_stdout_json_line(&peer)?;
        return Ok(ExitStatus::Done);
    }
    render_peer(&peer)
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(&text_format::replace_control_chars(line)))?;
    Ok(ExitStatus::Done)
}

fn render_peer(peer: &PeerDetail) -> Vec<String> {
    let PeerDetail { summary, source, renamed_from, description, input_schema, output_schema, .. } = peer;
    let mut lines = vec![
        format!("{} ({}, {})", summary.name, summary.kind, summary.health),
        format!("url: {}", summary.url),
        format!("source: {source}"),
    ];
    let mut put = |key: &str, value: Option<&str>| {
        lines.extend(value.filter(|value| !value.is_empty()).map(|value| format!("{key}: {value}")));
    };
    put("tool", summary.tool.as_deref());
    put("description", Some(description));
    put("last seen", summary.last_seen.as_deref());
    put("error", summary.error.as_deref());
    put("another peer has the name", renamed_from.as_deref());
    for (key, schema) in [("input", input_schema), ("output", output_schema)] {
        let schema = schema.as_ref().map(Value::to_string);
        put(key, schema.as_deref());
    }
    lines
}

/// `trackway peers add`: adds a peer, in the running server or in the data folder.
async fn add_peer(args: AddPeerArgs) -> Result<ExitStatus, CliError> {
    let target = PeerSourceTarget::open(&args.target, &args.workspace_args).await?;
    let key = args.peer_key.map(|key| key.expose_secret().to_owned()).filter(|key| !key.is_empty());
    let header =
        |header: &crate::args::HeaderArg| (header.name.clone(), header.value.expose_secret().to_owned());
    let headers: BTreeMap<String, String> = args.headers.iter().map(header).collect();
    let peer = match target {
        PeerSourceTarget::Server(server) => {
            let request = AddPeerRequest { url: args.url, name: args.name, key, headers };
            server.add_peer(&request).await?
        }
        PeerSourceTarget::Here(registry, caller) => {
            let name = args.name.as_deref().map(PeerName::new).transpose().map_err(PeerError::from)?;
            let credentials = PeerCredentials { key, headers };
            match registry.add_peer(&caller, NewPeer { url: args.url, name, credentials }).await? {
                AddedOutcome::Created(peer) | AddedOutcome::Existing(peer) => PeerSummary::from(&*peer),
            }
        }
    };
    if args.json {
        output_streams::write_stdout_json_line(&peer)?;
        return Ok(ExitStatus::Done);
    }
    // Only the name goes to stdout, so that a script can read it.
    output_streams::write_stdout_line(&peer.name)?;
    match (&peer.tool, &peer.error) {
        (Some(tool), _) => output_streams::print_stderr_note(&format!(
            "It is the tool {tool} of agents whose `peers` name it."
        )),
        (None, error) => output_streams::print_stderr_note(&text_format::replace_control_chars(&format!(
            "It does not answer yet ({}), and is asked again.",
            error.as_deref().unwrap_or("no reason is known")
        ))),
    }
    Ok(ExitStatus::Done)
}

/// `trackway peers remove`: removes a peer that was added.
async fn remove_peer(args: &PeerRefArgs) -> Result<ExitStatus, CliError> {
    match PeerSourceTarget::open(&args.target, &args.workspace_args).await? {
        PeerSourceTarget::Server(server) => server.remove_peer(&args.name).await?,
        PeerSourceTarget::Here(registry, caller) => {
            let removed = registry.remove_peer(&caller.tenant, &args.name).await;
            removed.map_err(|error| with_known_peers(error, &registry, &caller))?;
        }
    }
    if args.json {
        output_streams::write_stdout_json_line(&json!({ "removed": args.name }))?;
    } else {
        output_streams::print_stderr_note(&format!("Removed {}.", args.name));
    }
    Ok(ExitStatus::Done)
}

/// `trackway peers ping`: fails if the peer does not answer.
async fn ping_peer(args: &PeerRefArgs) -> Result<ExitStatus, CliError> {
    let peer = match PeerSourceTarget::open(&args.target, &args.workspace_args).await? {
        PeerSourceTarget::Server(server) => server.ping_peer(&args.name).await?,
        PeerSourceTarget::Here(registry, caller) => {
            // A peer may have the name of its card.
            registry.wait_until_asked().await;
            let peer = registry.ping(&caller.tenant, &args.name).await;
            PeerSummary::from(&*peer.map_err(|error| with_known_peers(error, &registry, &caller))?)
        }
    };
    if args.json {
        output_streams::write_stdout_json_line(&peer)?;
    } else {
        output_streams::write_stdout_line(&format!("{} {}", peer.name, peer.health))?;
    }
    Ok(ExitStatus::Done)
}

fn unknown_peer(registry: &PeerRegistry, caller: &Caller, name: &str) -> CliError {
    let snapshot = registry.snapshot();
    let known: Vec<String> = snapshot.names_of_tenant(&caller.tenant).map(ToString::to_string).collect();
    CliError::unknown_peer(PeerError::unknown(name).to_string(), name, &known)
}

fn with_known_peers(error: PeerError, registry: &PeerRegistry, caller: &Caller) -> CliError {
    match &error {
        PeerError::Unknown { name } => unknown_peer(registry, caller, name),
        _ => error.into(),
    }
}

impl From<PeerError> for CliError {
    fn from(error: PeerError) -> Self {
        let failure = Self::from_error(&error).with_error_code(error.code().as_str());
        match error {
            PeerError::Unusable { .. } => {
                failure.with_hint("with --name it is added anyway, and asked again until it answers")
            }
            _ => failure,
        }
    }
}

/// `trackway peers key`: the public key of the data folder's node, with or without a running server.
async fn print_node_key(args: &NodeKeyArgs) -> Result<ExitStatus, CliError> {
    let keys = NodeKeys::in_store(Arc::new(FolderKeys::in_folder(&args.data.folder)));
    let key = keys.public_key().await.map_err(|error| CliError::from_error(&error))?.to_string();
    if args.json {
        output_streams::write_stdout_json_line(&json!({ "publicKey": key }))?;
    } else {
        output_streams::write_stdout_line(&key)?;
    }
    Ok(ExitStatus::Done)
}
