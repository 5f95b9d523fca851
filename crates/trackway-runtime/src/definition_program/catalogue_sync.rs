//! Keeps a registry in step with the workflow folders.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use super::{DefinitionProgram, drive_refusal::find_drive_refusal, exit_steps_workflow_name};
use crate::{Catalogue, CatalogueEntry, ProgramInfo, ProgramRegistry, Tools};

/// Registers the definitions of a catalogue that the engine can drive. Programs that were in the registry
/// before stay: a file cannot replace a program.
#[derive(Debug)]
pub struct CatalogueSync {
    catalogue: Arc<Catalogue>,
    tools: Arc<Tools>,
    /// Names of registered programs.
    program_names: BTreeSet<String>,
    /// Locked during a sync, so that two at once do not undo each other.
    state: Mutex<CatalogueSyncState>,
}

/// The result of the last look at the files.
#[derive(Debug, Default)]
struct CatalogueSyncState {
    /// The hash by name.
    registered: BTreeMap<String, Arc<str>>,
    refusals: Vec<RegistrationRefusal>,
}

/// A valid definition that is not registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationRefusal {
    pub workflow: String,
    pub why: String,
    /// An operator has to know: only the author of the file can fix it.
    pub matters: bool,
}

impl CatalogueSync {
    /// A sync for a registry that holds its programs already. Nothing is registered before
    /// [`CatalogueSync::sync_program_registry`].
    pub fn new(catalogue: Arc<Catalogue>, registry: &ProgramRegistry, tools: Arc<Tools>) -> Self {
        let taken = registry.current_program_names().into_iter().collect();
        Self { catalogue, tools, program_names: taken, state: Mutex::default() }
    }

    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Reads the files: new or changed definitions are registered, and missing ones are withdrawn. Runs in
    /// flight keep the definition that they began with. A refusal is returned once. Reads files, so it may
    /// take a moment.
    pub fn sync_program_registry(&self, registry: &ProgramRegistry) -> Vec<RegistrationRefusal> {
        let mut last = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = CatalogueSyncState::default();
        for entry in self.catalogue.list_definitions().workflows {
            let id = entry.definition.id.clone();
            match self.register_definition(registry, &entry, last.registered.get(&id)) {
                Ok(()) => drop(now.registered.insert(id, entry.hash)),
                Err((matters, why)) => {
                    now.refusals.push(RegistrationRefusal { workflow: id, why, matters });
                }
            }
        }
        for name in last.registered.keys().filter(|name| !now.registered.contains_key(*name)) {
            registry.withdraw_program(name);
        }
        let aside = now.refusals.iter().filter(|declined| !self.program_names.contains(&declined.workflow));
        registry.set_unavailable_workflows(
            aside.map(|declined| (declined.workflow.clone(), declined.why.clone())).collect(),
        );
        let fresh = now.refusals.iter().filter(|declined| !last.refusals.contains(declined));
        let fresh = fresh.cloned().collect();
        *last = now;
        fresh
    }

    /// Registers one definition, or returns why not and whether that matters.
    fn register_definition(
        &self,
        registry: &ProgramRegistry,
        entry: &CatalogueEntry,
        registered_hash: Option<&Arc<str>>,
    ) -> Result<(), (bool, String)> {
        let id = &entry.definition.id;
        if self.program_names.contains(id) {
            let file = entry.file.display();
            return Err((true, format!("{file}: a program of this server has this name")));
        }
        if let Some(unfit) = find_drive_refusal(&entry.definition, &self.tools, registry) {
            return Err((false, unfit.to_string()));
        }
        if !entry.definition.on_exit.is_empty()
            && !ProgramInfo::is_valid_program_name(&exit_steps_workflow_name(id))
        {
            return Err((true, "its id is too long for a workflow with exit steps".to_owned()));
        }
        if registered_hash == Some(&entry.hash) {
            return Ok(());
        }
        let (definition, tools) = (entry.definition.clone(), self.tools.clone());
        let program = DefinitionProgram::new(definition, &entry.hash, tools);
        registry.set_current_program(Arc::new(program)).map_err(|error| (true, error.to_string()))
    }
}
