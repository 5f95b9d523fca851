//! `trackway.toml`: the settings of an operator.
//!
//! `raw_config` is the format of the file, `lenient_toml` reads as much of it as possible, `config_reader`
//! records where it is wrong, and `config_sections` and the modules of single sections build the values that
//! commands use. An unknown setting is an error: a setting that is silently ignored is worse than none.

mod artifacts_section;
mod config_reader;
mod config_sections;
mod lenient_toml;
mod mesh_sections;
mod model_sections;
mod outgoing_section;
mod raw_config;
mod raw_settings;

use std::{
    cell::RefCell,
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Auth, ConnectionLimits, Secret};
use trackway_a2a::BLOCKING_TIMEOUT_DEFAULT;
use trackway_agent::FIRST_ANSWER_TIMEOUT_DEFAULT;
use trackway_artifacts::ArtifactLimits;
use trackway_mesh::MeshConfiguration;
use trackway_outgoing::AllowedTargets;
use trackway_runtime::ChildLimits;

use crate::workspace::{
    WorkspaceError,
    env_reference::EnvLookup,
    finding::{self, Finding},
};

pub use model_sections::{ModelProviderKind, ModelSection, parse_base_url};
pub use raw_settings::{HIDDEN, RawSetting};

pub const FILE: &str = "trackway.toml";

/// Everything that can be configured, checked.
#[derive(Debug, Default)]
pub struct WorkspaceConfig {
    pub auth: Auth,
    pub outgoing: OutgoingSection,
    pub push: PushSection,
    pub server: ServerSection,
    pub a2a: A2aSection,
    pub mcp: McpSection,
    pub nats: NatsSection,
    pub workflows: WorkflowsSection,
    pub retention: RetentionSection,
    pub defaults: DefaultsSection,
    /// By name. None if the section is wrong: its name is still known.
    pub models: BTreeMap<String, Option<ModelSection>>,
    pub dispatch: DispatchSection,
    pub mesh: MeshSection,
    /// `[artifacts]`: how much may be stored.
    pub artifacts: ArtifactLimits,
    /// The settings in the file, without secrets, and the line of each.
    pub raw_settings: Vec<(RawSetting, u32)>,
}

/// `[defaults]`: the agent and the model that are used if none is named.
#[derive(Debug, Default, PartialEq)]
pub struct DefaultsSection {
    /// The agent at the addresses that name no agent, and of `trackway chat`.
    pub agent: Option<LocatedName>,
    /// The model of agents that name none.
    pub model: Option<LocatedName>,
}

/// A name and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedName {
    pub name: String,
    pub line: u32,
}

/// `[dispatch]`: workflows that agents start.
#[derive(Debug, PartialEq, Eq)]
pub struct DispatchSection {
    /// How long an agent waits for a workflow's first answer.
    pub first_answer_timeout: Duration,
    /// Limits of the runs below a root.
    pub limits: ChildLimits,
}

impl Default for DispatchSection {
    fn default() -> Self {
        let first_answer_timeout = FIRST_ANSWER_TIMEOUT_DEFAULT;
        Self { first_answer_timeout, limits: ChildLimits::default() }
    }
}

/// `[mesh]` and `[[peers]]`: other nodes.
#[derive(Debug, Default, PartialEq)]
pub struct MeshSection {
    pub configuration: MeshConfiguration,
    /// The line of each peer of the configuration, in its order.
    pub peer_lines: Vec<u32>,
}

/// `[retention]`: how long sessions are kept.
#[derive(Debug, PartialEq)]
pub struct RetentionSection {
    /// None if they are kept for ever.
    pub older_than: Option<Duration>,
}

/// `[mcp]`: what agents may do.
#[derive(Debug, Default, PartialEq)]
pub struct McpSection {
    /// Record notes without advancing.
    pub checkpoints: bool,
    /// Also record notes on a whole session.
    pub session_checkpoints: bool,
}

/// `[workflows]`: the folders of the workflow definitions.
#[derive(Debug, Default, PartialEq)]
pub struct WorkflowsSection {
    pub folders: Option<Vec<PathBuf>>,
}

/// `[outgoing]`: which addresses the server may call.
#[derive(Debug, Default, PartialEq)]
pub struct OutgoingSection {
    /// Addresses of this machine are allowed.
    pub allow_loopback: bool,
    /// Further targets that are allowed.
    pub allow: AllowedTargets,
}

/// `[nats]`: the server over which nodes find and call each other.
#[derive(Debug, Default, PartialEq)]
pub struct NatsSection {
    /// It may contain a password.
    pub url: Option<Secret>,
}

