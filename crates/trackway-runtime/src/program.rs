//! Programs: workflows written in Rust, as the runtime sees them, and the registry of them.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use serde_json::Value;
use trackway_domain::{Failure, Message, Part, ReplayMismatch, ValidationError, WorkflowRef};

use trackway_ports::PinnedDefinition;

use crate::{SchemaCache, SchemaError, Stage, Tools, definition_program};

/// How a program ends other than by returning its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramStop {
    Rejected(String),
    Failed(Failure),
}

pub type ProgramFuture = Pin<Box<dyn Future<Output = Result<Value, ProgramStop>> + Send>>;

/// A workflow in Rust, with its types erased.
///
/// `run` must be deterministic except for what it requests from its stage. On every resume and recovery it
/// runs again from the start, and it gets recorded results back.
pub trait Program: Send + Sync + fmt::Debug {
    fn info(&self) -> &ProgramInfo;
    fn run(&self, stage: Stage, input: Value) -> ProgramFuture;

    /// The answer to a message that needs no run. It must depend on the message alone: nothing is recorded,
    /// and a repeated message is answered again.
    fn answer_without_run(&self, message: &Message) -> Option<Vec<Part>> {
        let _ = message;
        None
    }

    /// What is wrong with an input that satisfies the schema but cannot be read into the program's type. No
    /// run starts with such an input.
    fn check_input(&self, input: &Value) -> Vec<ValidationError> {
        let _ = input;
        Vec::new()
    }

    /// What the store has to keep so that a later process can continue runs of this program. A program in
    /// Rust is in every process that registers it and needs nothing.
    fn pinned_source(&self) -> Option<PinnedDefinition> {
        None
    }

    /// How long a dispatcher waits for its first answer; none if the program sets no limit.
    fn first_answer_timeout(&self) -> Option<Duration> {
        None
    }

    /// The workflow to run when something other than the run itself ends it.
    fn exit_workflow(&self) -> Option<WorkflowRef> {
        None
    }
}

/// What kind of thing a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgramKind {
    /// It takes an input of its schema and returns an output.
    #[default]
    Workflow,
    /// It takes any message and answers it; a run is one turn of a conversation.
    Agent,
}

/// The public description of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramInfo {
    pub name: String,
    pub kind: ProgramKind,
    pub version: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
    /// What it can do, if that is more than one thing or needs other words than its description.
    pub skills: Vec<ProgramSkill>,
    pub input_schema: Value,
    /// An output that does not satisfy it fails the run. `null` if the program declares none.
    pub output_schema: Value,
    /// Media types of the parts that it accepts and returns; patterns such as `image/*` are allowed.
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
    /// Protocol extensions that it supports in addition to those of every workflow.
    pub extensions: Vec<ProtocolExtension>,
    /// A run fails when it has not ended this long after its start.
    pub deadline: Option<Duration>,
}

/// One thing that a program can do, as its agent card lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSkill {
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
}

/// A protocol extension that a program supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolExtension {
    pub uri: Cow<'static, str>,
    pub description: Cow<'static, str>,
    /// Clients that do not support it are refused.
    pub required: bool,
}

impl ProgramInfo {
    /// The media types if a program names no others.
    pub const MODES_DEFAULT: [&str; 2] = ["application/json", "text/plain"];

    pub fn workflow_ref(&self) -> WorkflowRef {
        WorkflowRef { name: self.name.clone(), version: self.version.clone() }
    }

    /// Whether a workflow can have this name, which is part of addresses.
    pub fn is_valid_program_name(name: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let dotted = name.starts_with('.') || name.ends_with('.') || name.contains("..");
        let fits = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
        fits && name.chars().all(plain) && !dotted
    }
}

/// Builds programs from what a store has pinned for the runs that began with them.
pub trait ProgramLoader: Send + Sync + fmt::Debug {
    /// The program of that name and version; none if the body is not of this kind.
    fn load_program(&self, workflow: &WorkflowRef, body: &str) -> Option<Arc<dyn Program>>;
}

/// The programs of a server. Several versions of one name exist side by side: new runs take the current one,
/// and runs in flight keep the version they began with. The current version may change while a server runs,
/// because definitions are files.
#[derive(Debug, Default)]
pub struct ProgramRegistry {
    /// Held only to look up or insert.
    names: RwLock<BTreeMap<String, ProgramVersions>>,
    /// Workflows that exist but cannot start new runs, and why.
    unavailable: RwLock<BTreeMap<String, String>>,
    /// Build programs from pinned bodies that are not definitions.
    loaders: RwLock<Vec<Arc<dyn ProgramLoader>>>,
    pub(crate) schemas: SchemaCache,
}

/// The versions of one name.
#[derive(Debug, Default)]
struct ProgramVersions {
    programs: Vec<Arc<dyn Program>>,
    /// Which one new runs take; none when the name is no longer offered.
    current_index: Option<usize>,
}

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("workflow {name:?} version {version:?} is registered twice")]
    DuplicateWorkflow { name: String, version: String },
    #[error(
        "{name:?} cannot name a workflow: use letters, digits, `-`, `_` and single dots inside, at most 64"
    )]
    InvalidName { name: String },
    #[error("tool {name:?} is registered twice")]
    DuplicateTool { name: String },
    #[error("a schema of workflow {name:?} is not usable")]
    InvalidSchema { name: String, source: SchemaError },
}

/// Longest workflow name; it is part of addresses and tool names.
/// Limit (Runtime): name of a workflow.
const NAME_BYTES_MAX: usize = 64;

