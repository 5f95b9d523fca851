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

use trackway::{Auth, ConnectionLimits, Secret};
use trackway_agent::FIRST_ANSWER_TIMEOUT_DEFAULT;

use crate::{
    exit::Exit,
    failure::Failure,
    finding::{self, Finding},
    reference::Variables,
};

pub(crate) use models::{ModelSection, Service, checked_url};
pub(crate) use written::{HIDDEN, Written};

pub(crate) const FILE: &str = "trackway.toml";

/// Everything that can be configured, checked.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) auth: Auth,
    pub(crate) outgoing: Outgoing,
    pub(crate) push: Push,
    pub(crate) server: Limits,
    pub(crate) a2a: A2a,
    pub(crate) mcp: Mcp,
    pub(crate) workflows: Workflows,
    pub(crate) retention: Retention,
    pub(crate) defaults: Defaults,
    /// By name; nothing where the section is wrong, so that its name is known all the same.
    pub(crate) models: BTreeMap<String, Option<ModelSection>>,
    pub(crate) dispatch: Dispatch,
    /// What stands in the file, without secrets, and the line of each.
    pub(crate) written: Vec<(Written, u32)>,
}

/// `[defaults]`: what is taken where nothing else is said.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Defaults {
    /// The agent at the addresses that name none, and of `trackway chat`.
    pub(crate) agent: Option<Named>,
    /// The model of agents that name none.
    pub(crate) model: Option<Named>,
}

/// A name, and the line that it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) line: u32,
}

/// `[dispatch]`: workflows that agents start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    /// How long an agent waits for a workflow's first answer.
    pub(crate) first_answer_timeout: Duration,
}

impl Default for Dispatch {
    fn default() -> Self {
        Self { first_answer_timeout: FIRST_ANSWER_TIMEOUT_DEFAULT }
    }
}

/// `[retention]`: how long sessions are kept.
#[derive(Debug, PartialEq)]
pub(crate) struct Retention {
    /// None where they are kept for ever.
    pub(crate) older_than: Option<Duration>,
}

/// `[mcp]`: what agents may do.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Mcp {
    /// Record notes without advancing.
    pub(crate) checkpoints: bool,
    /// Also on a whole session.
    pub(crate) session_checkpoints: bool,
}

/// `[workflows]`: where the written workflows are.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Workflows {
    pub(crate) folders: Option<Vec<PathBuf>>,
}

/// `[outgoing]`: whom the server may call.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outgoing {
    /// Addresses of this machine are allowed.
    pub(crate) allow_loopback: bool,
}

/// `[push]`: notifications to clients.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Push {
    /// With which bodies are signed.
    pub(crate) secret: Option<Secret>,
}

/// `[server]`: how it is reached, and what a request may cost.
#[derive(Debug, PartialEq)]
pub(crate) struct Limits {
    /// The address under which others reach it.
    pub(crate) public_url: Option<String>,
    pub(crate) body_max_bytes: usize,
    pub(crate) connections: ConnectionLimits,
}

/// `[a2a]`: how the door presents itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct A2a {
    /// The agent or workflow at the addresses that name none, where it is not the default agent.
    pub(crate) default_agent: Option<Named>,
    /// With which cards are signed.
    pub(crate) signing: Option<Signing>,
    /// gRPC clients may ask which services there are.
    pub(crate) grpc_reflection: bool,
    /// Cards do not name the address of gRPC.
    pub(crate) grpc_hidden: bool,
}

/// A private key, and the name by which others find its public half.
#[derive(Debug, PartialEq)]
pub(crate) struct Signing {
    /// PEM of the private key itself.
    pub(crate) key_pem: Secret,
    pub(crate) key_id: String,
}

impl Default for Limits {
    fn default() -> Self {
        // Room for a document of some megabytes in base64; as on every door.
        Self {
            public_url: None,
            body_max_bytes: 10 * 1024 * 1024,
            connections: ConnectionLimits::default(),
        }
    }
}

/// Days for which finished sessions are kept unless something else is said.
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
    pub(crate) fn load(workspace: Option<&Path>) -> Result<Self, Failure> {
        let folder = folder(workspace)?;
        let (config, findings) = Self::read(folder, &variable);
        finding::refusal(&findings).map_or(Ok(config), Err)
    }

    /// The same, with everything that is wrong with it. What is wrong is as if nothing were said.
    pub(crate) fn read(folder: &Path, variables: Variables<'_>) -> (Self, Vec<Finding>) {
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
pub(crate) fn folder(named: Option<&Path>) -> Result<&Path, Failure> {
    // A variable that is set to nothing is not set.
    let named = named.filter(|folder| !folder.as_os_str().is_empty());
    match named {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::new(format!("there is no folder {}", folder.display()))
                .hint("--workspace and TRACKWAY_WORKSPACE name the folder with trackway.toml")
                .exit(Exit::Usage))
        }
        Some(folder) => Ok(folder),
        None => Ok(Path::new("")),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the workspace reads the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[cfg(test)]
mod tests;
