//! Programs: workflows written in Rust, as the runtime sees them, and the registry of them.

use std::{
    borrow::Cow, collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc, time::Duration,
};

use serde_json::Value;
use trackway_domain::{Evidence, Failure, Message, Part, WorkflowRef};

use crate::{SchemaBook, SchemaError, Stage};

/// How a program ends other than by returning its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    Rejected(String),
    Failed(Failure),
}

pub type ProgramFuture = Pin<Box<dyn Future<Output = Result<Value, Stop>> + Send>>;

/// A workflow in Rust, with its types erased.
///
/// `run` must be deterministic but for what it asks of its stage: on every resume and recovery it runs
/// again from the start, and recorded results are handed back to it.
pub trait Program: Send + Sync + fmt::Debug {
    fn info(&self) -> &ProgramInfo;
    fn run(&self, stage: Stage, input: Value) -> ProgramFuture;

    /// The answer to a message that needs no run. It must follow from the message alone: nothing is
    /// recorded, and a repeated message is answered anew.
    fn answer(&self, message: &Message) -> Option<Vec<Part>> {
        let _ = message;
        None
    }
}

/// What everybody may know of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramInfo {
    pub name: String,
    pub version: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
    pub input_schema: Value,
    pub output_schema: Value,
    /// Media types of the parts that it takes and gives; patterns such as `image/*` are allowed.
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
    /// Protocol extensions that it knows beyond those of every workflow.
    pub extensions: Vec<Extension>,
    /// A run fails when it has not ended this long after its start.
    pub deadline: Option<Duration>,
}

/// A protocol extension that a program knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub uri: Cow<'static, str>,
    pub description: Cow<'static, str>,
    /// Clients that do not know it are refused.
    pub required: bool,
}

impl ProgramInfo {
    /// Media types unless a program names others.
    pub const MODES_DEFAULT: [&str; 2] = ["application/json", "text/plain"];

    pub fn workflow(&self) -> WorkflowRef {
        WorkflowRef { name: self.name.clone(), version: self.version.clone() }
    }
}

/// The programs of a server. Several versions of one name live side by side: new runs take the newest
/// registered, runs in flight keep the version they began with.
#[derive(Debug, Default)]
pub struct Registry {
    programs: BTreeMap<String, Vec<Arc<dyn Program>>>,
    pub(crate) schemas: SchemaBook,
}

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("workflow {name:?} version {version:?} is registered twice")]
    Twice { name: String, version: String },
    #[error("{name:?} cannot name a workflow: use letters, digits, `-` and `_`, at most 64")]
    BadName { name: String },
    #[error("the input schema of workflow {name:?} is not usable")]
    BadSchema { name: String, source: SchemaError },
}

/// Longest workflow name; it is part of addresses and tool names.
const NAME_BYTES_MAX: usize = 64;

impl Registry {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, program: Arc<dyn Program>) -> Result<(), RegistryError> {
        let info = program.info();
        let name = info.name.clone();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(plain) {
            return Err(RegistryError::BadName { name });
        }
        self.schemas
            .learn(&info.input_schema)
            .map_err(|source| RegistryError::BadSchema { name: name.clone(), source })?;
        let versions = self.programs.entry(name.clone()).or_default();
        if versions.iter().any(|known| known.info().version == info.version) {
            return Err(RegistryError::Twice { name, version: info.version.clone() });
        }
        versions.push(program);
        Ok(())
    }

    /// The program that new runs of this name take: the version registered last.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Program>> {
        self.programs.get(name)?.last()
    }

    /// The program that a run began with.
    pub fn pinned(&self, workflow: &WorkflowRef) -> Option<&Arc<dyn Program>> {
        self.programs
            .get(&workflow.name)?
            .iter()
            .find(|known| known.info().version == workflow.version)
    }

    /// The newest of each name, by name.
    pub fn list(&self) -> Vec<&Arc<dyn Program>> {
        self.programs.values().filter_map(|versions| versions.last()).collect()
    }

    /// Versions of a name that are registered.
    pub fn versions(&self, name: &str) -> Vec<&str> {
        let versions = self.programs.get(name).map(Vec::as_slice).unwrap_or_default();
        versions.iter().map(|known| known.info().version.as_str()).collect()
    }

    /// Why the program that a run began with cannot be had here.
    pub(crate) fn missing(&self, workflow: &WorkflowRef) -> Evidence {
        let WorkflowRef { name, version } = workflow;
        let known = self.versions(name).join(", ");
        let known = if known.is_empty() { "none" } else { &known };
        let message = format!(
            "no program {name} version {version} is registered (registered versions: {known})"
        );
        Evidence { message, asked: None, recorded: None }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.programs.keys().cloned().collect()
    }
}
