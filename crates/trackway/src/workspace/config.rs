//! `trackway.toml`: what an operator says once, instead of at every start.
//!
//! `file` is the file as it is written, `tolerant` reads it as far as that goes, `reader` notes where in
//! it something is wrong, and `sections` and `models` make the values that commands use. Whatever is not
//! understood is an error: a setting that is silently ignored is worse than none.

mod file;
mod models;
mod reader;
mod sections;
mod tolerant;
mod written;

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
use trackway_runtime::ChildLimits;

use crate::workspace::{
    WorkspaceError,
    finding::{self, Finding},
    reference::Variables,
};

pub use models::{ModelSection, Service, checked_url};
pub use written::{HIDDEN, Written};

pub const FILE: &str = "trackway.toml";

/// Everything that can be configured, checked.
#[derive(Debug, Default)]
pub struct Config {
    pub auth: Auth,
    pub outgoing: Outgoing,
    pub push: Push,
    pub server: Limits,
    pub a2a: A2a,
    pub mcp: Mcp,
    pub workflows: Workflows,
    pub retention: Retention,
    pub defaults: Defaults,
    /// By name; nothing where the section is wrong, so that its name is known all the same.
    pub models: BTreeMap<String, Option<ModelSection>>,
    pub dispatch: Dispatch,
    /// What stands in the file, without secrets, and the line of each.
    pub written: Vec<(Written, u32)>,
}

/// `[defaults]`: what is taken where nothing else is said.
#[derive(Debug, Default, PartialEq)]
pub struct Defaults {
    /// The agent at the addresses that name none, and of `trackway chat`.
    pub agent: Option<Named>,
    /// The model of agents that name none.
    pub model: Option<Named>,
}

/// A name, and the line that it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub line: u32,
}

/// `[dispatch]`: workflows that agents start.
#[derive(Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// How long an agent waits for a workflow's first answer.
    pub first_answer_timeout: Duration,
    /// How far runs may grow below a root.
    pub limits: ChildLimits,
}

impl Default for Dispatch {
    fn default() -> Self {
        let first_answer_timeout = FIRST_ANSWER_TIMEOUT_DEFAULT;
        Self { first_answer_timeout, limits: ChildLimits::default() }
    }
}

/// `[retention]`: how long sessions are kept.
#[derive(Debug, PartialEq)]
pub struct Retention {
    /// None where they are kept for ever.
    pub older_than: Option<Duration>,
}

/// `[mcp]`: what agents may do.
#[derive(Debug, Default, PartialEq)]
pub struct Mcp {
    /// Record notes without advancing.
    pub checkpoints: bool,
    /// Also on a whole session.
    pub session_checkpoints: bool,
}

/// `[workflows]`: where the written workflows are.
#[derive(Debug, Default, PartialEq)]
pub struct Workflows {
    pub folders: Option<Vec<PathBuf>>,
}

/// `[outgoing]`: whom the server may call.
#[derive(Debug, Default, PartialEq)]
pub struct Outgoing {
    /// Addresses of this machine are allowed.
    pub allow_loopback: bool,
}

/// `[push]`: notifications to clients.
#[derive(Debug, Default, PartialEq)]
pub struct Push {
    /// With which bodies are signed.
    pub secret: Option<Secret>,
}

/// `[server]`: how it is reached, and what a request may cost.
#[derive(Debug, PartialEq)]
pub struct Limits {
    /// The address under which others reach it.
    pub public_url: Option<String>,
    pub body_max_bytes: usize,
    pub connections: ConnectionLimits,
    /// How long a send waits for its task.
    pub blocking_timeout: Duration,
}

/// `[a2a]`: how the door presents itself.
#[derive(Debug, Default, PartialEq)]
pub struct A2a {
    /// The agent or workflow at the addresses that name none, where it is not the default agent.
    pub default_agent: Option<Named>,
    /// With which cards are signed.
    pub signing: Option<Signing>,
    /// gRPC clients may ask which services there are.
    pub grpc_reflection: bool,
    /// Cards do not name the address of gRPC.
    pub grpc_hidden: bool,
}

/// A private key, and the name by which others find its public half.
#[derive(Debug, PartialEq)]
pub struct Signing {
    /// PEM of the private key itself.
    pub key_pem: Secret,
    pub key_id: String,
}

impl Default for Limits {
    fn default() -> Self {
        // Room for a document of some megabytes in base64; as on every door.
        Self {
            public_url: None,
            body_max_bytes: 10 * 1024 * 1024,
            connections: ConnectionLimits::default(),
            blocking_timeout: BLOCKING_TIMEOUT_DEFAULT,
        }
    }
}

/// Days for which finished sessions are kept unless something else is said.
/// Limit (CLI): age of finished sessions that are kept; `[retention] days`.
const RETENTION_DAYS: u64 = 60;

impl Retention {
    fn days(days: u64) -> Self {
        Self { older_than: Some(Duration::from_secs(days.saturating_mul(24 * 60 * 60))) }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self::days(RETENTION_DAYS)
    }
}

impl Config {
    /// What the file in this folder says, or in the current one. Without a file everything is as it is
    /// by default; a folder that was named must be there.
    pub fn load(workspace: Option<&Path>) -> Result<Self, WorkspaceError> {
        let folder = folder(workspace)?;
        let (config, findings) = Self::read(folder, &variable);
        finding::refusal(&findings).map_or(Ok(config), Err)
    }

    /// The same, with everything that is wrong with it. What is wrong is as if nothing were said.
    pub fn read(folder: &Path, variables: Variables<'_>) -> (Self, Vec<Finding>) {
        let path = folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&path, folder, &text, variables),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), Vec::new()),
            Err(error) => {
                let unread = Finding::error(format!("it cannot be read: {error}")).file(&path);
                (Self::default(), vec![unread])
            }
        }
    }

    /// The file's text as values. `folder` is where relative paths begin.
    fn parse(
        path: &Path,
        folder: &Path,
        text: &str,
        variables: Variables<'_>,
    ) -> (Self, Vec<Finding>) {
        let findings = RefCell::default();
        let reader = reader::Reader { path, folder, text, variables, findings };
        let (file, misread) = tolerant::read(text);
        misread.into_iter().for_each(|part| reader.misread(part));
        let mut config = sections::config(&reader, file);
        let lines = written::written(text).into_iter();
        config.written = lines
            .map(|written| {
                let line = reader.line(written.at);
                (written, line)
            })
            .collect();
        let mut findings = reader.findings.into_inner();
        findings.sort_by_key(|finding| finding.line);
        (config, findings)
    }
}

/// The workspace: the folder that was named, which must be there, or the current one.
pub fn folder(named: Option<&Path>) -> Result<&Path, WorkspaceError> {
    // A variable that is set to nothing is not set.
    let named = named.filter(|folder| !folder.as_os_str().is_empty());
    match named {
        Some(folder) if !folder.is_dir() => Err(WorkspaceError::NoFolder(folder.to_owned())),
        Some(folder) => Ok(folder),
        None => Ok(Path::new("")),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the workspace reads the environment")]
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[cfg(test)]
mod tests;