impl ProgramRegistry {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a program, which new runs of its name take from now on.
    pub fn add_program(&self, program: Arc<dyn Program>) -> Result<(), RegistryError> {
        let WorkflowRef { name, version } = program.info().workflow_ref();
        if self.find_program_version(&program.info().workflow_ref()).is_some() {
            return Err(RegistryError::DuplicateWorkflow { name, version });
        }
        self.set_current_program(program)
    }

    /// Makes this program the one that new runs of its name take; it may have been that before.
    pub fn set_current_program(&self, program: Arc<dyn Program>) -> Result<(), RegistryError> {
        Self::check_program_info(program.info())?;
        let mut names = self.write_programs();
        let versions = names.entry(program.info().name.clone()).or_default();
        versions.current_index = Some(versions.version_index_or_insert(program));
        Ok(())
    }

    /// Keeps a program for the runs that began with it. New runs do not take it.
    fn add_program_for_existing_runs(&self, program: Arc<dyn Program>) -> Result<(), RegistryError> {
        Self::check_program_info(program.info())?;
        self.write_programs()
            .entry(program.info().name.clone())
            .or_default()
            .version_index_or_insert(program);
        Ok(())
    }

    /// Registers the program whose body a store has pinned; false if it cannot be built.
    pub fn register_pinned_program(
        &self,
        workflow: &WorkflowRef,
        pinned_body: &str,
        tools: &Arc<Tools>,
    ) -> bool {
        let revivers = self.loaders.read().unwrap_or_else(PoisonError::into_inner).clone();
        let program = revivers
            .iter()
            .find_map(|reviver| reviver.load_program(workflow, pinned_body))
            .or_else(|| definition_program::load_pinned_definition_program(workflow, pinned_body, tools));
        // A name that cannot be registered has no program, as if it had not been pinned.
        program.is_some_and(|program| self.add_program_for_existing_runs(program).is_ok())
    }

    /// Adds a loader for pinned bodies that are not definitions.
    pub fn add_program_loader(&self, loader: Arc<dyn ProgramLoader>) {
        self.loaders.write().unwrap_or_else(PoisonError::into_inner).push(loader);
    }

    /// New runs of this name are refused from now on; those in flight continue.
    pub fn withdraw_program(&self, name: &str) {
        if let Some(versions) = self.write_programs().get_mut(name) {
            versions.current_index = None;
        }
    }

    fn check_program_info(info: &ProgramInfo) -> Result<(), RegistryError> {
        let name = info.name.clone();
        if !ProgramInfo::is_valid_program_name(&name) {
            return Err(RegistryError::InvalidName { name });
        }
        let output = Some(&info.output_schema).filter(|schema| !schema.is_null());
        for schema in std::iter::once(&info.input_schema).chain(output) {
            SchemaCache::check_schema_bounds(schema)
                .map_err(|source| RegistryError::InvalidSchema { name: name.clone(), source })?;
        }
        Ok(())
    }

    /// The program that new runs of this name take.
    pub fn current_program(&self, name: &str) -> Option<Arc<dyn Program>> {
        self.read_programs().get(name)?.current_version().cloned()
    }

    /// The program that a run began with.
    pub fn find_program_version(&self, workflow: &WorkflowRef) -> Option<Arc<dyn Program>> {
        let names = self.read_programs();
        let mut known = names.get(&workflow.name)?.programs.iter();
        known.find(|known| known.info().version == workflow.version).cloned()
    }

    /// What new runs can take, by name.
    pub fn list_current_programs(&self) -> Vec<Arc<dyn Program>> {
        self.read_programs().values().filter_map(ProgramVersions::current_version).cloned().collect()
    }

    /// Why a workflow of this name cannot start new runs, if it exists.
    pub fn workflow_unavailable_reason(&self, name: &str) -> Option<String> {
        self.unavailable.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn set_unavailable_workflows(&self, reasons: BTreeMap<String, String>) {
        *self.unavailable.write().unwrap_or_else(PoisonError::into_inner) = reasons;
    }

    /// Versions of a name that are registered.
    pub fn registered_versions(&self, name: &str) -> Vec<String> {
        let names = self.read_programs();
        let known = names.get(name).map(|versions| versions.programs.as_slice()).unwrap_or_default();
        known.iter().map(|known| known.info().version.clone()).collect()
    }

    /// Why the program that a run began with is not available here.
    pub(crate) fn missing_program_mismatch(&self, workflow: &WorkflowRef) -> ReplayMismatch {
        let WorkflowRef { name, version } = workflow;
        let known = self.registered_versions(name).join(", ");
        let known = if known.is_empty() { "none" } else { &known };
        let message =
            format!("no program {name} version {version} is registered (registered versions: {known})");
        ReplayMismatch { message, asked: None, recorded: None }
    }

    pub(crate) fn current_program_names(&self) -> Vec<String> {
        let names = self.read_programs();
        let offered = names.iter().filter(|(_, versions)| versions.current_index.is_some());
        offered.map(|(name, _)| name.clone()).collect()
    }

    fn read_programs(&self) -> RwLockReadGuard<'_, BTreeMap<String, ProgramVersions>> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_programs(&self) -> RwLockWriteGuard<'_, BTreeMap<String, ProgramVersions>> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProgramVersions {
    fn current_version(&self) -> Option<&Arc<dyn Program>> {
        self.programs.get(self.current_index?)
    }

    /// The index of the program's version among the known ones; it is inserted if it is missing.
    fn version_index_or_insert(&mut self, program: Arc<dyn Program>) -> usize {
        let version = &program.info().version;
        let known = self.programs.iter().position(|known| known.info().version == *version);
        known.unwrap_or_else(|| {
            self.programs.push(program);
            self.programs.len() - 1
        })
    }
}