/// `[push]`: notifications to clients.
#[derive(Debug, Default, PartialEq)]
pub struct PushSection {
    /// The key that signs the bodies.
    pub secret: Option<Secret>,
}

/// `[server]`: how it is reached, and what a request may cost.
#[derive(Debug, PartialEq)]
pub struct ServerSection {
    /// The public address of the server.
    pub public_url: Option<String>,
    pub body_max_bytes: usize,
    pub connections: ConnectionLimits,
    /// How long a blocking send waits for its task.
    pub blocking_timeout: Duration,
}

/// `[a2a]`: how the door presents itself.
#[derive(Debug, Default, PartialEq)]
pub struct A2aSection {
    /// The agent or workflow at the addresses that name none, if it is not the default agent.
    pub default_agent: Option<LocatedName>,
    /// The key that signs the cards.
    pub signing: Option<CardSigningKey>,
    /// gRPC clients may list the services.
    pub grpc_reflection: bool,
    /// Cards do not name the address of gRPC.
    pub grpc_hidden: bool,
}

/// A private key, and the id of its public half.
#[derive(Debug, PartialEq)]
pub struct CardSigningKey {
    /// The private key as PEM.
    pub key_pem: Secret,
    pub key_id: String,
}

impl Default for ServerSection {
    fn default() -> Self {
        // Room for a document of some megabytes in base64.
        Self {
            public_url: None,
            body_max_bytes: 10 * 1024 * 1024,
            connections: ConnectionLimits::default(),
            blocking_timeout: BLOCKING_TIMEOUT_DEFAULT,
        }
    }
}

/// Days for which finished sessions are kept by default.
/// Limit (CLI): age of finished sessions that are kept; `[retention] days`.
const RETENTION_DAYS: u64 = 60;

impl RetentionSection {
    fn retention_from_days(days: u64) -> Self {
        Self { older_than: Some(Duration::from_secs(days.saturating_mul(24 * 60 * 60))) }
    }
}

impl Default for RetentionSection {
    fn default() -> Self {
        Self::retention_from_days(RETENTION_DAYS)
    }
}

impl WorkspaceConfig {
    /// Reads the file in this folder, or in the current one. Without a file, all settings have their
    /// defaults. A named folder must exist.
    pub fn load_config(workspace: Option<&Path>) -> Result<Self, WorkspaceError> {
        let folder = resolve_workspace_folder(workspace)?;
        let (config, findings) = Self::load_config_with_findings(folder, &read_env_var);
        finding::error_from_findings(&findings).map_or(Ok(config), Err)
    }

    /// The same, with all findings. A wrong setting gets its default.
    pub fn load_config_with_findings(folder: &Path, variables: EnvLookup<'_>) -> (Self, Vec<Finding>) {
        let path = folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse_config(&path, folder, &text, variables),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), Vec::new()),
            Err(error) => {
                let unread =
                    Finding::error_finding(format!("it cannot be read: {error}")).located_in_file(&path);
                (Self::default(), vec![unread])
            }
        }
    }

    /// Parses the text of the file. Relative paths begin at `folder`.
    fn parse_config(
        path: &Path,
        folder: &Path,
        text: &str,
        variables: EnvLookup<'_>,
    ) -> (Self, Vec<Finding>) {
        let findings = RefCell::default();
        let reader = config_reader::ConfigReader { path, folder, text, variables, findings };
        let (file, misread) = lenient_toml::parse_config_leniently(text);
        misread.into_iter().for_each(|part| reader.report_parse_finding(part));
        let mut config = config_sections::build_config(&reader, file);
        let lines = raw_settings::list_raw_settings(text).into_iter();
        config.raw_settings = lines
            .map(|written| {
                let line = reader.line_of_offset(written.at);
                (written, line)
            })
            .collect();
        let mut findings = reader.findings.into_inner();
        findings.sort_by_key(|finding| finding.line);
        (config, findings)
    }
}

/// The workspace: the named folder, which must exist, or the current one.
pub fn resolve_workspace_folder(named: Option<&Path>) -> Result<&Path, WorkspaceError> {
    // An empty variable counts as not set.
    let named = named.filter(|folder| !folder.as_os_str().is_empty());
    match named {
        Some(folder) if !folder.is_dir() => Err(WorkspaceError::NoFolder(folder.to_owned())),
        Some(folder) => Ok(folder),
        None => Ok(Path::new("")),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the workspace reads the environment")]
pub fn read_env_var(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[cfg(test)]
mod tests;
